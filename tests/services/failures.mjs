// What a question must give when a service fails in each way there is a fixture of: the same on every host.
// The fixtures say what is sent and how often; this file says what becomes of the question.
import assert from "node:assert/strict";
import { fixtures } from "./fixtures.mjs";
import { FOUND, WELL, naming } from "./fixture-server.mjs";

/** What is asked about: one passage. */
export const DOCUMENT = {
  id: "bread.md",
  url: "https://kitchen.example/bread",
  text: "# Bread\n\nKnead the dough for ten minutes.\n",
};

/**
 * How long a reply is waited for: where it never comes, and where it must come however busy the machine is.
 * @type {Record<"short" | "long", { headers: number, idle: number }>}
 */
export const TIMEOUTS = { short: { headers: 800, idle: 800 }, long: { headers: 60_000, idle: 60_000 } };

/** Too short for waits of a second and the call after them. */
const SOON_MS = 1_900;

/** Attempts at the most: who waits for a Worker does not wait for long. */
const ATTEMPTS = { node: 3, chromium: 3, worker: 2 };

/** The longest wait of the first retry where the service does not name one. */
const OWN_WAIT_MS = 500;

/** These fail only once: the next reply must be taken. */
const ONCE = ["F07-408", "F08-409", "F13-429", "F17-500", "F19-503", "F23-200", "F25-reset", "F31-cut-connection", "F35-html"];

/** Words of a service that nobody may be shown. */
const THEIRS = ["upstream text", "flagged", "Loading model", "Sign in"];

/**
 * @typedef {object} Case
 * @property {string} name
 * @property {string} naming what the question says, see fixture-server.mjs
 * @property {string} question
 * @property {object} options of the question, in JavaScript's names
 * @property {boolean} isRefused whether the chat service is where nobody listens
 * @property {keyof typeof TIMEOUTS} timeouts of the chat service
 * @property {object} expected the parts of the answer or of the error that the fixture is about
 * @property {number} calls how many requests reach the service
 */

/**
 * The cases of a host.
 * @param {"node" | "chromium" | "worker"} host
 * @returns {Case[]}
 */
export function cases(host) {
  const all = [...fixtures().values()].filter(({ wire }) => wire !== "no-cors" || host === "chromium");
  const every = all.map((fixture) => caseOf({ ...fixture, ...expectationOf(fixture, host) }));
  const once = all.filter(({ name }) => ONCE.includes(name)).map(onceOf);
  assert.equal(once.length, ONCE.length);
  return [...every, ...once];
}

function expectationOf({ expect, expect_by_host = {}, calls = 1 }, host) {
  const { calls: here = calls, ...other } = expect_by_host[host] ?? {};
  return { expect: { ...expect, ...other }, calls: Math.min(here, ATTEMPTS[host]) };
}

function caseOf(fixture) {
  const { name, codec, wire } = fixture;
  const isShort = wire === "silent" || ["F28", "F29"].includes(fixture.row);
  const common = { name, ...asking(naming(name)), isRefused: wire === "refused", timeouts: isShort ? "short" : "long" };
  if (codec === "verdict") return { ...common, ...gradeCase(fixture) };
  if (codec === "search") return { ...common, ...searchCase(fixture) };
  return { ...common, ...draftCase(fixture) };
}

function asking(naming) {
  return { naming, question: `How long do I knead the dough? Say it in ${naming}.` };
}

function onceOf({ name }) {
  const options = { strategy: "naive" };
  const expected = { outcome: "answered", text: WELL.generate };
  return { name: `${name} once`, ...asking(naming(name, true)), options, timeouts: "long", expected, calls: 2 };
}

/** The draft fails, and there is no other. */
function draftCase(fixture) {
  const { wire, retry = {}, expect, calls } = fixture;
  const options = { strategy: "naive", limits: {} };
  if (wire === "again" && expect.error.includes("Deadline")) {
    options.limits.deadlineMs = SOON_MS;
    return { options, calls, expected: { outcome: "abstained", reason: "budget" } };
  }
  if (expect.reply !== undefined) return { options, calls, expected: replied(expect.reply) };
  // What was shown is kept.
  if (expect.text?.trim()) return { options, calls, expected: { outcome: "partial", reason: "truncated", text: expect.text } };
  const expected = { code: "provider_failed", serviceCode: expect.code, ...hintOf(fixture) };
  if ((retry.wait?.[0] ?? 0) < 1000) return { options, calls, expected };
  options.limits.deadlineMs = SOON_MS;
  return { options, calls: 1, expected };
}

