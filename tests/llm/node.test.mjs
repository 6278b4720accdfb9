// The loop in Node, which calls the model itself.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openai } from "../../dist/node.js";
import { assistantFor } from "../node/support.mjs";
import { REQUEST, checkLeftAlone, checkRun, listen, modelAt } from "./support.mjs";

const { question, ...options } = REQUEST;
let ear;

before(async () => (ear = await listen()));
after(() => ear?.close());

test("a question is answered over the model", async (t) => {
  const assistant = await assistantFor(t, { chat: openai(modelAt(ear)) });
  const started = Date.now();
  const events = [];
  const answer = await assistant.ask(question, { ...options, onEvent: (event) => events.push(event) });
  checkRun("node", "llm", started, ear, { answer, events });
});

test("cancelling a question ends the model's reply", async (t) => {
  ear.endless = true;
  const assistant = await assistantFor(t, { chat: openai(modelAt(ear)) });
  const controller = new AbortController();
  const onEvent = ({ type }) => type === "draft-delta" && controller.abort();
  await assert.rejects(assistant.ask(question, { ...options, signal: controller.signal, onEvent }), { name: "AbortError" });
  await checkLeftAlone(ear);
});
