// What TypeScript users of the package see: declarations of the entries and all they reach.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { dist, root } from "./paths.mjs";
import { run } from "./run.mjs";

/** Checks the TypeScript and writes dist/types, one declaration beside another as the sources are. */
export async function declareTypes() {
  const directory = join(dist, "types");
  rmSync(directory, { recursive: true, force: true });
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  // wasm-bindgen's glue is named by the sources: it has been made by now.
  const how = ["--noEmit", "false", "--declaration", "--emitDeclarationOnly", "--rootDir", join(root, "www", "src")];
  await run(process.execPath, [tsc, "--project", root, ...how, "--outDir", directory]);
}
