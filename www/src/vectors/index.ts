// `countercheck/vectors`: search for near vectors, without documents, words or a model.
//
// The module comes from beside this script; engines with relaxed SIMD get a faster scan with it.

import { CountercheckError } from "../client/error.ts";
import { loadBytes } from "../client/source.ts";
import type { Source } from "../client/types.ts";
import { VectorIndex, checkNames } from "./vector-index.ts";
import type { Metric } from "./vector-index.ts";

export { CountercheckError, VectorIndex };
export type { Source };
export type { Metric, VectorHit, VectorMemory, VectorSearchOptions } from "./vector-index.ts";

/** Where the module comes from. */
export interface VectorModuleOptions {
  /** `vectors.wasm`, compiled or where it is; by default beside this script. */
  wasm?: Source | WebAssembly.Module;
  /** Whether to scan by relaxed SIMD where the engine has it; what is found is the same. By default true. */
  relaxed?: boolean;
}

/** How an index is made. */
export interface VectorIndexOptions extends VectorModuleOptions {
  /** The number of components of each vector. */
  dimension: number;
  /** How near two vectors are; by default the cosine. */
  metric?: Metric;
}

let own: Promise<WebAssembly.Module> | undefined;

/**
 * Makes an empty index.
 *
 * @example
 * const index = await createVectorIndex({ dimension: 384 });
 * index.add("intro", vector);
 * const [best] = index.search(query, 1);
 */
export async function createVectorIndex(options: VectorIndexOptions): Promise<VectorIndex> {
  checkNames("createVectorIndex", options, ["dimension", "metric", "wasm", "relaxed"]);
  const { dimension, metric = "cosine", wasm, relaxed = true } = options;
  return VectorIndex.make(await moduleOf(wasm), { dimension, metric }, relaxed);
}

/** Makes an index of what `save` returned. */
export async function loadVectorIndex(file: Source, options: VectorModuleOptions = {}): Promise<VectorIndex> {
  checkNames("loadVectorIndex", options, ["wasm", "relaxed"]);
  const { wasm, relaxed = true } = options;
  const [module, bytes] = await Promise.all([moduleOf(wasm), loadBytes(file, "the vectors", "Check their address.")]);
  return VectorIndex.make(module, bytes, relaxed);
}

/** The package's own module is compiled once; a failed attempt does not stand in the way of the next. */
async function moduleOf(wasm: Source | WebAssembly.Module | undefined): Promise<WebAssembly.Module> {
  if (wasm instanceof WebAssembly.Module) return wasm;
  if (wasm !== undefined) return compiled(wasm);
  own ??= compiled(new URL("./vectors.wasm", import.meta.url)).catch((error: unknown) => {
    own = undefined;
    throw error;
  });
  return own;
}

async function compiled(source: Source): Promise<WebAssembly.Module> {
  const hint = "Serve vectors.wasm beside the script, or pass it as `wasm`.";
  const bytes = await loadBytes(source, "the module of vectors", hint);
  return WebAssembly.compile(bytes as Uint8Array<ArrayBuffer>).catch((cause: unknown) => {
    throw new CountercheckError("load_failed", `the module of vectors could not be compiled: ${String(cause)}. ${hint}`, { cause });
  });
}
