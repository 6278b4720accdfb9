// The demo page as its readers use it: by keyboard, with a screen reader, on a phone, and stopping half way.
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { QUESTION, assistantFor } from "../node/support.mjs";
import { browser, openPage, serve } from "./support.mjs";

const LIMITS_URL = "https://docs.example/limits#request-body";
// Screenshots for whoever looks at them: SCREENSHOTS=directory npm run test:browser
const screenshots = process.env.SCREENSHOTS || mkdtempSync(join(tmpdir(), "countercheck-page-"));

let chromium;
let server;
let passages;
/** The response of the edge that is under way: each test says what comes and when. */
let edge;

before(async () => {
  const disposals = [];
  const assistant = await assistantFor({ after: (dispose) => disposals.push(dispose) });
  const index = Buffer.from(await assistant.save());
  ({ passages } = await assistant.statistics());
  disposals.forEach((dispose) => dispose());
  const json = (body) => (_, response) =>
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  server = await serve({
    "/docs.ccx": index,
    "/never.ccx": () => {},
    "/healthz": json({ status: "ok", documents: 3, passages: 99 }),
    "/v1/search": json({ hits: [] }),
    "/v1/ask": (request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      edge.open(response);
      response.on("close", () => edge.closed());
    },
  });
  chromium = await browser();
});

after(async () => {
  await chromium?.close();
  await server?.close();
});

/** The demo page, its violations of the content security policy collected with the errors. */
async function open(t, options) {
  edge = {};
  edge.opened = new Promise((resolve) => {
    edge.open = resolve;
  });
  edge.gone = new Promise((resolve) => {
    edge.closed = resolve;
  });
  const opened = await openPage(chromium, "about:blank", options);
  t.after(() => opened.context.close());
  await opened.page.addInitScript(() => {
    window.violations = [];
    addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
      window.violations.push(`${violatedDirective} ${blockedURI}`),
    );
  });
  await opened.page.goto(`${server.url}/`);
  await opened.page.getByRole("combobox").waitFor();
  return opened;
}

/** The part that has the focus, named as a reader would hear it. */
function focused(page) {
  return page.evaluate(() => {
    const element = document.activeElement?.shadowRoot?.activeElement ?? document.activeElement;
    return `${element.localName} ${element.getAttribute("aria-label") ?? element.value ?? element.textContent}`.trim();
  });
}

async function tabUntil(page, wanted) {
  for (let presses = 0; presses < 40; presses++) {
    if (wanted.test(await focused(page))) return;
    await page.keyboard.press("Tab");
  }
  assert.fail(`no part like ${wanted} can be reached with Tab`);
}

async function mustBeClean({ page, foreign, errors }) {
  assert.deepEqual(await page.evaluate(() => window.violations), []);
  assert.deepEqual(errors, []);
  assert.deepEqual(foreign, []);
}

test("everything_can_be_done_by_keyboard", async (t) => {
  const opened = await open(t);
  const { page, context } = opened;
  await page.keyboard.press("/");
  assert.match(await focused(page), /^input Ask or search/);
  await page.keyboard.type("request body");
  const options = page.getByRole("option");
  await options.first().filter({ hasText: "Ask “request body”" }).waitFor();
  await options.nth(1).waitFor();

  // The arrows choose, Enter opens the section in a tab of its own, which here leads nowhere.
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  const active = await page.getByRole("combobox").getAttribute("aria-activedescendant");
  assert.equal(await page.locator(`#${active}`).getAttribute("aria-selected"), "true");
  assert.equal(await page.locator(`#${active}`).getAttribute("href"), LIMITS_URL);
  await mustBeClean(opened);
  const [tab] = await Promise.all([context.waitForEvent("page"), page.keyboard.press("Enter")]);
  assert.equal(await tab.evaluate(() => window.opener).catch(() => null), null);
  await tab.close();

  await page.keyboard.press("Escape");
  assert.equal(await page.getByRole("listbox").isVisible(), false);
  assert.equal(await page.getByRole("combobox").getAttribute("aria-expanded"), "false");
  assert.equal(await page.getByRole("combobox").inputValue(), "request body");

  // "/" is a character like any other while one writes.
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type(`${QUESTION} a/b`);
  assert.equal(await page.getByRole("combobox").inputValue(), `${QUESTION} a/b`);
  await page.keyboard.press("Enter");
  await page.getByText("Supported by the sources", { exact: true }).waitFor();
  assert.match(await focused(page), /^input /, "the composer keeps the focus");

  await tabUntil(page, /^a Source 1: Limits \(opens in a new tab\)$/);
  await tabUntil(page, /^summary /);
  await page.keyboard.press("Enter");
  await page.getByText("The sources support it", { exact: true }).waitFor();

  await page.keyboard.press("ControlOrMeta+k");
  assert.match(await focused(page), /^input Ask or search/);
  await page.keyboard.press("Escape");
  assert.equal(await page.getByRole("combobox").inputValue(), "");
  assert.equal(await page.getByRole("article").count(), 0);
});

