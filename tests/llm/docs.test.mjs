// The strategies in Node over real documentation: what `npm start` serves. One answers from what was graded, one
// checks the draft as a whole, one grades all at once and checks claim by claim.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, beforeEach, test } from "node:test";
import { DOCS_INDEX } from "../../scripts/lib/site.mjs";
import { createAssistant, estimate, llamaCpp } from "../../dist/node.js";
import { checkHungUp, checkRun, listen, modelAt } from "./support.mjs";

// A passage is up to 300 tokens, of which a processor reads some dozens a second: two of them, and time for each.
const QUESTION = "How do I redact secrets from logs?";
const SHAPE = { k: 2, maxRetries: 0 };
const DEADLINE_MS = 570_000;

let assistant;
let checked = 0;
let ear;

before(async () => {
  ear = await listen();
  assistant = await createAssistant({ index: readFileSync(DOCS_INDEX), chat: llamaCpp(modelAt(ear)) });
});

beforeEach(() => ear.forget());

after(async () => {
  assistant?.dispose();
  await ear?.close();
});

for (const strategy of ["corrective", "self-reflective", "countercheck"]) {
  test(`${strategy} answers from documentation`, async () => {
    const { upper } = await estimate({ strategy, ...SHAPE });
    const request = { ...SHAPE, strategy, limits: { maxCalls: upper.total.calls, deadlineMs: DEADLINE_MS } };
    const started = Date.now();
    const events = [];
    const answer = await assistant.ask(QUESTION, { ...request, onEvent: (event) => events.push(event) });
    checkRun("node", "llm", started, ear, { answer, events }, request);
    await checkSources(answer);
    checked += answer.usage.calls.grounding;
  });
}

/** What is cited stands where it is said to stand, and a claim that holds is held by a citation. */
async function checkSources({ citations, claims, grounded }) {
  const hits = await assistant.search(QUESTION, SHAPE.k);
  for (const { passageId, quote } of citations) {
    const hit = hits.find((hit) => hit.passageId === passageId);
    assert.ok(quote !== "" && hit?.text.includes(quote), `${passageId} does not say ${quote}`);
  }
  for (const { support, citation } of claims ?? []) {
    assert.ok(support !== "fully_supported" || citations.some(({ n }) => n === citation), "a claim holds by nothing");
    assert.ok(grounded !== true || support === "fully_supported", "an answer is grounded whose claim is not");
  }
}

// The question is one to which even the smallest model grades a passage well: else the runs above would have shown little.
test("a draft was written and checked", () => assert.ok(checked > 0));

test("cancelling a question whose passages are being graded ends its calls", async () => {
  const controller = new AbortController();
  const answering = assistant.ask(QUESTION, { ...SHAPE, strategy: "self-reflective", signal: controller.signal });
  const rejected = assert.rejects(answering, { name: "AbortError" });
  while (ear.exchanges.length < SHAPE.k) await new Promise((resolve) => setTimeout(resolve, 10));
  const asked = ear.exchanges.length;
  controller.abort();
  await rejected;
  await checkHungUp(ear);
  assert.equal(ear.exchanges.length, asked, "nothing is asked after a question was cancelled");
});
