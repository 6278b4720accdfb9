// Vectors of documents by the model that the table was fitted to, and the other options of indexing and search.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createAssistant, teacher } from "../../dist/node.js";
import { DOCUMENTS, QUESTION, assistantFor } from "./support.mjs";

/** A vector that depends on the text's letters: no model, but one vector for each text. */
function encode(texts) {
  return texts.map((text) => {
    const vector = new Float32Array(384);
    for (const [i, c] of [...text].entries()) vector[(c.codePointAt(0) * 31 + i) % 384] += 1;
    return vector;
  });
}

test("documents_have_the_teachers_vectors_and_questions_the_tables", async (t) => {
  const asked = [];
  const encoding = async (texts, { signal }) => {
    assert.ok(signal instanceof AbortSignal);
    asked.push(...texts);
    return encode(texts);
  };
  const taught = await assistantFor(t, { teacher: { encode: encoding } });
  assert.equal(asked.length, 7);
  assert.ok(asked[0].startsWith("Keys. Keys\nEvery request"));
  const index = await taught.save();
  const loaded = await assistantFor(t, { index });
  const hits = await loaded.search("rotate a key", 5);
  assert.ok(hits.every(({ dense }) => typeof dense === "number"));
  assert.deepEqual(hits, await taught.search("rotate a key", 5));
  const table = await assistantFor(t);
  assert.notDeepEqual(hits.map(({ dense }) => dense), (await table.search("rotate a key", 5)).map(({ dense }) => dense));
  // Both in one index.
  assert.deepEqual(await loaded.add({ id: "extra.md", text: "# Extra\n\nThe kettle boils at noon." }), { documents: 1, passages: 1 });
  assert.equal(typeof (await loaded.search("When does the kettle boil?", 1))[0].dense, "number");
  assert.equal((await loaded.ask(QUESTION)).outcome, "answered");
});

test("a_teacher_that_gives_something_else_is_refused_and_nothing_is_indexed", async (t) => {
  const wrong = [
    () => [],
    (texts) => texts.map(() => new Float32Array(256)),
    (texts) => texts.map(() => new Float32Array(384).fill(NaN)),
    (texts) => texts.map(() => new Float32Array(384)),
  ];
  const given = { encode: async (texts) => (wrong[0] ?? encode)(texts) };
  const assistant = await createAssistant({ teacher: given });
  t.after(() => assistant.dispose());
  while (wrong.length > 0) {
    await assert.rejects(assistant.add(DOCUMENTS), { code: "invalid_vector" });
    assert.equal((await assistant.statistics()).passages, 0);
    wrong.shift();
  }
  assert.equal((await assistant.add(DOCUMENTS)).passages, 7);
  await assert.rejects(createAssistant({ teacher: given, embedder: false }), { code: "invalid_option" });
  await assert.rejects(createAssistant({ teacher: { ...given, projection: new Uint8Array(7) } }), { code: "invalid_embedder" });
});

test("a_folder_without_the_model_is_explained", async () => {
  const folder = mkdtempSync(join(tmpdir(), "teacher-"));
  await assert.rejects(teacher(folder), ({ code, message }) => code === "load_failed" && /no model\.onnx/.test(message));
  writeFileSync(join(folder, "model.onnx"), "");
  await assert.rejects(teacher(folder), ({ code, message }) => code === "load_failed" && /npm install onnxruntime-node/.test(message));
  rmSync(folder, { recursive: true });
});

test("a_search_takes_its_options", async (t) => {
  const assistant = await assistantFor(t);
  const [typed] = await assistant.search("rota", 1, { prefix: true, explain: true });
  assert.deepEqual(typed.headings, ["Keys", "Rotating a key"]);
  assert.deepEqual(typed.explanation.terms.map(({ term }) => term), ["rota…"]);
  const { score, explanation } = typed;
  assert.ok(Math.abs(explanation.words + explanation.vectors - score) < 1e-3);
  assert.equal("explanation" in (await assistant.search("rota", 1))[0], false);
  const capped = await assistant.search("key", 9, { perDocument: 1 });
  assert.equal(new Set(capped.map(({ documentId }) => documentId)).size, capped.length);
  const dense = await assistant.search("rotate a key", 3, { denseWeight: 1 });
  assert.deepEqual(dense.map(({ dense }) => dense), dense.map(({ dense }) => dense).sort((a, b) => b - a));
  assert.equal((await assistant.search("rotate a key", 3, { fusion: "reciprocal-rank" })).length, 3);
  const wrong = [{ denseWeight: 2 }, { denseWeight: 0.5, fusion: "reciprocal-rank" }, { perDocument: 0 }];
  for (const options of wrong) await assert.rejects(assistant.search("key", 3, options), { code: "invalid_option" });
  await assert.rejects(assistant.search("key", 3, { fusion: "best" }), { code: "invalid_request" });
  await assert.rejects(assistant.search("key", 3, { fuzzy: true }), { code: "unknown_field" });
});

test("an_index_has_the_stems_it_was_made_with", async (t) => {
  const french = await createAssistant({ stemming: "fr", embedder: false });
  t.after(() => french.dispose());
  await french.add({ id: "a", text: "Les expressions régulières." });
  const index = await french.save();
  const loaded = await assistantFor(t, { index, embedder: false });
  assert.equal((await loaded.search("régulière", 1)).length, 1);
  await assert.rejects(createAssistant({ index, stemming: "en", embedder: false }), { code: "invalid_option" });
  await assert.rejects(createAssistant({ stemming: "xx" }), { code: "invalid_request" });
});
