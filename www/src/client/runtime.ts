// The one wasm instance of this module: loaded once, replaced after a trap.
//
// A trap (a panic, memory that ran out) leaves an instance broken for everybody who uses it. It ends
// what is under way, and the next call gets a fresh instance; engines notice by the generation.
// Nothing happens when this module is imported.

import { __wbg_reset_state as resetState, initSync } from "../../../dist/wasm/countercheck.js";
import { CountercheckError, isTrap, panicked } from "./error.ts";
import { bodyOf, loadBytes, loadResponse, mustNotBePage, nameOf } from "./source.ts";
import type { Source } from "./types.ts";

const WHAT = "the WebAssembly module";
const HINT =
  "Serve countercheck_bg.wasm beside the script, or pass its address: createAssistant({ wasm: … }); " +
  "bundlers that do not follow `new URL(…, import.meta.url)` need the latter.";
const MAGIC = "\0asm";

/** A second trap within this time is not hidden by yet another instance. */
const TRAP_WINDOW_MS = 60_000;

let loading: Promise<void> | undefined;
let generation = 0;
let broken = false;
let lastTrap = Number.NEGATIVE_INFINITY;
let brokenUntil = Number.NEGATIVE_INFINITY;
const underWay = new Set<(error: Error) => void>();

/** Loads the module unless it is loaded; a failed attempt does not stand in the way of the next. */
export function loadRuntime(source?: Source | WebAssembly.Module): Promise<void> {
  loading ??= compile(source ?? new URL("./countercheck_bg.wasm", import.meta.url))
    .then((module) => void initSync({ module }))
    .catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
  return loading;
}

/** Which instance there is now; after a trap first makes another one. */
export function currentGeneration(): number {
  if (broken) {
    if (now() < brokenUntil) {
      throw new CountercheckError(
        "panicked",
        "the engine stopped twice within a minute and is left alone for that time; the page can be reloaded",
      );
    }
    resetState();
    broken = false;
  }
  return generation;
}

/** Whether the instance of that generation is still the one in use. */
export function isCurrent(of: number): boolean {
  return !broken && of === generation;
}

/** Takes note of an error that may be a trap. */
export function noteError(error: unknown): void {
  if (!isTrap(error) || broken) return;
  broken = true;
  generation += 1;
  const time = now();
  brokenUntil = time - lastTrap < TRAP_WINDOW_MS ? time + TRAP_WINDOW_MS : time;
  lastTrap = time;
  const waiting = [...underWay];
  underWay.clear();
  for (const reject of waiting) reject(panicked(error));
}

/**
 * Waits for work in the engine, or for the trap that would keep it from ever settling: futures run
 * in microtasks and timers of their own, where a trap is nobody's exception.
 */
export function untilTrap<T>(
  work: (settle: (value: T | PromiseLike<T>) => void, fail: (error: Error) => void) => void,
): Promise<T> {
  let end = () => {};
  const promise = new Promise<T>((resolve, reject) => {
    underWay.add(reject);
    const unwatch = watchForTraps();
    end = () => {
      underWay.delete(reject);
      unwatch();
    };
    work(resolve, reject);
  });
  return promise.finally(end);
}

let watchers = 0;

/** Listens to uncaught errors while anything is under way. */
function watchForTraps(): () => void {
  if (watchers++ === 0) setListening(true);
  return () => {
    if (--watchers === 0) setListening(false);
  };
}

interface NodeProcess {
  on(name: string, listener: (error: unknown) => void): void;
  off(name: string, listener: (error: unknown) => void): void;
  listenerCount(name: string): number;
}

function setListening(listening: boolean): void {
  if (typeof globalThis.addEventListener === "function") {
    if (listening) globalThis.addEventListener("error", onErrorEvent);
    else globalThis.removeEventListener("error", onErrorEvent);
    return;
  }
  const process = (globalThis as { process?: NodeProcess }).process;
  if (typeof process?.on !== "function") return;
  if (listening) process.on("uncaughtException", onUncaught);
  else process.off("uncaughtException", onUncaught);
}

function onErrorEvent(event: ErrorEvent): void {
  // Handled: those under way are told. Deno would end the process.
  if (isStale(event.error) || isTrap(event.error)) event.preventDefault();
  noteError(event.error);
}

/** What futures of an instance that was replaced end with: their calls were rejected long before. */
function isStale(error: unknown): boolean {
  return error instanceof Error && error.message === "Cannot invoke closure from previous WASM instance";
}

/** Node ends at an uncaught exception unless somebody listens: others' must still end it. */
function onUncaught(error: unknown): void {
  if (isStale(error)) return;
  if (isTrap(error)) return noteError(error);
  const process = (globalThis as { process?: NodeProcess }).process;
  if (process?.listenerCount("uncaughtException") === 1) throw error;
}

async function compile(source: Source | WebAssembly.Module): Promise<WebAssembly.Module> {
  // The module of another realm is no instance of this one's class.
  if (nameOf(source) === "WebAssembly.Module") return source as WebAssembly.Module;
  const given = source as Source;
  if (given instanceof Uint8Array || nameOf(given) === "ArrayBuffer") {
    return compileBytes(await loadBytes(given, WHAT, HINT), "");
  }
  const response = await loadResponse(given as string | URL | Response, WHAT, HINT);
  const isWasm = response.headers.get("content-type")?.startsWith("application/wasm") === true;
  if (!isWasm || typeof WebAssembly.compileStreaming !== "function") {
    return compileBytes(new Uint8Array(await bodyOf(response, WHAT, HINT)), response.url);
  }
  // What is wrong with the bytes can only be said by whoever still has them.
  const copy = response.clone();
  const module = await WebAssembly.compileStreaming(response).catch(() => undefined);
  if (module === undefined) return compileBytes(new Uint8Array(await bodyOf(copy, WHAT, HINT)), copy.url);
  copy.body?.cancel().catch(() => {});
  return module;
}

async function compileBytes(bytes: Uint8Array, url: string): Promise<WebAssembly.Module> {
  mustNotBePage(bytes, url, WHAT, HINT);
  const start = String.fromCharCode(...bytes.subarray(0, MAGIC.length));
  if (start !== MAGIC) {
    throw new CountercheckError(
      "load_failed",
      `${WHAT} is none: ${url || "it"} starts with ${JSON.stringify(start)}. ${HINT}`,
    );
  }
  return WebAssembly.compile(bytes as Uint8Array<ArrayBuffer>).catch(refused);
}

/** Where compiling is forbidden, say what allows it. */
function refused(cause: unknown): never {
  const detail = cause instanceof Error ? cause.message : String(cause);
  const hint =
    "A page with a Content-Security-Policy needs script-src 'wasm-unsafe-eval'; " +
    "Cloudflare Workers must import the .wasm file and pass the module.";
  throw new CountercheckError("load_failed", `${WHAT} could not be compiled (${detail}). ${hint}`, { cause });
}

function now(): number {
  return performance.now();
}
