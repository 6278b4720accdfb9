// The engine in this page: calls into wasm, and what is needed to build it again after a trap.
//
// It keeps the snapshot's bytes and a journal of what changed since; a call that finds another
// instance than the one its engine lives in makes a new engine from them first.

import type { Engine } from "../../../dist/wasm/countercheck.js";
import type {
  Answer,
  AskRequest,
  DocumentInput,
  Event as RunEvent,
  SearchHit,
  Statistics,
} from "../generated/wire.ts";
import type { Cancellation } from "./cancellation.ts";
import { camelKeys, snakeKeys } from "./case.ts";
import { fromEngine } from "./error.ts";
import type { Runtime } from "./runtime.ts";
import type { Backend, Events } from "./types.ts";

/** The files an engine is built from. */
export interface EngineFiles {
  embedder?: Uint8Array | undefined;
  index?: Uint8Array | undefined;
}

/** What changed in the index; of a document also its vectors, where a model elsewhere made them. */
export type Change = { add: unknown; vectors?: Float32Array } | { remove: string };

/** Answers in this page. */
export class LocalBackend<E extends Engine = Engine> implements Backend {
  readonly #runtime: Runtime<E>;
  readonly #files: EngineFiles;
  readonly #prepare: (engine: E) => void;
  readonly #journal: Change[] = [];
  #engine: E | undefined;
  #generation = -1;
  #asking = 0;
  #asked = 0;
  #disposed = false;

  /** Builds the engine; the runtime must be loaded. `prepare` is done to each engine that is built. */
  constructor(runtime: Runtime<E>, files: EngineFiles, prepare: (engine: E) => void = () => {}) {
    this.#runtime = runtime;
    this.#files = files;
    this.#prepare = prepare;
    this.#call((engine) => engine);
  }

  ask(request: AskRequest, events: Events, cancellation: Cancellation): Promise<Answer> {
    const asked = snakeKeys(request);
    const listener = {
      get wanted() {
        return events.wanted();
      },
      tell: (event: unknown) => events.tell(camelKeys<RunEvent>(event)),
    };
    const number = this.#asked++;
    cancellation.onAbort(() => {
      if (this.#runtime.isCurrent(this.#generation)) this.#engine?.cancel(number);
    });
    return this.run((engine) => engine.ask(asked, listener, number)).then(camelKeys<Answer>);
  }

  /** Work that goes on in the engine until its promise settles, or a trap ends it. */
  protected run(work: (engine: E) => Promise<unknown>): Promise<unknown> {
    this.#asking += 1;
    return this.#runtime
      .untilTrap((settle, fail) => {
        this.#call(work).then(settle, (error: unknown) => fail(this.#explain(error)));
      })
      .finally(() => {
        this.#asking -= 1;
        this.#freeIfDone();
      });
  }

  async search(query: string, k: number | undefined, _: Cancellation): Promise<SearchHit[]> {
    return camelKeys<{ hits: SearchHit[] }>(this.#call((engine) => engine.search({ query, k }))).hits;
  }

  async add(document: DocumentInput, _: Cancellation): Promise<number> {
    // A copy: what the caller does to the document later must not change the journal.
    return (this.change({ add: snakeKeys(document) }) as { passages: number }).passages;
  }

  async remove(id: string): Promise<boolean> {
    return this.change({ remove: id }) as boolean;
  }

  /** Changes the index, now and whenever it is built again. */
  protected change(change: Change): unknown {
    const changed = this.#call((engine) => this.apply(engine, change));
    if (changed) this.#journal.push(change);
    return changed;
  }

  protected apply(engine: E, change: Change): unknown {
    return "add" in change ? engine.add(change.add) : engine.remove(change.remove);
  }

  async save(): Promise<Uint8Array> {
    return this.#call((engine) => engine.save());
  }

  async statistics(): Promise<Statistics> {
    return camelKeys<Statistics>(this.#call((engine) => engine.statistics()));
  }

  dispose(): void {
    this.#disposed = true;
    this.#freeIfDone();
  }

  /** An engine must not be freed under a run: the run's own end does it then. */
  #freeIfDone(): void {
    if (!this.#disposed || this.#asking > 0) return;
    const engine = this.#engine;
    this.#engine = undefined;
    // The engine of a broken instance is gone with it.
    if (this.#runtime.isCurrent(this.#generation)) engine?.free();
  }

  #call<T>(work: (engine: E) => T): T {
    try {
      const generation = this.#runtime.currentGeneration();
      if (this.#engine === undefined || this.#generation !== generation) {
        this.#engine = this.#rebuilt();
        this.#generation = generation;
      }
      return work(this.#engine);
    } catch (error) {
      throw this.#explain(error);
    }
  }

  #rebuilt(): E {
    const engine = this.#runtime.engine();
    this.#prepare(engine);
    if (this.#files.embedder !== undefined) engine.setEmbedder(this.#files.embedder);
    if (this.#files.index !== undefined) engine.load(this.#files.index);
    for (const change of this.#journal) this.apply(engine, change);
    return engine;
  }

  #explain(error: unknown): Error {
    this.#runtime.noteError(error);
    return fromEngine(error);
  }
}
