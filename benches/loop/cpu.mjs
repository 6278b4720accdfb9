// The CPU time that a run of the loop takes by itself: this package beside LangGraph.js, in one process, over
// the same function as model, the same passages and the same replies. The model answers at once, so what is
// left is the loop's own work. Prints one line of JSON.
import { createAssistant } from "../../dist/node.js";
import { langgraph } from "./langgraph.mjs";
import { BATCH, PASSAGES, QUESTION } from "./setting.mjs";

const RUNS = Number(process.env.RUNS ?? 200);
const WARM_UP = Number(process.env.WARM_UP ?? 1_000);

const REPLIES = {
  grade: '{"score": "yes"}',
  generate: "Set `bodyLimit`, in bytes [1]. Larger requests get status 413 [2].",
  grounded: '{"grounded": "yes"}',
  useful: '{"useful": "yes"}',
};

let calls = 0;

/** The model of both; a check is told apart by what its prompt asks for. */
async function model({ role, messages }) {
  calls += 1;
  if (role !== "check") return REPLIES[role];
  return messages[1].content.includes(PASSAGES[0].text) ? REPLIES.grounded : REPLIES.useful;
}

async function countercheck() {
  const assistant = await createAssistant({ embedder: false, chat: (request) => model(request) });
  await assistant.add(PASSAGES.map(({ title, text }, i) => ({ id: `limits-${i}.md`, title, text })));
  return async () => {
    const answer = await assistant.ask(QUESTION, { k: 4, strategy: "self-reflective" });
    if (answer.outcome !== "answered" || answer.sourcesUsed !== 4) throw new Error(JSON.stringify(answer));
  };
}

function theirs() {
  const ask = langgraph(model, () => PASSAGES);
  return async () => {
    const { grounded, useful, kept } = await ask(QUESTION);
    if (!grounded || !useful || kept.length !== 4) throw new Error("LangGraph's run is not the good path");
  };
}

/** Milliseconds of CPU and of time that one run takes, as the mean of a batch. */
async function measured(run) {
  calls = 0;
  const cpu = process.cpuUsage();
  const started = performance.now();
  for (let i = 0; i < BATCH; i++) await run();
  const time = performance.now() - started;
  const { user, system } = process.cpuUsage(cpu);
  if (calls !== 7 * BATCH) throw new Error(`${calls} calls of the model, not 7 for each run`);
  return { cpu: (user + system) / 1000 / BATCH, time: time / BATCH };
}

function summary(runs) {
  const of = (key) => {
    const values = runs.map((run) => run[key]).sort((a, b) => a - b);
    return { median: values[values.length >> 1], mean: values.reduce((sum, value) => sum + value, 0) / values.length };
  };
  return { cpuMs: of("cpu"), wallMs: of("time") };
}

const candidates = { countercheck: await countercheck(), langgraph: theirs() };
const only = process.env.ONLY;
const names = Object.keys(candidates).filter((name) => only === undefined || name === only);
const none = () => Object.fromEntries(names.map((name) => [name, []]));
const summaries = (runs) => Object.fromEntries(names.map((name) => [name, summary(runs[name])]));

// One after the other, each long enough to be compiled: what a run takes where nothing else runs.
const alone = none();
for (const name of names) {
  for (let i = 0; i < WARM_UP; i++) await candidates[name]();
  for (let i = 0; i < RUNS; i += BATCH) alone[name].push(await measured(candidates[name]));
}
// A batch of each in turns: what it takes with caches that others have filled meanwhile.
const turns = none();
for (let i = 0; i < RUNS; i += BATCH) {
  for (const name of names) turns[name].push(await measured(candidates[name]));
}
console.log(JSON.stringify({ runs: RUNS, turns: summaries(turns), alone: summaries(alone) }));
