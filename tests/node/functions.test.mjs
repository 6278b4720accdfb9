// What functions of the page are called with.
import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { test } from "node:test";
import { QUESTION, assistantFor } from "./support.mjs";

// V8 keeps what an accessor of an object literal closes over until a full collection: every prompt of a run.
test("what_functions_get_has_no_accessors_of_its_own_and_one_schema_that_nobody_can_change", async (t) => {
  const asked = [];
  const chat = (request, context) => {
    asked.push([request, context]);
    const { role, messages } = request;
    if (role === "grade") return '{"score": "yes"}';
    if (role === "check") return messages[0].content.includes('"grounded"') ? '{"grounded": "yes"}' : '{"useful": "yes"}';
    return "Keys live for ten minutes [1].";
  };
  const assistant = await assistantFor(t, { chat });
  await assistant.ask(QUESTION, { k: 3, strategy: "self-reflective" });
  const grades = asked.map(([request]) => request).filter(({ role }) => role === "grade");
  assert.equal(grades.length, 3);
  assert.ok(grades.every(({ schema }) => schema === grades[0].schema && schema.schema.type === "object"));
  assert.throws(() => (grades[0].schema.schema.type = "array"), TypeError);
  for (const [request, context] of asked) {
    assert.equal(request.temperature, Number(request.temperature.toFixed(2)));
    const accessors = [request, context].flatMap((object) => Object.values(Object.getOwnPropertyDescriptors(object)).filter(({ get }) => get));
    assert.deepEqual(accessors, []);
    assert.ok(context.signal instanceof AbortSignal && context.signal === context.signal);
    assert.equal(typeof context.onText, "function");
  }
});

// A server's context holds whose request it is: its tenant, its key, its trace.
test("a_function_is_called_in_the_asynchronous_context_of_its_own_question", async (t) => {
  const whose = new AsyncLocalStorage();
  const [wrong, called] = [[], new Set()];
  const note = (name, text) => {
    called.add(name);
    if (!text.includes(whose.getStore())) wrong.push([name, whose.getStore()]);
  };
  const chat = async ({ role, messages }) => {
    note(role, messages[1].content);
    return role === "grade" ? '{"score": "no"}' : "Keys live for ten minutes [1].";
  };
  const search = async (query) => {
    note("search", query);
    return [{ url: "https://web.example/", title: "Web", text: "Keys live for ten minutes." }];
  };
  const assistant = await assistantFor(t, { chat, search });
  const ask = (name) => whose.run(name, () => assistant.ask(`${name} ${QUESTION}`, { k: 2, strategy: "corrective" }));
  const answers = await Promise.all(["first", "second", "third"].map(ask));
  assert.deepEqual(answers.map(({ outcome }) => outcome), ["answered", "answered", "answered"]);
  assert.deepEqual(wrong, []);
  assert.deepEqual(called, new Set(["grade", "search", "generate"]));
});

test("also_where_it_waited_for_what_another_question_asks", async (t) => {
  const whose = new AsyncLocalStorage();
  const callers = [];
  const chat = async ({ role }) => {
    callers.push([role, whose.getStore()]);
    await new Promise((resolve) => setTimeout(resolve, 5));
    if (role === "grade") return '{"score": "yes"}';
    return role === "generate" ? "Keys live for ten minutes [1]." : '{"grounded": "yes", "useful": "yes"}';
  };
  const assistant = await assistantFor(t, { chat, cache: true });
  // The same grades; then what differs by the number of drafts is asked by each for itself.
  const ask = (name, strategy) => whose.run(name, () => assistant.ask(QUESTION, { k: 2, strategy }));
  await Promise.all([ask("first", "corrective"), ask("second", "self-reflective")]);
  assert.equal(callers.filter(([role]) => role === "grade").length, 2, "one question waited for the other");
  const checks = callers.filter(([role]) => role === "check").map(([, name]) => name);
  assert.deepEqual(new Set(checks), new Set(["second"]));
});

test("a_function_may_ask_cancel_and_dispose_while_it_is_called", async (t) => {
  const reply = ({ role }) => {
    if (role === "generate") return "Keys live for ten minutes [1].";
    return role === "grade" ? '{"score": "yes"}' : '{"grounded": "yes", "useful": "yes"}';
  };
  const asked = { strategy: "self-reflective", k: 2 };
  let meanwhile = () => {};
  const chat = (request, context) => {
    meanwhile(request, context);
    return reply(request);
  };
  const assistant = await assistantFor(t, { chat });

  const nested = [];
  meanwhile = ({ role }) => {
    if (role === "generate" && nested.length === 0) nested.push(assistant.ask(QUESTION, asked));
  };
  assert.equal((await assistant.ask(QUESTION, asked)).outcome, "answered");
  assert.equal((await nested[0]).outcome, "answered");

  const texts = [];
  meanwhile = ({ role }, { onText }) => role === "generate" && ["Keys live ", "for ten minutes [1]."].forEach(onText);
  await assistant.ask(QUESTION, { ...asked, onEvent: ({ type, text }) => type === "draft-delta" && texts.push(text) });
  assert.deepEqual(texts, ["Keys live ", "for ten minutes [1]."]);

  const controller = new AbortController();
  meanwhile = () => controller.abort();
  await assert.rejects(assistant.ask(QUESTION, { ...asked, signal: controller.signal }), { name: "AbortError" });
  meanwhile = () => {};
  assert.equal((await assistant.ask(QUESTION, asked)).outcome, "answered");

  meanwhile = () => assistant.dispose();
  await assert.rejects(assistant.ask(QUESTION, asked), { code: "disposed" });
});
