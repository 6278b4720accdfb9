// Who cancels a question, or disposes of its assistant, stops what is asked of a service for it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createAssistant, openai } from "../../dist/node.js";
import { DOCUMENT, QUESTION, serveSilence } from "../services/leaving.mjs";
import { serveChat } from "../services/openai.mjs";

const WAYS = {
  "a cancelled question": [(controller) => controller.abort(), { name: "AbortError" }],
  "a disposed assistant": [(_, assistant) => assistant.dispose(), { code: "disposed" }],
};

const STAGES = /** @type {const} */ ([["naive", "generate"], ["self-reflective", "generate"], ["self-reflective", "grade"], ["countercheck", "grade"]]);

for (const [title, [leave, error]] of Object.entries(WAYS)) {
  for (const [strategy, at] of STAGES) {
    test(`${title} stops its call: ${strategy}, ${at}`, async (t) => {
      const silence = await serveSilence({ at });
      t.after(() => silence.close());
      const assistant = await createAssistant({ embedder: false, chat: openai({ baseUrl: silence.url, model: "m" }) });
      t.after(() => assistant.dispose());
      await assistant.add(DOCUMENT);
      const controller = new AbortController();
      const asked = silence.asked();
      const answer = assert.rejects(assistant.ask(QUESTION, { strategy, signal: controller.signal }), error);
      const call = await asked;
      leave(controller, assistant);
      await answer;
      await call.ends();
    });
  }
}

// Node's requests and signals know each other weakly.
test("a call is stopped whatever the collector has taken meanwhile", async (t) => {
  const silence = await serveSilence({ begins: "Knead" });
  t.after(() => silence.close());
  const assistant = await createAssistant({ embedder: false, chat: openai({ baseUrl: silence.url, model: "m" }) });
  t.after(() => assistant.dispose());
  await assistant.add(DOCUMENT);
  const asked = silence.asked();
  const controller = new AbortController();
  const answering = assistant.ask(QUESTION, { strategy: "naive", signal: controller.signal });
  for await (const { type } of answering) if (type === "draft-delta") break;
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  for (let i = 0; i < 3; i++) {
    collect();
    await new Promise(setImmediate);
  }
  controller.abort();
  await assert.rejects(answering, { name: "AbortError" });
  await (await asked).ends();
});

test("a call whose reply was read to its end is let be", async (t) => {
  const chat = await serveChat(({ role }) => ({ grade: '{"score": "yes"}', grounding: '{"grounded": "yes"}', usefulness: '{"useful": "yes"}' })[role] ?? "Ten minutes [1].");
  t.after(() => chat.close());
  const { fetch } = globalThis;
  const verdicts = [];
  globalThis.fetch = (request, ...more) => {
    if (request.headers?.get("accept") === "application/json") verdicts.push(request.signal);
    return fetch(request, ...more);
  };
  t.after(() => (globalThis.fetch = fetch));
  const assistant = await createAssistant({ embedder: false, chat: openai({ baseUrl: chat.url, model: "m" }) });
  t.after(() => assistant.dispose());
  await assistant.add(DOCUMENT);
  const answer = await assistant.ask(QUESTION, { strategy: "self-reflective" });
  assert.equal(answer.outcome, "answered");
  assert.deepEqual(verdicts.map(({ aborted }) => aborted), [false, false, false]);
});
