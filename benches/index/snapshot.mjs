// A snapshot of 10,000 passages, loaded by the module of a page: node snapshot.mjs FILE. Prints one line of JSON.
//
// The passages are the Markdown of packages on this machine, with the table's vectors; where that is too little, the
// same documents again under other names. "first" is the first load in a process of its own, where nothing is compiled
// well yet and the memory has yet to grow; the others are of a module that has loaded some before.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { dist } from "../../scripts/lib/paths.mjs";
import { readQuestions } from "../../tests/eval/questions.mjs";
import { documents } from "./texts.mjs";

const PASSAGES = 10_000;
const LOADS = 60;
const FIRST_LOADS = 5;
const SECTIONS = ["header", "documents", "ends", "texts", "terms", "postings", "lengths", "vectors", "graph"];
const DIMENSION = 256;

const [file, only] = process.argv.slice(2);
if (only === "first") {
  console.log(JSON.stringify(timed(await loader(readFileSync(file)))));
} else {
  console.log(JSON.stringify(await measure()));
}

async function measure() {
  const { bytes, ...made } = await index();
  writeFileSync(file, bytes);
  const first = Array.from({ length: FIRST_LOADS }, () => JSON.parse(execFileSync(process.execPath, [import.meta.filename, file, "first"], { encoding: "utf8" })));
  const load = await loader(bytes);
  const copy = copier(bytes);
  const loads = [];
  const copies = [];
  for (let round = 0; round < LOADS; round += 1) {
    loads.push(timed(load));
    copies.push(timed(copy));
  }
  // Those of the first third warm up.
  const warm = (all) => middle(all.slice(LOADS / 3));
  return { ...made, ...sizes(bytes, made.passages), load: warm(loads), copy: warm(copies), first: middle(first), ...searches(load) };
}

/** An index of so many passages, as bytes. */
async function index() {
  const { createAssistant } = await import("../../dist/node.js");
  const assistant = await createAssistant();
  let textBytes = 0;
  for (let copy = 0; copy < 20; copy += 1) {
    for (const { id, text } of documents()) {
      await assistant.add({ id: copy === 0 ? id : `${copy}/${id}`, text });
      textBytes += Buffer.byteLength(text);
      const statistics = await assistant.statistics();
      if (statistics.passages >= PASSAGES) return { ...statistics, textBytes, bytes: await assistant.save() };
    }
  }
  throw new Error("too little Markdown on this machine");
}

/** How long the parts of the file are; what 1.15 is the limit of. */
function sizes(bytes, passages) {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const parts = Object.fromEntries(SECTIONS.map((name, at) => [name, Number(view.getBigUint64(8 + 8 * at, true))]));
  // The marks that say which passages have a vector are no part of the planes.
  const planes = parts.vectors - Math.ceil(passages / 8);
  const start = 8 + 8 * SECTIONS.length + Object.values(parts).reduce((sum, length) => sum + length, 0) - parts.vectors;
  const marks = bytes.subarray(start, start + Math.ceil(passages / 8));
  const vectors = marks.reduce((sum, byte) => sum + byte.toString(2).replaceAll("0", "").length, 0);
  const row = planes / vectors;
  const plane = { scanBytes: row - 4 * DIMENSION, rescoringBytes: 4 * DIMENSION };
  return { bytes: bytes.length, parts, planes, vectors, ...plane, ratio: bytes.length / (planes + parts.texts) };
}

/** Loads into a new engine; gives it. */
async function loader(bytes) {
  const { Engine, initSync } = await import("../../dist/wasm/countercheck.js");
  initSync({ module: readFileSync(join(dist, "countercheck_bg.wasm")) });
  const table = readFileSync(join(dist, "embedder.bin"));
  return (timer) => {
    const engine = new Engine();
    engine.setEmbedder(table);
    timer?.start();
    engine.load(bytes);
    timer?.end();
    return engine;
  };
}

/** Only copies the bytes into a memory: less no load can take. */
function copier(bytes) {
  const memory = new WebAssembly.Memory({ initial: Math.ceil(bytes.length / 65_536) });
  return (timer) => {
    timer.start();
    new Uint8Array(memory.buffer).set(bytes);
    timer.end();
  };
}

function timed(work) {
  let [cpu, wall] = [0, 0];
  const timer = {
    start: () => ([cpu, wall] = [process.cpuUsage(), performance.now()]),
    end: () => {
      wall = performance.now() - wall;
      cpu = process.cpuUsage(cpu);
    },
  };
  work(timer)?.free();
  return { cpuMs: (cpu.user + cpu.system) / 1e3, ms: wall };
}

/** The medians and the best. */
function middle(all) {
  const sorted = (key) => all.map((one) => one[key]).sort((a, b) => a - b);
  const median = (key) => sorted(key)[all.length >> 1];
  return { cpuMs: median("cpuMs"), ms: median("ms"), bestMs: sorted("ms")[0] };
}

/** Of each question alone after a load, when texts have yet to be decompressed, and once more. */
function searches(load) {
  const questions = readQuestions().filter(({ language }) => language === "en").slice(0, 40);
  const spent = [[], []];
  for (const { question } of questions) {
    const engine = load();
    for (const times of spent) {
      const started = performance.now();
      engine.search({ query: question, k: 10 });
      times.push({ cpuMs: 0, ms: performance.now() - started });
    }
    engine.free();
  }
  const [firstSearch, search] = spent.map((times) => middle(times).ms);
  return { firstSearchMs: firstSearch, searchMs: search };
}
