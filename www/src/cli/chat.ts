// By which strategy a question is answered, and by which model, if any. Its key comes from the environment,
// as that of an embedding model does.

import { completions } from "../node.ts";
import type { AskDefaults, AssistantOptions, ChatModel } from "../node.ts";
import { misuse } from "./failure.ts";

/** The options of a command that name a model or a strategy. */
export interface ChatOptions {
  "chat-url"?: string | undefined;
  "chat-model"?: string | undefined;
  "chat-vendor"?: string | undefined;
  "chat-protocol"?: string | undefined;
  strategy?: string | undefined;
}

/** The variable with the key. */
const KEY = "COUNTERCHECK_CHAT_KEY";

const PROTOCOLS = ["chat", "completions"];

/** What the options are to `createAssistant`: without a model nothing, and the built-in solver answers. */
export function answering(options: ChatOptions): Pick<AssistantOptions, "chat" | "defaults"> {
  const { "chat-url": baseUrl, "chat-model": model, "chat-vendor": vendor, "chat-protocol": protocol, strategy } = options;
  const defaults: { defaults?: AskDefaults } = strategy === undefined ? {} : { defaults: { strategy } };
  if (protocol !== undefined && !PROTOCOLS.includes(protocol)) {
    throw misuse(`--chat-protocol ${protocol} is neither chat nor completions`);
  }
  if ([baseUrl, model, vendor, protocol].every((option) => option === undefined)) return defaults;
  if (model === undefined || (baseUrl === undefined && vendor === undefined)) {
    throw misuse("--chat-model and --chat-url or --chat-vendor go together");
  }
  if (protocol === "completions") {
    if (baseUrl === undefined) throw misuse("--chat-protocol completions needs --chat-url");
    if (vendor !== undefined) throw misuse("--chat-protocol completions has no --chat-vendor: leave one of them out");
    return { ...defaults, chat: completions({ baseUrl, model, ...keyOf(KEY) }) };
  }
  const chat: ChatModel = { kind: "chat", vendor: vendor ?? "openai", model, ...keyOf(KEY) };
  return { ...defaults, chat: baseUrl === undefined ? chat : { ...chat, baseUrl } };
}

/** The key in a variable, if there is one. */
export function keyOf(variable: string): { key?: string } {
  const key = process.env[variable];
  return key === undefined || key === "" ? {} : { key };
}
