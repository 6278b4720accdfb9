// What users call, in Node: answers, searches, changes of the index, and everything that can be called wrongly.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { test } from "node:test";
import { CountercheckError, createAssistant } from "../../dist/node.js";
import { DOCUMENTS, QUESTION, assistantFor, bytesOf } from "./support.mjs";

const withCode = (code) => (error) =>
  error instanceof CountercheckError && error.code === code && error.message.length > 10;
const isAbort = (error) => error instanceof DOMException && error.name === "AbortError";

test("an_answer_cites_the_bytes_it_quotes", async (t) => {
  const assistant = await assistantFor(t);
  const answer = await assistant.ask(QUESTION);
  assert.equal(answer.outcome, "answered");
  assert.equal(answer.grounded, true);
  assert.equal(answer.solver, "builtin");
  assert.match(answer.text, /bodyLimit/);
  assert.ok(answer.citations.length > 0);
  for (const { n, passageId, url, quote, start, end, origin } of answer.citations) {
    assert.equal(bytesOf(passageId.split("#")[0], start, end), quote);
    assert.ok(answer.text.includes(`[${n}]`));
    assert.ok(url.startsWith("https://docs.example/"));
    assert.equal(origin, "local");
  }
  assert.ok(answer.citations.some(({ url }) => url === "https://docs.example/limits#request-body"));
});

test("a_question_the_corpus_does_not_cover_is_not_answered", async (t) => {
  const assistant = await assistantFor(t);
  const answer = await assistant.ask("What is the boiling point of mercury?");
  assert.equal(answer.outcome, "abstained");
  assert.deepEqual(answer.citations, []);
  assert.ok(answer.text.length > 10);
  assert.ok("reason" in answer);
});

test("an_answer_can_be_awaited_iterated_over_and_listened_to_alike", async (t) => {
  const assistant = await assistantFor(t);
  const heard = [];
  const answering = assistant.ask(QUESTION, { onEvent: (event) => heard.push(event) });
  const iterated = [];
  for await (const event of answering) iterated.push(event);
  const answer = await answering;
  assert.deepEqual(iterated, heard);
  assert.deepEqual(iterated.at(-1), { type: "answer", answer });
  assert.equal(iterated[0].type, "retrieve");
  assert.ok(iterated.some(({ type, passageId }) => type === "grade" && passageId.includes("#")));
  // A second iteration, after the end, begins at the beginning.
  const again = [];
  for await (const event of answering) again.push(event);
  assert.deepEqual(again, heard);
});

test("a_listener_that_throws_is_reported_and_ends_nothing", async (t) => {
  const assistant = await assistantFor(t);
  const reported = [];
  const before = process.listeners("uncaughtException");
  process.removeAllListeners("uncaughtException");
  process.on("uncaughtException", (error) => reported.push(error.message));
  const answer = await assistant.ask(QUESTION, {
    onEvent: ({ type }) => {
      if (type === "retrieve") throw new Error("mine");
    },
  });
  await new Promise((resolve) => setImmediate(resolve));
  process.removeAllListeners("uncaughtException");
  for (const listener of before) process.on("uncaughtException", listener);
  assert.equal(answer.outcome, "answered");
  assert.deepEqual(reported, ["mine"]);
});

test("a_search_gives_hits_best_first", async (t) => {
  const assistant = await assistantFor(t);
  const hits = await assistant.search("rotate a key", 3);
  assert.equal(hits.length, 3);
  assert.equal(hits[0].documentId, "keys.md");
  assert.equal(hits[0].url, "https://docs.example/keys#rotating-a-key");
  assert.deepEqual(hits[0].headings, ["Keys", "Rotating a key"]);
  assert.ok(hits[0].score >= hits[1].score && hits[1].score >= hits[2].score);
  assert.equal(bytesOf("keys.md", hits[0].start, hits[0].end), hits[0].text);
});

test("an_index_is_changed_saved_and_loaded", async (t) => {
  const assistant = await assistantFor(t);
  assert.deepEqual(await assistant.add({ id: "extra.md", text: "# Extra\n\nThe kettle boils at noon." }), {
    documents: 1,
    passages: 1,
  });
  assert.equal(await assistant.remove("webhooks.md"), true);
  assert.equal(await assistant.remove("webhooks.md"), false);
  const statistics = await assistant.statistics();
  assert.equal(statistics.documents, 3);

  const index = await assistant.save();
  const loaded = await assistantFor(t, { index });
  assert.deepEqual(await loaded.statistics(), statistics);
  assert.deepEqual(await loaded.save(), index);
  assert.deepEqual(await loaded.search("kettle", 5), await assistant.search("kettle", 5));
  assert.deepEqual(await loaded.ask(QUESTION), await assistant.ask(QUESTION));
});

test("a_document_with_a_known_id_replaces_it", async (t) => {
  const assistant = await assistantFor(t);
  await assistant.add({ id: "keys.md", text: "# Keys\n\nThere are no keys any more, only sealing wax." });
  assert.equal((await assistant.statistics()).documents, DOCUMENTS.length);
  assert.match((await assistant.search("sealing wax", 1))[0].text, /sealing wax/);
});

