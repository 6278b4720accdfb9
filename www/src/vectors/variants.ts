// Which of the two modules an engine gets: both find the same, one of them faster.

/** A function that multiplies bytes by relaxed SIMD, `i32x4.relaxed_dot_i8x16_i7x16_add_s` of three zeros. */
const PROBE = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 18, 1, 16, 0,
  65, 0, 253, 15, 65, 0, 253, 15, 65, 0, 253, 15, 253, 147, 2, 11,
]);

/** The name of the module for this engine. Safari and Node 20 have no relaxed SIMD. */
export function moduleName(): string {
  return WebAssembly.validate(PROBE) ? "vectors_relaxed.wasm" : "vectors.wasm";
}
