// The Worker in real workerd: `wrangler dev`, started and stopped, for `npm start` and for tests.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { findNode22 } from "./node.mjs";
import { root } from "./paths.mjs";
import { Stop } from "./stop.mjs";

const START_LIMIT_MS = 120_000;
const STOP_LIMIT_MS = 5_000;
const OUTPUT_LIMIT = 200_000;
const READY = /Ready on (http:\/\/\S+)/;

// Without these wrangler reports usage, asks for news and fetches a sample of request properties.
const QUIET = {
  CI: "true",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  DO_NOT_TRACK: "1",
  NO_COLOR: "1",
  WRANGLER_SEND_ERROR_REPORTS: "false",
  WRANGLER_SEND_METRICS: "false",
};

/**
 * @typedef {object} WorkerOptions
 * @property {number} [port] 0, the default: a free one
 * @property {string} [assets] directory served in place of the one in wrangler.toml
 * @property {Record<string, string>} [vars] in place of or beside those in wrangler.toml
 * @property {Record<string, string>} [secrets] likewise, and not shown by wrangler
 * @property {string} [config] path of a configuration in place of wrangler.toml
 * @property {(line: string) => void} [onLine] called for each line of wrangler's output once it is ready
 *
 * @typedef {object} RunningWorker
 * @property {string} url without a slash at its end
 * @property {() => string} output what wrangler and the Worker have printed, the last 200,000 characters of it
 * @property {() => Promise<void>} stop ends wrangler and workerd, and removes their state
 * @property {Promise<number>} ended fulfils with wrangler's exit code
 */

/**
 * Starts the built Worker; resolves once it listens.
 * @param {WorkerOptions} [options]
 * @returns {Promise<RunningWorker>}
 * @throws {Stop} with wrangler's output, when it ends or does not get ready within two minutes
 */
export async function startWorker(options = {}) {
  const state = mkdtempSync(join(tmpdir(), "countercheck-worker-"));
  const child = spawn(findNode22(), wranglerArguments(options, state), {
    cwd: root,
    env: { ...process.env, ...QUIET, WRANGLER_LOG_PATH: join(state, "logs") },
    stdio: ["ignore", "pipe", "pipe"],
    // Its own process group: workerd is a grandchild, and must not outlive us.
    detached: true,
  });
  endWithUs(child, state);
  const ended = new Promise((resolve) => child.on("close", (code) => resolve(code ?? 1)));
  const stop = async () => {
    await endGroup(child, ended);
    rmSync(state, { recursive: true, force: true });
  };
  let output = "";
  let url;
  const ready = new Promise((resolve) => {
    const listen = (line) => {
      output = `${output}${line}\n`.slice(-OUTPUT_LIMIT);
      if (url !== undefined) return options.onLine?.(line);
      url = READY.exec(line)?.[1];
      if (url !== undefined) resolve(true);
    };
    createInterface({ input: child.stdout }).on("line", listen);
    createInterface({ input: child.stderr }).on("line", listen);
  });
  if (!(await Promise.race([ready, ended.then(() => false), after(START_LIMIT_MS)]))) {
    await stop();
    throw new Stop(`wrangler did not start the Worker; it said:\n${output}`);
  }
  return { url, output: () => output, stop, ended };
}

function wranglerArguments({ port = 0, assets, vars = {}, secrets, config }, state) {
  const wrangler = join(root, "node_modules", "wrangler", "bin", "wrangler.js");
  const args = [wrangler, "dev", "--local", "--ip", "127.0.0.1", "--port", String(port), "--inspector-port", "0"];
  args.push("--show-interactive-dev-session=false", "--persist-to", state);
  if (config !== undefined) args.push("--config", config);
  if (assets !== undefined) args.push("--assets", assets);
  for (const [name, value] of Object.entries(vars)) args.push("--var", `${name}:${value}`);
  if (secrets !== undefined) {
    const file = join(state, "secrets");
    const lines = Object.entries(secrets).map(([name, value]) => `${name}=${JSON.stringify(value)}\n`);
    writeFileSync(file, lines.join(""), { mode: 0o600 });
    args.push("--env-file", file);
  }
  return args;
}

const running = new Map();
let exitIsWatched = false;

/** However this process ends, short of a kill -9, wrangler's group and its state go with it. */
function endWithUs(child, state) {
  running.set(child, state);
  child.on("close", () => running.delete(child));
  if (exitIsWatched) return;
  exitIsWatched = true;
  process.on("exit", () => {
    for (const [each, directory] of running) {
      signal(each, "SIGKILL");
      rmSync(directory, { recursive: true, force: true });
    }
  });
  // A signal that nobody handles would end us without an exit event.
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    if (process.listenerCount(name) === 0) process.on(name, () => process.exit(1));
  }
}

async function endGroup(child, ended) {
  signal(child, "SIGTERM");
  if ((await Promise.race([ended, after(STOP_LIMIT_MS)])) === false) signal(child, "SIGKILL");
  await ended;
  // workerd may take longer than wrangler, and still holds the port.
  signal(child, "SIGKILL");
}

function signal(child, name) {
  try {
    process.kill(-child.pid, name);
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}

/** Fulfils with false later; never keeps the process alive. */
function after(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms, false).unref());
}
