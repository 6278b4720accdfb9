// What `npm run bench:retrieval` computes with: metrics against worked examples, sections and their anchors.
import assert from "node:assert/strict";
import { test } from "node:test";
import { labelledSet, ownSet, sectionsOf } from "../../benches/retrieval/data.mjs";
import { judge, means } from "../../benches/retrieval/metrics.mjs";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const near = (found, expected) => assert.ok(Math.abs(found - expected) < 1e-6, `${found} is not ${expected}`);

test("a_ranking_is_judged_as_by_hand", () => {
  const second = judge(["a", "b", "c"], ["b"]);
  near(second.ndcg, 1 / Math.log2(3));
  assert.deepEqual([second.recall, second.mrr], [1, 0.5]);
  const two = judge(["a", "x", "b"], ["b", "a"]);
  near(two.ndcg, (1 + 1 / 2) / (1 + 1 / Math.log2(3)));
  assert.deepEqual([two.recall, two.mrr], [1, 1]);
  const sixth = judge(["1", "2", "3", "4", "5", "b"], ["b"]);
  assert.deepEqual([sixth.recall, sixth.mrr], [0, 1 / 6]);
  const eleventh = judge([..."0123456789", "b"], ["b"]);
  assert.deepEqual(eleventh, { ndcg: 0, recall: 0, mrr: 0 });
  const both = means([judge(["b"], ["b"]), judge(["a"], ["b"])]);
  assert.deepEqual([both.queries, both.ndcg, both.recall, both.mrr], [2, 0.5, 0.5, 0.5]);
  near(both.error, 0.5);
});

test("a_page_is_cut_at_its_headings_outside_of_code", () => {
  const source = "before\n# The `Page`\ntext\n```sh\n# no heading\n```\n## A, b & c!\nmore\n## A, b & c!\nagain\n";
  const sections = sectionsOf("x/docs/a.md", source);
  assert.deepEqual(sections.map(({ id, page }) => [id, page]), [
    ["x/docs/a.md#the-page", "The `Page`"],
    ["x/docs/a.md#a-b--c", "The `Page`"],
    ["x/docs/a.md#a-b--c-1", "The `Page`"],
  ]);
  assert.equal(sections.map(({ text }) => text).join(""), source.slice("before\n".length));
});

test("nearly_every_own_question_has_a_section_that_is_there", () => {
  const { queries, sections } = ownSet();
  assert.ok(queries.length >= 65 && sections.length > 500, `${queries.length} questions, ${sections.length} sections`);
  assert.ok(queries.some(({ heldOut }) => heldOut) && queries.some(({ heldOut }) => !heldOut));
});

test("a_labelled_set_is_read_in_groups", () => {
  const folder = mkdtempSync(join(tmpdir(), "set-"));
  writeFileSync(join(folder, "docs.jsonl"), `${JSON.stringify({ id: "d0", src: "s", page: "P", title: "T?", text: "t" })}\n`);
  const query = (id, kind, src) => JSON.stringify({ id, lang: "en", text: "T?", rel: ["d0"], kind, src });
  writeFileSync(join(folder, "queries.jsonl"), [query("q0", "faq", "s"), query("q1", "faq", "pythonfaq"), query("q2", "fr_faq", "s")].join("\n"));
  const { sections, queries } = labelledSet(folder);
  assert.deepEqual(sections, [{ id: "d0", page: "P", text: "t", format: "plain" }]);
  assert.deepEqual(queries.map(({ id, group }) => [id, group]), [["q0", "faq"], ["q1", "python"]]);
  rmSync(folder, { recursive: true });
});
