// What was deployed decides whether the Worker can answer: missing, damaged and mismatched files.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { KITCHEN, embedder, makeIndex, makeSite, post, read, start, stream } from "./support.mjs";

const QUESTION = { question: "How long do I knead the dough?" };

let withVectors;
let wordsAlone;

before(async () => {
  [withVectors, wordsAlone] = await Promise.all([makeIndex(KITCHEN), makeIndex(KITCHEN, { embedder: false })]);
});

const BROKEN = [
  ["no index", () => ({}), {}, "index_unavailable", /countercheck index/],
  ["no index at the path that is set", () => ({ "docs.ccx": wordsAlone }), { INDEX_PATH: "/other.ccx" }, "index_unavailable", /\/other\.ccx/],
  ["a page in place of the index", () => ({ "docs.ccx": "<!doctype html>" }), {}, "invalid_snapshot", /./],
  ["an index cut short", () => ({ "docs.ccx": withVectors.slice(0, -1), ...embedder() }), {}, "invalid_snapshot", /./],
  ["no embedder for an index with vectors", () => ({ "docs.ccx": withVectors }), {}, "embedder_unavailable", /EMBEDDER_PATH/],
  ["an embedder that is none", () => ({ "docs.ccx": withVectors, "pkg/embedder.bin": "no table at all, only text of some length" }), {}, "invalid_embedder", /./],
  ["an origin that is none", () => ({ "docs.ccx": wordsAlone }), { ALLOWED_ORIGINS: "docs.example.com" }, "misconfigured", /ALLOWED_ORIGINS/],
  ["an index path that is none", () => ({ "docs.ccx": wordsAlone }), { INDEX_PATH: "docs.ccx" }, "misconfigured", /INDEX_PATH/],
];

for (const [what, files, vars, code, advice] of BROKEN) {
  test(`${what}: every endpoint says so, and the site still stands`, async () => {
    const worker = await start(makeSite(files()), vars);
    try {
      const replies = [
        await post(`${worker.url}/v1/ask`, QUESTION),
        await post(`${worker.url}/v1/search`, { query: "dough" }),
        await fetch(`${worker.url}/healthz`),
      ];
      for (const reply of replies) {
        const { error } = await reply.clone().json();
        assert.deepEqual([reply.status, error.code], [503, code], error.message);
        assert.match(error.message, advice);
      }
      const health = await replies[2].json();
      assert.deepEqual([health.status, health.documents], ["loading_failed", 0]);
      assert.equal((await post(`${worker.url}/v1/ask`, { question: "" })).status, code === "misconfigured" ? 503 : 400);
      assert.equal((await fetch(worker.url)).status, 200);

      // A stream has begun before anything is loaded.
      const told = await stream(worker.url, QUESTION);
      if (code === "misconfigured") {
        assert.equal(told.status, 503);
      } else {
        assert.equal(told.status, 200);
        const events = (await Array.fromAsync(read(told))).filter(({ event }) => event !== undefined);
        assert.deepEqual(events.map(({ event, data }) => [event, data.error.code]), [["error", code]]);
      }
    } finally {
      await worker.stop();
    }
  });
}

const WHOLE = [
  ["an index with vectors and its embedder", () => ({ "docs.ccx": withVectors, ...embedder() }), {}, true],
  ["an index with vectors, by words alone because the operator says so", () => ({ "docs.ccx": withVectors }), { EMBEDDER_PATH: "" }, false],
  ["an index without vectors needs no embedder", () => ({ "docs.ccx": wordsAlone }), {}, false],
  ["an index without vectors and an embedder", () => ({ "docs.ccx": wordsAlone, ...embedder() }), {}, false],
  ["an index at another path", () => ({ "deep/er.ccx": wordsAlone }), { INDEX_PATH: "/deep/er.ccx" }, false],
];

for (const [what, files, vars, dense] of WHOLE) {
  test(`${what}: it answers`, async () => {
    const worker = await start(makeSite(files()), vars);
    try {
      const { hits } = await (await post(`${worker.url}/v1/search`, { query: "knead the dough" })).json();
      assert.equal(hits[0].document_id, "bread.md");
      assert.equal(hits[0].dense !== undefined, dense);
    } finally {
      await worker.stop();
    }
  });
}
