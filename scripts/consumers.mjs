// `npm run test:consumers`: the package as its users meet it. Packs it, installs the tarball in an empty
// folder outside the checkout, and asks one question in every host, offline.
//
//   node scripts/consumers.mjs            sets up and builds first
//   node scripts/consumers.mjs --built    does not: for scripts/test.mjs, which has
//
// Every host must give the same answer, to the byte. The last line is RESULT with what was found as JSON.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "./build.mjs";
import { canInstallNode, findNode, installNode } from "./lib/node.mjs";
import { root } from "./lib/paths.mjs";
import { script } from "./lib/stop.mjs";
import { setup } from "./setup.mjs";

const execute = promisify(execFile);

const QUESTION = "How do I limit the size of a request body?";
// Part of the sentence that answers it.
const FACT = "`bodyLimit`";

const NODES = [20, 22];

/** How a TypeScript project may look for the package. */
const PROJECTS = {
  "types, bundler": ["--module", "esnext", "--moduleResolution", "bundler"],
  "types, node16": ["--module", "node16", "--moduleResolution", "node16"],
  "types, workerd": ["--module", "esnext", "--moduleResolution", "bundler", "--customConditions", "workerd"],
};

async function main() {
  if (!process.argv.includes("--built")) {
    await setup();
    await build(["browser"]);
  }
  for (const major of NODES) if (findNode(major) === undefined && canInstallNode) await installNode(major);
  const folder = mkdtempSync(join(tmpdir(), "countercheck-consumer-"));
  try {
    const tarball = await install(folder);
    const checks = await runAll(await checksOf(folder));
    const count = (outcome) => Object.values(checks).filter((found) => found === outcome).length;
    const counts = { passed: count("passed"), failed: count("failed"), skipped: count("skipped") };
    console.log(`RESULT ${JSON.stringify({ tarball, ...counts, checks })}`);
    return counts.failed > 0 ? 1 : 0;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Packs the package and installs it, alone, beside the consumer's files; the tarball's size in bytes. */
async function install(folder) {
  cpSync(join(root, "tests", "consumers", "project"), folder, { recursive: true });
  const pack = ["pack", "--ignore-scripts", "--json", "--pack-destination", folder];
  const [packed] = JSON.parse((await execute("npm", pack, { cwd: root })).stdout);
  const { filename, size, unpackedSize, entryCount } = packed;
  await execute("npm", ["install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", filename], { cwd: folder });
  const installed = readdirSync(join(folder, "node_modules")).filter((name) => !name.startsWith("."));
  assert.deepEqual(installed, ["countercheck"], "the package has no dependencies");
  return { files: entryCount, packed: size, unpacked: unpackedSize };
}

/** What is to be tried, by name, where it can be; the first makes the index that the others answer from. */
async function checksOf(folder) {
  const { askInBundle, askInNode, askInPage, askInWorkerd } = await import("../tests/consumers/hosts.mjs");
  let expected;
  const same = async (asking) => {
    // As JSON has it: some hosts send it, others do not.
    const answer = JSON.parse(JSON.stringify(await asking));
    assert.equal(answer.outcome, "answered");
    assert.ok(answer.citations.some(({ quote }) => quote.includes(FACT)), "the right section is cited");
    expected ??= answer;
    assert.deepEqual(answer, expected);
  };
  return {
    "command line": () => makeIndex(folder),
    ...objectOf(NODES, (major) => [`Node ${major}`, findNode(major) && (() => same(askInNode(major, folder, QUESTION)))]),
    "Chromium, import map": () => same(askInPage("mapped.html", folder, QUESTION)),
    "Chromium, esbuild": () => same(askInBundle(folder, QUESTION)),
    workerd: () => same(askInWorkerd(folder, QUESTION)),
    ...objectOf(Object.entries(PROJECTS), ([name, options]) => [name, () => checkTypes(folder, options)]),
  };
}

function objectOf(list, toEntry) {
  return Object.fromEntries(list.map(toEntry));
}

async function makeIndex(folder) {
  mkdirSync(join(folder, "public"));
  const command = join(folder, "node_modules", ".bin", "countercheck");
  const args = ["index", "docs", "--base-url", "https://docs.example/", "-o", "public/docs.ccx"];
  await execute(command, args, { cwd: folder });
}

/** Type-checks types.ts as a strict project. */
async function checkTypes(folder, options) {
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const strict = ["--noEmit", "--strict", "--target", "es2022", "--lib", "es2022,dom,dom.iterable", "--types", ""];
  await execute(process.execPath, [tsc, ...strict, ...options, "types.ts"], { cwd: folder }).catch((error) => {
    // The compiler reports on the standard output, which is not part of the error's message.
    assert.fail(error.stdout || error.message);
  });
}

/** Runs one check after the other; whether each held, by name. */
async function runAll(checks) {
  const outcomes = {};
  for (const [name, check] of Object.entries(checks)) {
    const started = Date.now();
    const error = await check?.().then(() => undefined, (thrown) => thrown);
    outcomes[name] = check === undefined ? "skipped" : error === undefined ? "passed" : "failed";
    console.log(`consumers: ${name}: ${outcomes[name]}, ${((Date.now() - started) / 1000).toFixed(1)} s`);
    if (error !== undefined) console.error(error);
  }
  return outcomes;
}

await script("consumers", main);