/** A reply that does not end as a model ends it, or lost characters, is never an answer. */
function replied({ text, finish, lossy }) {
  if (finish === "Stop" && lossy !== true) return { outcome: "answered", text };
  return { outcome: "partial", reason: "truncated", text };
}

/** When the service would take the request, if it said so in a way that can be understood. */
function hintOf({ headers, retry = {} }) {
  const hint = retry.gives_up ?? (retry.wait?.[1] !== OWN_WAIT_MS ? retry.wait?.[0] : undefined) ?? undefined;
  if (hint === undefined) return {};
  // A date has passed by as much as the question took until then.
  const isDate = /\d:\d\d:\d\d/.test(headers?.["retry-after"]) && hint > 1000;
  return { retryAfterMs: isDate ? { from: 250, to: hint } : hint };
}

/** The passage's grade; what nobody can read is asked again once, and then unknown. Irrelevant: the web has it. */
function gradeCase({ expect, calls }) {
  const options = { strategy: "self-reflective" };
  const verdict = expect.binary;
  const answers = {
    yes: { outcome: "answered" },
    no: { outcome: "answered", webUrls: [FOUND.url] },
    unknown: { outcome: "answered", warning: "ungraded" },
  };
  return { options, calls: verdict === "unknown" ? 2 * calls : calls, expected: { verdict, ...answers[verdict] } };
}

/** The only passage is irrelevant: without the web there is no answer. */
function searchCase({ expect, calls }) {
  const options = { strategy: "self-reflective" };
  const { results } = expect;
  if (results === undefined) {
    return { options, calls, expected: { outcome: "abstained", reason: "web_failed", warning: "web_failed" } };
  }
  // Pages that say the same are one source.
  const isFirst = ({ text }, i) => results.findIndex((other) => other.text === text) === i;
  const urls = results.filter(isFirst).map(({ url }) => url);
  const outcome = urls.length > 0 ? { outcome: "answered" } : { outcome: "abstained", reason: "irrelevant" };
  return { options, calls, expected: { ...outcome, webUrls: urls } };
}

/**
 * Compares what came of a question with what must.
 * @param {Case} given
 * @param {{ answer?: object, error?: object }} found in JavaScript's names
 * @param {number | undefined} calls that reached the service; undefined: the host cannot tell
 */
export function check({ name, expected, calls: wanted }, found, calls) {
  const shown = JSON.stringify(found);
  for (const words of THEIRS) assert.ok(!shown.includes(words), `${name} shows ${words}`);
  const { answer, error } = found;
  const { retryAfterMs, ...exact } = expected;
  const all = { ...error, ...projected(answer) };
  const seen = Object.fromEntries(Object.keys(exact).map((key) => [key, all[key]]));
  assert.deepEqual(seen, exact, `${name}: ${shown}`);
  assert.equal(error === undefined, exact.code === undefined, `${name}: ${shown}`);
  if (error !== undefined) assertHint(name, error.retryAfterMs, retryAfterMs);
  if (answer !== undefined) assert.deepEqual([answer.grounded, answer.useful], flagsOf(all), name);
  if (calls !== undefined) assert.equal(calls, wanted, `${name}: calls`);
}

function assertHint(name, found, hint) {
  if (typeof hint === "object") assert.ok(found >= hint.from && found <= hint.to, `${name}: ${found}`);
  else assert.equal(found ?? undefined, hint, `${name}: retryAfterMs`);
}

function projected(answer) {
  if (answer === undefined) return {};
  const { outcome, reason, text, verdicts, warnings, sources } = answer;
  const webUrls = sources.filter(({ origin }) => origin === "web").map(({ url }) => url);
  return { outcome, reason, text, verdict: verdicts[0]?.verdict, webUrls, warning: warnings[0]?.code, strategy: answer.strategy };
}

/** Only an answer that was checked has flags. */
function flagsOf({ outcome, strategy }) {
  return strategy === "self-reflective" && outcome === "answered" ? [true, true] : [null, null];
}
