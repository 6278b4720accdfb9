// Vectors from an embedding model, in Node over real connections: of documents, of queries, and for the
// command line.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { CountercheckError, createAssistant, openaiEmbeddings } from "../../dist/node.js";
import { dist } from "../../scripts/lib/paths.mjs";
import { serveEmbeddings } from "../services/embeddings.mjs";
import { nowhere } from "../services/service.mjs";
import { DOCUMENTS } from "./support.mjs";

/** Shares no word with the passage on keys that answers it. */
const QUERY = "Who changed my password?";

const KEY = "canary-7f3a";

let service;

before(async () => {
  service = await serveEmbeddings();
});

afterEach(() => {
  service.breaks();
  service.holds(() => false);
  service.calls.length = 0;
});

after(() => service.close());

const withCode = (code, serviceCode) => (error) =>
  error instanceof CountercheckError && error.code === code && error.serviceCode === serviceCode;

const model = (options = {}) => openaiEmbeddings({ baseUrl: service.url, model: "words-4", key: KEY, ...options });

async function assistantWith(t, options = {}) {
  const assistant = await createAssistant({ embed: model(), ...options });
  t.after(() => assistant.dispose());
  return assistant;
}

test("passages_are_found_by_the_model_s_vectors", async (t) => {
  const assistant = await assistantWith(t, { embed: model({ dimensions: 4 }) });
  assert.deepEqual(await assistant.add(DOCUMENTS), { documents: 3, passages: 7 });
  for (const { headers, body } of service.calls) {
    assert.equal(headers.authorization, `Bearer ${KEY}`);
    const { input, ...rest } = body;
    assert.deepEqual(rest, { model: "words-4", encoding_format: "float", dimensions: 4 });
    assert.ok(input.length > 0);
  }
  assert.deepEqual([service.calls.length, service.texts().length], [3, 7]);
  assert.match(service.texts()[1], /^Keys › Rotating a key\. /);

  const [hit] = await assistant.search(QUERY, 1);
  assert.equal(hit.documentId, "keys.md");
  assert.ok(hit.dense > 0.9, String(hit.dense));
  assert.equal(service.texts().at(-1), QUERY);

  const answer = await assistant.ask("Which password is revoked?", { strategy: "naive" });
  assert.equal(answer.usage.calls.embed, 1);
  assert.deepEqual(answer.warnings, []);
  assert.equal(answer.citations[0].passageId.split("#")[0], "keys.md");
});

test("a_query_that_cannot_be_embedded_is_searched_for_by_words", async (t) => {
  const assistant = await assistantWith(t);
  await assistant.add(DOCUMENTS);
  service.breaks(401);
  const [hit] = await assistant.search("revoke the old key", 1);
  assert.equal(hit.documentId, "keys.md");
  assert.equal("dense" in hit, false);
  const answer = await assistant.ask("How do I revoke the old key?", { strategy: "naive" });
  assert.equal(answer.outcome, "answered");
  // Who does not know the key is not asked again.
  assert.deepEqual([answer.usage.calls.embed, answer.warnings.map(({ code }) => code)], [0, ["embedding_failed"]]);
  assert.ok(!JSON.stringify(answer).includes(KEY));
});

test("a_document_is_indexed_with_all_its_vectors_or_not_at_all", async (t) => {
  const assistant = await assistantWith(t);
  await assistant.add(DOCUMENTS[0]);
  service.breaks(403);
  await assert.rejects(assistant.add(DOCUMENTS[1]), withCode("provider_failed", "forbidden"));
  assert.equal((await assistant.statistics()).documents, 1);
  service.breaks();
  await assistant.add(DOCUMENTS[1]);
  assert.equal((await assistant.statistics()).documents, 2);
});

test("an_index_is_loaded_with_its_own_model_only", async (t) => {
  const assistant = await assistantWith(t);
  await assistant.add(DOCUMENTS);
  const index = await assistant.save();
  const again = await assistantWith(t, { index });
  assert.deepEqual(await again.search(QUERY, 3), await assistant.search(QUERY, 3));
  assert.deepEqual(await again.save(), index);

  const mismatch = (...names) => (error) =>
    withCode("model_mismatch")(error) && names.every((name) => error.message.includes(name));
  await assert.rejects(createAssistant({ index, embed: model({ model: "words-5" }) }), mismatch("words-4 with 4 dimensions", "words-5"));
  await assert.rejects(createAssistant({ index, embed: model({ dimensions: 8 }) }), mismatch("4 dimensions", "8 dimensions"));
  await assert.rejects(createAssistant({ index }), mismatch("words-4", "all-MiniLM-L6-v2/256"));
  const table = await createAssistant();
  await table.add(DOCUMENTS);
  const other = await table.save();
  table.dispose();
  await assert.rejects(createAssistant({ index: other, embed: model() }), mismatch("all-MiniLM-L6-v2/256", "words-4"));
  // By words alone any index can be searched.
  const words = await createAssistant({ index, embedder: false });
  t.after(() => words.dispose());
  assert.equal((await words.search("revoke", 1))[0].documentId, "keys.md");
});

