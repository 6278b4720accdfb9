// This package's index and the yardstick, each over one set.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createVectorIndex, loadVectorIndex } from "../../dist/vectors-node.js";
import { dist } from "../../scripts/lib/paths.mjs";

/** The index with or without relaxed SIMD, exact or approximate. */
export async function ours(set, relaxed, approximate = false) {
  const wasm = await WebAssembly.compile(readFileSync(join(dist, "vectors.wasm")));
  const names = Array.from({ length: set.rows }, (_, at) => String(at));
  let index;
  return {
    async build() {
      index = await createVectorIndex({ dimension: set.dimension, wasm, relaxed });
      names.forEach((id, at) => index.add(id, set.row(at)));
    },
    search: (query) => index.search(query, 10, { approximate }).map(({ id }) => Number(id)),
    memory: () => index.memory,
    async save() {
      const file = index.save();
      await loadVectorIndex(file, { wasm, relaxed });
      const started = performance.now();
      const loaded = await loadVectorIndex(file, { wasm, relaxed });
      const loadMs = performance.now() - started;
      loaded.dispose();
      return { bytes: file.length, loadMs };
    },
  };
}

/** The scan of `f32` rows, and how fast it can read them. */
export function yardstick(set, module) {
  const { memory, room, scan, touch, top } = new WebAssembly.Instance(module).exports;
  const data = room(set.flat.byteLength);
  const query = room(set.dimension * 4);
  new Float32Array(memory.buffer, data, set.flat.length).set(set.flat);
  return {
    search(vector, k = 10) {
      new Float32Array(memory.buffer, query, set.dimension).set(vector);
      const found = new Uint32Array(memory.buffer, top(), 2 * scan(data, set.rows, set.dimension, query, k));
      return Array.from({ length: found.length / 2 }, (_, at) => found[2 * at + 1]);
    },
    /** Bytes a second, the best of a few. */
    bandwidth() {
      const bytes = Math.floor(set.flat.byteLength / 64) * 64;
      const times = Array.from({ length: 9 }, () => {
        const started = performance.now();
        touch(data, bytes);
        return performance.now() - started;
      });
      return bytes / (Math.min(...times) / 1000);
    },
  };
}