test("without_an_embedder_words_still_find", async (t) => {
  const assistant = await assistantFor(t, { embedder: false });
  const [hit] = await assistant.search("revoke", 1);
  assert.equal(hit.documentId, "keys.md");
  assert.equal("dense" in hit, false);
});

const MISUSES = [
  ["an empty question", (assistant) => assistant.ask(""), "empty_question"],
  ["a question of blanks", (assistant) => assistant.ask(" \n "), "empty_question"],
  ["a question of 100 kB", (assistant) => assistant.ask("x".repeat(100_000)), "too_large"],
  ["an unknown field", (assistant) => assistant.ask(QUESTION, { temperature: 1 }), "unknown_field"],
  ["an unknown limit", (assistant) => assistant.ask(QUESTION, { limits: { maxCoffee: 1 } }), "unknown_field"],
  ["an unknown strategy", (assistant) => assistant.ask(QUESTION, { strategy: "wishful" }), "invalid_option"],
  ["k = 0", (assistant) => assistant.ask(QUESTION, { k: 0 }), "invalid_option"],
  ["k = 10⁹", (assistant) => assistant.ask(QUESTION, { k: 1e9 }), "invalid_option"],
  ["k = 1.5", (assistant) => assistant.ask(QUESTION, { k: 1.5 }), "invalid_request"],
  ["maxRetries = 99", (assistant) => assistant.ask(QUESTION, { maxRetries: 99 }), "invalid_option"],
  ["a question that is a number", (assistant) => assistant.ask(7), "invalid_request"],
  ["a search for nothing", (assistant) => assistant.search(""), "empty_question"],
  ["a search with k = 0", (assistant) => assistant.search("key", 0), "invalid_option"],
  ["a document without text", (assistant) => assistant.add({ id: "a" }), "invalid_request"],
  [
    "a document with an unknown field",
    (assistant) => assistant.add({ id: "a", text: "b", author: "c" }),
    "unknown_field",
  ],
];

for (const [name, misuse, code] of MISUSES) {
  test(`${name} is refused as ${code}`, async (t) => {
    const assistant = await assistantFor(t);
    await assert.rejects(async () => misuse(assistant), withCode(code));
    assert.equal((await assistant.ask(QUESTION)).outcome, "answered");
  });
}

test("messages_name_fields_as_javascript_has_them", async (t) => {
  const assistant = await assistantFor(t);
  const message = (options) => assistant.ask(QUESTION, options).then(String, (error) => error.message);
  assert.match(await message({ maxRetrys: 1 }), /`maxRetrys`.*\bmaxRetries\b/);
  assert.match(await message({ maxRetries: 99 }), /^maxRetries is 99/);
  assert.match(await message({ strategy: "as_you_like" }), /"as_you_like"/);
});

test("so_do_messages_of_a_worker", async (t) => {
  const error = { code: "unknown_field", message: 'unknown field `max_coffee` beside "max_tea": there are max_calls, deadline_ms' };
  const server = createServer((_, response) => response.writeHead(400).end(JSON.stringify({ error })));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const assistant = await createAssistant({ endpoint: `http://127.0.0.1:${server.address().port}` });
  await assert.rejects(assistant.ask(QUESTION, { limits: { maxCoffee: 1 } }), {
    code: "unknown_field",
    message: 'unknown field `maxCoffee` beside "max_tea": there are maxCalls, deadlineMs',
  });
});

test("a_cancelled_question_rejects_with_an_abort_error", async (t) => {
  const assistant = await assistantFor(t);
  await assert.rejects(assistant.ask(QUESTION, { signal: AbortSignal.abort() }), isAbort);
  await assert.rejects(assistant.search("key", 3, { signal: AbortSignal.abort() }), isAbort);

  const controller = new AbortController();
  const seen = [];
  const answering = assistant.ask(QUESTION, {
    signal: controller.signal,
    onEvent: ({ type }) => {
      seen.push(type);
      controller.abort();
    },
  });
  await assert.rejects(answering, isAbort);
  assert.deepEqual(seen, ["retrieve"]);
  await assert.rejects(async () => {
    for await (const event of answering) assert.equal(event.type, "retrieve");
  }, isAbort);
  assert.equal((await assistant.ask(QUESTION)).outcome, "answered");
});

test("a_disposed_assistant_says_so", async () => {
  const assistant = await createAssistant();
  await assistant.add(DOCUMENTS);
  const underWay = assistant.ask(QUESTION);
  assistant.dispose();
  assistant.dispose();
  await assert.rejects(underWay, withCode("disposed"));
  for (const call of [
    () => assistant.ask(QUESTION),
    () => assistant.search("key"),
    () => assistant.add(DOCUMENTS),
    () => assistant.remove("keys.md"),
    () => assistant.save(),
    () => assistant.statistics(),
  ])
    await assert.rejects(async () => call(), withCode("disposed"));
});

