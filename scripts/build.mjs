// Builds dist/: the wasm modules, the bundles, the static site. What did not change is not made again.
//
//   node scripts/build.mjs              everything
//   node scripts/build.mjs browser      only what pages and Node load
//   node scripts/build.mjs vectors      only the vector index
//   node scripts/build.mjs worker       only the Worker
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { bundleLibrary, bundlePages, bundleVectors, bundleWorker } from "./lib/bundle.mjs";
import { dist, root } from "./lib/paths.mjs";
import { assembleSite, copyIfChanged } from "./lib/site.mjs";
import { Stop, isMain, script } from "./lib/stop.mjs";
import { declareTypes } from "./lib/types.mjs";
import { browserModule, buildGraph, buildVectors, buildWasm, modelsModule, nodeModule, wasmFile, workerModule } from "./lib/wasm.mjs";
import { setup } from "./setup.mjs";

/** The modules, the library around them, and the site that serves both. */
async function buildBrowser() {
  for (const module of [browserModule, modelsModule, nodeModule]) {
    await buildWasm(module);
    // The library looks for its files beside itself.
    copyIfChanged(wasmFile(module), join(dist, `${module.name}_bg.wasm`));
  }
  await buildVectorIndex();
  copyIfChanged(await buildGraph(), join(dist, "graph.wasm"));
  for (const name of ["embedder.bin", "projection.f32"]) copyIfChanged(join(root, "assets", name), join(dist, name));
  await bundleLibrary();
  await declareTypes();
  chmodSync(join(dist, "cli.js"), 0o755);
  assembleSite(await bundlePages());
  console.log("build: library and site: made");
}

/** The vector index alone: its module and entries. It is part of the library. */
async function buildVectorIndex() {
  copyIfChanged(await buildVectors(), join(dist, "vectors.wasm"));
  await bundleVectors();
}

/** The Worker: its module and the entry that wrangler starts from. */
async function buildWorker() {
  await buildWasm(workerModule);
  await bundleWorker();
  console.log("build: Worker: made");
}

const products = { browser: buildBrowser, vectors: buildVectorIndex, worker: buildWorker };

/**
 * Builds; setup must have run.
 * @param {string[]} [names] of products, by default all
 */
export async function build(names = ["browser", "worker"]) {
  for (const name of names) {
    if (!Object.hasOwn(products, name)) throw new Stop(`no product ${name}: there are ${Object.keys(products).join(" and ")}`);
    await products[name]();
  }
}

async function main() {
  const names = process.argv.slice(2);
  await setup({ browser: false });
  await build(names.length > 0 ? names : undefined);
}

if (isMain(import.meta.url)) await script("build", main);
