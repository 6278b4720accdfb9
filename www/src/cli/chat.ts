// By which strategy a question is answered, and by which model, if any. Its key comes from the environment,
// as that of an embedding model does.

import { completions, openai } from "../node.ts";
import type { AskDefaults, AssistantOptions } from "../node.ts";
import { misuse } from "./failure.ts";

/** The options of a command that name a model or a strategy. */
export interface ChatOptions {
  "chat-url"?: string | undefined;
  "chat-model"?: string | undefined;
  "chat-protocol"?: string | undefined;
  strategy?: string | undefined;
}

/** The variable with the key. */
const KEY = "COUNTERCHECK_CHAT_KEY";

const PROTOCOLS = { chat: openai, completions };

/** What the options are to `createAssistant`: without a model nothing, and the built-in solver answers. */
export function answering(options: ChatOptions): Pick<AssistantOptions, "chat" | "defaults"> {
  const { "chat-url": baseUrl, "chat-model": model, "chat-protocol": protocol = "chat", strategy } = options;
  const defaults: { defaults?: AskDefaults } = strategy === undefined ? {} : { defaults: { strategy } };
  if (!Object.hasOwn(PROTOCOLS, protocol)) throw misuse(`--chat-protocol ${protocol} is neither chat nor completions`);
  if (baseUrl === undefined && model === undefined && options["chat-protocol"] === undefined) return defaults;
  if (baseUrl === undefined || model === undefined) throw misuse("--chat-url and --chat-model go together");
  const key = process.env[KEY];
  const of = PROTOCOLS[protocol as keyof typeof PROTOCOLS];
  return { ...defaults, chat: of({ baseUrl, model, ...(key === undefined || key === "" ? {} : { key }) }) };
}
