// `countercheck/vectors` in Node, Deno and Bun: the same names, with the module and files read from disk.

import { readFile } from "node:fs/promises";
import { createVectorIndex as create, loadVectorIndex as load } from "./index.ts";
import type { Source, VectorIndex, VectorIndexOptions, VectorModuleOptions } from "./index.ts";

export * from "./index.ts";

let own: Promise<WebAssembly.Module> | undefined;

/** Makes an empty index; see the browser's function of the same name. */
export async function createVectorIndex(options: VectorIndexOptions): Promise<VectorIndex> {
  return create({ ...options, wasm: options.wasm ?? (await beside()) });
}

/** Makes an index of what `save` returned, or of a file of it. */
export async function loadVectorIndex(file: Source, options: VectorModuleOptions = {}): Promise<VectorIndex> {
  const isPath = file instanceof URL ? file.protocol === "file:" : typeof file === "string" && !/^(?:https?|data|blob):/i.test(file);
  const bytes = isPath ? await readFile(file as string | URL) : file;
  return load(bytes, { ...options, wasm: options.wasm ?? (await beside()) });
}

function beside(): Promise<WebAssembly.Module> {
  own ??= readFile(new URL("./vectors.wasm", import.meta.url)).then((bytes) => WebAssembly.compile(bytes));
  return own;
}
