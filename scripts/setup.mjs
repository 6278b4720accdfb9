// Gets everything that building, serving and testing need, and says so in one line a step.
//
//   node scripts/setup.mjs        everything
//   setup({ browser: false })     from a script that needs no browser
//
// A step looks first and makes only what is missing, so a second run takes a second. Tools go to
// the cache (COUNTERCHECK_CACHE, by default ~/.cache/countercheck), never over the system's own.
// Only Node's built-in modules may be used here: this runs before `npm ci` has.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { aptInstall } from "./lib/apt.mjs";
import { findChromium, findProgram } from "./lib/chromium.mjs";
import { hashOf } from "./lib/hash.mjs";
import { findModel, installModel } from "./lib/llm.mjs";
import { findNode22, installNode } from "./lib/node.mjs";
import { root } from "./lib/paths.mjs";
import { capture, runLong } from "./lib/run.mjs";
import * as rust from "./lib/rust.mjs";
import { Stop, isMain, script } from "./lib/stop.mjs";

/**
 * @typedef {object} Step
 * @property {string} name
 * @property {() => string | undefined} look what is there, in a few words, or undefined
 * @property {() => Promise<void>} make
 */

const lockFile = join(root, "package-lock.json");
const lockStamp = join(root, "node_modules", ".countercheck-lock");

/** @type {Step} */
const npmPackages = {
  name: "npm packages",
  look: () => (existsSync(lockStamp) && readFileSync(lockStamp, "utf8") === lockHash() ? "as locked" : undefined),
  make: async () => {
    // No install script is needed: esbuild and workerd ship their programs as packages.
    await runLong("npm ci", "npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
    writeFileSync(lockStamp, lockHash());
  },
};

/** @type {Step} */
const rustc = {
  name: "Rust",
  look: () => capture("rustc", ["-V"]),
  make: async () => {
    throw new Stop("no Rust: install the stable toolchain as https://rustup.rs says, then open a new shell");
  },
};

/** @type {Step} */
const linker = {
  name: "C linker",
  look: () => findProgram("cc"),
  make: () => aptInstall(["gcc", "libc6-dev"], "no C compiler `cc`, which Rust links with: install gcc or clang"),
};

/** @type {Step} */
const wasmTarget = {
  name: "wasm target",
  look: () => rust.findWasmToolchain()?.label,
  make: rust.installWasmToolchain,
};

/** @type {Step} */
const wasmBindgen = {
  name: "wasm-bindgen",
  look: () => rust.findWasmBindgen() && rust.wasmBindgenVersion(),
  make: rust.installWasmBindgen,
};

/** @type {Step} */
const node22 = {
  name: "Node for wrangler",
  look: () => {
    const path = findNode22();
    return path && `${capture(path, ["--version"])}${path === process.execPath ? "" : ", private"}`;
  },
  make: () => installNode(22),
};

/** @type {Step} */
const chromium = {
  name: "Chromium",
  look: findChromium,
  make: async () => {
    const sentence = "no Chromium for the page's tests: install one, or name it in the variable CHROMIUM";
    if (process.env.CHROMIUM) throw new Stop(`CHROMIUM names no program: ${process.env.CHROMIUM}`);
    await aptInstall(["chromium"], sentence);
  },
};

/** @param {string} asked @returns {Step} */
const localModel = (asked) => ({ name: "local model", look: () => findModel(asked), make: () => installModel(asked) });

/**
 * Makes what is missing.
 * @param {{ browser?: boolean, model?: string }} [options] browser: whether tests in Chromium are to run;
 *   model: which language model is to run on this machine, as lib/llm.mjs calls it
 * @throws {Stop} with what to do, where a step cannot help itself
 */
export async function setup({ browser = true, model } = {}) {
  const steps = [npmPackages, rustc, linker, wasmTarget, wasmBindgen, node22];
  if (browser) steps.push(chromium);
  if (model !== undefined) steps.push(localModel(model));
  for (const step of steps) await take(step);
}

/** @param {Step} step */
async function take({ name, look, make }) {
  let found = look();
  if (found === undefined) {
    const started = Date.now();
    await make();
    found = look();
    if (found === undefined) throw new Stop(`${name}: made, and still not found; this is a bug of scripts/setup.mjs`);
    found += ` (${Math.round((Date.now() - started) / 1000)} s)`;
  }
  console.log(`setup: ${name}: ${found}`);
}

function lockHash() {
  return hashOf({ files: [lockFile] });
}

if (isMain(import.meta.url)) await script("setup", () => setup());
