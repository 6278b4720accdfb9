// What models said is kept at the edge (G-18): in an isolate's memory, and in KV.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { root } from "../../scripts/lib/paths.mjs";
import { startWorker } from "../../scripts/lib/worker.mjs";
import { serveChat } from "../services/openai.mjs";
import { KITCHEN, makeIndex, makeSite, post } from "./support.mjs";

const ASKED = { question: "How long do I knead the dough?", strategy: "corrective", k: 1 };

let chat;
let site;
let folder;

before(async () => {
  chat = await serveChat(({ role }) => (role === "grade" ? '{"score":"yes"}' : "For ten minutes [1]."));
  site = makeSite({ "docs.ccx": await makeIndex(KITCHEN, { embedder: false }) });
  folder = mkdtempSync(join(tmpdir(), "countercheck-cache-"));
});

after(async () => {
  rmSync(folder, { recursive: true, force: true });
  await chat.close();
});

/** The calls of the model for the same question asked twice, and what the second answer remembers. */
async function askedTwice(t, vars, kv) {
  const config = join(folder, "wrangler.toml");
  const built = readFileSync(join(root, "wrangler.toml"), "utf8");
  const main = built.replace(/^main = .*$/m, `main = ${JSON.stringify(join(root, "dist", "worker", "entry.js"))}`);
  writeFileSync(config, kv ? `${main}\n[[kv_namespaces]]\nbinding = "CACHE"\nid = "cache"\n` : main);
  const where = { LOCAL: "yes", CHAT_BASE_URL: chat.url, CHAT_MODEL: "m", EMBEDDER_PATH: "" };
  const worker = await startWorker({ assets: site, config, vars: { ...where, ...vars } });
  t.after(() => worker.stop());
  const ask = async () => (await post(`${worker.url}/v1/ask`, ASKED)).json();
  const begun = chat.calls.length;
  const first = await ask();
  assert.equal(first.text, "For ten minutes [1].", JSON.stringify(first));
  const second = await ask();
  assert.equal(second.text, first.text);
  return [chat.calls.length - begun, second.usage.remembered];
}

test("g_18_an_isolate_remembers_what_fits", async (t) => {
  assert.deepEqual(await askedTwice(t, { CACHE_BYTES: "100000" }, false), [2, 2]);
});

test("g_18_kv_remembers_for_all_isolates", async (t) => {
  assert.deepEqual(await askedTwice(t, { CACHE_BYTES: "1" }, true), [2, 2]);
});

test("nothing_is_kept_where_nobody_asks_for_it", async (t) => {
  assert.deepEqual(await askedTwice(t, {}, false), [4, undefined]);
});
