// `npm run sim`: the seeded simulation of the loop, with as many seeds as there is time for.
//
//   npm run sim -- --seeds 5000000 --from 100000    these seeds; by default 100000 from 0
//   npm run sim -- --mutants                        each planted fault must be seen
//
// Mutants are applied to a temporary copy of the checkout. The last line is RESULT and JSON.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { mutants } from "../tests/simulation/mutants.mjs";
import { root } from "./lib/paths.mjs";
import { run, runLong } from "./lib/run.mjs";
import { Stop, script } from "./lib/stop.mjs";
import { setup } from "./setup.mjs";

const TEST = ["test", ...(process.env.CI ? ["--locked"] : []), "--test", "simulation"];
const NOT_COPIED = ["target", "node_modules", "dist", ".git"];

async function main() {
  const { seeds, from, ...options } = readOptions();
  await setup({ browser: false });
  return options.mutants ? await tryMutants(seeds, from) : await simulate(seeds, from);
}

function readOptions() {
  const flags = { seeds: { type: "string", default: "100000" }, from: { type: "string", default: "0" }, mutants: { type: "boolean" } };
  let values;
  try {
    ({ values } = parseArgs({ options: /** @type {const} */ (flags) }));
  } catch (error) {
    throw new Stop(`${error.message}; there are --seeds N, --from S and --mutants`);
  }
  for (const name of ["seeds", "from"]) {
    if (!/^\d{1,19}$/.test(values[name])) throw new Stop(`--${name} is ${values[name]}: give a whole number`);
  }
  return values;
}

async function simulate(seeds, from) {
  await runLong("building the simulation", "cargo", [...TEST, "--no-run"]);
  const { code, result } = await runSeeds(seeds, from);
  if (result === undefined) throw new Stop("the simulation printed no totals; its output is above");
  console.log(`RESULT ${JSON.stringify(result)}`);
  return code;
}

/** Runs the test binary and reads the line with its totals. */
async function runSeeds(seeds, from, options = {}) {
  const started = Date.now();
  const env = { ...options.env, SIM_SEEDS: seeds, SIM_FROM: from, RUST_BACKTRACE: "0" };
  const { code, output } = await run("cargo", [...TEST, "--", "--nocapture"], { ...options, env, allowFailure: true });
  const line = /^SIM (\{.*\})$/m.exec(output)?.[1];
  const seconds = (Date.now() - started) / 1000;
  return { code, output, result: line && { ...JSON.parse(line), seconds } };
}

async function tryMutants(seeds, from) {
  const copy = mkdtempSync(join(tmpdir(), "countercheck-mutants-"));
  try {
    cpSync(root, copy, { recursive: true, filter: (path) => !NOT_COPIED.includes(basename(path)) });
    const options = { cwd: copy, env: { CARGO_TARGET_DIR: join(copy, "target") } };
    await runLong("building the simulation without a mutant", "cargo", [...TEST, "--no-run"], options);
    const results = [];
    for (const mutant of mutants) results.push(await tryMutant(mutant, seeds, from, options));
    for (const { name, caught, first, by } of results) {
      console.log(caught ? `caught   ${name}: seed ${first}, ${by.join("; ")}` : `MISSED   ${name}`);
    }
    const missed = results.filter(({ caught }) => !caught).length;
    console.log(`RESULT ${JSON.stringify({ mutants: results.length, missed, results })}`);
    return missed === 0 ? 0 : 1;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** Plants one fault, simulates, and takes it out again. */
async function tryMutant({ name, file, search, replace }, seeds, from, options) {
  const path = join(options.cwd, file);
  const source = readFileSync(path, "utf8");
  if (source.split(search).length !== 2) throw new Stop(`mutant "${name}": ${file} has not exactly one ${JSON.stringify(search)}`);
  writeFileSync(path, source.replace(search, () => replace));
  try {
    await runLong(`building the mutant "${name}"`, "cargo", [...TEST, "--no-run"], options);
    const { code, result } = await runSeeds(seeds, from, { ...options, prefix: "  " });
    if (result === undefined) throw new Stop(`mutant "${name}" printed no totals; its output is above`);
    const by = Object.entries(result.broken).sort((a, b) => b[1] - a[1]).map(([invariant, count]) => `${invariant} (${count})`);
    return { name, caught: code !== 0 && result.failures > 0, first: result.first, by };
  } finally {
    writeFileSync(path, source);
  }
}

await script("sim", main);