test("many_questions_at_once_get_their_own_answers", async (t) => {
  const assistant = await assistantFor(t);
  const questions = [QUESTION, "How do I rotate a key?", "How long is the timeout of a webhook?"];
  const alone = [];
  for (const question of questions) alone.push(await assistant.ask(question));
  const together = await Promise.all([...questions, ...questions].map((question) => assistant.ask(question)));
  assert.deepEqual(together, [...alone, ...alone]);
});

test("assistants_do_not_share_an_index", async (t) => {
  const [one, other] = await Promise.all([createAssistant(), createAssistant()]);
  t.after(() => [one, other].forEach((assistant) => assistant.dispose()));
  await one.add(DOCUMENTS);
  assert.equal((await one.statistics()).documents, 3);
  assert.equal((await other.statistics()).documents, 0);
  assert.equal((await other.ask(QUESTION)).reason, "no_documents");
});

test("a_damaged_index_is_refused", async (t) => {
  const assistant = await assistantFor(t);
  const index = await assistant.save();
  const flipped = index.slice();
  flipped[flipped.length >> 1] ^= 1;
  const wrong = [
    new Uint8Array(0),
    new TextEncoder().encode("not an index at all"),
    index.slice(0, index.length - 1),
    flipped,
  ];
  for (const bytes of wrong)
    await assert.rejects(
      createAssistant({ index: bytes }),
      (error) => error instanceof CountercheckError && error.code !== "panicked",
    );
  await assert.rejects(createAssistant({ index: "no/such/file.ccx" }), withCode("load_failed"));
  await assert.rejects(
    createAssistant({ index: new TextEncoder().encode("<!doctype html><title>Not found</title>") }),
    (error) => error instanceof CountercheckError,
  );
});

test("options_that_make_no_sense_are_refused", async () => {
  await assert.rejects(createAssistant({ indx: "docs.ccx" }), withCode("unknown_field"));
  await assert.rejects(
    createAssistant({ endpoint: "https://docs.example", index: "docs.ccx" }),
    withCode("invalid_option"),
  );
});

test("arguments_of_another_kind_are_refused_and_end_nothing", async (t) => {
  const assistant = await assistantFor(t);
  for (const id of [5, null, undefined, {}]) await assert.rejects(async () => assistant.remove(id), withCode("invalid_option"), String(id));
  for (const onEvent of [5, "log", null]) await assert.rejects(async () => assistant.ask(QUESTION, { onEvent }), withCode("invalid_option"));
  for (const signal of [5, {}, null]) {
    await assert.rejects(async () => assistant.ask(QUESTION, { signal }), withCode("invalid_option"));
    await assert.rejects(async () => assistant.search(QUESTION, 3, { signal }), withCode("invalid_option"));
  }
  assert.equal((await assistant.ask(QUESTION)).outcome, "answered");
});

test("what_a_function_of_the_page_threw_is_the_cause_of_the_failure", async (t) => {
  const mistake = new Error("my model is down");
  for (const chat of [() => { throw mistake; }, async () => { throw mistake; }]) {
    const assistant = await createAssistant({ chat, embedder: false });
    t.after(() => assistant.dispose());
    await assistant.add({ id: "a.md", text: "# Limits\n\nThe option bodyLimit limits the size of a request body.\n" });
    await assert.rejects(assistant.ask("How do I limit the size of a request body?"), (error) => {
      assert.deepEqual([error.code, error.serviceCode], ["provider_failed", "function_failed"]);
      assert.equal(error.cause, mistake);
      return true;
    });
  }
  // A function that gives something useless threw nothing, whatever was thrown before.
  let give = () => { throw mistake; };
  const assistant = await createAssistant({ chat: async () => give(), embedder: false });
  t.after(() => assistant.dispose());
  await assistant.add({ id: "a.md", text: "# Limits\n\nThe option bodyLimit limits the size of a request body.\n" });
  const cause = () => assistant.ask("How do I limit the size of a request body?").then(assert.fail, (error) => error.cause);
  assert.equal(await cause(), mistake);
  give = () => ({ text: 5 });
  assert.notEqual(await cause(), mistake);
});

test("defaults_hold_unless_a_question_says_otherwise", async (t) => {
  const assistant = await assistantFor(t, { defaults: { strategy: "naive", k: 2 } });
  const [byDefault, otherwise] = [
    await assistant.ask(QUESTION),
    await assistant.ask(QUESTION, { strategy: "self-reflective" }),
  ];
  assert.equal(byDefault.strategy, "naive");
  assert.equal(byDefault.trace[0].passages, 2);
  assert.equal(otherwise.strategy, "self-reflective");
});

test("the_package_is_importable_by_its_name", async () => {
  const { exports } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  const byName = await import("countercheck");
  assert.equal(byName.createAssistant, createAssistant);
  // The element's module does nothing where there are no custom elements.
  const { CountercheckAssistant } = await import("countercheck/element");
  assert.equal(typeof CountercheckAssistant, "function");
  assert.ok(Object.keys(exports).includes("./element"));
});
