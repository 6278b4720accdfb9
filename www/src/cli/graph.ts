// The neighbour graph of an index: made by a module of its own (see ../graph/module.rs), which nothing else loads.

import { readFileSync } from "node:fs";
import { Failure } from "./failure.ts";

/** Decides the links, so the same documents give the same file. */
const SEED = 1;
const FAILED = 0xffff_ffff;

interface Exports {
  memory: WebAssembly.Memory;
  room(length: number): number;
  link(seed: number): number;
  result(): number;
  result_length(): number;
}

/** The same snapshot with its vectors linked. */
export async function withGraph(snapshot: Uint8Array): Promise<Uint8Array> {
  const { instance } = await WebAssembly.instantiate(readFileSync(new URL("./graph.wasm", import.meta.url)), {});
  const { memory, room, link, result, result_length } = instance.exports as unknown as Exports;
  const found = () => new Uint8Array(memory.buffer, result() >>> 0, result_length() >>> 0);
  const at = room(snapshot.length) >>> 0;
  if (at === 0) throw new Failure("there is no memory to link so many vectors: index without --graph");
  new Uint8Array(memory.buffer, at).set(snapshot);
  try {
    if (link(SEED) >>> 0 === FAILED) throw new Failure(new TextDecoder().decode(found()));
  } catch (cause) {
    // Without memory for it the module traps.
    if (cause instanceof WebAssembly.RuntimeError)
      throw new Failure("the vectors could not be linked: index without --graph", { cause });
    throw cause;
  }
  return found().slice();
}
