// `countercheck` in Cloudflare Workers: the same names, with the wasm module imported, since none can be
// compiled there.
//
// A Worker has no files beside its script, and the embedder is most of an upload: whether and whence it
// comes is for the caller to say, so that nobody searches by words alone without knowing.

import module from "../../dist/countercheck_bg.wasm";
import { CountercheckError, createAssistant as create, estimate as estimateWith } from "./client/index.ts";
import type { Assistant, AssistantOptions, Estimate, EstimateOptions } from "./client/index.ts";

export * from "./client/index.ts";

/**
 * Makes an assistant; see the browser's function of the same name. Here `embedder`, `embed` or `retrieve` must be given.
 *
 * @example
 * import embedder from "countercheck/embedder.bin";
 * const index = await env.ASSETS.fetch("https://assets/docs.ccx");
 * const assistant = await createAssistant({ index, embedder });
 */
export async function createAssistant(options: AssistantOptions = {}): Promise<Assistant> {
  const { chat, search, embed, retrieve, teacher, embedder, endpoint } = options;
  if ([endpoint, embedder, embed, retrieve].every((given) => given === undefined)) {
    throw new CountercheckError(
      "invalid_option",
      "in a Worker `embedder` must be given: what `countercheck/embedder.bin` imports, " +
        "a response with embedder.bin, or `false` to search by words alone; or `embed`, a model that is asked",
    );
  }
  if (endpoint !== undefined) return create(options);
  const hasModels = [chat, search, embed, retrieve, teacher].some((service) => service !== undefined);
  const ingestWasm = async () => (await import("../../dist/countercheck_models_bg.wasm")).default;
  return create({ wasm: hasModels ? await ingestWasm() : module, ingestWasm, ...options });
}

/** Counts what a question will cost; see the browser's function of the same name. */
export async function estimate(options: EstimateOptions = {}): Promise<Estimate> {
  const wasm = (await import("../../dist/countercheck_models_bg.wasm")).default;
  return estimateWith({ wasm, ...options });
}
