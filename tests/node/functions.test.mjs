// What functions of the page are called with.
import assert from "node:assert/strict";
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
