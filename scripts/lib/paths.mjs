// Where things are: the checkout, what it builds, and the cache of tools that outlives a checkout.
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The checkout, with a trailing slash. */
export const root = fileURLToPath(new URL("../../", import.meta.url));

/** Everything the build makes. */
export const dist = join(root, "dist");

/** Cargo's output. Each wasm product gets a directory of its own below it: see wasm.mjs. */
export const cargoTarget = process.env.CARGO_TARGET_DIR || join(root, "target");

/** Tools that setup makes, each in a directory named after its version. */
export const cache = process.env.COUNTERCHECK_CACHE || join(homedir(), ".cache", "countercheck");
