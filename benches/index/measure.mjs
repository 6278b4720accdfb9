// One peer on one set, in a process of its own: node measure.mjs SET PEER KERNEL. Prints one line of JSON.
//
// The yardstick, this package's index with and without relaxed SIMD and the peer answer ten queries in turn, so that whatever else
// the machine does hits all of them alike. Wall time is the best of the rounds, by query; CPU time is of all
// threads, and the mean.
import { readFileSync } from "node:fs";
import { ours, yardstick } from "./ours.mjs";
import { PEERS } from "./peers.mjs";
import { SETS, load } from "./sets.mjs";

const [setName, peerName, kernel] = process.argv.slice(2);
const BUDGET_MS = Number(process.env.BUDGET_MS ?? 3_000);
const QUERIES = 50;
/** Queries to one before the next has its turn: an index is asked more than once, and finds its own caches. */
const BATCH = 10;
/** Rows from which on an approximate search is measured too. */
const LARGE = 5_000;

const memories = watchMemories();
const set = load(SETS.find(({ name }) => name === setName));
const base = yardstick(set, new WebAssembly.Module(readFileSync(kernel)));
const queries = Array.from({ length: Math.min(QUERIES, set.queries) }, (_, at) => set.query(at).slice());
const truth = queries.map((query) => new Set(base.search(query)));

const competitors = { plain: await ours(set, false), relaxed: await ours(set, true) };
if (set.rows >= LARGE) competitors.approximate = await ours(set, true, true);
if (peerName !== "none") competitors.peer = await PEERS[peerName].make(set);
const report = { set: setName, peer: peerName, bandwidth: base.bandwidth(), rows: {} };
for (const [name, competitor] of Object.entries(competitors)) report.rows[name] = await build(competitor);
competitors.f32 = base;
report.rows.f32 = {};
await searchAll();
for (const [name, { save, end }] of Object.entries(competitors)) {
  Object.assign(report.rows[name], await save?.());
  await end?.();
}
console.log(JSON.stringify(report));
process.exit(0);

async function build({ build, memory }) {
  globalThis.gc?.();
  const [before, wasm] = [process.memoryUsage(), wasmBytes()];
  const [cpu, started] = [process.cpuUsage(), performance.now()];
  await build();
  const spent = process.cpuUsage(cpu);
  const wallS = (performance.now() - started) / 1e3;
  globalThis.gc?.();
  const after = process.memoryUsage();
  const heap = after.heapUsed + after.external - before.heapUsed - before.external;
  return { buildCpuS: (spent.user + spent.system) / 1e6, buildS: wallS, wasmBytes: wasmBytes() - wasm, heapBytes: heap, rssBytes: after.rss - before.rss, ...memory?.() };
}

async function searchAll() {
  const names = Object.keys(competitors);
  const measured = Object.fromEntries(names.map((name) => [name, { best: queries.map(() => Infinity), cpu: 0, calls: 0, right: 0 }]));
  for (let round = 0, started = performance.now(); round < 3 || performance.now() - started < BUDGET_MS; round += 1) {
    for (let from = 0; from < queries.length; from += BATCH) {
      for (const name of names) {
        const into = measured[name];
        const cpu = process.cpuUsage();
        for (let at = from; at < Math.min(from + BATCH, queries.length); at += 1) {
          const begun = performance.now();
          let found = competitors[name].search(queries[at]);
          if (found instanceof Promise) found = await found;
          into.best[at] = Math.min(into.best[at], performance.now() - begun);
          if (round === 0) into.right += found.filter((row) => truth[at].has(Number(row))).length;
          else into.calls += 1;
        }
        const { user, system } = process.cpuUsage(cpu);
        // The first round warms up.
        if (round > 0) into.cpu += user + system;
      }
    }
    if (round > 40) break;
  }
  for (const name of names) {
    const { best, cpu, calls, right } = measured[name];
    best.sort((a, b) => a - b);
    const p = (share) => best[Math.min(best.length - 1, Math.floor(best.length * share))];
    Object.assign(report.rows[name], { recall: right / (10 * queries.length), p50: p(0.5), p99: p(0.99), cpuMs: cpu / calls / 1e3 });
  }
}

/** Every memory that a module exports, so that its size can be asked for later. */
function watchMemories() {
  const found = new Set();
  const note = (exports) => Object.values(exports).filter((value) => value instanceof WebAssembly.Memory).forEach((memory) => found.add(memory));
  const { instantiate, Instance, Memory } = WebAssembly;
  WebAssembly.instantiate = async (...given) => {
    const made = await instantiate(...given);
    note((made.instance ?? made).exports);
    return made;
  };
  WebAssembly.Instance = new Proxy(Instance, {
    construct(target, given) {
      const made = new target(...given);
      note(made.exports);
      return made;
    },
  });
  WebAssembly.Memory = new Proxy(Memory, {
    construct(target, given) {
      const made = new target(...given);
      found.add(made);
      return made;
    },
  });
  return found;
}

function wasmBytes() {
  return [...memories].reduce((sum, memory) => sum + memory.buffer.byteLength, 0);
}
