// The figures of `npm run eval`, against worked examples.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as metrics from "../eval/metrics.mjs";
import { fold, fitLogistic, logit } from "../eval/regression.mjs";

const near = (actual, expected, within = 5e-5) => assert.ok(Math.abs(actual - expected) < within, `${actual} is not ${expected}`);

test("AUROC counts pairs in the right order, and ties as half", () => {
  assert.equal(metrics.auroc([true, true, false, false], [4, 3, 2, 1]), 1);
  assert.equal(metrics.auroc([true, false, true, false], [4, 3, 2, 1]), 0.75);
  assert.equal(metrics.auroc([true, false], [1, 1]), 0.5);
  assert.equal(metrics.auroc([true, true, false], [0, 2, 1]), 0.5);
  assert.ok(Number.isNaN(metrics.auroc([true], [1])));
});

test("precision, recall, both F1 and accuracy are those of the table of four", () => {
  const labels = [true, true, true, false, false];
  const { precision, recall, f1, macroF1, accuracy } = metrics.decisions(labels, [true, true, false, true, false]);
  near(precision, 2 / 3);
  near(recall, 2 / 3);
  near(f1, 2 / 3);
  near(macroF1, (2 / 3 + 1 / 2) / 2);
  near(accuracy, 3 / 5);
});

test("Ragas: shares of claims, undefined without any; precision at each relevant rank", () => {
  assert.equal(metrics.faithfulness([true, true, false, true]), 0.75);
  assert.ok(Number.isNaN(metrics.faithfulness([])));
  assert.equal(metrics.contextRecall([true, false]), 0.5);
  near(metrics.answerRelevancy([0.9, 0.8, 0.7]), 0.8);
  near(metrics.contextPrecision([true, false, true]), (1 + 2 / 3) / 2);
  assert.equal(metrics.contextPrecision([false, true]), 0.5);
  assert.ok(Number.isNaN(metrics.contextPrecision([false, false])));
});

test("RAGChecker tells apart what was wrong by whose fault", () => {
  const found = metrics.ragChecker({
    chunks: 3,
    reference: [
      { answered: true, chunks: [true, false, false] },
      { answered: false, chunks: [true, false, false] },
      { answered: false, chunks: [false, false, false] },
    ],
    response: [
      { correct: true, chunks: [true, false, false] },
      { correct: false, chunks: [true, true, false] },
      { correct: false, chunks: [false, true, false] },
      { correct: false, chunks: [false, false, false] },
      { correct: true, chunks: [false, false, false] },
    ],
  });
  const expected = { claimRecall: 2 / 3, contextPrecision: 1 / 3, utilisation: 1 / 2, noiseRelevant: 1 / 5, noiseIrrelevant: 1 / 5 };
  for (const [name, value] of Object.entries({ ...expected, hallucination: 1 / 5, selfKnowledge: 1 / 5, faithfulness: 3 / 5 })) near(found[name], value);
});

test("ALCE: a sentence needs a citation, a citation must be needed, and none may be out of range", () => {
  const first = (sentence, cited) => sentence === 0 && cited.includes(1);
  assert.deepEqual(metrics.alce([[1], []], 4, first), { recall: 0.5, precision: 1 });
  assert.deepEqual(metrics.alce([[5]], 4, () => true), { recall: 0, precision: 0 });
  assert.deepEqual(metrics.alce([[1, 2]], 2, first), { recall: 1, precision: 0.5 });
  // Neither alone, both together: both are needed.
  assert.deepEqual(metrics.alce([[1, 2]], 2, (_, cited) => cited.length === 2), { recall: 1, precision: 1 });
  // Of four citations three count.
  assert.deepEqual(metrics.alce([[2, 3, 4, 1]], 4, first), { recall: 0, precision: 0 });
});

test("FActScore punishes answers of few facts", () => {
  const facts = (n) => Array.from({ length: n }, () => true);
  near(metrics.factScore(facts(5)), 0.3679);
  near(metrics.factScore(facts(10)), 1);
  near(metrics.factScore(facts(20)), 1);
  near(metrics.factScore([true, false, ...facts(8)]), 0.9);
});

test("MiniCheck takes the best chunk; RGB every item by any of its names", () => {
  assert.equal(metrics.miniCheck([0.2, 0.51]), true);
  assert.equal(metrics.miniCheck([0.5, 0.1]), false);
  assert.equal(metrics.noisePassages(5, 0.5), 3);
  assert.equal(metrics.noisePassages(5, 0), 0);
  assert.equal(metrics.containsAll("Won by the US in 2022", [["us", "usa"], ["2022"]]), true);
  assert.equal(metrics.containsAll("Won by the US", [["us", "usa"], ["2022"]]), false);
});

test("risk and coverage: the surest first, equals together, the declined in the denominator", () => {
  const answers = [{ confidence: 0.5, wrong: true }, { confidence: 0.9, wrong: false }, { confidence: 0.5, wrong: false }];
  assert.deepEqual(metrics.riskCoverage(answers, 4), [
    { coverage: 0.25, risk: 0, confidence: 0.9 },
    { coverage: 0.75, risk: 1 / 3, confidence: 0.5 },
  ]);
});

test("ROC runs from nothing to everything, ties in one step", () => {
  const points = metrics.roc([true, false, true, false], [3, 2, 2, 1]);
  assert.deepEqual(points, [{ x: 0, y: 0 }, { x: 0, y: 0.5 }, { x: 0.5, y: 1 }, { x: 1, y: 1 }]);
});

test("a logistic regression finds the side that its rows are on, and its penalty draws it to nothing", () => {
  const rows = [0, 1, 2, 3, 4, 5, 6, 7].map((x) => ({ features: [x, 1 - (x % 2)], label: x > 3 }));
  const model = fitLogistic(rows, { penalty: 0.1 });
  for (const { features, label } of rows) assert.equal(logit(model, features) > 0, label);
  // At the optimum the gradient is nothing: Σ (p − y) x + penalty · w = 0.
  const gradient = (j) => rows.reduce((sum, { features, label }) => sum + (1 / (1 + Math.exp(-logit(model, features))) - Number(label)) * features[j], 0.1 * model.weights[j]);
  for (const j of [0, 1]) near(gradient(j), 0, 1e-6);
  const drawn = fitLogistic(rows, { penalty: 1e6 });
  assert.ok(drawn.weights.every((weight) => Math.abs(weight) < 1e-3));
  const held = fitLogistic(rows, { penalty: 0.1, fixed: { 0: -2 } });
  assert.equal(held.weights[0], -2);
});

test("folds depend on the text alone, and all are used", () => {
  const texts = Array.from({ length: 100 }, (_, i) => `text ${i}`);
  assert.equal(fold("text 1", 5), fold("text 1", 5));
  assert.deepEqual([...new Set(texts.map((text) => fold(text, 5)))].sort(), [0, 1, 2, 3, 4]);
});
