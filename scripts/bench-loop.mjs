// `npm run bench:loop`: what the loop costs besides its services.
//
// First on a virtual clock: calls, rounds and waiting of each strategy (benches/loop/rounds.rs). Then the CPU
// time of a run by itself, beside LangGraph.js, and what a run takes when its model answers at once
// (benches/loop/cpu.mjs); what a run over a service adds to its calls (benches/loop/latency.mjs); and how long the
// decoder of streams takes for 8 MiB that come byte by byte (benches/loop/sse.mjs). The last line is RESULT and JSON.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "./build.mjs";
import { hashOf } from "./lib/hash.mjs";
import { root } from "./lib/paths.mjs";
import { capture, runLong } from "./lib/run.mjs";
import { Stop, script } from "./lib/stop.mjs";
import { compileExample } from "./lib/wasm.mjs";
import { setup } from "./setup.mjs";

const folder = join(root, "benches", "loop");

async function main() {
  await setup({ browser: false });
  await build(["browser"]);
  await installPeers();
  const rounds = await countRounds();
  const decoder = await compileExample("sse_wasm", { optimised: true });
  const cpu = measured("cpu.mjs");
  const ratios = { alone: ratioOf(cpu.alone), turns: ratioOf(cpu.turns), tens: ratioOf(cpu.tens) };
  printCpu(cpu, ratios);
  const latency = measured("latency.mjs");
  printLatency(latency);
  const sse = measured("sse.mjs", decoder);
  printStreams(sse);
  console.log(`RESULT ${JSON.stringify({ rounds, cpu, ratios, latency, sse })}`);
}

/** How many times as much CPU time as ours a run of LangGraph.js takes. */
function ratioOf({ countercheck, langgraph }) {
  const of = (key) => langgraph.cpuMs[key] / countercheck.cpuMs[key];
  return { median: of("median"), mean: of("mean") };
}

/** The peer has a lock of its own: nobody else's `npm ci` has to download it. */
async function installPeers() {
  const stamp = join(folder, "node_modules", ".countercheck-lock");
  const hash = hashOf({ files: [join(folder, "package-lock.json")] });
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === hash) return;
  await runLong("npm ci in benches/loop", "npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: folder });
  writeFileSync(stamp, hash);
}

async function countRounds() {
  const example = [...(process.env.CI ? ["--locked"] : []), "--example", "rounds"];
  await runLong("building the example rounds", "cargo", ["build", ...example]);
  const rounds = lines(capture("cargo", ["run", "--quiet", ...example]));
  if (rounds.length === 0) throw new Stop("`cargo run --example rounds` failed, or printed nothing");
  let heading = "";
  for (const { path, k, strategy, calls, rounds: count, ms, outcome } of rounds) {
    const next = `${path}, k = ${k}`;
    if (next !== heading) console.log(`\n${next.padEnd(28)}   calls  rounds      ms`);
    heading = next;
    const numbers = [calls, count, ms.toLocaleString("en")].map((number) => String(number).padStart(7)).join(" ");
    console.log(`  ${strategy.padEnd(26)} ${numbers}  ${outcome}`);
  }
  return rounds;
}

/** What a script of the folder measures, in a process of its own. */
function measured(name, ...args) {
  const [found] = lines(capture(process.execPath, [join(folder, name), ...args]));
  if (found === undefined) throw new Stop(`\`${["node", `benches/loop/${name}`, ...args].join(" ")}\` failed, or printed nothing`);
  return found;
}

function lines(output = "") {
  return output.split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
}

function printCpu({ runs, ...measured }, ratios) {
  const titles = { alone: "each by itself", turns: "in turns of 20 ms", tens: "ten runs in turn" };
  console.log(`\nms of a run by itself, ${runs} of each or more; the model answers at once`);
  for (const [way, title] of Object.entries(titles)) {
    console.log(`${title.padEnd(24)}  CPU: median, mean   wall: median, mean`);
    row("countercheck", measured[way].countercheck);
    row("LangGraph.js", measured[way].langgraph);
    const { median, mean } = ratios[way];
    console.log(`  LangGraph.js takes ${median.toFixed(1)} times the CPU by medians, ${mean.toFixed(1)} by means\n`);
  }
}

function row(name, { cpuMs, wallMs }) {
  const numbers = [cpuMs.median, cpuMs.mean, wallMs.median, wallMs.mean].map((ms) => ms.toFixed(3).padStart(9));
  console.log(`  ${name.padEnd(22)} ${numbers.join(" ")}`);
}

function printLatency({ runs, strategies }) {
  console.log(`ms of a run over a service that answers at once, medians of ${runs}`);
  console.log(`${"".padEnd(24)}   calls   run: wall, CPU   calls alone: wall, CPU   the run adds: wall, CPU`);
  for (const [strategy, { calls, run, callsAlone, adds }] of Object.entries(strategies)) {
    const pair = ({ wallMs, cpuMs }, width) => `${wallMs.toFixed(3)} ${cpuMs.toFixed(3)}`.padStart(width);
    console.log(`  ${strategy.padEnd(22)} ${String(calls).padStart(7)} ${pair(run, 16)} ${pair(callsAlone, 24)} ${pair(adds, 25)}`);
  }
}

function printStreams(streams) {
  console.log("\n8 MiB to the decoder of streams in wasm, each byte a chunk");
  for (const [name, { events, wallMs, cpuMs }] of Object.entries(streams)) {
    console.log(`  ${name.padEnd(22)} ${String(events).padStart(7)} events ${wallMs.toFixed(0)} ms, ${cpuMs.toFixed(0)} ms of CPU`);
  }
}

await script("bench:loop", main);