test("an_answer_shows_its_labels_citations_quotes_and_trace", async (t) => {
  const opened = await open(t);
  const { page } = opened;
  await page.getByRole("combobox").fill(QUESTION);
  await page.getByRole("button", { name: "Ask", exact: true }).click();
  const card = page.getByRole("article");
  await card.getByText("Answered", { exact: true }).waitFor();
  await card.getByText("Answers the question", { exact: true }).waitFor();
  await card.getByText("Quoted from the sources, not written by a model.").waitFor();
  const mark = card.getByRole("link", { name: "Source 1: Limits" });
  assert.equal(await mark.getAttribute("href"), LIMITS_URL);
  assert.equal(await mark.getAttribute("target"), "_blank");
  assert.equal(await mark.getAttribute("rel"), "noopener noreferrer");
  assert.match(await card.getByRole("listitem").filter({ hasText: "Limits" }).first().textContent(), /bodyLimit/);
  assert.match(await card.textContent(), /\d (ms|s), in this page/);
  assert.equal(await card.getByText(/^Passage 1 of \d/).isVisible(), false, "the trace is there on demand");
  await card.getByText("How this came about").click();
  await card.getByText(/^Passage 1 of \d: (relevant|not relevant)/).waitFor();
  await mustBeClean(opened);
});

test("a_question_without_an_answer_says_so_and_shows_what_comes_closest", async (t) => {
  const opened = await open(t);
  const { page } = opened;
  await page.getByRole("button", { name: "What is the boiling point of mercury?" }).click();
  const card = page.getByRole("article");
  await card.getByText("No answer", { exact: true }).waitFor();
  await card.getByText("Rather than guess, the assistant stops here.").waitFor();
  assert.equal(await card.getByText("Supported by the sources").count(), 0);
  assert.match(await focused(page), /^input Ask or search/);
  await mustBeClean(opened);
});

