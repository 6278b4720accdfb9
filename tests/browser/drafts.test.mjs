// A model that writes in the page: its drafts as they come, what is withdrawn, and what to do when it fails.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { QUESTION } from "../node/support.mjs";
import { ask, gate, mustBeClean, openDemo, overflow, screenshot, startDemo } from "./demo.mjs";
import { serveModel } from "./model.mjs";

const YES = { grade: '{"score": "yes"}', grounding: '{"grounded": "yes"}', usefulness: '{"useful": "yes"}' };

let demo;
let model;
/** What the model does on a role, by default that all is well. */
let does;

before(async () => {
  demo = await startDemo();
  model = await serveModel((call, reply) => {
    const n = model.calls.filter(({ role }) => role === call.role).length;
    const say = () => reply.say(YES[call.role] ?? "It is `bodyLimit`. [1]");
    return (does[call.role] ?? say)(reply, n);
  });
});

after(async () => {
  await demo?.stop();
  await model?.close();
});

beforeEach(() => {
  model.calls.length = 0;
  does = {};
});

/** The demo page with the model set in its settings. */
async function open(t, options, url = model.url) {
  const opened = await openDemo(t, demo, options);
  const { page } = opened;
  await page.getByRole("button", { name: "Settings" }).click();
  // The model speaks in the verdicts of the tutorials.
  await page.getByRole("radio", { name: "Self-reflective", exact: true }).check();
  await page.getByRole("radio", { name: "A model at an OpenAI-compatible address" }).check();
  await page.getByLabel("Base URL", { exact: true }).fill(url);
  await page.getByLabel("Model", { exact: true }).fill("scripted");
  await page.getByRole("button", { name: "Use these settings" }).click();
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  return opened;
}

/** The first draft is held back half way, and its check until it is to be found ungrounded. */
function rejectTheFirstDraft() {
  const [half, check, second] = [gate(), gate(), gate()];
  does = {
    generate: async (reply, n) => {
      if (n === 2) await second.opened;
      reply.stream(n === 1 ? "The *limit* is 512 " : "It is `bodyLimit`");
      if (n === 1) await half.opened;
      reply.stream(n === 1 ? "bytes. [1]" : ", 1 MiB by default. [1]");
      reply.end();
    },
    grounding: async (reply, n) => {
      if (n === 1) await check.opened;
      reply.say(n === 1 ? '{"grounded": "no"}' : YES.grounding);
    },
  };
  return { half, check, second };
}

test("a_draft_is_shown_as_it_comes_and_withdrawn_when_its_check_fails", async (t) => {
  const opened = await open(t);
  const { page } = opened;
  await page.evaluate(() => {
    const { shadowRoot } = document.querySelector("countercheck-assistant");
    const region = shadowRoot.querySelector(".assistant > [role=status]");
    window.heard = [];
    new MutationObserver(() => window.heard.push(region.textContent)).observe(region, { childList: true });
  });
  const { half, check, second } = rejectTheFirstDraft();
  await ask(page, QUESTION);
  const card = page.getByRole("article");
  const draft = card.locator("[part=draft]");
  const trace = card.locator("[part=trace]");
  await draft.getByText("The *limit* is 512", { exact: true }).waitFor();
  await draft.getByText("Draft, being checked").waitFor();
  await card.getByText("How this came about").click();
  await trace.getByText(/^Passage 4 of 4: relevant/).waitFor();
  await trace.getByText("Drafting an answer").waitFor();
  half.open();
  await draft.getByText("The *limit* is 512 bytes. [1]", { exact: true }).waitFor();
  assert.equal(await card.getByText("Answered").count(), 0);

  check.open();
  await trace.getByText("Draft 1 withdrawn: the sources do not support it").waitFor();
  assert.equal(await trace.locator("del").textContent(), "The *limit* is 512 bytes. [1]");
  await draft.waitFor({ state: "hidden" });
  second.open();
  await card.getByText("Answered", { exact: true }).waitFor();
  assert.equal(await card.locator("[part=text]").textContent(), "It is bodyLimit, 1 MiB by default. [1]");
  assert.equal(await draft.count(), 0, "the answer has replaced it");
  await trace.getByText("Drafted answer 2").waitFor();
  assert.equal(await trace.locator("del").count(), 1, "still open, and it still has the draft");
  assert.equal(await card.getByText("Quoted from the sources").count(), 0, "a model wrote it");
  assert.deepEqual(await page.evaluate(() => window.heard), [
    "Searching the documentation",
    "Drafting an answer",
    "Draft 1 withdrawn: the sources do not support it",
    "Answer ready. It is bodyLimit, 1 MiB by default.",
  ]);
  await mustBeClean(opened);
});

