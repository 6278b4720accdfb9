// `npm run bench:index`: the vector index beside its peers, on the same vectors, and how a snapshot is loaded.
//
//   node scripts/bench-index.mjs              what has been made, small sets, two minutes
//   node scripts/bench-index.mjs -- --full    makes and runs all
//   … --sets 10k-256 --peers edgevec          only these; --peers none for none, --sets snapshot for that alone
//
// Ratios are taken in one process, where ten queries at a time go to the yardstick (a scan of `f32` rows by SIMD), to
// this package's two modules and to the peer in turn. The last line is RESULT and JSON.
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { build } from "./build.mjs";
import { hashOf } from "./lib/hash.mjs";
import { findNode22 } from "./lib/node.mjs";
import { dist, root } from "./lib/paths.mjs";
import { capture, run, runLong } from "./lib/run.mjs";
import { WASM_TARGET, findWasmToolchain } from "./lib/rust.mjs";
import { Stop, script } from "./lib/stop.mjs";
import { setup } from "./setup.mjs";

const folder = join(root, "benches", "index");
// Below dist/ but not in it, where the package takes every module from.
const kernel = join(dist, "bench", "kernel.wasm");

async function main() {
  const options = process.argv.slice(2).filter((option) => option !== "--");
  const full = options.includes("--full");
  const chosen = (name) => options[options.indexOf(name) + 1]?.split(",");
  const withSnapshot = !options.includes("--sets") || chosen("--sets").includes("snapshot");
  await setup({ browser: false });
  await build([withSnapshot || full ? "browser" : "vectors"]);
  await install(folder);
  if (full) await install(join(root, "benches", "retrieval"));
  await compileKernel();
  const { SETS, isMade, make } = await import("../benches/index/sets.mjs");
  const { PEERS } = await import("../benches/index/peers.mjs");
  const peers = options.includes("--peers") ? chosen("--peers") : Object.keys(PEERS);
  const stranger = peers.find((name) => name !== "none" && !(name in PEERS));
  if (stranger !== undefined) throw new Stop(`no peer ${stranger}: there are ${Object.keys(PEERS).join(", ")}`);
  const sets = options.includes("--sets") ? SETS.filter(({ name }) => chosen("--sets").includes(name)) : SETS;
  const results = {};
  for (const set of sets) {
    if (!isMade(set) && (full || set.quick)) {
      console.log(`bench: making ${set.name}`);
      if (!make(set)) console.log(`bench: ${set.name} cannot be made on this machine`);
    }
    const runs = isMade(set) && (full || set.quick || options.includes("--sets"));
    results[set.name] = runs ? measureSet(set, peers) : "skipped";
    if (!runs) console.log(`\n${set.name}: skipped; --full makes and runs it`);
  }
  results.snapshot = withSnapshot ? measureSnapshot() : "skipped";
  const downloads = Object.fromEntries(Object.entries(PEERS).map(([name, { files }]) => [name, downloadOf(files)]));
  downloads.countercheck = sizeOf(["vectors.wasm", "vectors.js"].map((name) => join(dist, name)));
  printDownloads(downloads);
  console.log(`RESULT ${JSON.stringify({ node: capture(findNode22(), ["--version"]), results, downloads })}`);
}

/** The peers, and what runs a model, have locks of their own: nobody else's `npm ci` has to download them. */
async function install(folder) {
  const stamp = join(folder, "node_modules", ".countercheck-lock");
  const hash = hashOf({ files: [join(folder, "package-lock.json")] });
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === hash) return;
  await runLong(`npm ci in ${relative(root, folder)}`, "npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: folder });
  writeFileSync(stamp, hash);
}

/** The yardstick is compiled by rustc alone. */
async function compileKernel() {
  const options = ["--edition", "2024", "--crate-type", "cdylib", "-Copt-level=3", "-Cpanic=abort", "-Ctarget-feature=+simd128"];
  mkdirSync(join(dist, "bench"), { recursive: true });
  await run("rustc", [join(folder, "kernel.rs"), "--target", WASM_TARGET, ...options, "-o", kernel], findWasmToolchain());
}

/** One process a peer. */
function measureSet(set, peers) {
  console.log(`\n${set.name}: ${set.rows} vectors of ${set.dimension} components`);
  console.log("                          recall  p50 ms  CPU ms   × f32  × ours  build s      MB  file MB  load ms");
  const reports = peers.map((peer) => {
    const args = ["--expose-gc", join(folder, "measure.mjs"), set.name, peer, kernel];
    const line = capture(findNode22(), args)?.split("\n").findLast((found) => found.startsWith("{"));
    if (line === undefined) {
      console.log(`  ${peer.padEnd(22)} failed: \`node ${args.join(" ")}\` says why`);
      return { peer, failed: true };
    }
    const report = JSON.parse(line);
    if (peer !== "none") row(peer, report.rows.peer, report);
    return report;
  });
  const measured = reports.filter(({ failed }) => !failed);
  if (measured.length === 0) throw new Stop(`no peer could be measured on ${set.name}`);
  const names = ["relaxed", "plain", "approximate", "f32"].filter((name) => name in measured[0].rows);
  const own = Object.fromEntries(names.map((name) => [name, middleOf(measured.map(({ rows }) => rows[name]))]));
  const ratios = (name) => middleOf(measured.map(({ rows }) => ({ cpu: rows[name].cpuMs / rows.f32.cpuMs, p50: rows[name].p50 / rows.f32.p50 })));
  const toF32 = Object.fromEntries(names.map((name) => [name, ratios(name)]));
  for (const name of names) row(name === "f32" ? "yardstick, f32" : `countercheck, ${name}`, own[name], { rows: own });
  const bandwidth = Math.max(...measured.map((report) => report.bandwidth));
  console.log(`  memory is read at ${(bandwidth / 1e9).toFixed(1)} GB/s, ${((1e3 * set.rows * (set.dimension + 8)) / bandwidth).toFixed(3)} ms for the plane that is scanned`);
  return { own, toF32, bandwidth, peers: Object.fromEntries(reports.map((report) => [report.peer, summary(report)])) };
}

