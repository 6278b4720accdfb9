// A retriever of the caller's own in place of the index (seeds G-10, G-20).
import assert from "node:assert/strict";
import { test } from "node:test";
import { createAssistant } from "../../dist/node.js";

const PAGES = ["flour", "water", "yeast", "salt", "sugar"].map((name, i) => ({
  id: `${name}.md`,
  text: `A dough of bread needs ${name}.`,
  title: name,
  url: `https://kitchen.example/${name}`,
  score: 1 - i / 10,
}));

/** A model that finds all relevant and quotes the first. */
const chat = ({ role, messages }) => {
  if (role === "grade") return '{"score": "yes"}';
  if (role === "check") return messages[0].content.includes('"grounded"') ? '{"grounded": "yes"}' : '{"useful": "yes"}';
  return "It needs flour [1].";
};

async function make(t, retrieve) {
  const assistant = await createAssistant({ retrieve, chat });
  t.after(() => assistant.dispose());
  return assistant;
}

test("what_it_finds_is_graded_cited_and_checked_as_if_it_were_of_an_index", async (t) => {
  const asked = [];
  const assistant = await make(t, async (query, { k, signal }) => {
    asked.push([query, k, signal instanceof AbortSignal]);
    return PAGES;
  });
  const answer = await assistant.ask("What does dough need?", { k: 3, strategy: "self-reflective" });
  assert.deepEqual(asked, [["What does dough need?", 3, true]]);
  assert.deepEqual([answer.outcome, answer.usage.calls.grade, answer.usage.calls.retrieve], ["answered", 3, 1]);
  assert.deepEqual(answer.sources.map(({ passageId }) => passageId), ["flour.md", "water.md", "yeast.md"]);
  const [{ quote, url, start, end, origin }] = answer.citations;
  assert.deepEqual([quote, url, start, end, origin], [PAGES[0].text, PAGES[0].url, 0, PAGES[0].text.length, "local"]);
});

test("searches_ask_it_too", async (t) => {
  const assistant = await make(t, () => PAGES);
  const hits = await assistant.search("dough", 2);
  assert.deepEqual(hits.map(({ passageId, title, score }) => [passageId, title, score]), [["flour.md", "flour", 1], ["water.md", "water", 0.9]]);
});

test("one_that_throws_or_gives_something_else_is_a_service_that_failed", async (t) => {
  const broken = [
    () => {
      throw new Error("secret");
    },
    () => "pages",
    () => [{ text: "without an id" }],
    () => undefined,
  ];
  for (const retrieve of broken) {
    const assistant = await make(t, retrieve);
    const isTold = ({ code, serviceCode, message }) => {
      assert.deepEqual([code, serviceCode, message.includes("secret")], ["provider_failed", "function_failed", false]);
      return true;
    };
    await assert.rejects(assistant.ask("What?"), isTold);
    await assert.rejects(assistant.search("What?"), isTold);
  }
  await assert.rejects(createAssistant({ retrieve: "https://x.example" }), { code: "invalid_option" });
});

test("nothing_found_is_no_answer", async (t) => {
  const assistant = await make(t, async () => []);
  const answer = await assistant.ask("What does dough need?");
  assert.deepEqual([answer.outcome, answer.reason], ["abstained", "no_documents"]);
});
