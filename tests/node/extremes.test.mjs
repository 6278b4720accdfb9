// Inputs at and beyond the limits: right answers or typed errors, and the assistant alive afterwards.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createAssistant } from "../../dist/node.js";

const MIB = 1024 * 1024;

test("a document of 5 MB is indexed and found", async (t) => {
  const assistant = await createAssistant();
  t.after(() => assistant.dispose());
  const sections = Array.from({ length: 5000 }, (_, n) => `## Section ${n}\n\n${`Filler about topic ${n}. `.repeat(50)}\n`);
  const text = `# Long\n\n${sections.join("\n")}\n## Needle\n\nThe zeppelin departs at noon.\n`;
  assert.ok(text.length > 5_000_000, `${text.length} bytes`);
  const { documents, passages } = await assistant.add({ id: "long.md", text });
  assert.equal(documents, 1);
  assert.ok(passages >= 5000, `${passages} passages`);
  const answer = await assistant.ask("When does the zeppelin depart?");
  assert.equal(answer.outcome, "answered");
  const { start, end, quote } = answer.citations[0];
  assert.equal(Buffer.from(text).subarray(start, end).toString("utf8"), quote);
});

test("a document beyond the limit is refused and the rest stays", async (t) => {
  const assistant = await createAssistant();
  t.after(() => assistant.dispose());
  await assistant.add({ id: "small", text: "The cat sleeps on the warm stove." });
  await assert.rejects(assistant.add({ id: "huge", text: "x".repeat(16 * MIB + 1) }), { code: "invalid_document" });
  assert.deepEqual(await assistant.statistics(), { documents: 1, passages: 1 });
  assert.equal((await assistant.search("cat stove")).length, 1);
});

test("one unbroken word of a megabyte, lone surrogates and control characters do no harm", async (t) => {
  const assistant = await createAssistant();
  t.after(() => assistant.dispose());
  for (const text of ["a".repeat(MIB), "\ud800 lone", "\u0000\u0007\u200b", "`".repeat(100_000), "[".repeat(100_000), "> ".repeat(50_000)]) {
    await assistant.add({ id: "odd", text });
    assert.ok((await assistant.ask("What does the odd text say?")).outcome);
  }
});
