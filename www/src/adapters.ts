// `countercheck/adapters`: models that there are in JavaScript as functions for `chat`. None of them is
// carried along: each adapter is handed the model, or the functions of its library, by whoever imports that.

import type { ChatContext, ChatFunction, ChatReply, ChatRequest } from "./client/services.ts";

/** A piece of a reply as OpenAI's protocol has it. */
interface Chunk {
  choices: { delta: { content?: string | null }; finish_reason?: string | null }[];
  usage?: { prompt_tokens: number; completion_tokens: number } | null;
}

/** A reply of such pieces; their text is shown as it comes. */
async function joined(chunks: AsyncIterable<Chunk>, onText: ChatContext["onText"]): Promise<ChatReply> {
  const reply: ChatReply = { text: "", finish: "other" };
  for await (const { choices, usage } of chunks) {
    const [choice] = choices;
    const piece = choice?.delta.content ?? "";
    reply.text += piece;
    if (piece !== "") onText(piece);
    if (choice?.finish_reason) reply.finish = choice.finish_reason;
    if (usage) reply.usage = { inputTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens };
  }
  return reply;
}

/** What both of them are asked. */
function asked({ messages, temperature, maxTokens }: ChatRequest) {
  return { messages, stream: true as const, max_tokens: maxTokens, ...(temperature === undefined ? {} : { temperature }) };
}

/** An engine of WebLLM (`@mlc-ai/web-llm`). */
export interface WebLlmEngine {
  chat: {
    completions: {
      create(request: {
        messages: ChatRequest["messages"];
        stream: true;
        stream_options: { include_usage: true };
        max_tokens: number;
        temperature?: number;
        response_format?: { type: "json_object"; schema: string };
      }): Promise<AsyncIterable<Chunk>>;
    };
  };
  interruptGenerate(): unknown;
}

/**
 * A model in the page by WebLLM.
 *
 * @example
 * const engine = await CreateMLCEngine("Llama-3.2-1B-Instruct-q4f16_1-MLC", { initProgressCallback });
 * const assistant = await createAssistant({ index, chat: webLlm(engine) });
 */
export function webLlm(engine: WebLlmEngine): ChatFunction {
  // An engine writes one reply at a time, and interrupts whichever that is.
  return oneByOne(async (request, { signal, onText }) => {
    const format = request.schema && { type: "json_object" as const, schema: JSON.stringify(request.schema.schema) };
    const interrupt = () => void engine.interruptGenerate();
    signal.addEventListener("abort", interrupt, { once: true });
    try {
      const chunks = await engine.chat.completions.create({
        ...asked(request),
        stream_options: { include_usage: true },
        ...(format === undefined ? {} : { response_format: format }),
      });
      return await joined(chunks, onText);
    } finally {
      signal.removeEventListener("abort", interrupt);
    }
  });
}

/** An instance of wllama (`@wllama/wllama`, version 3) with its model loaded. */
export interface WllamaInstance {
  createChatCompletion(request: {
    messages: ChatRequest["messages"];
    stream: true;
    max_tokens: number;
    temperature?: number;
    abortSignal: AbortSignal;
    response_format?: { type: "json_schema"; json_schema: { name: string; schema: unknown; strict: boolean } };
  }): Promise<AsyncIterable<Chunk>>;
}

/**
 * A model in the page by wllama.
 *
 * @example
 * const wllama = new Wllama(paths);
 * await wllama.loadModelFromHF(repository, file);
 * const assistant = await createAssistant({ index, chat: wllamaChat(wllama) });
 */
export function wllamaChat(wllama: WllamaInstance): ChatFunction {
  return oneByOne(async (request, { signal, onText }) => {
    const { schema } = request;
    const format = schema && { type: "json_schema" as const, json_schema: { ...schema, strict: true } };
    const options = { ...asked(request), abortSignal: signal, ...(format === undefined ? {} : { response_format: format }) };
    return joined(await wllama.createChatCompletion(options), onText);
  });
}

/** A `text-generation` pipeline of transformers.js (`@huggingface/transformers`). */
export interface TextGenerator {
  (messages: ChatRequest["messages"], options: Record<string, unknown>): Promise<unknown>;
  readonly tokenizer: unknown;
}

/** What of transformers.js shows a reply while it is written, and stops it. */
export interface TransformersParts {
  // Its constructors take types of its own, which only it can name.
  TextStreamer?: new (tokenizer: never, options: never) => object;
  InterruptableStoppingCriteria?: new () => { interrupt(): void };
}

/**
 * A model in the page or in Node by transformers.js.
 *
 * @example
 * import { InterruptableStoppingCriteria, TextStreamer, pipeline } from "@huggingface/transformers";
 * const generator = await pipeline("text-generation", "onnx-community/Qwen2.5-0.5B-Instruct", { device: "webgpu" });
 * const chat = transformersJs(generator, { TextStreamer, InterruptableStoppingCriteria });
 */
export function transformersJs(generator: TextGenerator, parts: TransformersParts = {}): ChatFunction {
  const { TextStreamer, InterruptableStoppingCriteria } = parts;
  return oneByOne(async ({ messages, temperature = 0, maxTokens }, { signal, onText }) => {
    const stop = InterruptableStoppingCriteria && new InterruptableStoppingCriteria();
    const shown = { skip_prompt: true, skip_special_tokens: true, callback_function: onText };
    const streamer = TextStreamer && new TextStreamer(generator.tokenizer as never, shown as never);
    const interrupt = () => stop?.interrupt();
    signal.addEventListener("abort", interrupt, { once: true });
    try {
      const sampling = temperature > 0 ? { do_sample: true, temperature } : { do_sample: false };
      const [written] = (await generator(messages, {
        max_new_tokens: maxTokens,
        ...sampling,
        ...(streamer && { streamer }),
        ...(stop && { stopping_criteria: stop }),
      })) as { generated_text: { content: string }[] }[];
      return written?.generated_text.at(-1)?.content ?? "";
    } finally {
      signal.removeEventListener("abort", interrupt);
    }
  });
}