test("assistive_technology_hears_boundaries_and_the_answer_once", async (t) => {
  const { page } = await open(t);
  const status = page.getByRole("status");
  assert.equal(await status.count(), 1, "there from the start");
  await page.evaluate(() => {
    const region = document.querySelector("countercheck-assistant").shadowRoot.querySelector("[role=status]");
    window.heard = [];
    new MutationObserver(() => window.heard.push(region.textContent)).observe(region, { childList: true });
  });
  const log = page.getByRole("log");
  assert.equal(await log.getAttribute("aria-live"), "off");
  assert.ok(await log.getAttribute("aria-label"));
  assert.equal(await log.getByRole("status").count(), 0);
  await page.getByRole("combobox").fill(QUESTION);
  await page.keyboard.press("Enter");
  await page.getByText("Supported by the sources", { exact: true }).waitFor();
  const heard = await page.evaluate(() => window.heard);
  assert.equal(heard.at(-1).startsWith("Answer ready. "), true);
  assert.match(heard.at(-1), /bodyLimit/);
  assert.doesNotMatch(heard.at(-1), /`|\*\*|\[\d\]/, "text, not Markdown");
  assert.equal(heard.filter((text) => text.startsWith("Answer ready")).length, 1);
  assert.ok(heard.length <= 3, heard.join(" | "));
});

test("the_edge_streams_stages_and_a_draft_until_it_is_stopped", async (t) => {
  const opened = await open(t);
  const { page } = opened;
  await page.getByText("At the edge").click();
  await page.getByRole("combobox").fill("Why?");
  await page.keyboard.press("Enter");
  const response = await edge.opened;
  const send = (event) => response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  const card = page.getByRole("article");
  await card.getByText("Searching the documentation").waitFor();
  send({ type: "retrieve", query: "Why?", passages: 2 });
  await card.getByText("Found 2 passages").waitFor();
  send({ type: "grade", n: 1, of: 2, passage_id: "a#0", verdict: "yes" });
  await card.getByText("Reading passage 1 of 2").waitFor();
  send({ type: "decide", relevant: 1, rejected: 1, unknown: 0, need_web: true });
  await card.getByText("1 relevant, 1 set aside").waitFor();
  send({ type: "draft-start", attempt: 1 });
  send({ type: "draft-delta", text: "Because **it" });
  send({ type: "draft-delta", text: " is**." });
  await card.locator("strong", { hasText: "it is" }).waitFor();
  await card.getByText("Draft, still being checked").waitFor();
  send({ type: "draft-reject", attempt: 1, check: "grounding" });
  await card.getByText(/^Draft 1 withdrawn/).waitFor();
  await card.locator("strong").waitFor({ state: "detached" });

  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await card.getByText("Stopped before there was an answer.").waitFor();
  await edge.gone;
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
  await page.getByText("At the edge").click();
  await page.getByRole("combobox").fill("Why?");
  await page.keyboard.press("Enter");
  (await edge.opened).end(`event: answer\ndata: ${JSON.stringify(PARTIAL)}\n\n`);
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
  const { page } = await open(t);
  await page.getByText(`3 pages, ${passages} passages`, { exact: true }).waitFor();
  await page.getByText("At the edge").click();
  await page.getByRole("combobox").fill("why");
  await page.getByText(/^Questions go to the Worker at 127\.0\.0\.1:\d+\./).waitFor();
  await page.getByText("3 pages, 99 passages", { exact: true }).waitFor();
  await page.keyboard.press("Escape");
  await page.locator("fieldset").getByText("In this page").click();
  await page.getByText(`3 pages, ${passages} passages`, { exact: true }).waitFor();
});

test("waiting_for_the_index_can_be_stopped_as_well", async (t) => {
  const { page } = await open(t);
  await page.evaluate(() => document.querySelector("countercheck-assistant").setAttribute("index", "/never.ccx"));
  await page.getByRole("combobox").fill("Why?");
  await page.keyboard.press("Enter");
  await page.getByText("Loading the documentation…").first().waitFor();
  await page.getByRole("button", { name: "Stop", exact: true }).focus();
  await page.keyboard.press("Escape");
  await page.getByText("Stopped before there was an answer.").waitFor();
  await page.getByRole("button", { name: "Ask", exact: true }).waitFor();
});

test("an_element_that_is_moved_keeps_its_answer_and_its_senses", async (t) => {
  const { page } = await open(t);
  await page.evaluate(async (question) => {
    const element = document.querySelector("countercheck-assistant");
    await element.ask(question);
    document.querySelector("footer").append(element);
  }, QUESTION);
  assert.equal(await page.getByRole("article").count(), 1);
  await page.keyboard.press("/");
  await page.keyboard.type("What is the boiling point of mercury?");
  await page.keyboard.press("Enter");
  await page.getByText("No answer", { exact: true }).waitFor();
});

test("an_error_of_the_edge_is_an_alert_with_another_try", async (t) => {
  const { page } = await open(t);
  await page.getByText("At the edge").click();
  await page.getByRole("combobox").fill("Why?");
  await page.keyboard.press("Enter");
  (await edge.opened).end(
    `event: error\ndata: ${JSON.stringify({ code: "provider_failed", message: "nobody answered" })}\n\n`,
  );
  const alert = page.getByRole("alert");
  await alert.getByText("That did not work: nobody answered").waitFor();
  edge.opened = new Promise((resolve) => {
    edge.open = resolve;
  });
  await alert.getByRole("button", { name: "Try again" }).click();
  await edge.opened;
  assert.equal(await alert.textContent(), "");
});

test("a_page_may_intercept_questions_and_hears_of_answers", async (t) => {
  const { page } = await open(t);
  const result = await page.evaluate(async (question) => {
    const element = document.querySelector("countercheck-assistant");
    const heard = [];
    document.addEventListener("countercheck-answer", ({ detail }) =>
      heard.push(`${detail.where} ${detail.answer.outcome}`),
    );
    document.addEventListener("countercheck-ask", (event) => {
      if (event.detail.question === "No!") event.preventDefault();
    });
    const refused = await element.ask("No!");
    const answer = await element.ask(question);
    element.messages = { ask: "Fragen" };
    return {
      refused,
      outcome: answer.outcome,
      heard,
      button: element.shadowRoot.querySelector("[type=submit]").textContent,
    };
  }, QUESTION);
  assert.deepEqual(result, { refused: undefined, outcome: "answered", heard: ["page answered"], button: "Fragen" });
});

const LOOKS = [
  ["light", { viewport: { width: 1100, height: 900 }, colorScheme: "light" }],
  ["dark", { viewport: { width: 1100, height: 900 }, colorScheme: "dark" }],
  ["phone", { viewport: { width: 360, height: 740 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true }],
  ["still", { viewport: { width: 1100, height: 900 }, reducedMotion: "reduce" }],
];

for (const [name, options] of LOOKS) {
  test(`the page fits: ${name}`, async (t) => {
    const opened = await open(t, options);
    const { page } = opened;
    const shot = (step) => page.screenshot({ path: join(screenshots, `${name}-${step}.png`), fullPage: true });
    await shot("start");
    await page.getByRole("combobox").fill("request body");
    await page.getByRole("option").nth(1).waitFor();
    await shot("search");
    await page.keyboard.press("Enter");
    await page.getByText("How this came about").click();
    await shot("answer");
    const page_ = await page.evaluate(() => {
      const element = document.querySelector("countercheck-assistant");
      const style = getComputedStyle(element.shadowRoot.querySelector(".card"));
      return {
        overflow: document.documentElement.scrollWidth - innerWidth,
        background: style.backgroundColor,
        duration: style.animationDuration,
      };
    });
    assert.equal(page_.overflow, 0, "nothing is wider than the window");
    const luminance = Number(/\d+/.exec(page_.background)[0]);
    assert.ok(name === "dark" ? luminance < 60 : luminance > 200, page_.background);
    if (name === "still") assert.equal(page_.duration, "0.001s");
    await mustBeClean(opened);
  });
}
