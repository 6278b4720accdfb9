// The engine in this page: calls into wasm, and what is needed to build it again after a trap.
//
// It keeps the snapshot's bytes and a journal of what changed since; a call that finds another
// instance than the one its engine lives in makes a new engine from them first. So it also moves: the
// small module reads no documents, and the first one that is added takes the assistant to one that does.

import type { Engine } from "../../../dist/wasm/countercheck.js";
import type {
  Answer,
  AskRequest,
  DocumentInput,
  Event as RunEvent,
  SearchHit,
  SearchRequest,
  Statistics,
  Stemming,
} from "../generated/wire.ts";
import type { Cancellation } from "./cancellation.ts";
import { shown, snakeKeys } from "./case.ts";
import { CountercheckError, abortError, fromEngine } from "./error.ts";
import type { Runtime } from "./runtime.ts";
import type { Backend, Events } from "./types.ts";

/** The files an engine is built from. */
export interface EngineFiles {
  embedder?: Uint8Array | undefined;
  index?: Uint8Array | undefined;
  /** Whose word endings are cut, if the index does not say. */
  stemming?: Stemming | undefined;
}

/** What changed in the index; of a document also its vectors, where a model elsewhere made them. */
export type Change = { add: unknown; vectors?: Float32Array } | { remove: string };

/** An engine that reads documents. */
interface Reading {
  add(document: unknown): unknown;
}

/** A module, the engine in it, and how much is under way there. */
interface Place<E extends Engine> {
  readonly runtime: Runtime<E>;
  engine: E | undefined;
  generation: number;
  asking: number;
  left: boolean;
}

/** Who began a task of the engine, as the engine calls it. */
class Caller {
  readonly settle: (result: unknown) => void;
  readonly fail: (error: unknown) => void;
  readonly #events: Events | undefined;

  constructor(settle: (result: unknown) => void, fail: (error: unknown) => void, events?: Events) {
    this.settle = settle;
    this.fail = fail;
    this.#events = events;
  }

  wants(): boolean {
    return this.#events?.wanted() === true;
  }

  tell(event: unknown): void {
    this.#events?.tell(shown<RunEvent>(event));
  }
}

/** Answers in this page. */
export class LocalBackend<E extends Engine = Engine> implements Backend {
  readonly #files: EngineFiles;
  readonly #prepare: (engine: E) => void;
  readonly #journal: Change[] = [];
  /** Adds to the error of a task what its page knows. */
  explain: (error: Error) => void = () => {};
  #place: Place<E>;
  #elsewhere: (() => Promise<Runtime<E>>) | undefined;
  #moving: Promise<void> | undefined;
  #disposed = false;

  /**
   * Builds the engine; the runtime must be loaded. `prepare` is done to each engine that is built.
   * @param elsewhere loads a module whose engines read documents, where this one's do not
   */
  constructor(
    runtime: Runtime<E>,
    files: EngineFiles,
    prepare: (engine: E) => void = () => {},
    elsewhere?: () => Promise<Runtime<E>>,
  ) {
    this.#files = files;
    this.#prepare = prepare;
    this.#place = placeIn(runtime);
    this.#elsewhere = elsewhere;
    this.call((engine) => engine);
  }

  ask(request: AskRequest, events: Events, cancellation: Cancellation): Promise<Answer> {
    const asked = snakeKeys(request);
    return this.run((engine, caller) => engine.ask(asked, caller), shown<Answer>, cancellation, events);
  }

  /** A task that goes on in the engine until it settles or is cancelled, or a trap ends it. */
  protected run<T>(
    begin: (engine: E, caller: Caller) => number,
    read: (result: unknown) => T,
    cancellation: Cancellation,
    events?: Events,
  ): Promise<T> {
    const place = this.#place;
    place.asking += 1;
    const [promise, cancel] = place.runtime.untilSettled<T>(
      (settle, fail) => {
        const failed = (error: unknown) => fail(this.#failure(error));
        const caller = new Caller((result) => settle(read(result)), failed, events);
        return this.#in(place, (engine) => begin(engine, caller));
      },
      () => {
        place.asking -= 1;
        freeIfDone(place);
      },
    );
    cancellation.onAbort(() => cancel(abortError()));
    return promise;
  }

  #failure(error: unknown): Error {
    const failure = fromEngine(error);
    this.explain(failure);
    return failure;
  }

