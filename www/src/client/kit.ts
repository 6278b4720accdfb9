// What the client shares with the parts of it that are loaded on demand. They get it as an argument: what
// two bundles import would become files of their own, each another request of every page.

import type { Engine } from "../../../dist/wasm-models/countercheck_models.js";
import { camelKeys, shown, snakeKeys } from "./case.ts";
import { CountercheckError, abortError, inCamelCase } from "./error.ts";
import { LocalBackend } from "./local.ts";
import { Runtime } from "./runtime.ts";
import { loadBytes } from "./source.ts";

/** Given to each part that is loaded on demand. */
export const kit = { CountercheckError, LocalBackend, Runtime, abortError, camelKeys, inCamelCase, loadBytes, shown, snakeKeys };

/** Its type, which may be imported. */
export type Kit = typeof kit;

/** A host's own module: gives its runtime, always the same. */
export type OwnModule = (shared: Kit) => Runtime<Engine>;
