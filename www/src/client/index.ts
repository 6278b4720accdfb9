// `countercheck`: answers from documentation that check themselves, in this page or from a Worker.
//
// Nothing is loaded before `createAssistant` is called.

import { assistantOf } from "./assistant.ts";
import type { Estimate, EstimateOptions } from "./usage.ts";
import { CountercheckError } from "./error.ts";
import { kit } from "./kit.ts";
import { LocalBackend } from "./local.ts";
import type { OwnModule } from "./kit.ts";
import type { EngineFiles } from "./local.ts";
import type { Runtime } from "./runtime.ts";
import { smallRuntime } from "./small.ts";
import { loadEmbedder, loadIndex } from "./source.ts";
import type { Assistant, AssistantOptions } from "./types.ts";

export type { Answer, Estimate, EstimateOptions, EstimatedStep, EstimatedSteps, Usage } from "./usage.ts";
export { CountercheckError } from "./error.ts";
export { completions, endpoint, scorer } from "./services.ts";
export * from "./vendors.ts";
export type {
  CacheOptions,
  Chat,
  ChatContext,
  ChatFunction,
  ChatModel,
  ChatOptions,
  ChatReply,
  ChatRequest,
  CompletionsModel,
  EmbeddingModel,
  EmbeddingOptions,
  FoundPage,
  FoundPassage,
  RetrieveFunction,
  Role,
  ScoreFunction,
  ScoreRequest,
  Scorer,
  SearchFunction,
  SearchService,
  ServiceOptions,
  Solver,
  Solvers,
  Teacher,
  Timeouts,
  WebSearch,
  WorkerEndpoint,
} from "./services.ts";
export type {
  Added,
  AnswerEvent,
  Answering,
  AskDefaults,
  AskOptions,
  Assistant,
  AssistantOptions,
  SearchOptions,
  Source,
} from "./types.ts";
export type {
  AskLimits,
  ByClaim,
  Calls,
  Check,
  Citation,
  Claim,
  Combine,
  CritiqueRule,
  Decision,
  DocumentInput,
  Domain,
  Format,
  FusionName,
  HitExplanation,
  Language,
  OnExhaustion,
  Origin,
  Outcome,
  PassageVerdict,
  Prices,
  Reason,
  Reflection,
  Retrieval,
  Rule,
  SearchHit,
  SearchRequest,
  SelfRagMode,
  SelfRagOptions,
  SelfRagRetrieval,
  SelfRagWeights,
  Source as AnswerSource,
  Statistics,
  Stemming,
  Support,
  TermScore,
  Verdict,
  Warning,
} from "../generated/wire.ts";

const KNOWN = [
  "index",
  "embedder",
  "wasm",
  "ingestWasm",
  "endpoint",
  "chat",
  "search",
  "embed",
  "retrieve",
  "cache",
  "teacher",
  "stemming",
  "defaults",
  "prices",
] satisfies (keyof AssistantOptions)[];
const LOCAL_ONLY = ["index", "embedder", "wasm", "ingestWasm", "chat", "search", "embed", "retrieve", "cache", "teacher", "stemming"] as const;

/**
 * Makes an assistant: over an index in this page, or over a Worker's.
 *
 * @throws {CountercheckError} `load_failed` when a file cannot be had, `unknown_field` or
 *   `invalid_option` for options that make no sense, and the core's codes for files it cannot read
 *
 * @example
 * const assistant = await createAssistant({ index: "/docs.ccx" });
 * const answer = await assistant.ask("How do I rotate a key?");
 */
export async function createAssistant(options: AssistantOptions = {}): Promise<Assistant> {
  return createIn(undefined, options);
}

/**
 * The same in a module of the host's own, if it has one, that does all that those of pages do.
 *
 * @internal
 */
export async function createIn(own: OwnModule | undefined, options: AssistantOptions): Promise<Assistant> {
  checkOptions(options);
  const { prices, defaults } = options;
  const priced = prices && (await import("./cost.ts")).pricing(prices, kit);
  if (options.endpoint !== undefined) {
    // Apart: a page that answers by itself does not download how to ask a Worker.
    const { remoteBackend } = await import("./remote.ts");
    return assistantOf(remoteBackend(options.endpoint, kit), defaults, priced);
  }
  const { index, wasm, ingestWasm, chat, search, embed, retrieve, teacher } = options;
  const hasVectors = embed === undefined && retrieve === undefined;
  const { embedder = hasVectors && new URL("./embedder.bin", import.meta.url) } = options;
  const files = async () => ({ ...(await loadFiles(index, embedder)), stemming: options.stemming });
  if (chat === undefined && search === undefined && teacher === undefined && hasVectors) {
    const runtime: Runtime = own?.(kit) ?? smallRuntime;
    const [loaded] = await Promise.all([files(), runtime.load(wasm)]);
    const larger = own === undefined ? () => ingesting(ingestWasm) : undefined;
    return assistantOf(await smallest(runtime, loaded, larger), defaults, priced);
  }
  const { connected } = await import("./connect.ts");
  return assistantOf(await connected(options, files, kit, own?.(kit)), defaults, priced);
}

