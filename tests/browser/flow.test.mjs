// The picture of a run on the demo page: the strategy's steps, lit as they happen, with each verdict.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { QUESTION } from "../node/support.mjs";
import { ask, gate, mustBeClean, openDemo, overflow, screenshot, startDemo } from "./demo.mjs";
import { serveModel } from "./model.mjs";

const SHOWN = ["retrieve", "grade", "decide", "web", "generate", "grounding", "repair", "usefulness"];

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
      Object.assign(element, { strategy, chat: { kind: "chat", vendor: "openai", baseUrl, model: "m" } });
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
      repair: "skipped",
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
  assert.deepEqual((await steps(page)).map(([step]) => step), ["decide-retrieval", ...SHOWN.filter((step) => step !== "web" && step !== "repair")]);
  assert.equal(await flow.locator("p b").textContent(), "self-rag-prompted");
  assert.match(await flow.locator('[data-step="grounding"]').textContent(), /partially supported/);
  assert.match(await flow.locator('[data-step="usefulness"]').textContent(), /4 of 5/);
});

test("each_statement_is_shown_with_its_verdict_and_the_quotation_that_supports_it", async (t) => {
  const service = await serveModel(({ role, body }, reply) => {
    const [, { content }] = body.messages;
    if (role === "grade") return reply.say('{"verdicts": [{"id": 1, "score": "yes"}, {"id": 2, "score": "yes"}, {"id": 3, "score": "yes"}, {"id": 4, "score": "yes"}]}');
    if (role === "repair") return reply.say('{"statements": []}');
    if (role !== "claims") return reply.say("The option sets the limit. The moon is made of cheese.");
    // The words of the first document, whatever they are.
    const quote = /\[1\]\n<<.*>>\n.*\n\n[^]*?([A-Za-z]+ [A-Za-z]+)/.exec(content)?.[1] ?? "";
    const said = [...content.matchAll(/^\[(\d+)\]\n<<.*>>\n(The .*)$/gm)].map(([, id, claim]) => {
      const holds = claim.includes("option");
      return { id: Number(id), support: holds ? "yes" : "no", document: holds ? 1 : 0, quote: holds ? quote : "" };
    });
    reply.say(JSON.stringify({ claims: said, answer: { useful: "yes" } }));
  });
  t.after(() => service.close());
  const opened = await openWith(t, service, "countercheck");
  const { page } = opened;
  await page.evaluate(() => Object.assign(document.querySelector("countercheck-assistant"), { k: 4 }));
  await ask(page, QUESTION);
  const claims = page.locator("details.claims");
  await claims.waitFor();
  assert.match(await claims.locator("summary").textContent(), /^1 of 1 statement supported by a quotation$/, "the other one was left out");
  assert.equal(await claims.getAttribute("open"), null, "what holds needs no reading");
  await claims.locator("summary").click();
  assert.match(await claims.getByRole("listitem").textContent(), /^Supported: The option sets the limit\. \[1\]$/);
  assert.equal(await page.locator(".flow [data-step=\"repair\"]").getAttribute("data-state"), "done");
  await screenshot(page, "claims");
  await mustBeClean(opened);
});
