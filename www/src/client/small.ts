// The small module: search and the built-in solver, all that a page without models needs.

import * as glue from "../../../dist/wasm/countercheck.js";
import { Runtime } from "./runtime.ts";

/** The runtime of assistants without models. */
export const smallRuntime = new Runtime(
  glue,
  () => new URL("./countercheck_bg.wasm", import.meta.url),
  "countercheck_bg.wasm",
);
