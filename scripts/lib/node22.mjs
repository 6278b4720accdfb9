// The Node that wrangler needs: the one that runs us if it is new enough, else a private one from npm.
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { cache } from "./paths.mjs";
import { runLong } from "./run.mjs";
import { Stop } from "./stop.mjs";

const NEEDED = { major: 22, minor: 12 };
const PRIVATE_VERSION = "22.23.5";
const HAS_PRIVATE = process.platform === "linux" && ["x64", "arm64"].includes(process.arch);

const directory = join(cache, `node-${PRIVATE_VERSION}`);
const privateNode = join(directory, "node_modules", `node-linux-${process.arch}`, "bin", "node");

/**
 * The Node that can run wrangler and the Worker's tests.
 * @returns {string | undefined} a path, undefined until setup has got one
 */
export function findNode22() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > NEEDED.major || (major === NEEDED.major && minor >= NEEDED.minor)) return process.execPath;
  return existsSync(privateNode) ? privateNode : undefined;
}

/** Puts a private Node into the cache; the system's is never touched. */
export async function installNode22() {
  if (!HAS_PRIVATE) {
    throw new Stop(`wrangler needs Node ${NEEDED.major}.${NEEDED.minor} or newer: install it (this is ${process.version})`);
  }
  const unfinished = `${directory}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  const what = `node-linux-${process.arch}@${PRIVATE_VERSION}`;
  const options = ["--no-save", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund"];
  await runLong(`downloading ${what}`, "npm", ["install", "--prefix", unfinished, ...options, what], { cwd: unfinished });
  rmSync(directory, { recursive: true, force: true });
  renameSync(unfinished, directory);
}
