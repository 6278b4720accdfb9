// `add` where the small module of pages answers: it reads no documents, so the assistant goes on in the larger one.
// The modules are those of pages, here in Node, which has one that does both.
import assert from "node:assert/strict";
import { test } from "node:test";
import { CountercheckError } from "../../dist/countercheck.js";
import { createAssistant as createInNode } from "../../dist/node.js";
import { DOCUMENTS, QUESTION, assistantFor as assistantOf, built, createPageAssistant as createAssistant } from "./support.mjs";

const models = built("countercheck_models_bg.wasm");
const assistantFor = (t, options) => assistantOf(t, options, createAssistant);
const EXTRA = { id: "extra.md", text: "# Extra\n\nThe kettle boils at noon." };
const KETTLE = "When does the kettle boil?";

/** A module that comes when it is let through. */
function gate() {
  let open;
  const opened = new Promise((resolve) => (open = resolve));
  return { open, wasm: () => opened.then(() => models) };
}

// First: once an assistant of this process has loaded the module, nobody's address of it counts.
test("a_module_that_cannot_be_had_is_a_typed_error_and_the_assistant_lives_on", async (t) => {
  const broken = [
    () => Promise.reject(new TypeError("no such thing")),
    () => Promise.resolve(new TextEncoder().encode("<!doctype html><title>Home</title>")),
    () => Promise.resolve(new TextEncoder().encode("not wasm")),
  ];
  const assistant = await assistantFor(t, { index: await emptyIndex(), ingestWasm: () => (broken.shift() ?? (() => models))() });
  while (broken.length > 0) {
    const fails = (error) => error instanceof CountercheckError && error.code === "load_failed" && error.message.length > 20;
    await assert.rejects(assistant.add(DOCUMENTS), fails);
    assert.equal((await assistant.ask(QUESTION)).reason, "no_documents");
  }
  assert.deepEqual(await assistant.add(DOCUMENTS), { documents: 3, passages: 7 });
  assert.equal((await assistant.ask(QUESTION)).outcome, "answered");
});

async function emptyIndex() {
  const assistant = await createAssistant();
  const index = await assistant.save();
  assistant.dispose();
  return index;
}

test("a_module_of_another_kind_is_a_typed_error_that_names_the_one_that_fits", async () => {
  const fails = (error) => error.code === "load_failed" && error.cause instanceof Error && error.message.includes("countercheck_node_bg.wasm");
  await assert.rejects(createInNode({ wasm: models }), fails);
  const assistant = await createInNode({ wasm: built("countercheck_node_bg.wasm") });
  assert.deepEqual(await assistant.add(DOCUMENTS), { documents: 3, passages: 7 });
  assistant.dispose();
});

test("whether_documents_were_loaded_or_added_the_answers_are_the_same", async (t) => {
  const added = await assistantFor(t);
  const index = await added.save();
  const loaded = await assistantFor(t, { index });
  const both = async (ask) => assert.deepEqual(await ask(loaded), await ask(added));
  await both((assistant) => assistant.ask(QUESTION));
  await both((assistant) => assistant.ask(QUESTION, { strategy: "naive", k: 2 }));
  await both((assistant) => assistant.ask("Can two keys be in use?", { strategy: "countercheck" }));
  await both((assistant) => assistant.search("rotate a key", 5));
  for (const assistant of [added, loaded]) {
    assert.deepEqual(await assistant.add(EXTRA), { documents: 1, passages: 1 });
    assert.equal(await assistant.remove("webhooks.md"), true);
  }
  await both((assistant) => assistant.ask(QUESTION));
  await both((assistant) => assistant.ask(KETTLE));
  await both((assistant) => assistant.statistics());
  await both((assistant) => assistant.save());
  assert.equal((await loaded.ask(KETTLE)).outcome, "answered");
});

test("while_the_module_is_loaded_questions_are_answered_from_what_there_was", async (t) => {
  const { open, wasm } = gate();
  const index = await (await assistantFor(t)).save();
  const assistant = await assistantFor(t, { index, ingestWasm: wasm });
  const before = await assistant.ask(KETTLE);
  const adding = assistant.add(EXTRA);
  assert.deepEqual(await assistant.ask(KETTLE), before);
  assert.equal((await assistant.statistics()).documents, 3);
  const cancelled = new AbortController();
  const answers = [assistant.ask(QUESTION), assistant.ask(QUESTION, { signal: cancelled.signal })];
  cancelled.abort();
  open();
  await assert.rejects(answers[1], { name: "AbortError" });
  assert.equal((await answers[0]).outcome, "answered");
  await adding;
  assert.equal((await assistant.ask(KETTLE)).outcome, "answered");
});

test("changes_are_made_in_the_order_of_their_calls", async (t) => {
  const { open, wasm } = gate();
  const assistant = await assistantFor(t, { index: await emptyIndex(), ingestWasm: wasm });
  const document = { ...EXTRA };
  const calls = [assistant.add(document), assistant.add(DOCUMENTS), assistant.remove("extra.md"), assistant.save()];
  document.text = "What the caller does to it later changes nothing.";
  open();
  const [, , removed, saved] = await Promise.all(calls);
  assert.equal(removed, true);
  // Of the list one document at a time is added; what is saved is an index of some of them.
  const { documents } = await (await assistantFor(t, { index: saved })).statistics();
  assert.ok(documents >= 1 && documents <= 3, `${documents} documents`);
  assert.equal((await assistant.statistics()).documents, 3);
});

test("an_assistant_disposed_of_while_it_loads_the_module_adds_nothing", async () => {
  const { open, wasm } = gate();
  const assistant = await createAssistant({ ingestWasm: wasm });
  const adding = assistant.add(EXTRA);
  assistant.dispose();
  await assert.rejects(adding, { code: "disposed" });
  open();
  await new Promise((resolve) => setTimeout(resolve, 0));
  await assert.rejects(async () => assistant.statistics(), { code: "disposed" });
});
