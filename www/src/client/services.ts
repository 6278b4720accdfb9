// The services that an assistant can be given, as plain objects and functions. Keys in them stay in
// memory and go to their service alone.

import type { Source } from "./types.ts";

/** How long a service may take, in milliseconds. */
export interface Timeouts {
  /**
   * Until its reply begins: 25,000 for a draft, 10,000 for a query's vector, 120,000 for a batch of
   * documents', else 20,000.
   */
  headers?: number;
  /** Between two pieces of its reply: 15,000. */
  idle?: number;
}

/**
 * What models said of the very same request (question, passages, draft, prompt, model and language) is not
 * asked again, and not twice at once. Verdicts are kept, and the drafts of runs that were answered; nothing
 * unknown, cut off or failed.
 */
export interface CacheOptions {
  /** The most bytes in memory, 4 MiB by default; the least recently used goes first. */
  maxBytes?: number;
  /**
   * What identifies the models that are functions of this page: without it, what they say stays in memory.
   * Another model must have another name.
   */
  name?: string;
  /** Gives back what `set` kept, in this page or an earlier one, for instance from IndexedDB or KV. */
  get?(key: string): string | undefined | null | Promise<string | undefined | null>;
  /** Keeps a value under a key of 64 digits. What it throws is ignored: then the model is asked again. */
  set?(key: string, value: string): unknown;
}

/** What every vendor's service takes. */
export interface ServiceOptions {
  /** Whoever can see this page can see it: fine for one's own key, else use a Worker. */
  key?: string;
  /** Where the service is, its version included, for instance `https://api.openai.com/v1`; by default the vendor's. */
  baseUrl?: string;
  timeouts?: Timeouts;
}

/** What every vendor's model takes. */
export interface ModelOptions extends ServiceOptions {
  /** The model's name at the vendor. */
  model: string;
}

/** What every vendor's chat model takes. */
export interface ChatOptions extends ModelOptions {
  /**
   * Whether a grade of yes or no comes with the probability of yes as its score, where the service tells
   * log probabilities. It orders passages; the verdict is what the model wrote.
   */
  confidence?: boolean;
}

/** What every vendor's embedding model takes. */
export interface EmbeddingOptions extends ModelOptions {
  /** How many components its vectors have, of a model that lets its callers choose. */
  dimensions?: number;
}

/** For vendors that have no address of their own. */
export type At<Options> = Options & { baseUrl: string };

/** For Cloudflare: the account, in place of an address. */
export type Of<Options> = Options & ({ account: string } | { baseUrl: string });

/** A chat model of a vendor. */
export interface ChatModel extends ChatOptions {
  readonly kind: "chat";
  readonly vendor: string;
}

/** An embedding model of a vendor; an index bears its name, and takes the vectors of no other. */
export interface EmbeddingModel extends EmbeddingOptions {
  readonly kind: "embeddings";
  readonly vendor: string;
}

/** A vendor's web search. */
export interface SearchService extends ServiceOptions {
  readonly kind: "search";
  readonly vendor: string;
  /** The model that searches, where it is one. */
  model?: string;
  /** The search behind a gateway to several. */
  engine?: string;
  /** The gateway. */
  gateway?: string;
}

/** A model that continues text behind a completions endpoint: a released Self-RAG checkpoint. */
export interface CompletionsModel {
  readonly kind: "completions";
  /** For instance `http://127.0.0.1:8000/v1`; it must tell log probabilities. */
  baseUrl: string;
  /** The model's name there. */
  model: string;
  /** Whoever can see this page can see it. */
  key?: string;
  timeouts?: Timeouts;
}

/**
 * The model that the embedder's table was fitted to, all-MiniLM-L6-v2, run by whoever can: for documents, whose
 * vectors it makes better than the table does.
 */
export interface Teacher {
  /** A vector of 384 numbers for each text: the mean of its last layer over the text's tokens. */
  encode(texts: string[], context: { signal: AbortSignal }): Promise<ArrayLike<number>[]>;
  /** Where projection.f32 is, which brings them into the table's space, if it is not beside this script. */
  projection?: Source;
}

/** A Worker of ours that has the keys: the loop runs here, its tasks are answered there. */
export interface WorkerEndpoint {
  readonly kind: "worker";
  baseUrl: string;
  timeouts?: Timeouts;
}

