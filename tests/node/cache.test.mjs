// What models said is kept (G-18): through the promise API, with a store of the page's.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createAssistant } from "../../dist/node.js";
import { DOCUMENTS, QUESTION } from "./support.mjs";

const ASKED = { strategy: "corrective", k: 2 };

/** An assistant whose model is a function that counts its calls. */
async function assistantWith(t, cache, says = () => '{"score":"yes"}') {
  let calls = 0;
  const chat = ({ role }) => {
    calls += 1;
    return role === "generate" ? "It is `bodyLimit` [1]." : says(calls);
  };
  const assistant = await createAssistant({ embedder: false, chat, ...(cache !== undefined && { cache }) });
  t.after(() => assistant.dispose());
  await assistant.add(DOCUMENTS);
  return {
    ask: async (options) => {
      const before = calls;
      const { usage, text } = await assistant.ask(QUESTION, { ...ASKED, ...options });
      return { calls: calls - before, remembered: usage.remembered, generated: usage.calls.generate, text };
    },
    assistant,
  };
}

test("g_18_the_same_question_is_asked_once_where_a_cache_is_wanted", async (t) => {
  for (const [cache, again] of [[true, 0], [{ maxBytes: 10_000 }, 0], [{ maxBytes: 0 }, 3], [undefined, 3], [false, 3]]) {
    const { ask } = await assistantWith(t, cache);
    const first = await ask();
    assert.deepEqual([first.calls, first.remembered], [3, undefined]);
    const second = await ask();
    assert.equal(second.calls, again, JSON.stringify(cache));
    assert.equal(second.remembered, again === 0 ? 3 : undefined);
    assert.equal(second.text, first.text);
  }
});

test("two_that_ask_the_same_at_once_share_the_calls", async (t) => {
  const { assistant } = await assistantWith(t, true);
  const answers = await Promise.all([1, 2, 3].map(() => assistant.ask(QUESTION, ASKED)));
  const generated = answers.reduce((sum, { usage }) => sum + usage.calls.generate, 0);
  assert.deepEqual([generated, new Set(answers.map(({ text }) => text)).size], [1, 1]);
});

test("a_store_outlives_the_assistant_under_the_name_of_its_model", async (t) => {
  const values = new Map();
  const store = { get: async (key) => values.get(key), set: async (key, value) => void values.set(key, value) };
  const named = (name) => ({ ...store, name });
  assert.equal((await (await assistantWith(t, named("m1"))).ask()).calls, 3);
  assert.equal(values.size, 3);
  assert.equal((await (await assistantWith(t, named("m1"))).ask()).calls, 0);
  assert.equal((await (await assistantWith(t, named("m2"))).ask()).calls, 3, "another model");
  // A function says nothing about which model it is.
  const before = values.size;
  assert.equal((await (await assistantWith(t, store)).ask()).calls, 3);
  assert.equal(values.size, before);
});

test("a_store_that_fails_costs_calls_and_nothing_else", async (t) => {
  const bad = [
    { get: () => { throw new Error("gone"); }, set: () => Promise.reject(new Error("full")) },
    { get: async () => "{", set: () => {} },
    { get: async () => 7, set: () => {} },
    { get: async () => null, set: () => {} },
  ];
  for (const store of bad) {
    const { calls, text } = await (await assistantWith(t, { name: "m", ...store })).ask();
    assert.deepEqual([calls, text], [3, "It is `bodyLimit` [1]."]);
  }
});

test("a_cache_that_makes_no_sense_is_refused", async () => {
  const chat = () => "";
  for (const [cache, code] of [[{ size: 1 }, "unknown_field"], [{ maxBytes: -1 }, "invalid_option"], [{ maxBytes: 0.5 }, "invalid_option"]]) {
    await assert.rejects(createAssistant({ embedder: false, chat, cache }), { code });
  }
});

test("a_budget_of_tokens_or_money_bounds_an_answer", async (t) => {
  const { assistant } = await assistantWith(t);
  const few = await assistant.ask(QUESTION, { limits: { maxTokens: 50 } });
  assert.deepEqual([few.outcome, few.reason, few.usage.calls.generate], ["abstained", "budget", 0]);
  const unpriced = assistant.ask(QUESTION, { limits: { maxCost: 1 } });
  await assert.rejects(unpriced, ({ code, message }) => code === "invalid_request" && /prices/.test(message));
  const poor = await assistant.ask(QUESTION, { limits: { maxCost: 0.000001, prices: { input: 1, output: 1 } } });
  assert.deepEqual([poor.outcome, poor.reason], ["abstained", "budget"]);
  // The prices of the assistant are those of its questions.
  const chat = ({ role }) => (role === "generate" ? "It is `bodyLimit` [1]." : '{"score":"yes"}');
  const priced = await createAssistant({ embedder: false, chat, prices: { input: 1, output: 1 } });
  t.after(() => priced.dispose());
  await priced.add(DOCUMENTS);
  assert.equal((await priced.ask(QUESTION, { limits: { maxCost: 0 } })).reason, "budget");
  assert.equal((await priced.ask(QUESTION, { ...ASKED, limits: { maxCost: 1 } })).outcome, "answered");
});
