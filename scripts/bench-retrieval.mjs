// `npm run bench:retrieval`: what is found, by our index with each kind of vectors and by three peers.
//
//   npm run bench:retrieval                       the project's own questions
//   npm run bench:retrieval -- --data DIR         a labelled set: docs.jsonl and queries.jsonl
//   npm run bench:retrieval -- --teacher DIR      all-MiniLM-L6-v2 from there and not from Python packages
//
// Prints nDCG@10, recall@5 and MRR on held-out questions and the CPU of a query; ends with RESULT and JSON.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { build } from "./build.mjs";
import { hashOf } from "./lib/hash.mjs";
import { root } from "./lib/paths.mjs";
import { runLong } from "./lib/run.mjs";
import { Stop, script } from "./lib/stop.mjs";
import { setup } from "./setup.mjs";
import { spawnSync } from "node:child_process";

const folder = join(root, "benches", "retrieval");

async function main() {
  const options = readOptions();
  await setup({ browser: false });
  await build(["browser"]);
  await installPeers();
  // There, so that the libraries of the bench are found.
  const { stdout, status } = spawnSync(process.execPath, [join(folder, "run.mjs"), ...options], {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 1 << 26,
  });
  const line = stdout?.split("\n").findLast((text) => text.startsWith("{"));
  if (status !== 0 || line === undefined) throw new Stop("benches/retrieval/run.mjs failed; what it said is above");
  const result = JSON.parse(line);
  print(result);
  console.log(`RESULT ${JSON.stringify(result, (_, value) => (typeof value === "number" ? Number(value.toFixed(4)) : value))}`);
}

function readOptions() {
  let values;
  try {
    ({ values } = parseArgs({ options: { data: { type: "string" }, teacher: { type: "string" } } }));
  } catch (error) {
    throw new Stop(`${error.message}; there are --data and --teacher`);
  }
  return Object.entries(values).flatMap(([name, path]) => {
    if (!existsSync(path)) throw new Stop(`there is no ${path}: give --${name} a directory`);
    return [`--${name}`, resolve(path)];
  });
}

/** The peers have a lock of their own: nobody else's `npm ci` has to download them. */
async function installPeers() {
  const stamp = join(folder, "node_modules", ".countercheck-lock");
  const hash = hashOf({ files: [join(folder, "package-lock.json")] });
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === hash) return;
  await runLong("npm ci in benches/retrieval", "npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: folder });
  writeFileSync(stamp, hash);
}

function print({ set, sections, groups, figures, cpu }) {
  const heading = groups.map((group) => `${group} (${figures.BM25[group].queries})`.padEnd(26)).join("");
  console.log(`\n${set}, ${sections} sections; held out: nDCG@10 ± error, recall@5, MRR`);
  console.log(`${"".padEnd(48)}${heading}CPU ms  p50 ms`);
  for (const [name, { weight, ...of }] of Object.entries(figures)) {
    const cells = groups.map((group) => {
      const { ndcg, error, recall, mrr } = of[group];
      return `${ndcg.toFixed(3)} ± ${error.toFixed(3)} ${recall.toFixed(3)} ${mrr.toFixed(3)}`.padEnd(26);
    });
    const title = weight === undefined ? name : `${name}, weight ${weight}`;
    const { cpuMs, wallMs } = cpu[name] ?? {};
    const times = cpuMs === undefined ? "" : `${cpuMs.toFixed(3).padStart(6)}  ${wallMs.toFixed(3).padStart(6)}`;
    console.log(`${title.padEnd(48)}${cells.join("")}${times}`);
  }
}

await script("bench:retrieval", main);
