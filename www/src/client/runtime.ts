// One wasm instance of a module: loaded once, replaced after a trap.
//
// A trap (a panic, memory that ran out) leaves an instance broken for everybody who uses it. It ends
// what is under way, and the next call gets a fresh instance; engines notice by the generation. Whoever calls
// into the instance catches it: a method of an engine, a timer, the reply to a call.
// Nothing happens when this module is imported.

import type { Engine } from "../../../dist/wasm/countercheck.js";
import { CountercheckError, isTrap, panicked } from "./error.ts";
import { bodyOf, loadBytes, loadResponse, mustNotBePage, nameOf } from "./source.ts";
import type { Source } from "./types.ts";

const WHAT = "the WebAssembly module";
const MAGIC = "\0asm";

/** A second trap within this time is not hidden by yet another instance. */
const TRAP_WINDOW_MS = 60_000;

/** What wasm-bindgen makes for a module. */
export interface Glue<E extends Engine = Engine> {
  Engine: new (ring: (timer: number) => void) => E;
  start(task: number): void;
  cancel(task: number): void;
  ring(timer: number): void;
  initSync(options: { module: WebAssembly.Module }): unknown;
  __wbg_reset_state(): void;
}

/** A module and its instance. */
export class Runtime<E extends Engine = Engine> {
  readonly #glue: Glue<E>;
  readonly #place: () => URL;
  readonly #hint: string;
  readonly #underWay = new Set<(error: Error) => void>();
  #loading: Promise<void> | undefined;
  #generation = 0;
  #broken = false;
  #lastTrap = Number.NEGATIVE_INFINITY;
  #brokenUntil = Number.NEGATIVE_INFINITY;

  /** @param place where the module is unless somebody says otherwise, under the name `file` */
  constructor(glue: Glue<E>, place: () => URL, file: string) {
    this.#glue = glue;
    this.#place = place;
    this.#hint =
      `Serve ${file} beside the script, or pass its address: createAssistant({ wasm: … }); ` +
      "bundlers that do not follow `new URL(…, import.meta.url)` need the latter.";
  }

