// `countercheck/vectors` in Cloudflare Workers: the same names, with the module imported, since none can be
// compiled there; nor can the faster scan.

import module from "../../../dist/vectors.wasm";
import { createVectorIndex as create, loadVectorIndex as load } from "./index.ts";
import type { Source, VectorIndex, VectorIndexOptions, VectorModuleOptions } from "./index.ts";

export * from "./index.ts";

/** Makes an empty index; see the browser's function of the same name. */
export function createVectorIndex(options: VectorIndexOptions): Promise<VectorIndex> {
  return create({ wasm: module, ...options });
}

/** Makes an index of what `save` returned; see the browser's function of the same name. */
export function loadVectorIndex(file: Source, options: VectorModuleOptions = {}): Promise<VectorIndex> {
  return load(file, { wasm: module, ...options });
}