/** The browser's own model, as the global `LanguageModel` of Chrome's Prompt API. */
export interface PromptApi {
  availability(options?: object): Promise<"unavailable" | "downloadable" | "downloading" | "available">;
  create(options?: object): Promise<PromptSession>;
}

/** One conversation with it. */
export interface PromptSession {
  promptStreaming(text: string, options?: object): AsyncIterable<string> | ReadableStream<string>;
  destroy(): void;
}

/** How the browser's model is used. */
export interface PromptApiOptions {
  /** How much of the model has been downloaded, 0 to 1, where it must be first. */
  onDownload?: (loaded: number) => void;
  /** The languages that are read and written, for instance `["en", "fr"]`. */
  languages?: string[];
  /** In place of the global one. */
  model?: PromptApi;
}

/** Whether there is a model in this browser, and whether it must be downloaded first. */
export async function promptApiAvailability({ languages, model = globalModel() }: PromptApiOptions = {}) {
  return model === undefined ? "unavailable" : model.availability(expected(languages));
}

/**
 * The browser's own model. A download begins with the first question, which must follow a click then.
 *
 * @example
 * if ((await promptApiAvailability()) !== "unavailable") chat = promptApi({ onDownload: (loaded) => show(loaded) });
 */
export function promptApi({ onDownload, languages, model }: PromptApiOptions = {}): ChatFunction {
  return async ({ messages, temperature = 0, schema }, { signal, onText }) => {
    const api = model ?? globalModel();
    if (api === undefined) throw new Error("this browser has no LanguageModel");
    const session = await api.create({
      ...expected(languages),
      initialPrompts: messages.slice(0, -1),
      samplingMode: temperature === 0 ? "most-predictable" : "predictable",
      signal,
      monitor: (monitor: EventTarget) =>
        monitor.addEventListener("downloadprogress", (event) => onDownload?.((event as ProgressEvent).loaded)),
    });
    try {
      const constraint = schema === undefined ? {} : { responseConstraint: schema.schema };
      let text = "";
      const pieces = session.promptStreaming(messages.at(-1)?.content ?? "", { signal, ...constraint });
      for await (const piece of pieces as AsyncIterable<string>) {
        text += piece;
        onText(piece);
      }
      return text;
    } finally {
      session.destroy();
    }
  };
}

function globalModel(): PromptApi | undefined {
  return (globalThis as { LanguageModel?: PromptApi }).LanguageModel;
}

function expected(languages: string[] | undefined): object {
  if (languages === undefined) return {};
  const texts = [{ type: "text", languages }];
  return { expectedInputs: texts, expectedOutputs: texts };
}

/** The AI SDK's `streamText`, of the package `ai`. */
export type StreamText<Model> = (options: {
  model: Model;
  system: string;
  messages: { role: "user" | "assistant"; content: string }[];
  maxOutputTokens: number;
  maxRetries: number;
  abortSignal: AbortSignal;
  onError: () => void;
  temperature?: number;
}) => {
  readonly textStream: AsyncIterable<string>;
  readonly finishReason: PromiseLike<string>;
  readonly usage: PromiseLike<{ inputTokens: number | undefined; outputTokens: number | undefined }>;
};

/**
 * Any model of the AI SDK.
 *
 * @example
 * import { streamText } from "ai";
 * const assistant = await createAssistant({ index, chat: aiSdk(streamText, groq("llama-3.3-70b-versatile")) });
 */
export function aiSdk<Model>(streamText: StreamText<Model>, model: Model): ChatFunction {
  return async ({ messages, temperature, maxTokens }, { signal, onText }) => {
    const system = messages.filter(({ role }) => role === "system").map(({ content }) => content);
    const said = messages.filter(({ role }) => role !== "system") as { role: "user" | "assistant"; content: string }[];
    let failed = false;
    const result = streamText({
      model,
      system: system.join("\n\n"),
      messages: said,
      maxOutputTokens: maxTokens,
      // Whoever asks counts its calls, and repeats them itself.
      maxRetries: 0,
      abortSignal: signal,
      onError: () => (failed = true),
      ...(temperature === undefined ? {} : { temperature }),
    });
    let text = "";
    for await (const piece of result.textStream) {
      text += piece;
      onText(piece);
    }
    // A stream that fails ends as if it were complete.
    if (failed) throw new Error("the model failed");
    const [finish, { inputTokens, outputTokens }] = await Promise.all([result.finishReason, result.usage]);
    const isCounted = inputTokens !== undefined && outputTokens !== undefined;
    return { text, finish, ...(isCounted ? { usage: { inputTokens, outputTokens } } : {}) };
  };
}

/** Calls one after the other, for models that write one reply at a time. */
function oneByOne(ask: (request: ChatRequest, context: ChatContext) => Promise<string | ChatReply>): ChatFunction {
  let last: Promise<unknown> = Promise.resolve();
  return (request, context) => {
    const reply = last.then(() => {
      context.signal.throwIfAborted();
      return ask(request, context);
    });
    last = reply.catch(() => {});
    return reply;
  };
}
