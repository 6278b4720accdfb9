// Vectors from an embedding model at the edge, in real workerd: the query's, over an index of its model.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { serveEmbeddings } from "../services/embeddings.mjs";
import { makeSite, post, start } from "./support.mjs";

const DOCUMENTS = [
  { id: "keys.md", text: "# Keys\n\nRevoke the old secret once the new one is there.\n" },
  { id: "limits.md", text: "# Limits\n\nA body has at most 1048576 bytes.\n" },
];
const QUERY = { query: "password", k: 1 };

let service;
let site;

before(async () => {
  service = await serveEmbeddings();
  const { createAssistant, openaiEmbeddings } = await import("../../dist/node.js");
  const assistant = await createAssistant({ embed: openaiEmbeddings({ baseUrl: service.url, model: "words-4" }) });
  await assistant.add(DOCUMENTS);
  site = makeSite({ "docs.ccx": await assistant.save() });
  assistant.dispose();
});

after(() => service.close());

const variables = (more = {}) => ({ EMBED_BASE_URL: service.url, EMBED_MODEL: "words-4", EMBED_API_KEY: "k", LOCAL: "yes", ...more });

test("queries are embedded, and searched for by words where that fails", async (t) => {
  const worker = await start(site, variables());
  t.after(() => worker.stop());
  service.calls.length = 0;
  const search = async (query) => (await post(`${worker.url}/v1/search`, query)).json();
  const found = await search(QUERY);
  assert.deepEqual([found.hits[0].document_id, "warnings" in found], ["keys.md", false]);
  assert.ok(found.hits[0].dense > 0.9);
  assert.deepEqual(service.calls.map(({ headers, body }) => [headers.authorization, body.input]), [["Bearer k", ["password"]]]);

  const ask = async () => (await post(`${worker.url}/v1/ask`, { question: "When do I revoke the secret?", strategy: "naive" })).json();
  const answer = await ask();
  assert.deepEqual([answer.outcome, answer.usage.calls.embed, answer.warnings], ["answered", 1, []]);

  service.breaks(401);
  const words = await search({ query: "secret", k: 1 });
  assert.deepEqual([words.hits[0].document_id, "dense" in words.hits[0]], ["keys.md", false]);
  assert.deepEqual(words.warnings.map(({ code }) => code), ["embedding_failed"]);
  const warned = await ask();
  assert.deepEqual([warned.outcome, warned.usage.calls.embed], ["answered", 1]);
  assert.deepEqual(warned.warnings.map(({ code }) => code), ["embedding_failed"]);
  service.breaks();
});

for (const [what, more, code, message] of [
  ["another model than the index's", { EMBED_MODEL: "words-5" }, "model_mismatch", /words-4 with 4 dimensions.*words-5/],
  ["other dimensions than the index's", { EMBED_DIMENSIONS: "8" }, "model_mismatch", /4 dimensions.*8 dimensions/],
  ["a key that anybody could use", { LOCAL: "" }, "misconfigured", /ALLOWED_ORIGINS/],
  ["half a model", { EMBED_MODEL: "" }, "misconfigured", /EMBED_MODEL/],
]) {
  test(`${what}: every endpoint says so`, async (t) => {
    const worker = await start(site, variables(more));
    t.after(() => worker.stop());
    for (const reply of [await post(`${worker.url}/v1/search`, QUERY), await fetch(`${worker.url}/healthz`)]) {
      const { error } = await reply.json();
      assert.deepEqual([reply.status, error.code], [503, code], error.message);
      assert.match(error.message, message);
    }
  });
}
