// Which module of the two an assistant in this page needs.

import type { AssistantOptions } from "../client/index.ts";
import type { Places, Services } from "./assistants.ts";

/** The services as options, with the module that can ask them. */
export function engineFor(
  { wasm, wasmModels }: Pick<Places, "wasm" | "wasmModels">,
  { chat, search }: Services,
): AssistantOptions {
  const module = chat === undefined && search === undefined ? wasm : wasmModels;
  return {
    ...(chat === undefined ? {} : { chat }),
    ...(search === undefined ? {} : { search }),
    ...(module === undefined ? {} : { wasm: module }),
  };
}
