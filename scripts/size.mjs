// `npm run size`: what a page downloads, what the Worker uploads and what Node reads, against size-budget.json.
//
// "browser" is the wasm module and the client with its glue, which together index and answer. The
// embedder's table, the client of a Worker and the custom element are loaded on demand and listed apart.
// Bytes; gzip at level 9 and brotli at 11, as a host that compresses ahead of time serves them.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { build } from "./build.mjs";
import { root } from "./lib/paths.mjs";
import { script } from "./lib/stop.mjs";
import { setup } from "./setup.mjs";

/** The files of each part; esbuild calls `chunk-…` what the client always loads with itself. */
function parts() {
  const chunks = readdirSync(join(root, "dist", "chunks")).map((name) => `dist/chunks/${name}`).sort();
  const isShared = (path) => path.includes("/chunk-");
  const named = (name) => chunks.filter((path) => path.includes(`/${name}-`));
  return {
    browser: ["dist/countercheck_bg.wasm", "dist/countercheck.js", ...chunks.filter(isShared)],
    worker: ["dist/worker/index_bg.wasm", "dist/worker/entry.js"],
    // In place of the small module, for pages that ask a model or search the web.
    models: ["dist/countercheck_models_bg.wasm", "dist/countercheck.js", ...chunks.filter(isShared), ...named("connect")],
    // On disk: nobody downloads it by itself.
    node: ["dist/countercheck_node_bg.wasm", "dist/node.js", "dist/countercheck.js", ...chunks.filter(isShared), ...named("connect")],
    vectors: ["dist/vectors.wasm", "dist/vectors.js"],
    // Of the command line alone.
    graph: ["dist/graph.wasm"],
    remote: named("remote"),
    element: ["dist/element.js"],
    settings: ["dist/settings.js"],
    embedder: ["assets/embedder.bin"],
  };
}

async function main() {
  await setup({ browser: false });
  await build();
  const budget = JSON.parse(readFileSync(new URL("size-budget.json", import.meta.url), "utf8"));
  const result = {};
  for (const [part, files] of Object.entries(parts())) {
    const sizes = files.map((file) => measure(file));
    const sum = (key) => sizes.reduce((total, size) => total + size[key], 0);
    const limit = budget[part]?.gzip;
    result[part] = { raw: sum("raw"), gzip: sum("gzip"), brotli: sum("brotli"), budget: limit };
    console.log(`${part}: ${row(result[part])}${limit === undefined ? "" : `  budget ${limit} gzip`}`);
    if (files.length > 1) files.forEach((file, i) => console.log(`  ${file}: ${row(sizes[i])}`));
  }
  const over = Object.keys(result).filter((part) => result[part].gzip > result[part].budget);
  for (const part of over) console.error(`size: ${part} is ${result[part].gzip - result[part].budget} bytes over its budget`);
  console.log(`RESULT ${JSON.stringify(result)}`);
  return over.length > 0 ? 1 : 0;
}

function measure(file) {
  const bytes = readFileSync(join(root, file));
  return { raw: bytes.length, gzip: gzipSync(bytes, { level: 9 }).length, brotli: brotliCompressSync(bytes).length };
}

function row({ raw, gzip, brotli }) {
  return `${raw} raw, ${gzip} gzip, ${brotli} brotli`;
}

await script("size", main);
