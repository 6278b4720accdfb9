// `countercheck/vectors` in Node, Deno and Bun: the same names, with the module and files read from disk.

import { isFile, reader } from "../files.ts";
import { CountercheckError, createVectorIndex as create, loadVectorIndex as load } from "./index.ts";
import type { Source, VectorIndex, VectorIndexOptions, VectorModuleOptions } from "./index.ts";

export * from "./index.ts";

const read = reader(CountercheckError);

let own: Promise<WebAssembly.Module> | undefined;

/** Makes an empty index; see the browser's function of the same name. */
export async function createVectorIndex(options: VectorIndexOptions): Promise<VectorIndex> {
  return create({ ...options, wasm: await moduleOf(options) });
}

/** Makes an index of what `save` returned, or of a file of it. */
export async function loadVectorIndex(file: Source, options: VectorModuleOptions = {}): Promise<VectorIndex> {
  const bytes = isFile(file) ? await read(file, "the vectors") : file;
  return load(bytes, { ...options, wasm: await moduleOf(options) });
}

async function moduleOf({ wasm = beside() }: VectorModuleOptions): Promise<NonNullable<VectorModuleOptions["wasm"]>> {
  return isFile(wasm) ? read(wasm, "the module of vectors") : wasm;
}

function beside(): Promise<WebAssembly.Module> {
  own ??= read(new URL("./vectors.wasm", import.meta.url), "the module of vectors").then((bytes) => WebAssembly.compile(bytes as BufferSource));
  return own;
}
