// `npm test`: sets up, builds, and runs every stage of tests; the first that fails is the last.
//
//   node scripts/test.mjs                 all stages
//   node scripts/test.mjs rust worker     only these
//
// A stage that ran no test has failed. The last line adds up what the stages' own runners counted.
import { build } from "./build.mjs";
import { findNode22 } from "./lib/node.mjs";
import { nodeTest } from "./lib/node-test.mjs";
import { run } from "./lib/run.mjs";
import { Stop, script } from "./lib/stop.mjs";
import { setup } from "./setup.mjs";

/**
 * @typedef {{ passed: number, failed: number, skipped: number }} Counts
 *
 * @typedef {object} Stage
 * @property {string} title
 * @property {string[]} products that must be built for it
 * @property {() => [command: string, args: string[]]} command
 * @property {(output: string) => Counts} count reads the runner's own summary
 */

/** @type {Record<string, Stage>} */
const stages = {
  rust: {
    title: "Rust, native",
    products: [],
    command: () => ["cargo", ["test", ...(process.env.CI ? ["--locked"] : [])]],
    count: countCargo,
  },
  node: {
    title: "wasm in Node",
    products: ["browser"],
    command: () => [process.execPath, nodeTest("node")],
    count: countNode,
  },
  worker: {
    title: "the Worker in workerd",
    products: ["browser", "worker"],
    command: () => [findNode22(), nodeTest("worker")],
    count: countNode,
  },
  browser: {
    title: "the page in Chromium",
    products: ["browser", "worker"],
    command: () => [process.execPath, nodeTest("browser")],
    count: countNode,
  },
  consumers: {
    title: "the package in its users' hosts",
    products: ["browser"],
    command: () => [process.execPath, ["scripts/consumers.mjs", "--built"]],
    count: countConsumers,
  },
};

async function main() {
  const names = process.argv.slice(2);
  const chosen = names.length > 0 ? names : Object.keys(stages);
  const unknown = chosen.find((name) => !Object.hasOwn(stages, name));
  if (unknown !== undefined) throw new Stop(`no stage ${unknown}: there are ${Object.keys(stages).join(", ")}`);

  await setup({ browser: chosen.includes("browser") || chosen.includes("consumers") });
  await build([...new Set(chosen.flatMap((name) => stages[name].products))]);

  const total = { passed: 0, failed: 0, skipped: 0 };
  let broken;
  for (const name of chosen) {
    const { counts, ok } = await runStage(name, stages[name]);
    for (const key of Object.keys(total)) total[key] += counts[key];
    if (!ok) {
      broken = name;
      break;
    }
  }
  if (broken !== undefined) console.log(`stopped at the first stage that failed: ${broken}`);
  const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : "";
  console.log(`${total.passed} passed, ${total.failed} failed${skipped}`);
  return broken === undefined ? 0 : 1;
}

/** Runs one stage between a heading and a line with its time. */
async function runStage(name, { title, command, count }) {
  console.log(`\n== ${name}: ${title}`);
  const started = Date.now();
  const { code, output } = await run(...command(), { allowFailure: true });
  const counts = count(withoutColours(output));
  const ok = code === 0 && counts.failed === 0 && counts.passed > 0;
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  const verdict = ok ? "ok" : counts.passed + counts.failed === 0 ? "FAILED, no test ran" : "FAILED";
  console.log(`== ${name}: ${verdict}, ${seconds} s`);
  return { counts, ok };
}

/** cargo test prints a line for each test binary and for the examples in the documentation. */
function countCargo(output) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const [, passed, failed, ignored] of output.matchAll(/^test result: .*? (\d+) passed; (\d+) failed; (\d+) ignored/gm)) {
    counts.passed += Number(passed);
    counts.failed += Number(failed);
    counts.skipped += Number(ignored);
  }
  return counts;
}

/** node --test ends with one number a line: what passed, failed, was cancelled, skipped, is to do. */
function countNode(output) {
  const number = (name) => Number(new RegExp(`^ℹ ${name} (\\d+)$`, "m").exec(output)?.[1] ?? 0);
  return { passed: number("pass"), failed: number("fail") + number("cancelled"), skipped: number("skipped") + number("todo") };
}

/** consumers.mjs ends with what it found, as JSON. */
function countConsumers(output) {
  const { passed = 0, failed = 0, skipped = 0 } = JSON.parse(/^RESULT (.*)$/m.exec(output)?.[1] ?? "{}");
  return { passed, failed, skipped };
}

function withoutColours(text) {
  return text.replace(/\x1b\[[0-9;]*m/g, "");
}

await script("test", main);