/** What a {@link ChatFunction} is asked. */
export interface ChatRequest {
  /** What for. */
  role: Role;
  messages: { role: "system" | "user" | "assistant"; content: string }[];
  /** 0 is the most predictable. */
  temperature?: number;
  /** The most tokens of the reply. */
  maxTokens: number;
  /** A JSON schema that the reply should fit, for models that can be held to one. The same frozen object each time. */
  schema?: { name: string; schema: unknown };
}

/** What a {@link ChatFunction} gives. */
export interface ChatReply {
  text: string;
  /** `length` when it was cut off; by default `stop`. */
  finish?: "stop" | "length" | "content_filter" | (string & {});
  usage?: { inputTokens: number; outputTokens: number };
}

/** What a function gets besides its request. */
export interface ChatContext {
  /** Aborted when nobody waits for the reply any longer. */
  signal: AbortSignal;
  /** Shows a piece of a draft before the rest is there. */
  onText: (text: string) => void;
}

/** Any model: the text, or its pieces one after the other. */
export type ChatFunction = (
  request: ChatRequest,
  context: ChatContext,
) => string | ChatReply | AsyncIterable<string> | Promise<string | ChatReply | AsyncIterable<string>>;

/** What a {@link ScoreFunction} is asked: how relevant each passage is for the question. */
export interface ScoreRequest {
  role: "grade";
  question: string;
  /** A passage's `title` is the page's with the headings above it. */
  passages: { id: string; title: string; text: string }[];
}

/** Scores all passages at once, 0 to 1, in their order; logits need a sigmoid first. */
export type ScoreFunction = (
  request: ScoreRequest,
  context: { signal: AbortSignal },
) => Iterable<number> | Promise<Iterable<number>>;

/** A scorer of passages, such as a cross-encoder. */
export interface Scorer {
  readonly kind: "scorer";
  score: ScoreFunction;
}

/** Any web search. */
export type SearchFunction = (
  query: string,
  context: { limit: number; signal: AbortSignal },
) => FoundPage[] | Promise<FoundPage[]>;

/** A page that a {@link SearchFunction} found. */
export interface FoundPage {
  title?: string;
  url: string;
  text: string;
}

/** A passage that a {@link RetrieveFunction} found. */
export interface FoundPassage {
  /** Unique among all that it can find. */
  id: string;
  text: string;
  url?: string;
  title?: string;
  headings?: string[];
  /** How well it fits; shown in searches, it decides nothing. */
  score?: number;
}

/** Any retriever in place of the index: the best `k` passages, best first. */
export type RetrieveFunction = (
  query: string,
  context: { k: number; signal: AbortSignal },
) => FoundPassage[] | Promise<FoundPassage[]>;

/** What a model is asked for; each may be another model's. */
export type Role = "grade" | "rewrite" | "generate" | "check";

/** Who answers: a model, a Worker that has one, a function, or the built-in solver. */
export type Solver = "builtin" | ChatModel | CompletionsModel | WorkerEndpoint | ChatFunction;

/**
 * Who answers, in order: the next is asked when one fails. What was declined or withheld is not put to another,
 * and nothing is once a part of a draft was shown.
 */
export type Solvers = Solver | Exclude<Solver, "builtin">[];

/** For all roles, or for each; roles without one are the built-in solver's. Only `grade` may be a scorer. */
export type Chat = Solvers | (Partial<Record<Exclude<Role, "grade">, Solvers>> & { grade?: Solvers | Scorer });

/** Who searches the web. */
export type WebSearch = SearchService | WorkerEndpoint | SearchFunction;

/** A released Self-RAG checkpoint behind a completions endpoint (vLLM, llama.cpp), for the strategy `self-rag`. */
export function completions(options: Omit<CompletionsModel, "kind">): CompletionsModel {
  return { kind: "completions", ...options };
}

/** A function that scores passages, in a grader's place: one call for all of them. */
export function scorer(score: ScoreFunction): Scorer {
  return { kind: "scorer", score };
}

/** A Worker of ours; an address without a host is below the page's own. */
export function endpoint(url: string | URL, options: { timeouts?: Timeouts } = {}): WorkerEndpoint {
  return { kind: "worker", baseUrl: String(url), ...options };
}
