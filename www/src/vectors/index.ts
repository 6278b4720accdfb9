// `countercheck/vectors`: search for near vectors, without documents, words or a model.
//
// The module comes from beside this script; engines with relaxed SIMD get the faster one of two.

import { CountercheckError } from "../client/error.ts";
import { loadBytes } from "../client/source.ts";
import type { Source } from "../client/types.ts";
import { moduleName } from "./variants.ts";
import { VectorIndex } from "./vector-index.ts";
import type { Metric } from "./vector-index.ts";

export { CountercheckError, VectorIndex };
export type { Source };
export type { Metric, VectorHit, VectorMemory, VectorSearchOptions } from "./vector-index.ts";

/** Where the module comes from. */
export interface VectorModuleOptions {
  /** `vectors.wasm` or `vectors_relaxed.wasm`, compiled or where it is; by default beside this script. */
  wasm?: Source | WebAssembly.Module;
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
export async function createVectorIndex({ dimension, metric = "cosine", wasm }: VectorIndexOptions): Promise<VectorIndex> {
  return VectorIndex.make(await moduleOf(wasm), { dimension, metric });
}

/** Makes an index of what `save` returned. */
export async function loadVectorIndex(file: Source, { wasm }: VectorModuleOptions = {}): Promise<VectorIndex> {
  const [module, bytes] = await Promise.all([moduleOf(wasm), loadBytes(file, "the vectors", "Check their address.")]);
  return VectorIndex.make(module, bytes);
}

/** The package's own module is compiled once; a failed attempt does not stand in the way of the next. */
async function moduleOf(wasm: Source | WebAssembly.Module | undefined): Promise<WebAssembly.Module> {
  if (wasm instanceof WebAssembly.Module) return wasm;
  if (wasm !== undefined) return compiled(wasm);
  own ??= compiled(addressOf(moduleName())).catch((error: unknown) => {
    own = undefined;
    throw error;
  });
  return own;
}

/** Written out, so that bundlers find both. */
function addressOf(name: string): URL {
  return name === "vectors.wasm"
    ? new URL("./vectors.wasm", import.meta.url)
    : new URL("./vectors_relaxed.wasm", import.meta.url);
}

async function compiled(source: Source): Promise<WebAssembly.Module> {
  const hint = "Serve vectors.wasm and vectors_relaxed.wasm beside the script, or pass one as `wasm`.";
  const bytes = await loadBytes(source, "the module of vectors", hint);
  return WebAssembly.compile(bytes as Uint8Array<ArrayBuffer>).catch((cause: unknown) => {
    throw new CountercheckError("load_failed", `the module of vectors could not be compiled: ${String(cause)}. ${hint}`, { cause });
  });
}
