// What the tests over a real model share: an ear between a host and the model, and what must hold of what
// it hears. scripts/test-llm.mjs starts the model.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { startWorker } from "../../scripts/lib/worker.mjs";
import { QUESTION } from "../node/support.mjs";
import { until } from "../worker/support.mjs";

const { LLM_URL, LLM_NAME } = process.env;
const MOST_OUTPUT_TOKENS = 1024;
const IDLE_LIMIT_MS = 3_000;

/** How long a reply may take to begin and to go on: the model has one thread of a machine that may be busy. */
export const TIMEOUTS = { headers: 300_000, idle: 300_000 };

// A model this small does not know when to stop: its draft ends at the first blank line, or not at all.
const SHORT = { stop: ["\n\n"] };
const ENDLESS = { ignore_eos: true };

/** The model for the library, reached through the ear. */
export const modelAt = (ear) => ({ baseUrl: `${ear.url}/v1`, model: LLM_NAME, timeouts: TIMEOUTS });

/** The built Worker over a site, with the model reached through the ear. */
export function startWorkerWithModel(ear, assets) {
  const { baseUrl, model, timeouts } = modelAt(ear);
  const vars = {
    LOCAL: "yes",
    CHAT_BASE_URL: baseUrl,
    CHAT_MODEL: model,
    CHAT_HEADERS_TIMEOUT_MS: String(timeouts.headers),
    CHAT_IDLE_TIMEOUT_MS: String(timeouts.idle),
  };
  return startWorker({ assets, vars });
}

/** What each host asks over the small corpus. */
export const REQUEST = {
  question: QUESTION,
  k: 2,
  strategy: "self-reflective",
  maxRetries: 0,
  limits: { maxCalls: 9 },
};

/**
 * @typedef {object} Exchange one request to the model
 * @property {any} asked its body
 * @property {number} [status] of the response
 * @property {string} said the response's body so far
 * @property {"open" | "whole" | "left"} state whether the host has it all, or has hung up before
 *
 * @typedef {object} Ear
 * @property {string} url in place of the model's
 * @property {Exchange[]} exchanges
 * @property {boolean} endless whether drafts go on to their limit of tokens
 * @property {() => void} forget what was heard so far
 * @property {() => Promise<void>} close
 */

/**
 * Passes requests on to the model and hangs up when the host does.
 * @returns {Promise<Ear>}
 */
export async function listen() {
  const ear = { exchanges: [], endless: false };
  const server = createServer(async (request, response) => {
    const asked = JSON.parse(Buffer.concat(await request.toArray()).toString());
    const exchange = { asked, said: "", state: "open" };
    ear.exchanges.push(exchange);
    const left = new AbortController();
    response.on("close", () => {
      exchange.state = response.writableFinished ? "whole" : "left";
      left.abort();
    });
    const more = asked.stream ? (ear.endless ? ENDLESS : SHORT) : {};
    await pass(request.url, exchange, response, more, left.signal).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  const forget = () => ear.exchanges.splice(0);
  return Object.assign(ear, { url: `http://127.0.0.1:${server.address().port}`, close, forget });
}

async function pass(path, exchange, response, more, signal) {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ ...exchange.asked, ...more });
  const upstream = await fetch(LLM_URL + path, { method: "POST", headers, body, signal });
  exchange.status = upstream.status;
  response.writeHead(upstream.status, { "content-type": upstream.headers.get("content-type") });
  const decoder = new TextDecoder();
  for await (const chunk of upstream.body) {
    exchange.said += decoder.decode(chunk, { stream: true });
    response.write(chunk);
  }
  response.end();
}

/** The text, the end and the cost of what the model said; a stream may have been left before its end. */
function replyOf({ asked, said }) {
  const pieces = asked.stream
    ? said.split("\n").slice(0, -1).filter((line) => line.startsWith("data: {")).map((line) => JSON.parse(line.slice("data: ".length)))
    : [JSON.parse(said)];
  const choices = pieces.flatMap((piece) => piece.choices);
  return {
    text: choices.map(({ message, delta }) => (message ?? delta).content ?? "").join(""),
    finish: choices.findLast((choice) => choice.finish_reason)?.finish_reason,
    usage: pieces.findLast((piece) => piece.usage)?.usage,
  };
}

/**
 * What must hold of a run over the model, whatever the model said. Prints the line for RESULT.
 * @param {string} host
 * @param {string} solver what the answer must name
 * @param {number} started when the question was put, by Date.now
 * @param {Ear} ear heard this run and no other
 * @param {{ answer: any, events: any[] }} run
 * @param {{ k: number, strategy: string, limits: { maxCalls: number } }} [request] what was asked
 */
