// Which embedding model a command asks, if any. Its key comes from the environment: a command line is
// seen by everybody on the machine, and kept in a history.

import { openaiEmbeddings } from "../node.ts";
import type { AssistantOptions } from "../node.ts";
import { misuse } from "./failure.ts";

/** The options of a command that name a model. */
export interface EmbeddingOptions {
  "embed-url"?: string | undefined;
  "embed-model"?: string | undefined;
  "embed-dimensions"?: string | undefined;
}

/** The variable with the key. */
const KEY = "COUNTERCHECK_EMBED_KEY";

/** What the options are to `createAssistant`: without a model nothing, and the table makes the vectors. */
export function embedding(options: EmbeddingOptions): Pick<AssistantOptions, "embed"> {
  const { "embed-url": baseUrl, "embed-model": model, "embed-dimensions": dimensions } = options;
  if (baseUrl === undefined && model === undefined && dimensions === undefined) return {};
  if (baseUrl === undefined || model === undefined) throw misuse("--embed-url and --embed-model go together");
  if (dimensions !== undefined && !/^\d{1,4}$/.test(dimensions)) {
    throw misuse(`--embed-dimensions ${dimensions} is not a whole number`);
  }
  const key = process.env[KEY];
  return {
    embed: openaiEmbeddings({
      baseUrl,
      model,
      ...(key === undefined || key === "" ? {} : { key }),
      ...(dimensions === undefined ? {} : { dimensions: Number(dimensions) }),
    }),
  };
}
