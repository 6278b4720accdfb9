// `countercheck` in Node, Deno and Bun: the same names, with files read from disk.
//
// The wasm module and the embedder lie beside this script; `index` may also be a path. The module is one of
// their own: nobody waits for its download, so it is compiled for speed, and has all in one.

import * as glue from "../../dist/wasm-node/countercheck_node.js";
import { CountercheckError, createIn, estimateIn } from "./client/index.ts";
import type { Assistant, AssistantOptions, Estimate, EstimateOptions } from "./client/index.ts";
import type { Kit } from "./client/kit.ts";
import type { Runtime } from "./client/runtime.ts";
import { isFile, reader } from "./files.ts";

export * from "./client/index.ts";
export { teacher } from "./teacher.ts";

const MODULE = "countercheck_node_bg.wasm";

const read = reader(CountercheckError);

let runtime: Runtime<glue.Engine> | undefined;

function ownModule({ Runtime }: Kit): Runtime<glue.Engine> {
  return (runtime ??= new Runtime(glue, () => beside(MODULE), MODULE));
}

/**
 * Makes an assistant; see the browser's function of the same name. A string that is no URL is a path.
 *
 * @example
 * const assistant = await createAssistant({ index: "docs.ccx" });
 */
export async function createAssistant(options: AssistantOptions = {}): Promise<Assistant> {
  if (options.endpoint !== undefined) return createIn(ownModule, options);
  const { embed, retrieve, teacher, wasm = beside(MODULE) } = options;
  const table = embed === undefined && retrieve === undefined && beside("embedder.bin");
  const [index, embedder = table] = await Promise.all([options.index, options.embedder]);
  const [wasmSource, embedderSource, indexSource] = await Promise.all([
    isFile(wasm) ? read(wasm, "the WebAssembly module") : wasm,
    isFile(embedder) ? read(embedder, "the embedder") : embedder,
    isFile(index) ? read(index, "the index") : index,
  ]);
  const { projection = beside("projection.f32") } = teacher ?? {};
  const taught = teacher && {
    encode: teacher.encode.bind(teacher),
    projection: isFile(projection) ? await read(projection, "the projection") : projection,
  };
  const sources = { ...options, ...(taught && { teacher: taught }), wasm: wasmSource, embedder: embedderSource };
  return createIn(ownModule, indexSource === undefined ? sources : { ...sources, index: indexSource });
}

/** Counts what a question will cost; see the browser's function of the same name. */
export async function estimate(options: EstimateOptions = {}): Promise<Estimate> {
  const { wasm = beside(MODULE) } = options;
  return estimateIn(ownModule, { ...options, wasm: isFile(wasm) ? await read(wasm, "the WebAssembly module") : wasm });
}

function beside(name: string): URL {
  return new URL(`./${name}`, import.meta.url);
}
