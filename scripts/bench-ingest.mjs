// `npm run bench:ingest`: how fast documents become searchable, and queries vectors, in Node's wasm on one core.
//
// Documents: the Markdown of three npm packages through `add` of an assistant with the table, in megabytes of text
// a second. Queries: the project's own questions through the embedder alone, compiled as for a page. CPU time of
// this process, which has one thread of wasm; the best of several rounds. The last line is RESULT and JSON.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { build } from "./build.mjs";
import { root } from "./lib/paths.mjs";
import { script } from "./lib/stop.mjs";
import { compileExample } from "./lib/wasm.mjs";
import { setup } from "./setup.mjs";
import { readQuestions } from "../tests/eval/questions.mjs";

const PACKAGES = ["fastify", "undici", "pino"];
const ROUNDS = 5;

/** So many queries are embedded in a round. */
const QUERIES = 20_000;

async function main() {
  await setup({ browser: false });
  await build(["browser"]);
  const ingest = await measureIngest();
  const queries = await measureQueries(await compileExample("embed_wasm", { optimised: true }));
  console.log(`ingest: ${ingest.documents} documents, ${(ingest.bytes / 1e6).toFixed(2)} MB of Markdown: ${ingest.megabytesPerSecond.toFixed(2)} MB/s of CPU`);
  console.log(`queries: ${queries.perSecond.toFixed(0)} a second, ${queries.words.toFixed(1)} words each`);
  console.log(`RESULT ${JSON.stringify({ ingest, queries })}`);
}

async function measureIngest() {
  const { createAssistant } = await import("../dist/node.js");
  const documents = PACKAGES.flatMap((name) => {
    const folder = join(root, "node_modules", name, "docs");
    const files = readdirSync(folder, { recursive: true }).map(String).filter((file) => file.endsWith(".md")).sort();
    return files.map((file) => ({ id: `${name}/${file}`, text: readFileSync(join(folder, file), "utf8") }));
  });
  const bytes = documents.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  let best = Infinity;
  for (let round = 0; round < ROUNDS; round += 1) {
    const assistant = await createAssistant();
    await assistant.add({ id: "first.md", text: "# The module is loaded\n\nAnd warm.\n" });
    const seconds = await cpu(() => assistant.add(documents));
    assistant.dispose();
    best = Math.min(best, seconds);
  }
  return { documents: documents.length, bytes, seconds: best, megabytesPerSecond: bytes / best / 1e6 };
}

async function measureQueries(path) {
  const { instance } = await WebAssembly.instantiate(readFileSync(path), imports(readFileSync(path)));
  const { memory, reserve, open, embed_lines: embed } = instance.exports;
  // The memory grows where room is made, and the old buffer is none any longer.
  const write = (bytes) => {
    const at = reserve(bytes.length);
    new Uint8Array(memory.buffer).set(bytes, at);
  };
  write(readFileSync(join(root, "assets", "embedder.bin")));
  open();
  const questions = readQuestions().filter(({ language }) => language === "en").map(({ question }) => question);
  const lines = Array.from({ length: QUERIES }, (_, i) => questions[i % questions.length]);
  write(new TextEncoder().encode(lines.join("\n")));
  let best = Infinity;
  for (let round = 0; round < ROUNDS; round += 1) best = Math.min(best, await cpu(() => embed()));
  const words = lines.reduce((sum, line) => sum + line.split(" ").length, 0) / lines.length;
  return { queries: QUERIES, words, seconds: best, perSecond: QUERIES / best };
}

/** What the module imports is never called: randomness that nothing draws. */
function imports(bytes) {
  const named = {};
  for (const { module, name } of WebAssembly.Module.imports(new WebAssembly.Module(bytes))) {
    (named[module] ??= {})[name] = () => {
      throw new Error(`${module}.${name} is not there`);
    };
  }
  return named;
}

async function cpu(work) {
  const started = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1e6;
}

await script("bench:ingest", main);