  async search(request: SearchRequest, _: Cancellation): Promise<SearchHit[]> {
    return shown<{ hits: SearchHit[] }>(this.call((engine) => engine.search(snakeKeys(request)))).hits;
  }

  async add(document: DocumentInput, _: Cancellation): Promise<number> {
    // A copy: what the caller does to the document later must not change the journal.
    const add = snakeKeys(document);
    await this.#moved();
    return (this.change({ add }) as { passages: number }).passages;
  }

  async remove(id: string): Promise<boolean> {
    await this.#settled();
    return this.change({ remove: id }) as boolean;
  }

  /** Changes the index, now and whenever it is built again. */
  protected change(change: Change): unknown {
    const changed = this.call((engine) => this.apply(engine, change));
    if (changed) this.#journal.push(change);
    return changed;
  }

  protected apply(engine: E, change: Change): unknown {
    return "add" in change ? (engine as unknown as Reading).add(change.add) : engine.remove(change.remove);
  }

  async save(): Promise<Uint8Array> {
    await this.#settled();
    return this.call((engine) => engine.save());
  }

  async statistics(): Promise<Statistics> {
    return shown<Statistics>(this.call((engine) => engine.statistics()));
  }

  dispose(): void {
    this.#disposed = true;
    leave(this.#place);
  }

  /** Goes where documents are read; what is under way ends where it began. A failed attempt changes nothing. */
  #moved(): Promise<void> | undefined {
    const elsewhere = this.#elsewhere;
    if (elsewhere === undefined) return undefined;
    const move = (runtime: Runtime<E>) => {
      if (this.#disposed) throw new CountercheckError("disposed", "the assistant was disposed of");
      const [old, place] = [this.#place, placeIn(runtime)];
      this.#in(place, (engine) => engine);
      this.#place = place;
      this.#elsewhere = undefined;
      leave(old);
    };
    return (this.#moving ??= elsewhere()
      .then(move)
      .finally(() => (this.#moving = undefined)));
  }

  /** Once the documents that were added before have their place. */
  async #settled(): Promise<void> {
    await this.#moving?.catch(() => {});
  }

  /** A call that the engine answers at once. */
  protected call<T>(work: (engine: E) => T): T {
    return this.#in(this.#place, work);
  }

  #in<T>(place: Place<E>, work: (engine: E) => T): T {
    try {
      const generation = place.runtime.currentGeneration();
      if (place.engine === undefined || place.generation !== generation) {
        place.engine = this.#built(place.runtime);
        place.generation = generation;
      }
      return work(place.engine);
    } catch (error) {
      throw explained(place, error);
    }
  }

  #built(runtime: Runtime<E>): E {
    const engine = runtime.engine();
    this.#prepare(engine);
    if (this.#files.embedder !== undefined) engine.setEmbedder(this.#files.embedder);
    if (this.#files.index !== undefined) engine.load(this.#files.index);
    if (this.#files.stemming !== undefined) engine.setStemming(this.#files.stemming);
    for (const change of this.#journal) this.apply(engine, change);
    return engine;
  }
}

function placeIn<E extends Engine>(runtime: Runtime<E>): Place<E> {
  return { runtime, engine: undefined, generation: -1, asking: 0, left: false };
}

function leave(place: Place<Engine>): void {
  place.left = true;
  freeIfDone(place);
}

/** An engine must not be freed under a run: the run's own end does it then. */
function freeIfDone(place: Place<Engine>): void {
  if (!place.left || place.asking > 0) return;
  const { engine } = place;
  place.engine = undefined;
  // The engine of a broken instance is gone with it.
  if (place.runtime.isCurrent(place.generation)) engine?.free();
}

function explained({ runtime }: Place<Engine>, error: unknown): Error {
  runtime.noteError(error);
  return fromEngine(error);
}
