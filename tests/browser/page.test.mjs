// The demo page as its readers use it: by keyboard, with a screen reader, on a phone, and stopping half way.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { QUESTION } from "../node/support.mjs";
import { ask, focused, gate, mustBeClean, openDemo, overflow, screenshot, startDemo, tabUntil } from "./demo.mjs";

const LIMITS_URL = "https://docs.example/limits#request-body";

let demo;

before(async () => {
  demo = await startDemo({ "/never.ccx": () => {} });
});

after(() => demo?.stop());

const open = (t, options) => openDemo(t, demo, options);

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

  await tabUntil(page, /^a Source 1: Limits › Request body \(opens in a new tab\)$/);
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

test("a_question_that_is_missing_or_very_long_is_no_trouble", async (t) => {
  const opened = await open(t);
  const { page } = opened;
  await page.getByRole("button", { name: "Ask", exact: true }).click();
  await page.getByRole("alert").getByText("Type a question first.").waitFor();
  assert.match(await focused(page), /^input Ask or search/);
  await page.keyboard.type("x");
  assert.equal(await page.getByRole("alert").count(), 0);

  await ask(page, `${QUESTION} ${"Or of the body of a response? ".repeat(200)}`);
  await page.getByText(/\d (ms|s), in this page/).waitFor();
  const heading = page.getByRole("article").getByRole("heading").first();
  const { shown, whole } = await heading.evaluate((it) => ({ shown: it.clientHeight, whole: it.scrollHeight }));
  assert.ok(shown < 250 && whole > 1000, `${shown} of ${whole} pixels`);
  await page.getByText("How this came about").click();
  const detail = page.locator("[part=steps] .detail").first();
  assert.ok((await detail.evaluate((it) => it.clientHeight)) < 250);

  await ask(page, "x".repeat(9000));
  await page.getByRole("alert").getByText("The question is too long. Shorten it, then ask again.").waitFor();
  await page.getByText("Details").click();
  await page.getByText("the question has 9000 bytes: shorten it to 8192 too_large").waitFor();
  await mustBeClean(opened);
});

test("what_is_over_at_once_does_not_flash_by", async (t) => {
  const { page } = await open(t);
  await page.getByText(/^3 pages/).waitFor();
  const seen = await page.evaluate(async (question) => {
    const element = document.querySelector("countercheck-assistant");
    let isOver = false;
    const seen = [];
    const look = () => {
      seen.push(element.shadowRoot.querySelector(".pending") !== null);
      if (!isOver) requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
    await element.ask(question);
    await new Promise((resolve) => requestAnimationFrame(resolve));
    isOver = true;
    return seen;
  }, QUESTION);
  assert.equal(seen.includes(true), false, "the stages of the built-in solver are in no frame");
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
  await ask(page, QUESTION);
  await page.getByText("Supported by the sources", { exact: true }).waitFor();
  const heard = await page.evaluate(() => window.heard);
  assert.equal(heard.at(-1).startsWith("Answer ready. "), true);
  assert.match(heard.at(-1), /bodyLimit/);
  assert.doesNotMatch(heard.at(-1), /`|\*\*|\[\d\]/, "text, not Markdown");
  assert.equal(heard.filter((text) => text.startsWith("Answer ready")).length, 1);
  assert.ok(heard.length <= 3, heard.join(" | "));
});

test("waiting_for_the_index_can_be_stopped_as_well", async (t) => {
  const { page, context } = await open(t);
  const held = gate();
  await context.route(/\/held\.ccx$/, (route) => held.open(route));
  const setIndex = (index) =>
    page.evaluate((to) => document.querySelector("countercheck-assistant").setAttribute("index", to), index);
  await setIndex("/held.ccx");
  await page.getByRole("combobox").focus();
  const route = await held.opened;
  await setIndex("/never.ccx");
  await ask(page, "Why?");
  await page.getByText("Loading the documentation…").waitFor();
  // The index before it comes too late to say anything.
  const [response] = await Promise.all([
    page.waitForResponse(/\/held\.ccx$/),
    route.fulfill({ response: await context.request.get(`${demo.url}/docs.ccx`) }),
  ]);
  await response.finished();
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve)));
  await page.getByText("Loading the documentation…").waitFor();
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
    const shot = (step) => screenshot(page, `${name}-${step}`);
    await shot("start");
    await page.getByRole("combobox").fill("request body");
    await page.getByRole("option").nth(1).waitFor();
    await shot("search");
    await page.keyboard.press("Enter");
    await page.getByText("How this came about").click();
    await shot("answer");
    const { background, duration } = await page.evaluate(() => {
      const element = document.querySelector("countercheck-assistant");
      const { backgroundColor, animationDuration } = getComputedStyle(element.shadowRoot.querySelector(".card"));
      return { background: backgroundColor, duration: animationDuration };
    });
    assert.equal(await overflow(page), 0, "nothing is wider than the window");
    const luminance = Number(/\d+/.exec(background)[0]);
    assert.ok(name === "dark" ? luminance < 60 : luminance > 200, background);
    if (name === "still") assert.equal(duration, "0.001s");
    await mustBeClean(opened);
  });
}
