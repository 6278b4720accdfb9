// What the builtin solver makes of labelled sets (`--data DIR`): its own code computes scores and features, here they
// meet the labels. Sets that are not in the directory are left out.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { auroc, decisions, roc } from "./metrics.mjs";
import { fitLogistic, fold, logit } from "./regression.mjs";

const FOLDS = 5;

/** Of the grounding check's features these are set and not fitted (src/solver/builtin/grounding.rs). */
const FIXED = { 5: -3.5, 6: -3.5, 7: -3.5 };
const SHRINKAGE = 3;

/** @typedef {(rows: object[]) => Promise<any[]>} Measure what the product says of rows, in their order */

/** The labelled texts of a set, or undefined. @param {string} directory @param {string} name */
function read(directory, name) {
  const file = join(directory, name);
  if (!existsSync(file)) return undefined;
  return readFileSync(file, "utf8").trim().split("\n").map((line) => JSON.parse(line));
}

/** Is a sentence in its source? @param {string} directory @param {Measure} measure */
export async function grounding(directory, measure) {
  const rows = read(directory, "begin_wow.jsonl");
  if (rows === undefined) return undefined;
  const found = await measure(rows.map(({ response, knowledge }) => ({ draft: response, sources: [knowledge] })));
  const labels = rows.map(({ label }) => label === 1);
  const refitted = crossValidated(found, labels, rows.map(({ knowledge }) => knowledge));
  const shipped = found.map(({ score }) => score);
  const words = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const overlap = rows.map(({ response, knowledge }) => {
    const [own, known] = [new Set(words(response)), new Set(words(knowledge))];
    return own.size === 0 ? 0 : [...own].filter((word) => known.has(word)).length / own.size;
  });
  const signals = {
    "builtin, 5-fold": { scores: refitted, cut: 0 },
    "builtin, as shipped": { scores: shipped, cut: 0.5 },
    "overlap of words": { scores: overlap, cut: 0.8 },
    "length, shorter is better": { scores: rows.map(({ response }) => -words(response).length), cut: undefined },
  };
  return { set: "begin_wow", rows: rows.length, signals: Object.fromEntries(Object.entries(signals).map(([name, signal]) => [name, figures(labels, signal)])) };
}

function figures(labels, { scores, cut }) {
  const best = cut ?? median(scores);
  return { auroc: auroc(labels, scores), ...decisions(labels, scores.map((score) => score >= best)), roc: roc(labels, scores) };
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** The evidence for each row from weights fitted without its fold. */
function crossValidated(found, labels, sources) {
  const evidence = new Array(found.length).fill(-Infinity);
  for (let k = 0; k < FOLDS; k += 1) {
    const within = found.map((_, i) => fold(sources[i], FOLDS) === k);
    const rows = found.flatMap(({ claims }, i) => (within[i] || claims.length === 0 ? [] : [{ features: meanFeatures(claims), label: labels[i] }]));
    const model = fitLogistic(rows, { penalty: 1, fixed: FIXED });
    found.forEach(({ claims }, i) => {
      if (within[i] && claims.length > 0) evidence[i] = weakest(claims, model);
    });
  }
  return evidence;
}

/** A draft's features: its statements', weighed by their words. */
function meanFeatures(claims) {
  const words = claims.reduce((sum, claim) => sum + claim.words, 0);
  return claims[0].features.map((_, j) => claims.reduce((sum, claim) => sum + claim.words * claim.features[j], 0) / words);
}

/** As the product does it, with other weights; `asShipped` holds this against the product's own score. */
export function weakest(claims, model) {
  const mean = logit(model, meanFeatures(claims));
  return Math.min(...claims.map(({ words, features }) => (words * logit(model, features) + SHRINKAGE * mean) / (words + SHRINKAGE)));
}

/** How many wrong and right answers have literals that no source has. A regression check: its set is told by length alone. */
export async function literals(directory, measure) {
  const rows = read(directory, "halueval_qa.jsonl");
  if (rows === undefined) return undefined;
  const flagged = async (key) => {
    const found = await measure(rows.map((row) => ({ draft: row[key], sources: [row.knowledge] })));
    return found.filter(({ unsourced }) => unsourced.length > 0).length;
  };
  return { set: "halueval_qa", rows: rows.length, wrongFlagged: await flagged("hallucinated_answer"), rightFlagged: await flagged("right_answer") };
}

/** Does a passage answer a question at all? @param {string} directory @param {Measure} measure */
export async function answerability(directory, measure) {
  const rows = read(directory, "clapnq_dev.jsonl");
  if (rows === undefined) return undefined;
  const text = ({ sentences }) => sentences.join(" ");
  const found = await measure([
    { documents: rows.map((row, i) => ({ id: `d${i}`, title: row.title, source: text(row) })) },
    ...rows.map(({ question }, i) => ({ question, document: `d${i}` })),
  ]);
  const measured = found.slice(1).map(({ features }) => features);
  const labels = rows.map(({ answerable }) => answerable);
  const evidence = new Array(rows.length).fill(0);
  for (let k = 0; k < FOLDS; k += 1) {
    const within = rows.map((row) => fold(text(row), FOLDS) === k);
    const training = measured.flatMap((features, i) => (within[i] ? [] : [{ features, label: labels[i] }]));
    const model = fitLogistic(training, { penalty: 1 });
    measured.forEach((features, i) => within[i] && (evidence[i] = logit(model, features)));
  }
  const coverage = measured.map(([first]) => first);
  return {
    set: "clapnq_dev",
    rows: rows.length,
    signals: {
      "builtin, 5-fold": figures(labels, { scores: evidence, cut: 0 }),
      "builtin, as shipped": figures(labels, { scores: found.slice(1).map(({ score }) => score), cut: 0.5 }),
      "coverage of the question": figures(labels, { scores: coverage, cut: undefined }),
      "length of the passage": figures(labels, { scores: rows.map((row) => text(row).length), cut: undefined }),
    },
  };
}