/**
 * Counts the calls and tokens of a question before it is asked: on its path (n + 3 (1 + retries) calls, each
 * passage graded and each draft checked twice) and at the most, which is also the default of
 * `limits.maxCalls`. The tokens assume passages of 300, prompts of 170 and drafts of 300.
 *
 * @throws {CountercheckError} `invalid_option` or `unknown_field` for options that make no sense
 *
 * @example
 * const { path, upper } = await estimate({ strategy: "self-reflective", k: 4, maxRetries: 1 });
 * path.total.calls; // 10
 */
export async function estimate(options: EstimateOptions = {}): Promise<Estimate> {
  return estimateIn(undefined, options);
}

/**
 * The same in a module of the host's own.
 *
 * @internal
 */
export async function estimateIn(own: OwnModule | undefined, options: EstimateOptions): Promise<Estimate> {
  return (await import("./cost.ts")).estimated(options, kit, own?.(kit));
}

/** Where a snapshot says how long its last section is, the graph; nothing that is shorter has one. */
const GRAPH_LENGTH = 72;

/**
 * In this module, or in the larger one for an index with stems that this one does not know, or with a graph that it does
 * not search. Without the larger one vectors are scanned.
 */
async function smallest(runtime: Runtime, files: EngineFiles, larger?: () => Promise<Runtime>): Promise<LocalBackend> {
  if (larger !== undefined && hasGraph(files.index)) {
    const searching = await larger().catch(() => undefined);
    if (searching !== undefined) return new LocalBackend(searching, files);
  }
  try {
    return new LocalBackend(runtime, files, undefined, larger);
  } catch (error) {
    if (larger === undefined || (error as { code?: unknown }).code !== "stems_elsewhere") throw error;
    return new LocalBackend(await larger(), files);
  }
}

function hasGraph(index: Uint8Array = new Uint8Array()): boolean {
  const view = new DataView(index.buffer, index.byteOffset, index.length);
  return index.length > GRAPH_LENGTH + 8 && view.getBigUint64(GRAPH_LENGTH, true) > 0n;
}

/** The module with models, which also reads documents. */
async function ingesting(wasm: AssistantOptions["ingestWasm"]): Promise<Runtime> {
  try {
    const runtime = (await import("./connect.ts")).modelsRuntime(kit);
    await runtime.load(typeof wasm === "function" ? await wasm() : wasm);
    return runtime;
  } catch (cause) {
    if (cause instanceof CountercheckError) throw cause;
    const hint = "serve the library's folder chunks/ beside it, and see that `ingestWasm` gives a module";
    throw new CountercheckError("load_failed", `what reads documents could not be loaded: ${hint}`, { cause });
  }
}

async function loadFiles(index: AssistantOptions["index"], embedder: NonNullable<AssistantOptions["embedder"]>) {
  const [indexBytes, embedderBytes] = await Promise.all([
    index === undefined ? undefined : loadIndex(index),
    embedder === false ? undefined : loadEmbedder(embedder),
  ]);
  return { index: indexBytes, embedder: embedderBytes };
}

function checkOptions(options: AssistantOptions): void {
  const unknown = Object.keys(options).find((name) => !(KNOWN as string[]).includes(name));
  if (unknown !== undefined) {
    throw new CountercheckError(
      "unknown_field",
      `createAssistant has no option \`${unknown}\`: there are ${KNOWN.join(", ")}`,
    );
  }
  const surplus = LOCAL_ONLY.find((name) => options[name] !== undefined);
  if (options.endpoint !== undefined && surplus !== undefined) {
    throw new CountercheckError(
      "invalid_option",
      `\`${surplus}\` is for answers in this page, \`endpoint\` for answers from a Worker: give one of them`,
    );
  }
  if (options.teacher !== undefined && (options.embed !== undefined || options.retrieve !== undefined || options.embedder === false)) {
    throw new CountercheckError("invalid_option", "`teacher` goes with the embedder's table, which makes the vectors of queries");
  }
  if (options.embed !== undefined && options.embedder) {
    throw new CountercheckError("invalid_option", "`embed` and `embedder` both make vectors: give one of them");
  }
}
