// Other Nodes than the one that runs us: a new one for wrangler, an old one for the package's users.
// Where ours will do it is taken, else a private one from npm.
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { cache } from "./paths.mjs";
import { runLong } from "./run.mjs";
import { Stop } from "./stop.mjs";

/** What wrangler needs. */
const NEEDED = { major: 22, minor: 12 };
const PRIVATE = { 20: "20.20.2", 22: "22.23.5" };

/** Whether npm has a private Node for this machine. */
export const canInstallNode = process.platform === "linux" && ["x64", "arm64"].includes(process.arch);

const [ourMajor, ourMinor] = process.versions.node.split(".").map(Number);
const directory = (major) => join(cache, `node-${PRIVATE[major]}`);

/**
 * The Node that can run wrangler and the Worker's tests.
 * @returns {string | undefined} a path, undefined until setup has got one
 */
export function findNode22() {
  const isNewEnough = ourMajor > NEEDED.major || (ourMajor === NEEDED.major && ourMinor >= NEEDED.minor);
  return isNewEnough ? process.execPath : findPrivate(NEEDED.major);
}

/**
 * A Node of this very major version.
 * @param {20 | 22} major
 * @returns {string | undefined} a path, undefined until it has been installed
 */
export function findNode(major) {
  return ourMajor === major ? process.execPath : findPrivate(major);
}

/**
 * Puts a private Node into the cache; the system's is never touched.
 * @param {20 | 22} major
 * @throws {Stop} where npm has none for this machine
 */
export async function installNode(major) {
  const what = `node-linux-${process.arch}@${PRIVATE[major]}`;
  if (!canInstallNode) {
    throw new Stop(`wrangler needs Node ${NEEDED.major}.${NEEDED.minor} or newer: install it (this is ${process.version})`);
  }
  const unfinished = `${directory(major)}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  const options = ["--no-save", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund"];
  await runLong(`downloading ${what}`, "npm", ["install", "--prefix", unfinished, ...options, what], { cwd: unfinished });
  rmSync(directory(major), { recursive: true, force: true });
  renameSync(unfinished, directory(major));
}

function findPrivate(major) {
  const path = join(directory(major), "node_modules", `node-linux-${process.arch}`, "bin", "node");
  return existsSync(path) ? path : undefined;
}
