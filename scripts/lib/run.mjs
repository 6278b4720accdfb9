// Runs commands: to look (capture), to let them speak (run), to wait for them (runLong).
import { spawn, spawnSync } from "node:child_process";
import { createInterface } from "node:readline";
import { root } from "./paths.mjs";
import { Stop } from "./stop.mjs";

const REPORT_EVERY_MS = 15_000;
// Of a long command that failed: npm says first what is wrong, compilers say it last.
const HEAD_LINES = 15;
const TAIL_LINES = 45;

/**
 * Runs a quick command and gives what it printed, or undefined if it cannot be run or fails.
 * @param {string} command
 * @param {string[]} args
 * @param {{ env?: Record<string, string>, cwd?: string }} [options] env is added to this process's
 * @returns {string | undefined} stdout, trimmed
 */
export function capture(command, args, options = {}) {
  const result = spawnSync(command, args, { ...spawnOptions(options), encoding: "utf8" });
  return result.status === 0 ? result.stdout.trim() : undefined;
}

/**
 * Runs a command whose output goes to ours, line by line behind a prefix where one is given.
 * @param {string} command
 * @param {string[]} args
 * @param {{ env?: Record<string, string>, cwd?: string, prefix?: string, allowFailure?: boolean }} [options]
 * @returns {Promise<{ code: number, output: string }>} output is both streams, as printed
 * @throws {Stop} when it fails, unless `allowFailure`
 */
export async function run(command, args, options = {}) {
  const { prefix = "", allowFailure = false } = options;
  let output = "";
  const code = await spawnLines(command, args, options, (line) => {
    output += `${line}\n`;
    process.stdout.write(`${prefix}${line}\n`);
  });
  if (code !== 0 && !allowFailure) throw failed(command, args, code);
  return { code, output };
}

/**
 * Runs a command that takes minutes: quiet but for a progress line, its first and last lines shown if it fails.
 * @param {string} label what is being done, e.g. "building wasm-bindgen"
 * @param {string} command
 * @param {string[]} args
 * @param {{ env?: Record<string, string>, cwd?: string, progress?: (line: string) => string | undefined }} [options]
 *   progress turns a line of output into what the progress line should say from then on
 * @throws {Stop} when it fails
 */
export async function runLong(label, command, args, options = {}) {
  const progress = new Progress(label);
  const lines = [];
  const code = await spawnLines(command, args, options, (line) => {
    lines.push(line);
    progress.say(options.progress?.(line));
  }).finally(() => progress.end());
  if (code === 0) return;
  const left = lines.splice(HEAD_LINES, Math.max(0, lines.length - HEAD_LINES - TAIL_LINES)).length;
  if (left > 0) lines.splice(HEAD_LINES, 0, `  … ${left} lines …`);
  console.error(lines.join("\n"));
  throw failed(command, args, code);
}

/** A line that is rewritten on a terminal, and repeated now and then in a log. */
class Progress {
  #label;
  #detail = "";
  #started = Date.now();
  #timer;

  constructor(label) {
    this.#label = label;
    const every = process.stdout.isTTY ? 1000 : REPORT_EVERY_MS;
    this.#timer = setInterval(() => this.#print(), every);
  }

  say(detail) {
    if (detail) this.#detail = detail;
  }

  end() {
    clearInterval(this.#timer);
    if (process.stdout.isTTY) process.stdout.write("\r\x1b[K");
  }

  #print() {
    const seconds = Math.round((Date.now() - this.#started) / 1000);
    const text = `  … ${this.#label}, ${seconds} s ${this.#detail}`;
    if (process.stdout.isTTY) process.stdout.write(`\r\x1b[K${text.slice(0, process.stdout.columns - 1)}`);
    else console.log(text);
  }
}

function spawnLines(command, args, options, onLine) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...spawnOptions(options), stdio: ["ignore", "pipe", "pipe"] });
    createInterface({ input: child.stdout }).on("line", onLine);
    createInterface({ input: child.stderr }).on("line", onLine);
    child.on("error", (cause) => reject(new Stop(`cannot run ${command}: ${cause.message}`, { cause })));
    child.on("close", (code) => resolve(code ?? 1));
  });
}

function spawnOptions({ env, cwd = root }) {
  return { cwd, env: env ? definedOnly({ ...process.env, ...env }) : process.env };
}

/** An undefined value takes a variable of this process away from the command. */
function definedOnly(env) {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined));
}

function failed(command, args, code) {
  return new Stop(`\`${[command, ...args].join(" ")}\` ended with exit code ${code}; its output is above`);
}
