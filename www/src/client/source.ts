// Fetches files, and says in a sentence what is wrong with what came instead of them.

import { CountercheckError } from "./error.ts";
import type { Source } from "./types.ts";

/** The bytes of an index. */
export async function loadIndex(index: Source | Promise<Source>): Promise<Uint8Array> {
  return loadBytes(await index, "the index", "Check the address given as `index`.");
}

/** The bytes of an embedder's table. */
export async function loadEmbedder(embedder: Source | Promise<Source>): Promise<Uint8Array> {
  return loadBytes(
    await embedder,
    "the embedder",
    "Serve embedder.bin beside the script, or pass its address as `embedder`, or `false` to search by words alone.",
  );
}

/**
 * The bytes of a source.
 *
 * @param what names the file in messages, e.g. "the index"
 * @param hint what to do if it cannot be had
 */
export async function loadBytes(source: Source, what: string, hint: string): Promise<Uint8Array> {
  if (source instanceof Uint8Array) return source;
  if (isArrayBuffer(source)) return new Uint8Array(source);
  const response = await loadResponse(source, what, hint);
  const bytes = new Uint8Array(await bodyOf(response, what, hint));
  return mustNotBePage(bytes, response.url, what, hint);
}

/** The response for a source, its status checked. */
export async function loadResponse(source: string | URL | Response, what: string, hint: string): Promise<Response> {
  const response = isResponse(source) ? source : await request(source, what, hint);
  if (response.ok) return response;
  throw new CountercheckError(
    "load_failed",
    `${what} could not be loaded: ${where(response)} answered ${response.status}. ${hint}`,
  );
}

/** The body of a response, with a sentence when the connection breaks. */
export async function bodyOf(response: Response, what: string, hint: string): Promise<ArrayBuffer> {
  try {
    return await response.arrayBuffer();
  } catch (cause) {
    throw new CountercheckError("load_failed", `${what} could not be loaded: ${where(response)} broke off. ${hint}`, {
      cause,
    });
  }
}

/** Servers that answer every unknown path with their front page are the usual reason for a bad file. */
export function mustNotBePage(bytes: Uint8Array, url: string, what: string, hint: string): Uint8Array {
  const start = new TextDecoder().decode(bytes.subarray(0, 64)).trimStart().toLowerCase();
  if (!start.startsWith("<!doctype") && !start.startsWith("<html")) return bytes;
  throw new CountercheckError(
    "load_failed",
    `${what} could not be loaded: ${url || "the server"} answered with an HTML page, not the file. ${hint}`,
  );
}

async function request(source: string | URL, what: string, hint: string): Promise<Response> {
  try {
    return await fetch(source);
  } catch (cause) {
    throw new CountercheckError(
      "load_failed",
      `${what} could not be loaded from ${String(source)}: no connection, or not allowed. ${hint}`,
      { cause },
    );
  }
}

function where(response: Response): string {
  return response.url || "the server";
}

// By name, not by instanceof: in workers and frameworks these come from other realms.
function isArrayBuffer(value: unknown): value is ArrayBuffer {
  return nameOf(value) === "ArrayBuffer";
}

function isResponse(value: unknown): value is Response {
  return nameOf(value) === "Response";
}

/** The class of a platform object, whichever realm made it. */
export function nameOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice("[object ".length, -1);
}
