// What TypeScript users of the package see: declarations of the entries and all they reach.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { dist, root } from "./paths.mjs";
import { run } from "./run.mjs";

/** Writes dist/types, one declaration beside another as the sources are, by tsconfig.types.json. */
export async function declareTypes() {
  rmSync(join(dist, "types"), { recursive: true, force: true });
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  // The sources name wasm-bindgen's glue, which has been made by now.
  await run(process.execPath, [tsc, "--project", join(root, "tsconfig.types.json")]);
}
