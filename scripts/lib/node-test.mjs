// How Node's own test runner is called.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "./paths.mjs";
import { Stop } from "./stop.mjs";

// A hanging browser or workerd must not hang CI: the limit is for one file.
const FILE_LIMIT_MS = 600_000;

/**
 * Node's arguments for the tests of a directory.
 * @param {string} directory below tests
 * @param {{ only?: string, limitMs?: number }} [options] only: the file `ONLY.test.mjs` alone
 * @returns {string[]}
 */
export function nodeTest(directory, { only = "", limitMs = FILE_LIMIT_MS } = {}) {
  const tests = join(root, "tests", directory);
  const files = existsSync(tests) ? readdirSync(tests).filter((name) => name.endsWith(`${only}.test.mjs`)).sort() : [];
  if (files.length === 0) throw new Stop(`tests/${directory} has no *.test.mjs`);
  // One file at a time: each may start a browser or a workerd, and limits in tests are in seconds.
  const options = ["--test", "--test-reporter=spec", "--test-concurrency=1", `--test-timeout=${limitMs}`];
  return [...options, ...files.map((name) => join("tests", directory, name))];
}
