// The scan by relaxed SIMD, where the engine has that: both scans give the same numbers, this one sooner.

import bytes from "../../../dist/vectors/scan.module";

/** What an index's module exports for a scan: its memory, and a place to put a function. */
export interface Scannable {
  memory: WebAssembly.Memory;
  __indirect_function_table: WebAssembly.Table;
  scan_by(place: number): void;
}

let scan: WebAssembly.Module | false | undefined;

/** Gives the faster scan to an index. Safari and Node 20 have no relaxed SIMD, and a Worker compiles nothing. */
export function scanFaster(index: Scannable): void {
  scan ??= compiled();
  if (scan === false) return;
  const { exports } = new WebAssembly.Instance(scan, { env: { memory: index.memory } });
  const place = index.__indirect_function_table.grow(1, exports.bounds);
  index.scan_by(place);
}

function compiled(): WebAssembly.Module | false {
  try {
    // So short that a page's main thread may compile it.
    return WebAssembly.validate(bytes) && new WebAssembly.Module(bytes);
  } catch {
    return false;
  }
}
