// The graph beside the scan in wasm: node graph.mjs FILE.ccx…, of what `graph.rs` has kept, of GRAPH_FROM rows or more.
//
// The module with models searches the graph, the small one scans; by the same arithmetic, for the same ten hits of the
// same queries. Ten queries at a time go to each in turn; times are the medians of each query's best.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { dist } from "../../scripts/lib/paths.mjs";
import { passages } from "./texts.mjs";

const QUERIES = 100;
const BATCH = 10;
const ROUNDS = 40;
const MODULES = { scan: ["wasm/countercheck.js", "countercheck_bg.wasm"], graph: ["wasm-models/countercheck_models.js", "countercheck_models_bg.wasm"] };

const table = readFileSync(join(dist, "embedder.bin"));
// Of other texts than the rows: the last there are.
const queries = passages(Infinity, 100).slice(-QUERIES).map((text) => text.slice(0, 80));

for (const file of process.argv.slice(2)) {
  const snapshot = readFileSync(file);
  const engines = {};
  for (const [name, [glue, module]] of Object.entries(MODULES)) {
    const { Engine, initSync } = await import(`../../dist/${glue}`);
    initSync({ module: readFileSync(join(dist, module)) });
    const engine = new Engine();
    engine.setEmbedder(table);
    const started = performance.now();
    engine.load(snapshot);
    engines[name] = { engine, loadMs: performance.now() - started, best: queries.map(() => Infinity), found: [] };
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    for (let from = 0; from < queries.length; from += BATCH) {
      for (const measured of Object.values(engines)) search(measured, from);
    }
  }
  const { scan, graph } = engines;
  const right = queries.map((_, at) => graph.found[at].filter((id) => scan.found[at].includes(id)).length);
  const recall = right.reduce((sum, one) => sum + one, 0) / scan.found.flat().length;
  const ms = ({ best }) => best.sort((a, b) => a - b)[best.length >> 1].toFixed(3);
  console.log(`${file}: scan ${ms(scan)} ms, graph ${ms(graph)} ms, recall@10 ${recall.toFixed(4)}, load ${scan.loadMs.toFixed(0)} and ${graph.loadMs.toFixed(0)} ms`);
  for (const { engine } of Object.values(engines)) engine.free();
}

function search({ engine, best, found }, from) {
  for (let at = from; at < Math.min(from + BATCH, queries.length); at += 1) {
    const started = performance.now();
    const result = engine.search({ query: queries[at], k: 10 });
    best[at] = Math.min(best[at], performance.now() - started);
    // The small module gives an object, the other one its text, with JavaScript's names.
    const { hits } = typeof result === "string" ? JSON.parse(result) : result;
    found[at] = hits.map((hit) => hit.passageId ?? hit.passage_id);
  }
}
