// The picture of a run on the demo page: the strategy's steps, lit as they happen, with each verdict.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { QUESTION } from "../node/support.mjs";
import { ask, gate, mustBeClean, openDemo, overflow, screenshot, startDemo } from "./demo.mjs";
import { serveModel } from "./model.mjs";

const SHOWN = ["retrieve", "grade", "decide", "web", "generate", "grounding", "usefulness"];

let demo;

before(async () => {
  demo = await startDemo();
});

after(() => demo?.stop());

/** Each step with its state, and whether it is the current one. */
const steps = (page) =>
  page.locator(".flow .steps > li").evaluateAll((items) => items.map((item) => [item.dataset.step, item.dataset.state, item.getAttribute("aria-current")]));

const states = async (page) => Object.fromEntries((await steps(page)).map(([step, state]) => [step, state]));

/** A page whose element asks that model, by that strategy. */
async function openWith(t, service, strategy, options) {
  const opened = await openDemo(t, demo, options);
  await opened.page.evaluate(
    ([baseUrl, strategy]) => {
      const element = document.querySelector("countercheck-assistant");
      Object.assign(element, { strategy, chat: { kind: "openai", baseUrl, model: "m" } });
    },
    [service.url, strategy],
  );
  return opened;
}

for (const colorScheme of ["light", "dark"]) {
  test(`the_steps_of_an_answer_are_told_in_words_at_320_pixels_${colorScheme}`, async (t) => {
    const opened = await openDemo(t, demo, { viewport: { width: 320, height: 800 }, colorScheme });
    const { page } = opened;
    assert.deepEqual(await steps(page), SHOWN.map((step) => [step, "waiting", null]));
    await ask(page, QUESTION);
    await page.locator('.flow [data-step="usefulness"][data-state="yes"]').waitFor();
    assert.deepEqual(await states(page), {
      retrieve: "done",
      grade: "done",
      decide: "done",
      web: "skipped",
      generate: "done",
      grounding: "yes",
      usefulness: "yes",
    });
    const verdicts = page.getByRole("list", { name: "Verdict on each passage" }).getByRole("listitem");
    assert.equal(await verdicts.count(), 4);
    for (const verdict of await verdicts.allTextContents()) assert.match(verdict, /^(yes|no) [01]\.\d\d$/);
    assert.ok((await overflow(page)) <= 0, "no wider than the window");
    await screenshot(page, `flow-${colorScheme}`);
    await mustBeClean(opened);
  });
}

test("steps_light_up_while_they_go_on_and_a_stop_puts_them_out", async (t) => {
  const { opened: mayGrade, open } = gate();
  const service = await serveModel(async ({ role }, reply) => {
    if (role === "grade") await mayGrade;
    if (role === "generate") return reply.stream("Set the option ");
    reply.say('{"score": "yes"}');
  });
  t.after(() => service.close());
  const { page } = await openWith(t, service, "self-reflective");
  await ask(page, QUESTION);
  await page.locator('.flow [data-step="grade"][aria-current="step"]').waitFor();
  assert.deepEqual((await steps(page)).filter(([, , current]) => current !== null), [["grade", "active", "step"]]);
  open();
  await page.locator('.flow [data-step="generate"][aria-current="step"]').waitFor();
  assert.equal(await page.locator(".flow [aria-current]").count(), 1);
  await page.getByRole("button", { name: "Stop" }).click();
  await page.locator('.flow [data-step="generate"][data-state="unknown"]').waitFor();
  assert.equal(await page.locator(".flow [aria-current]").count(), 0);
  assert.equal((await states(page)).usefulness, "skipped");
});

test("another_strategy_has_its_own_steps_and_says_its_degrees", async (t) => {
  const service = await serveModel(({ role, body }, reply) => {
    const [{ content }] = body.messages;
    if (content.includes('{"retrieve"')) return reply.say('{"retrieve": "yes"}');
    if (content.includes('{"support"')) return reply.say('{"support": "partially_supported"}');
    if (content.includes('{"usefulness"')) return reply.say('{"usefulness": 4}');
    reply.say(role === "grade" ? '{"score": "yes"}' : "Set the option [1].");
  });
  t.after(() => service.close());
  const { page } = await openWith(t, service, "self-rag-prompted");
  await ask(page, QUESTION);
  await page.locator('.flow [data-step="usefulness"][data-state="yes"]').waitFor();
  const flow = page.locator(".flow");
  assert.deepEqual((await steps(page)).map(([step]) => step), ["decide-retrieval", ...SHOWN.filter((step) => step !== "web")]);
  assert.equal(await flow.locator("p b").textContent(), "self-rag-prompted");
  assert.match(await flow.locator('[data-step="grounding"]').textContent(), /partially supported/);
  assert.match(await flow.locator('[data-step="usefulness"]').textContent(), /4 of 5/);
});
