// The CPU time that a run of the loop takes by itself: this package beside LangGraph.js, in one process, over
// the same function as model, the same passages and the same replies. The model answers at once, so what is
// left is the loop's own work. Prints one line of JSON.
import { createAssistant } from "../../dist/node.js";
import { langgraph } from "./langgraph.mjs";
import { BATCH, PASSAGES, QUESTION } from "./setting.mjs";

const RUNS = Number(process.env.RUNS ?? 200);
const WARM_UP = Number(process.env.WARM_UP ?? 5_000);

/**
 * A turn of either takes as long. Each begins with caches that others have filled, which costs a third of a
 * millisecond: nothing beside ten runs of one, and half as much again as ten of the other.
 */
const TURN_MS = 20;

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

/** Milliseconds of CPU and of time that one run takes, as the mean of a turn of so many runs or so many ms. */
async function measured(run, { runs = Infinity, ms = Infinity }) {
  calls = 0;
  let done = 0;
  const cpu = process.cpuUsage();
  const started = performance.now();
  do {
    await run();
    done += 1;
  } while (done < runs && performance.now() - started < ms);
  const time = performance.now() - started;
  const { user, system } = process.cpuUsage(cpu);
  if (calls !== 7 * done) throw new Error(`${calls} calls of the model, not 7 for each run`);
  return { cpu: (user + system) / 1000 / done, time: time / done, runs: done };
}

function summary(turns) {
  const of = (key) => {
    const values = turns.map((turn) => turn[key]).sort((a, b) => a - b);
    return { median: values[values.length >> 1], mean: values.reduce((sum, value) => sum + value, 0) / values.length };
  };
  return { runs: turns.reduce((sum, { runs }) => sum + runs, 0), cpuMs: of("cpu"), wallMs: of("time") };
}

const candidates = { countercheck: await countercheck(), langgraph: theirs() };
const only = process.env.ONLY;
const names = Object.keys(candidates).filter((name) => only === undefined || name === only);

/** Turns of one after the other, of so many runs or ms, until each has had as many as are wanted. */
async function inTurns(names, turn, wanted = RUNS) {
  const turns = Object.fromEntries(names.map((name) => [name, []]));
  const had = (name) => turns[name].reduce((sum, { runs }) => sum + runs, 0);
  while (names.some((name) => had(name) < wanted)) {
    for (const name of names) turns[name].push(await measured(candidates[name], turn));
  }
  return Object.fromEntries(names.map((name) => [name, summary(turns[name])]));
}

// Engines go on compiling what is hot for thousands of runs. Then each by itself: what a run takes where nothing else runs.
const alone = {};
for (const name of names) {
  for (let i = 0; i < WARM_UP; i++) await candidates[name]();
  Object.assign(alone, await inTurns([name], { runs: BATCH }));
}
// What both call, of Node's and of the engine's own, is compiled anew for both.
await inTurns(names, { ms: TURN_MS }, 10 * RUNS);
const turns = await inTurns(names, { ms: TURN_MS }, 5 * RUNS);
const tens = await inTurns(names, { runs: BATCH });
console.log(JSON.stringify({ runs: RUNS, alone, turns, tens }));
