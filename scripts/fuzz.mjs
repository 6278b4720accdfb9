// `npm run fuzz`: what strangers send, in as many forms as there is time for.
//
//   npm run fuzz -- --seconds 60 --seed 7    for each target; by default 20 seconds, and another seed each time
//
// Inputs are changed at random from the corpora in tests/fuzz/corpus. With cargo-fuzz (`cargo install cargo-fuzz`) they
// are then changed by what they cover, as long again; where there is no nightly toolchain, the stable one is told to
// take nightly's options. The last line is RESULT and JSON.
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { cargoTarget, root } from "./lib/paths.mjs";
import { capture, run, runLong } from "./lib/run.mjs";
import { Stop, script } from "./lib/stop.mjs";
import { setup } from "./setup.mjs";

const TEST = ["test", ...(process.env.CI ? ["--locked"] : []), "--test", "fuzz"];
const CORPUS = join(root, "tests", "fuzz", "corpus");

async function main() {
  const { seconds, seed } = readOptions();
  await setup({ browser: false });
  await runLong("building the targets", "cargo", [...TEST, "--no-run"]);
  const env = { FUZZ_SECONDS: seconds, FUZZ_SEED: seed, RUST_BACKTRACE: "0" };
  const tried = await run("cargo", [...TEST, "no_input_breaks_a_law", "--", "--nocapture"], { env, allowFailure: true });
  const line = /^FUZZ (\{.*\})$/m.exec(tried.output)?.[1];
  const [, target, input] = /^FOUND (\w+) ([0-9a-f]*)$/m.exec(tried.output) ?? [];
  const guided = tried.code === 0 ? await guide(seconds, seed) : undefined;
  const result = { seed: Number(seed), seconds: Number(seconds), targets: line && JSON.parse(line), found: target && { target, input }, guided };
  console.log(`RESULT ${JSON.stringify(result)}`);
  return tried.code !== 0 || Object.values(guided?.targets ?? {}).some(({ found }) => found) ? 1 : 0;
}

function readOptions() {
  const flags = { seconds: { type: "string", default: "20" }, seed: { type: "string", default: String((Date.now() % 1_000_000) + 1) } };
  let values;
  try {
    ({ values } = parseArgs({ options: /** @type {const} */ (flags) }));
  } catch (error) {
    throw new Stop(`${error.message}; there are --seconds N and --seed S`);
  }
  for (const name of ["seconds", "seed"]) {
    if (!/^[1-9]\d{0,8}$/.test(values[name])) throw new Stop(`--${name} is ${values[name]}: give a whole number above 0`);
  }
  return values;
}

/** How cargo-fuzz can be called: its sanitizers and counters are unstable options of the compiler. */
const TOOLCHAINS = [
  { name: "nightly", choice: ["+nightly"], env: {} },
  { name: "stable", choice: [], env: { RUSTC_BOOTSTRAP: "1" } },
];

/** Each target by cargo-fuzz: how many inputs were tried, and how much of the code they cover. */
async function guide(seconds, seed) {
  const toolchain = TOOLCHAINS.find(({ choice }) => capture("cargo", [...choice, "fuzz", "--version"]) !== undefined);
  if (toolchain === undefined) {
    console.log("fuzz: not guided by coverage: that takes `cargo install cargo-fuzz`");
    return undefined;
  }
  const { choice, env } = toolchain;
  const found = mkdtempSync(join(tmpdir(), "countercheck-fuzz-"));
  const fuzz = (command, ...args) => [...choice, "fuzz", command, "--fuzz-dir", join(root, "tests", "fuzz", "guided"), "--target-dir", join(cargoTarget, "fuzz"), "target", ...args];
  try {
    await runLong("building the guided targets", "cargo", fuzz("build"), { env });
    const results = {};
    for (const name of readdirSync(CORPUS).sort()) {
      // What it finds on the way stays out of the corpus, unless it breaks a law.
      const places = [join(found, name), join(CORPUS, name)];
      mkdirSync(places[0]);
      const limits = [`-max_total_time=${seconds}`, `-seed=${seed}`, "-max_len=8192", "-print_final_stats=1", "-verbosity=1"];
      const { code, output } = await run("cargo", fuzz("run", ...places, "--", ...limits), { env: { ...env, FUZZ_TARGET: name }, allowFailure: true });
      const number = (pattern) => Number(pattern.exec(output)?.[1] ?? 0);
      const covered = [...output.matchAll(/cov: (\d+)/g)].at(-1)?.[1];
      results[name] = { tried: number(/stat::number_of_executed_units: (\d+)/), covered: Number(covered ?? 0), found: code !== 0 };
    }
    return { toolchain: toolchain.name, targets: results };
  } finally {
    rmSync(found, { recursive: true, force: true });
  }
}

await script("fuzz", main);