test("a_document_that_is_waited_for_ends_with_its_assistant", async (t) => {
  const assistant = await assistantWith(t);
  service.holds(() => true);
  const adding = assistant.add(DOCUMENTS);
  while (service.calls.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  assistant.dispose();
  await assert.rejects(adding, withCode("disposed"));
  assert.equal(await service.calls[0].ended, false, "the connection is given back");
});

test("an_engine_that_is_built_again_asks_for_no_vector_again", async () => {
  service.holds((text) => text === QUERY);
  const script = `
    import { trap } from ${JSON.stringify(new URL("trapping.mjs", import.meta.url).href)};
    import { createAssistant, openaiEmbeddings } from ${JSON.stringify(new URL("../../dist/node.js", import.meta.url).href)};
    const assistant = await createAssistant({ embed: openaiEmbeddings({ baseUrl: "${service.url}", model: "words-4" }) });
    await assistant.add(${JSON.stringify(DOCUMENTS)});
    const before = await assistant.save();
    const underWay = assistant.search("${QUERY}", 1).then(() => "found", ({ code }) => code);
    trap("start");
    console.log(await underWay, Buffer.compare(await assistant.save(), before));
    process.exit();`;
  const { status, stdout, stderr } = await node(".", ["--input-type=module", "-e", script]);
  assert.deepEqual([status, stdout, stderr], [0, "panicked 0\n", ""]);
  const documents = service.texts().filter((text) => text !== QUERY);
  assert.equal(documents.length, 7, "each passage was embedded once");
});

for (const [name, options, code] of [
  ["a model and a table", { embedder: new Uint8Array(8) }, "invalid_option"],
  ["a model without a name", { embed: () => model({ model: " " }) }, "invalid_option"],
  ["a base URL that is none", { embed: () => model({ baseUrl: "models.example" }) }, "invalid_option"],
  ["no dimension", { embed: () => model({ dimensions: 0 }) }, "invalid_option"],
  ["what is no model", { embed: () => ({ baseUrl: service.url, model: "words-4" }) }, "invalid_option"],
]) {
  test(`${name} is refused as ${code}`, async () => {
    const { embed = () => model(), ...rest } = options;
    await assert.rejects(createAssistant({ ...rest, embed: embed() }), withCode(code));
  });
}

/** Runs Node in a folder; the service here goes on meanwhile. */
async function node(folder, args, env = {}) {
  const child = spawn(process.execPath, args, { cwd: folder, env: { ...process.env, ...env } });
  const output = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"]) child[stream].on("data", (text) => (output[stream] += text));
  const status = await new Promise((resolve) => child.on("close", resolve));
  return { status, ...output };
}

/** Runs the command line in a folder. */
const run = (folder, args, env) => node(folder, [join(dist, "cli.js"), ...args], env);

test("the_command_line_indexes_and_searches_with_a_model", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "countercheck-embed-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const { id, text } of DOCUMENTS) writeFileSync(join(folder, id), text);
  const named = (url) => ["--embed-url", url, "--embed-model", "words-4"];
  const key = { COUNTERCHECK_EMBED_KEY: KEY };

  const indexed = await run(folder, ["index", ".", "-o", "docs.ccx", ...named(service.url)], key);
  assert.deepEqual([indexed.status, indexed.stderr], [0, ""]);
  assert.ok(service.calls.every(({ headers }) => headers.authorization === `Bearer ${KEY}`));
  const found = await run(folder, ["search", "docs.ccx", QUERY, "--json", "-k", "1", ...named(service.url)], key);
  assert.equal(JSON.parse(found.stdout)[0].documentId, "keys.md");
  const asked = await run(folder, ["ask", "docs.ccx", "Which password is revoked?", "--json", ...named(service.url)]);
  assert.equal(JSON.parse(asked.stdout).usage.calls.embed, 1);
  assert.equal(service.calls.at(-1).headers.authorization, undefined, "no key, no header");

  const down = await run(folder, ["search", "docs.ccx", "revoke", ...named(`${await nowhere()}/v1`)]);
  assert.equal(down.status, 0);
  assert.match(down.stderr, /by words alone/);
  assert.match(down.stdout, /^1\. Keys/);

  for (const [args, status, message] of [
    [["search", "docs.ccx", "key"], 1, /words-4 but all-MiniLM-L6-v2\/256/],
    [["index", ".", "-o", "x.ccx", "--embed-url", service.url], 2, /go together/],
    [["ask", "docs.ccx", "why?", "--embed-model", "words-4"], 2, /go together/],
    [["index", ".", "-o", "x.ccx", ...named(service.url), "--embed-dimensions", "many"], 2, /not a whole number/],
  ]) {
    const failed = await run(folder, args, key);
    assert.deepEqual([failed.status, failed.stdout], [status, ""]);
    assert.match(failed.stderr, message);
  }
  // A service that fails would fail for every page: nothing is skipped.
  service.breaks(401);
  const failed = await run(folder, ["index", ".", "-o", "x.ccx", "--lenient", ...named(service.url)], key);
  assert.deepEqual([failed.status, failed.stdout], [1, ""]);
  assert.match(failed.stderr, /^countercheck: .*did not accept the key/);
  assert.ok(!failed.stderr.includes(KEY));
});
