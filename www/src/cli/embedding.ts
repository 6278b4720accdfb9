// Which embedding model a command asks, if any. Its key comes from the environment: a command line is
// seen by everybody on the machine, and kept in a history.

import type { AssistantOptions, EmbeddingModel } from "../node.ts";
import { keyOf } from "./chat.ts";
import { misuse } from "./failure.ts";

/** The options of a command that name a model. */
export interface EmbeddingOptions {
  "embed-url"?: string | undefined;
  "embed-model"?: string | undefined;
  "embed-vendor"?: string | undefined;
  "embed-dimensions"?: string | undefined;
}

/** The variable with the key. */
const KEY = "COUNTERCHECK_EMBED_KEY";

/** What the options are to `createAssistant`: without a model nothing, and the table makes the vectors. */
export function embedding(options: EmbeddingOptions): Pick<AssistantOptions, "embed"> {
  const { "embed-url": baseUrl, "embed-model": model, "embed-vendor": vendor, "embed-dimensions": dimensions } = options;
  if ([baseUrl, model, vendor, dimensions].every((option) => option === undefined)) return {};
  if (model === undefined || (baseUrl === undefined && vendor === undefined)) {
    throw misuse("--embed-model and --embed-url or --embed-vendor go together");
  }
  if (dimensions !== undefined && !/^\d{1,4}$/.test(dimensions)) {
    throw misuse(`--embed-dimensions ${dimensions} is not a whole number`);
  }
  const embed: EmbeddingModel = { kind: "embeddings", vendor: vendor ?? "openai", model, ...keyOf(KEY) };
  if (baseUrl !== undefined) embed.baseUrl = baseUrl;
  if (dimensions !== undefined) embed.dimensions = Number(dimensions);
  return { embed };
}
