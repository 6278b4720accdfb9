// Content hashes: a step is skipped when the hash of everything it reads is the one it left behind.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Hashes values and files, each with its length, so that no two lists give the same bytes.
 * @param {{ values?: string[], files?: string[] }} inputs files are paths
 * @returns {string} SHA-256 in hex
 */
export function hashOf({ values = [], files = [] }) {
  const hash = createHash("sha256");
  for (const bytes of [...values.map((value) => Buffer.from(value)), ...files.map((file) => readFileSync(file))]) {
    hash.update(`${bytes.length}:`).update(bytes);
  }
  return hash.digest("hex");
}

/**
 * Does `make` unless the stamp says that these inputs were already used and every output is there.
 * @param {string} stamp path of the file that remembers the hash
 * @param {string} hash of all inputs
 * @param {string[]} outputs paths
 * @param {() => Promise<void>} make
 * @returns {Promise<boolean>} whether it was made now
 */
export async function unlessFresh(stamp, hash, outputs, make) {
  const fresh = existsSync(stamp) && readFileSync(stamp, "utf8") === hash && outputs.every((path) => existsSync(path));
  if (fresh) return false;
  await make();
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, hash);
  return true;
}
