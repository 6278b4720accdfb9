// The demo page with answers from the edge, each test saying what comes and when.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ask, gate, mustBeClean, openDemo, startDemo } from "./demo.mjs";

let demo;
/** The response that is under way, once it is, and its end. */
let edge;

before(async () => {
  const json = (body) => (_, response) =>
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  demo = await startDemo({
    "/healthz": json({ status: "ok", documents: 3, passages: 99 }),
    "/v1/search": json({ hits: [] }),
    "/v1/ask": (request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      edge.asked.open(response);
      response.on("close", () => edge.closed.open());
    },
  });
});

after(() => demo?.stop());

/** The page with the edge chosen. */
async function open(t, options) {
  edge = { asked: gate(), closed: gate() };
  const opened = await openDemo(t, demo, options);
  await opened.page.getByText("At the edge").click();
  return opened;
}

test("the_edge_streams_stages_and_a_draft_until_it_is_stopped", async (t) => {
  const opened = await open(t);
  const { page } = opened;
  await ask(page, "Why?");
  const response = await edge.asked.opened;
  const send = (event) => response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  const card = page.getByRole("article");
  const stages = card.locator("[part=stages]");
  const draft = card.locator("[part=draft]");
  await stages.getByText("Searching the documentation").waitFor();
  send({ type: "retrieve", query: "Why?", passages: 2 });
  await stages.getByText("Found 2 passages").waitFor();
  await stages.getByText("Reading 2 passages").waitFor();
  send({ type: "grade", n: 1, of: 2, passage_id: "a#0", verdict: "yes" });
  await stages.getByText("Reading passage 1 of 2").waitFor();
  send({ type: "decide", relevant: 1, rejected: 1, unknown: 0, need_web: true });
  await stages.getByText("1 relevant, 1 set aside").waitFor();
  await stages.getByText("Searching the web").waitFor();
  send({ type: "draft-start", attempt: 1 });
  await stages.getByText("Searching the web").waitFor({ state: "detached" });
  send({ type: "draft-delta", text: "Because *it" });
  send({ type: "draft-delta", text: " is*." });
  await draft.getByText("Because *it is*.", { exact: true }).waitFor();
  await draft.getByText("Draft, being checked").waitFor();
  send({ type: "draft-reject", attempt: 1, check: "grounding" });
  await stages.getByText("Draft 1 withdrawn: the sources do not support it").waitFor();
  await draft.waitFor({ state: "hidden" });

  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await card.getByText("Stopped before there was an answer.").waitFor();
  await edge.closed.opened;
  await page.getByRole("button", { name: "Ask", exact: true }).waitFor();
  await mustBeClean(opened);
});

const PARTIAL = {
  outcome: "partial",
  reason: "ungrounded",
  text: "Like this:[1]\n\n```js\nlisten(80)\n```\n\nOr [that](https://evil.test/), ![x](https://evil.test/x.png) <img src=x>.[7]",
  citations: [
    {
      n: 1,
      passage_id: "a#0",
      url: "https://news.example/a",
      title: "News",
      quote: "**listen**",
      start: 0,
      end: 10,
      origin: "web",
    },
  ],
  grounded: false,
  useful: null,
  attempts: 2,
  sources: [],
  sources_used: 1,
  web_search_used: true,
  verdicts: [],
  usage: { calls: {} },
  warnings: [{ code: "ungraded", message: "no passage could be graded" }],
  trace: [{ type: "web-search", query: "why", results: 3 }],
  strategy: "self-reflective",
  solver: "llm",
  language: "en",
};

test("a_partial_answer_says_what_is_wrong_with_it_and_its_code_can_be_copied", async (t) => {
  const opened = await open(t, { permissions: ["clipboard-read", "clipboard-write"] });
  const { page } = opened;
  await ask(page, "Why?");
  (await edge.asked.opened).end(`event: answer\ndata: ${JSON.stringify(PARTIAL)}\n\n`);
  const card = page.getByRole("article");
  await card.getByText("Partial answer", { exact: true }).waitFor();
  await card.getByText("Not supported by the sources", { exact: true }).waitFor();
  await card.getByText("Usefulness not checked", { exact: true }).waitFor();
  await card.getByText(/^Parts of this are not supported/).waitFor();
  await card.getByText("no passage could be graded").waitFor();
  await card.getByText("from the web").waitFor();
  await card.getByText("Or that (evil.test), x <img src=x>.[7]").waitFor();
  assert.equal(await card.getByText("Quoted from the sources").count(), 0, "a model wrote it");
  assert.match(await card.textContent(), /\d (ms|s), at the edge/);
  const links = await card.getByRole("link").evaluateAll((all) => all.map(({ href }) => href));
  assert.deepEqual(links, ["https://news.example/a", "https://news.example/a"]);

  await card.getByRole("button", { name: "Copy" }).click();
  await card.getByRole("button", { name: "Copied" }).waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "listen(80)");
  await mustBeClean(opened);
});

test("what_is_indexed_is_told_of_the_place_that_is_chosen", async (t) => {
  const { page } = await openDemo(t, demo);
  await page.getByText(`3 pages, ${demo.passages} passages`, { exact: true }).waitFor();
  await page.getByText("At the edge").click();
  await page.getByRole("combobox").fill("why");
  await page.getByText(/^Questions go to the Worker at 127\.0\.0\.1:\d+\./).waitFor();
  await page.getByText("3 pages, 99 passages", { exact: true }).waitFor();
  await page.keyboard.press("Escape");
  await page.locator("fieldset").getByText("In this page").click();
  await page.getByText(`3 pages, ${demo.passages} passages`, { exact: true }).waitFor();
});

test("an_error_of_the_edge_is_an_alert_with_another_try", async (t) => {
  const { page } = await open(t);
  await ask(page, "Why?");
  (await edge.asked.opened).end(
    `event: error\ndata: ${JSON.stringify({ code: "provider_failed", message: "nobody answered" })}\n\n`,
  );
  const alert = page.getByRole("alert");
  await alert.getByText("That did not work: nobody answered").waitFor();
  assert.equal(await page.getByText("Details").count(), 0, "all is said");
  edge.asked = gate();
  await page.getByRole("button", { name: "Try again" }).click();
  await edge.asked.opened;
  assert.equal(await alert.count(), 0);
});

