// Sources that are files of this machine, for Node, Deno and Bun.

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { CountercheckError } from "./client/error.ts";

/** Whether a source is on this machine: a path or a file: URL. */
export function isFile(source: unknown): source is string | URL {
  if (source instanceof URL) return source.protocol === "file:";
  return typeof source === "string" && !/^(?:https?|data|blob):/i.test(source);
}

/**
 * Gives a function for the bytes of a file, which throws `load_failed`.
 *
 * @param Failure the class of the entry that reads: a bundle has its own, or takes another's
 */
export function reader(Failure: typeof CountercheckError): (file: string | URL, what: string) => Promise<Uint8Array> {
  return async (file, what) => {
    const path = file instanceof URL || file.startsWith("file:") ? fileURLToPath(file) : file;
    try {
      return await readFile(path);
    } catch (cause) {
      const detail = cause instanceof Error ? cause.message : String(cause);
      throw new Failure("load_failed", `${what} could not be read: ${detail}`, { cause });
    }
  };
}
