// What the Worker's tests share: sites with an index, Workers over them, requests and event streams.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createParser } from "eventsource-parser";
import { root } from "../../scripts/lib/paths.mjs";
import { startWorker } from "../../scripts/lib/worker.mjs";

/** A small corpus: two pages of a kitchen. */
export const KITCHEN = [
  {
    id: "bread.md",
    url: "https://kitchen.example/bread",
    text: "# Bread\n\n## Kneading\n\nKnead the dough for ten minutes.\n\n## Baking\n\nBake the loaf at 230 degrees for half an hour.\n",
  },
  {
    id: "tea.md",
    url: "https://kitchen.example/tea",
    text: "# Tea\n\nSteep the green tea leaves for three minutes in water of 80 degrees.\n",
  },
];

const temporary = [];
process.on("exit", () => temporary.forEach((directory) => rmSync(directory, { recursive: true, force: true })));

function makeDirectory(prefix) {
  const directory = mkdtempSync(join(tmpdir(), prefix));
  temporary.push(directory);
  return directory;
}

/**
 * Makes the directory of a site.
 * @param {Record<string, string | Uint8Array>} files by path
 * @returns {string} its path
 */
export function makeSite(files) {
  const site = makeDirectory("countercheck-site-");
  for (const [path, content] of Object.entries({ "index.html": "<!doctype html><title>Home</title>", ...files })) {
    mkdirSync(dirname(join(site, path)), { recursive: true });
    writeFileSync(join(site, path), content);
  }
  return site;
}

/**
 * Indexes documents with the library.
 * @param {import("../../www/src/generated/wire.ts").DocumentInput[]} documents
 * @param {{ embedder?: boolean }} [options] false: words alone
 * @returns {Promise<Uint8Array>} the snapshot
 */
export async function makeIndex(documents, { embedder = true } = {}) {
  const { createAssistant } = await import("../../dist/node.js");
  const assistant = await createAssistant(embedder ? {} : { embedder: false });
  await assistant.add(documents);
  const snapshot = await assistant.save();
  assistant.dispose();
  return snapshot;
}

/** The embedder's table, where the Worker looks for it. */
export const embedder = () => ({ "pkg/embedder.bin": readFileSync(join(root, "assets", "embedder.bin")) });

/** Starts the built Worker, stopped when the test's process ends at the latest. */
export const start = (site, vars, secrets) => startWorker({ assets: site, vars, secrets });

/** Starts the Worker on its stage: see stage/entry.mjs, or another entry beside it. */
export function startOnStage(site, { entry: name = "entry.mjs", vars } = {}) {
  const built = readFileSync(join(root, "wrangler.toml"), "utf8");
  const entry = join(root, "tests", "worker", "stage", name);
  const staged = built.replace(/^main = .*$/m, `main = ${JSON.stringify(entry)}`).replace(/^run_worker_first = .*$/m, "run_worker_first = true");
  const config = join(makeDirectory("countercheck-stage-"), "wrangler.toml");
  writeFileSync(config, staged);
  return startWorker({ assets: site, config, vars });
}

/**
 * Posts JSON.
 * @param {string} url
 * @param {unknown} body a value, or text and bytes to be sent as they are
 * @param {{ headers?: Record<string, string>, signal?: AbortSignal }} [options]
 */
export function post(url, body, { headers, signal } = {}) {
  const raw = typeof body === "string" || body instanceof Uint8Array;
  return fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: raw ? body : JSON.stringify(body),
    signal,
  });
}

/** Asks for a stream of events. */
export function stream(url, body, { signal } = {}) {
  return post(`${url}/v1/ask`, body, { headers: { accept: "text/event-stream" }, signal });
}

/**
 * Reads a stream of events.
 * @param {Response} response
 * @returns {AsyncGenerator<{ event?: string, data?: any, comment?: string }>} in the order in which they come
 */
export async function* read(response) {
  const found = [];
  const parser = createParser({
    onEvent: ({ event, data }) => found.push({ event, data: JSON.parse(data) }),
    onComment: (comment) => found.push({ comment }),
  });
  const decoder = new TextDecoder();
  for await (const chunk of response.body) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* found.splice(0);
  }
}

/** Looks until the condition holds; the test's own time limit is the only one. */
export async function until(condition) {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 50));
}
