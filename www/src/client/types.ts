// What users call, as types. The shapes that cross the boundary are generated from Rust.
/// <reference lib="esnext.disposable" preserve="true" />

import type {
  Answer as RunAnswer,
  AskRequest,
  DocumentInput,
  Event as RunEvent,
  Prices,
  SearchHit,
  SearchRequest,
  Statistics,
  Stemming,
} from "../generated/wire.ts";

import type { Cancellation } from "./cancellation.ts";
import type { Answer } from "./usage.ts";
import type { CacheOptions, Chat, EmbeddingModel, RetrieveFunction, Teacher, WebSearch } from "./services.ts";

/** Where bytes come from: an address to fetch, or the bytes themselves. */
export type Source = string | URL | Uint8Array | ArrayBuffer | Response;

/** How an assistant is made. */
export interface AssistantOptions {
  /** The index, a `.ccx` file; without it the assistant starts empty. Bytes are kept, not copied. */
  index?: Source | Promise<Source>;
  /** The embedder's table; by default the package's own, `false` for search by words alone. */
  embedder?: Source | Promise<Source> | false;
  /**
   * The wasm module, where it is not beside this script: countercheck_bg.wasm, or with `chat`, `search`
   * or `embed` countercheck_models_bg.wasm; in Node, Deno and Bun always countercheck_node_bg.wasm. Of each
   * only the first assistant's counts.
   */
  wasm?: Source | WebAssembly.Module;
  /**
   * Where countercheck_models_bg.wasm is, or what fetches it, if it is not beside this script. The small
   * module reads no documents: an assistant without models loads this one at its first `add`. Not in Node,
   * Deno and Bun, whose module reads them.
   */
  ingestWasm?: Source | WebAssembly.Module | (() => Promise<Source | WebAssembly.Module>);
  /** A Worker that answers in place of this page, e.g. `https://docs.example`; then no wasm is loaded. */
  endpoint?: string | URL;
  /** Who grades, writes and checks; by default the built-in solver, which quotes and needs nobody. */
  chat?: Chat;
  /** Who searches the web where the index falls short; by default nobody. */
  search?: WebSearch;
  /**
   * Who makes the vectors of queries and documents; by default the embedder's table, which is then not
   * loaded. An index with vectors must have been made with the same model.
   */
  embed?: EmbeddingModel;
  /**
   * Who makes the vectors of documents in place of the embedder's table, which still makes those of queries:
   * the model that the table was fitted to. An index may have both.
   */
  teacher?: Teacher;
  /**
   * Whose word endings are cut in an index that starts empty: English, unless it is said here. One that is
   * loaded has its own.
   */
  stemming?: Stemming;
  /** Who finds passages in place of an index: any retriever there is. Give it a `chat` model to judge them. */
  retrieve?: RetrieveFunction;
  /**
   * What models said is kept, so that the same question on the same passages costs nothing: `true`, or how
   * much and where. Off by default.
   */
  cache?: boolean | CacheOptions;
  /** What `ask` uses where its own options say nothing. */
  defaults?: AskDefaults;
  /** What the services charge; every answer then says what it cost, as `usage.cost`. */
  prices?: Prices;
}

/** The options of a question that an assistant may have defaults for. */
export type AskDefaults = Omit<AskRequest, "question">;

/** The options of one question. */
export interface AskOptions extends AskDefaults {
  /** Cancels the run; the answer then rejects with an `AbortError`. */
  signal?: AbortSignal;
  /** Called for each event, in order. */
  onEvent?: (event: AnswerEvent) => void;
}

/** The options of one search. */
export interface SearchOptions extends Omit<SearchRequest, "query" | "k"> {
  /** Cancels the search. */
  signal?: AbortSignal;
}

/** A step of the run, or, at the end, the answer. */
export type AnswerEvent = RunEvent | { type: "answer"; answer: Answer };

/**
 * An answer on its way: await it, or iterate over its events, or both.
 *
 * Each iteration begins with the first event. Leaving one early does not cancel the run; the signal does.
 */
export interface Answering extends Promise<Answer>, AsyncIterable<AnswerEvent> {}

/** Answers questions from an index. */
export interface Assistant {
  /**
   * Answers a question. Rejects for misuse, cancellation, a disposed assistant, or when nothing could
   * be produced (`provider_failed`); all else is an answer with its labels.
   */
  ask(question: string, options?: AskOptions): Answering;
  /**
   * Finds passages, best first; 10 unless `k` says otherwise. Where the query could not be embedded,
   * by words alone: then no hit has `dense`.
   */
  search(query: string, k?: number, options?: SearchOptions): Promise<SearchHit[]>;
  /**
   * Indexes documents; one with a known id replaces it. What precedes a bad document stays indexed. The
   * first call of an assistant without models loads, in a page, the larger module; questions meanwhile are
   * answered from what there was.
   */
  add(document: DocumentInput | DocumentInput[]): Promise<Added>;
  /** Removes a document; false if there is none with this id. */
  remove(id: string): Promise<boolean>;
  /** The index as a snapshot, for `index` of another assistant. */
  save(): Promise<Uint8Array>;
  /** How much the index holds. */
  statistics(): Promise<Statistics>;
  /** Gives up: what is under way rejects with `disposed`, and the memory is freed. */
  dispose(): void;
  /** The same, for `using`. */
  [Symbol.dispose](): void;
}

/** What was indexed. */
export interface Added {
  /** Documents. */
  documents: number;
  /** Passages they were split into. */
  passages: number;
}

/** Who takes a run's events. */
export interface Events {
  /** Whether somebody listens: until then they may be kept back, and left out if the answer's trace has all. */
  wanted(): boolean;
  tell(event: RunEvent): void;
}

/** Who does an assistant's work: the engine in this page, or a Worker. */
export interface Backend {
  ask(request: AskRequest, events: Events, cancellation: Cancellation): Promise<RunAnswer>;
  search(request: SearchRequest, cancellation: Cancellation): Promise<SearchHit[]>;
  add(document: DocumentInput, cancellation: Cancellation): Promise<number>;
  remove(id: string): Promise<boolean>;
  save(): Promise<Uint8Array>;
  statistics(): Promise<Statistics>;
  dispose(): void;
}