export function checkRun(host, solver, started, { exchanges }, { answer, events }, request = REQUEST) {
  const seconds = (Date.now() - started) / 1000;
  // What one host has had read is cached for the next: their times alone cannot be compared.
  const tokens = { read: 0, cached: 0, written: 0 };
  for (const { asked, status, said } of exchanges) {
    assert.equal(asked.model, LLM_NAME);
    assert.deepEqual(asked.messages.map(({ role }) => role), ["system", "user"]);
    assert.equal(status, 200, said);
    const limit = asked.max_completion_tokens ?? asked.max_tokens;
    assert.ok(limit >= 1 && limit <= MOST_OUTPUT_TOKENS, `asked for ${limit} tokens`);
    const reply = replyOf({ asked, said });
    assert.ok(reply.finish !== undefined && reply.usage !== undefined, "the host hung up before the reply was whole");
    const { prompt_tokens: read, completion_tokens: written, prompt_tokens_details: details } = reply.usage;
    assert.ok(written <= limit, `${written} tokens where ${limit} were the limit`);
    tokens.read += read;
    tokens.cached += details.cached_tokens;
    tokens.written += written;
  }

  assert.equal(answer.solver, solver);
  const { retrieve, ...charged } = answer.usage.calls;
  assert.equal(retrieve, 1);
  const calls = Object.values(charged).reduce((sum, count) => sum + count, 0);
  assert.equal(calls, exchanges.length, "what is booked is what was called");
  const { maxCalls } = request.limits;
  assert.ok(calls <= maxCalls, `${calls} calls where ${maxCalls} were the limit`);
  assert.equal(answer.strategy, request.strategy);
  assert.notEqual(answer.reason, "budget", "the time was too short for a run of this model");

  checkGrades(exchanges, answer.verdicts, request);
  for (const flag of [answer.grounded, answer.useful]) assert.ok([true, false, null].includes(flag));
  for (const name of ["grounded", "useful"]) repliesBySchema(exchanges, name);

  const streamed = exchanges.filter(({ asked }) => asked.stream).map((exchange) => replyOf(exchange).text);
  const deltas = events.filter(({ type }) => type === "draft-delta").map(({ text }) => text);
  assert.equal(deltas.join(""), streamed.join(""));
  // Where all passages are rejected and nobody searches the web, there is nothing to write from.
  if (streamed.length === 0) assert.deepEqual([answer.outcome, answer.reason], ["abstained", "irrelevant"]);
  else assert.ok(deltas.length > 1, `${deltas.length} pieces of a draft`);
  assert.ok(["answered", "partial", "abstained"].includes(answer.outcome));
  const { strategy, outcome, verdicts, claims = [] } = answer;
  const said = { outcome, verdicts: verdicts.map(({ verdict }) => verdict), claims: claims.map(({ support }) => support) };
  console.log(`LLM ${JSON.stringify({ host, strategy, seconds, calls: charged, tokens, deltas: deltas.length, ...said })}`);
}

/** Each passage has the grade that the model gave it: by itself, or by its number in a list of all. */
function checkGrades(exchanges, verdicts, { k }) {
  assert.equal(verdicts.length, k);
  const lists = exchanges.filter(isList);
  const said = [...lists.flatMap(listedGrades), ...repliesBySchema(exchanges, "score")];
  for (const verdict of ["yes", "no"]) {
    const counted = verdicts.filter((one) => one.verdict === verdict).length;
    const given = said.filter((one) => one === verdict).length;
    assert.ok(counted <= given, `${counted} times ${verdict}, which the model said ${given} times`);
  }
  // Without a list each passage was graded by itself, and a grade that can be read is one.
  if (lists.length === 0) assert.deepEqual(verdicts.map(({ verdict }) => verdict).sort(), said.sort());
}

const isList = ({ asked }) => asked.response_format?.json_schema?.name === "verdicts";

/** The grades of a list, each under its passage's number; of one that was cut off those before the cut. */
function listedGrades(exchange) {
  const { text, finish } = replyOf(exchange);
  if (finish !== "stop") return ["yes", "no"].flatMap((grade) => text.match(new RegExp(`"${grade}"`, "g")) ?? []).map((word) => JSON.parse(word));
  return JSON.parse(text).verdicts.map(({ id, score, ...others }) => {
    assert.ok(Number.isInteger(id) && ["yes", "no"].includes(score), text);
    assert.deepEqual(others, {});
    return score;
  });
}

/** What the model put into a field whose schema it was given: yes or no, and nothing beside it. */
function repliesBySchema(exchanges, field) {
  const asked = exchanges.filter(({ asked }) => asked.response_format?.json_schema?.name === field);
  return asked.map((exchange) => {
    const value = JSON.parse(replyOf(exchange).text);
    assert.deepEqual(Object.keys(value), [field]);
    assert.ok(["yes", "no"].includes(value[field]), value[field]);
    return value[field];
  });
}

/**
 * After a host has cancelled in the middle of an endless draft: nobody hears the rest, and the model stops.
 * @param {Ear} ear
 */
export async function checkLeftAlone({ exchanges }) {
  const cancelled = Date.now();
  await until(async () => Date.now() - cancelled > IDLE_LIMIT_MS || !(await isBusy()));
  assert.equal(await isBusy(), false, `the model still writes ${IDLE_LIMIT_MS} ms after the question was cancelled`);
  const draft = exchanges.at(-1);
  assert.ok(draft.asked.stream && draft.said !== "", "the draft had begun");
  assert.equal(replyOf(draft).finish, undefined, "the draft was read to its end");
}

/**
 * After a host has cancelled while verdicts were asked for: it has hung up on each. A reply that is not streamed
 * this server writes to its end all the same, some dozens of tokens: it looks for its client only as it sends.
 * @param {Ear} ear
 */
export async function checkHungUp({ exchanges }) {
  const cancelled = Date.now();
  const isOpen = ({ state }) => state === "open";
  await until(() => Date.now() - cancelled > IDLE_LIMIT_MS || !exchanges.some(isOpen));
  assert.deepEqual([exchanges.some(isOpen), exchanges.some(({ state }) => state === "left")], [false, true]);
  await until(async () => !(await isBusy()));
}

async function isBusy() {
  const slots = await (await fetch(`${LLM_URL}/slots`)).json();
  return slots.some((slot) => slot.is_processing);
}