test("a_draft_that_is_stopped_half_way_is_taken_away", async (t) => {
  const { page } = await open(t);
  const { half } = rejectTheFirstDraft();
  await ask(page, QUESTION);
  await page.locator("[part=draft]").getByText("The *limit* is 512").waitFor();
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page.getByText("Stopped before there was an answer.").waitFor();
  assert.equal(await page.locator("[part=draft]").count(), 0);
  half.open();
});

test("a_draft_without_an_answer_to_the_question_is_withdrawn_for_that", async (t) => {
  const { page } = await open(t);
  does = { usefulness: (reply) => reply.say('{"useful": "no"}') };
  await ask(page, QUESTION);
  await page.getByText("Partial answer", { exact: true }).waitFor();
  await page.getByText("How this came about").click();
  await page.getByText("Draft 1 withdrawn: it does not answer the question").waitFor();
});

// How the model fails, what the reader is told to do, and the code among the details.
const FAILURES = [
  [403, /^The service does not allow this\. Check what the key may be used for\.$/, "forbidden"],
  [404, /^The service knows no such model, or there is none at this address\./, "not_found"],
  [400, /^The service rejected the request\. Check the model’s name/, "invalid_request"],
  // The last: for a minute it is not asked again with that key.
  [401, /^The service did not accept the key\. Check it in the settings\.$/, "unauthorized"],
];

test("a_failure_says_what_to_do_about_it", async (t) => {
  const opened = await open(t);
  const { page } = opened;
  const alert = page.getByRole("alert");
  for (const [status, advice, code] of FAILURES) {
    does = { grade: (reply) => reply.fail(status), generate: (reply) => reply.fail(status) };
    await ask(page, QUESTION);
    await alert.getByText(advice).waitFor();
    assert.equal(await page.getByText(/^no answer could be produced/).isVisible(), false);
    await page.getByText("Details").click();
    await page.getByText(new RegExp(`^no answer could be produced: .* provider_failed, ${code}$`)).waitFor();
  }
  await screenshot(page, "failure");
  does = {};
  await page.evaluate(() => {
    const now = Date.now;
    Date.now = () => now() + 61_000;
  });
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("Answered", { exact: true }).waitFor();
  assert.equal(await alert.count(), 0);
  await mustBeClean(opened);
});

test("a_service_that_cannot_be_reached_may_have_to_allow_the_page", async (t) => {
  const { page } = await open(t, {}, "http://127.0.0.1:9/v1");
  await ask(page, QUESTION);
  await page.getByRole("alert").getByText(`it allows requests from ${demo.url} (CORS)`).waitFor();
  await page.locator("[part=error]").getByRole("button", { name: "Settings" }).click();
  await page.getByLabel("Base URL", { exact: true }).fill(model.url);
  await page.getByRole("button", { name: "Use these settings" }).click();
  await page.getByRole("alert").waitFor({ state: "detached" });
  await ask(page, QUESTION);
  await page.getByText("Answered", { exact: true }).waitFor();
});

test("a_service_that_asks_to_be_left_alone_is_left_alone_until_then", async (t) => {
  const { page } = await open(t);
  const limited = (reply) => reply.fail(429, { "retry-after": "90" });
  does = { grade: limited, generate: limited };
  await ask(page, QUESTION);
  await page.getByRole("alert").getByText(/^The service takes no more questions for now\./).waitFor();
  const retry = page.locator("[part=error]").getByRole("button", { name: /^Try again in \d+ s$/ });
  await retry.waitFor();
  assert.equal(await retry.isDisabled(), true);
  await page.evaluate(() => {
    const now = Date.now;
    Date.now = () => now() + 91_000;
  });
  does = {};
  await page.getByRole("button", { name: "Try again", exact: true }).click();
  await page.getByText("Answered", { exact: true }).waitFor();
});

test("a_run_fits_a_phone", async (t) => {
  const phone = { viewport: { width: 380, height: 740 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };
  const { page } = await open(t, phone);
  const { half, check, second } = rejectTheFirstDraft();
  half.open();
  check.open();
  await ask(page, QUESTION);
  await page.getByText("How this came about").click();
  await page.locator("[part=stages]").getByText(/^Draft 1 withdrawn/).waitFor();
  await page.locator("[part=trace] del").waitFor();
  await screenshot(page, "run-phone");
  assert.equal(await overflow(page), 0, "nothing is wider than the window");
  second.open();
  await page.getByText("Answered", { exact: true }).waitFor();
  assert.equal(await overflow(page), 0);
});
