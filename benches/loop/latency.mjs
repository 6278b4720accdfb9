// What a run adds to its calls when the service answers at once: runs over a service in this process, whose `fetch`
// has each reply ready, and beside them the very same calls by themselves, sent and read by a few lines of JavaScript
// in the rounds in which the run sent them. What is left is the package: search, loop, prompts, codecs, decoding,
// timers and the way into wasm and back. Prints one line of JSON.
import { createAssistant, openai } from "../../dist/node.js";
import { roleOf } from "../../tests/services/openai.mjs";
import { BATCH, PASSAGES, QUESTION } from "./setting.mjs";

const RUNS = Number(process.env.RUNS ?? 200);
const WARM_UP = Number(process.env.WARM_UP ?? 500);

const DRAFT = "The option bodyLimit sets the maximum size of a request body in bytes. A request with a body above the limit is answered with status 413.";
const CLAIMS = ["sets the maximum size of a request body in bytes", "is answered with status 413"];

/** What the model says to a request. */
function said(body) {
  const numbers = PASSAGES.map((_, i) => i + 1);
  switch (roleOf(body)) {
    case "grade":
      if (!body.messages[0].content.includes('"verdicts"')) return '{"score": "yes"}';
      return JSON.stringify({ verdicts: numbers.map((id) => ({ id, score: "yes" })) });
    case "claims": {
      const documents = body.messages[1].content;
      const numberOf = (quote) => numbers.find((n) => documents.slice(documents.indexOf(`[${n}]\n`)).split("\n[")[0].includes(quote)) ?? 1;
      const claims = CLAIMS.map((quote, i) => ({ id: i + 1, support: "yes", document: numberOf(quote), quote }));
      return JSON.stringify({ claims, answer: { useful: "yes" } });
    }
    case "grounding":
      return '{"grounded": "yes"}';
    case "usefulness":
      return '{"useful": "yes"}';
    default:
      return DRAFT;
  }
}

const USAGE = { prompt_tokens: 9, completion_tokens: 9, total_tokens: 18 };

/** The reply to a request, in the form that it wants. */
function replyTo(body) {
  const content = said(body);
  if (!body.stream) {
    const choices = [{ index: 0, finish_reason: "stop", message: { role: "assistant", content } }];
    return { type: "application/json", text: JSON.stringify({ choices, usage: USAGE }) };
  }
  const chunk = (data) => `data: ${JSON.stringify({ object: "chat.completion.chunk", ...data })}\n\n`;
  const deltas = content.match(/\s*\S+/g).map((content) => chunk({ choices: [{ index: 0, delta: { content }, finish_reason: null }] }));
  const end = chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
  return { type: "text/event-stream", text: `${deltas.join("")}${end}${chunk({ choices: [], usage: USAGE })}data: [DONE]\n\n` };
}

const URL = "https://model.example/v1/chat/completions";

/** The requests of a run in their rounds, as long as they are recorded, and the reply to each. */
let recording;
const ready = new Map();

globalThis.fetch = async (request) => {
  const body = await request.text();
  if (recording !== undefined) {
    ready.set(body, replyTo(JSON.parse(body)));
    if (recording.open === 0) recording.rounds.push([]);
    recording.open += 1;
    recording.rounds.at(-1).push(body);
    await new Promise((resolve) => setTimeout(resolve, 20));
    recording.open -= 1;
  }
  const { type, text } = ready.get(body);
  return new Response(text, { headers: { "content-type": type } });
};

const assistant = await createAssistant({ embedder: false, chat: openai({ baseUrl: "https://model.example/v1", model: "m", key: "k" }) });
await assistant.add(PASSAGES.map((passage, i) => ({ id: `limits-${i}.md`, ...passage })));

async function run(strategy) {
  const answer = await assistant.ask(QUESTION, { k: 4, strategy });
  if (answer.outcome !== "answered" || answer.sourcesUsed !== 4) throw new Error(`${strategy}: ${JSON.stringify(answer)}`);
}

const HEADERS = { accept: "application/json", "content-type": "application/json", authorization: "Bearer k" };

/** The same calls without the package: each is sent, and its reply read. */
async function callsAlone(rounds) {
  for (const bodies of rounds) {
    await Promise.all(bodies.map(async (body) => {
      const { signal } = new AbortController();
      const response = await fetch(new Request(URL, { method: "POST", headers: HEADERS, body, signal }));
      if ((await response.text()).length === 0) throw new Error("an empty reply");
    }));
  }
}

async function measured(work) {
  const cpu = process.cpuUsage();
  const started = performance.now();
  for (let i = 0; i < BATCH; i++) await work();
  const wallMs = (performance.now() - started) / BATCH;
  const { user, system } = process.cpuUsage(cpu);
  return { wallMs, cpuMs: (user + system) / 1000 / BATCH };
}

function medians(batches) {
  const of = (key) => batches.map((batch) => batch[key]).sort((a, b) => a - b)[batches.length >> 1];
  return { wallMs: of("wallMs"), cpuMs: of("cpuMs") };
}

const results = {};
for (const strategy of ["naive", "corrective", "self-reflective", "countercheck"]) {
  recording = { open: 0, rounds: [] };
  await run(strategy);
  const { rounds } = recording;
  recording = undefined;
  const works = { run: () => run(strategy), alone: () => callsAlone(rounds) };
  const batches = { run: [], alone: [] };
  for (let i = 0; i < WARM_UP; i++) for (const work of Object.values(works)) await work();
  // In turns: both with what the other has left in the caches.
  for (let i = 0; i < RUNS; i += BATCH) for (const [name, work] of Object.entries(works)) batches[name].push(await measured(work));
  const [whole, alone] = [medians(batches.run), medians(batches.alone)];
  const adds = { wallMs: whole.wallMs - alone.wallMs, cpuMs: whole.cpuMs - alone.cpuMs };
  results[strategy] = { calls: rounds.flat().length, rounds: rounds.length, run: whole, callsAlone: alone, adds };
}
assistant.dispose();
console.log(JSON.stringify({ runs: RUNS, strategies: results }));