/** What loading takes, in a process of its own. */
function measureSnapshot() {
  const args = [join(folder, "snapshot.mjs"), join(dist, "bench", "snapshot.ccx")];
  const line = capture(findNode22(), args)?.split("\n").findLast((found) => found.startsWith("{"));
  if (line === undefined) throw new Stop(`\`node ${args.join(" ")}\` says why the snapshot could not be measured`);
  const found = JSON.parse(line);
  const mb = (bytes) => `${(bytes / 1e6).toFixed(2)} MB`;
  const times = ({ cpuMs, ms, bestMs }) => `${cpuMs.toFixed(2)} ms of CPU, ${ms.toFixed(2)} ms, at best ${bestMs.toFixed(2)} ms`;
  console.log(`\nsnapshot: ${found.passages} passages of ${found.documents} documents, ${mb(found.textBytes)} of Markdown`);
  const parts = Object.entries(found.parts).map(([name, bytes]) => `${name} ${mb(bytes)}`);
  console.log(`  file ${mb(found.bytes)}: ${parts.join(", ")}`);
  console.log(`  ${found.ratio.toFixed(3)} × its planes and texts; a vector is ${found.scanBytes} bytes to scan and ${found.rescoringBytes} to rescore`);
  console.log(`  load ${times(found.load)}`);
  console.log(`  of which copying the bytes takes ${times(found.copy)}`);
  console.log(`  first load in a process ${times(found.first)}`);
  console.log(`  a search ${found.searchMs.toFixed(2)} ms, the first one after a load ${found.firstSearchMs.toFixed(2)} ms`);
  return found;
}

function summary({ failed, rows }) {
  if (failed) return "failed";
  const { peer, relaxed, plain, f32 } = rows;
  if (peer === undefined) return "none";
  const times = (ours) => ({ cpu: peer.cpuMs / ours.cpuMs, p50: peer.p50 / ours.p50 });
  return { ...peer, timesRelaxed: times(relaxed), timesPlain: times(plain), timesF32: times(f32) };
}

/** The medians of each number. */
function middleOf(list) {
  const keys = Object.keys(list[0]);
  const median = (numbers) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
  return Object.fromEntries(keys.map((key) => [key, median(list.map((one) => one[key]))]));
}

function row(name, { recall, p50, cpuMs, buildCpuS, bytes, loadMs, ...memory }, { rows }) {
  const taken = memory.scan === undefined ? memory.rssBytes : memory.scan + memory.rescoring;
  const number = (value, digits, width) => (value === undefined ? "–" : value.toFixed(digits)).padStart(width);
  const cells = [
    number(recall, 3, 7), number(p50, 3, 7), number(cpuMs, 3, 7), number(cpuMs / rows.f32.cpuMs, 2, 7),
    number(cpuMs / rows.relaxed.cpuMs, 2, 7), number(buildCpuS, 2, 8),
    number(taken === undefined ? undefined : taken / 1e6, 1, 7), number(bytes === undefined ? undefined : bytes / 1e6, 1, 8), number(loadMs, 1, 8),
  ];
  console.log(`  ${name.padEnd(22)} ${cells.join(" ")}`);
}

/** What a browser downloads of a peer. */
function downloadOf(files) {
  const packages = join(folder, "node_modules");
  const matching = (pattern) => {
    const base = /^\^((?:@\w+\\\/)?[\w-]+)/.exec(pattern.source)[1].replaceAll("\\/", "/");
    const all = readdirSync(join(packages, base), { recursive: true, withFileTypes: true }).filter((found) => found.isFile());
    return all.map(({ parentPath, path, name }) => join(parentPath ?? path, name)).filter((path) => pattern.test(relative(packages, path)));
  };
  return sizeOf(files.flatMap((file) => (typeof file === "string" ? [join(packages, file)] : matching(file))));
}

function sizeOf(paths) {
  const parts = paths.map((path) => readFileSync(path));
  const sum = (size) => parts.reduce((total, part) => total + size(part), 0);
  return { raw: sum((part) => part.length), gzip: sum((part) => gzipSync(part, { level: 9 }).length), brotli: sum((part) => brotliCompressSync(part).length) };
}

function printDownloads(downloads) {
  console.log("\nbytes to download, brotli");
  for (const [name, { brotli }] of Object.entries(downloads)) console.log(`  ${name.padEnd(22)} ${brotli === 0 ? "not for browsers" : String(brotli).padStart(9)}`);
}

await script("bench:index", main);
