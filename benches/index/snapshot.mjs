// What loading a whole index takes: node snapshot.mjs. Prints one line of JSON.
//
// The index holds some 10,000 passages of texts on this machine, with their words and the table's vectors. Loading
// is from bytes that are there to the first hit; best of several, in CPU time and on the clock.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { dist, root } from "../../scripts/lib/paths.mjs";
import { passages } from "./texts.mjs";

const WANTED = 10_000;
const { Engine, initSync } = await import(join(dist, "wasm", "countercheck.js"));
initSync({ module: readFileSync(join(dist, "wasm", "countercheck_bg.wasm")) });
const engine = new Engine();
engine.setEmbedder(readFileSync(join(root, "assets", "embedder.bin")));
const texts = passages(WANTED);
let added = 0;
for (let at = 0; at < texts.length && added < WANTED; at += 20) {
  added += engine.add({ id: `texts/${at}`, text: texts.slice(at, at + 20).join("\n\n") }).passages;
}
const bytes = engine.save();
const loads = Array.from({ length: 15 }, () => {
  const fresh = new Engine();
  const [cpu, started] = [process.cpuUsage(), performance.now()];
  fresh.load(bytes);
  const [wall, { user, system }] = [performance.now() - started, process.cpuUsage(cpu)];
  const begun = performance.now();
  fresh.search({ query: "request body limit", k: 5 });
  const first = performance.now() - begun;
  fresh.free();
  return { cpuMs: (user + system) / 1e3, wallMs: wall, firstSearchMs: first };
});
const best = (key) => Math.min(...loads.map((load) => load[key]));
const text = texts.join("\n").length;
console.log(JSON.stringify({ passages: added, textBytes: text, fileBytes: bytes.length, fileGzip: gzipSync(bytes).length, cpuMs: best("cpuMs"), wallMs: best("wallMs"), firstSearchMs: best("firstSearchMs") }));