  /** Loads the module unless it is loaded; a failed attempt does not stand in the way of the next. */
  load(source?: Source | WebAssembly.Module): Promise<void> {
    this.#loading ??= compile(source ?? this.#place(), this.#hint)
      .then((module) => this.#start(module))
      .catch((error: unknown) => {
        this.#loading = undefined;
        throw error;
      });
    return this.#loading;
  }

  /** Makes the instance. A module of another kind or version does not fit the glue. */
  #start(module: WebAssembly.Module): void {
    try {
      this.#glue.initSync({ module });
    } catch (cause) {
      throw refused("started", this.#hint, cause);
    }
  }

  /** A new engine in the instance that there is. */
  engine(): E {
    const generation = this.#generation;
    return new this.#glue.Engine((timer) => this.#enter(generation, () => this.#glue.ring(timer)));
  }

  /** Which instance there is now; after a trap first makes another one. */
  currentGeneration(): number {
    if (this.#broken) {
      if (performance.now() < this.#brokenUntil) {
        throw new CountercheckError(
          "panicked",
          "the engine stopped twice within a minute and is left alone for that time; the page can be reloaded",
        );
      }
      this.#glue.__wbg_reset_state();
      this.#broken = false;
    }
    return this.#generation;
  }

  /** Whether the instance of that generation is still the one in use. */
  isCurrent(of: number): boolean {
    return !this.#broken && of === this.#generation;
  }

  /** Takes note of an error that may be a trap. */
  noteError(error: unknown): void {
    if (isTrap(error)) this.broke(error);
  }

  /** Takes note of what came out of the instance where nothing but a trap can: from then on it is another one's turn. */
  readonly broke = (error: unknown): void => {
    if (this.#broken || isStale(error)) return;
    this.#broken = true;
    this.#generation += 1;
    const time = performance.now();
    this.#brokenUntil = time - this.#lastTrap < TRAP_WINDOW_MS ? time + TRAP_WINDOW_MS : time;
    this.#lastTrap = time;
    for (const fail of [...this.#underWay]) fail(panicked(error));
  };

  /**
   * Waits for a task of the instance: for what it settles with, its cancellation, or the trap that would keep it from
   * ever settling.
   *
   * @param begin begins the task, which has its first turn in a microtask of its own
   * @param ended called once when any of these has come
   * @returns its promise, and what cancels it with an error
   */
  untilSettled<T>(
    begin: (settle: (value: T) => void, fail: (error: Error) => void) => number,
    ended: () => void,
  ): [promise: Promise<T>, cancel: (error: Error) => void] {
    const generation = this.#generation;
    let cancel!: (error: Error) => void;
    const promise = new Promise<T>((resolve, reject) => {
      const end = () => this.#underWay.delete(fail) && ended();
      const fail = (error: Error) => {
        end();
        reject(error);
      };
      const settle = (value: T) => {
        end();
        resolve(value);
      };
      this.#underWay.add(fail);
      let task: number;
      cancel = (error) => {
        if (this.#underWay.has(fail)) this.#enter(generation, () => this.#glue.cancel(task));
        fail(error);
      };
      try {
        task = begin(settle, fail);
      } catch (error) {
        return fail(error as Error);
      }
      settled.then(() => this.#enter(generation, () => this.#glue.start(task)));
    });
    return [promise, cancel];
  }

  /** Has the instance of that generation go on with something, if it is there. */
  #enter(generation: number, work: () => void): void {
    if (!this.isCurrent(generation)) return;
    try {
      work();
    } catch (error) {
      this.broke(error);
    }
  }
}

const settled = Promise.resolve();

/** What replies to calls of an instance that was replaced end with: their callers were told long before. */
function isStale(error: unknown): boolean {
  return error instanceof Error && error.message === "Cannot invoke closure from previous WASM instance";
}

async function compile(source: Source | WebAssembly.Module, hint: string): Promise<WebAssembly.Module> {
  // The module of another realm is no instance of this one's class.
  if (nameOf(source) === "WebAssembly.Module") return source as WebAssembly.Module;
  const given = source as Source;
  if (given instanceof Uint8Array || nameOf(given) === "ArrayBuffer") {
    return compileBytes(await loadBytes(given, WHAT, hint), "", hint);
  }
  const response = await loadResponse(given as string | URL | Response, WHAT, hint);
  const isWasm = response.headers.get("content-type")?.startsWith("application/wasm") === true;
  if (!isWasm || typeof WebAssembly.compileStreaming !== "function") {
    return compileBytes(new Uint8Array(await bodyOf(response, WHAT, hint)), response.url, hint);
  }
  // What is wrong with the bytes can only be said by whoever still has them.
  const copy = response.clone();
  const module = await WebAssembly.compileStreaming(response).catch(() => undefined);
  if (module === undefined) {
    return compileBytes(new Uint8Array(await bodyOf(copy, WHAT, hint)), copy.url, hint);
  }
  copy.body?.cancel().catch(() => {});
  return module;
}

async function compileBytes(bytes: Uint8Array, url: string, hint: string): Promise<WebAssembly.Module> {
  mustNotBePage(bytes, url, WHAT, hint);
  const start = String.fromCharCode(...bytes.subarray(0, MAGIC.length));
  if (start !== MAGIC) {
    throw new CountercheckError(
      "load_failed",
      `${WHAT} is none: ${url || "it"} starts with ${JSON.stringify(start)}. ${hint}`,
    );
  }
  return WebAssembly.compile(bytes as Uint8Array<ArrayBuffer>).catch((cause: unknown) => {
    throw refused("compiled", COMPILING, cause);
  });
}

/** Where compiling is forbidden, what allows it. */
const COMPILING =
  "A page with a Content-Security-Policy needs script-src 'wasm-unsafe-eval'; " +
  "Cloudflare Workers must import the .wasm file and pass the module.";

function refused(what: string, hint: string, cause: unknown): CountercheckError {
  const detail = cause instanceof Error ? cause.message : String(cause);
  return new CountercheckError("load_failed", `${WHAT} could not be ${what} (${detail}). ${hint}`, { cause });
}
