// What the builtin solver makes of labelled sets (`--data DIR`): its own code computes scores and features, here they
// meet the labels. Sets that are not in the directory are left out.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Stop } from "../../scripts/lib/stop.mjs";
import { auroc, decisions, roc } from "./metrics.mjs";
import { fitLogistic, fnv, fold, logit } from "./regression.mjs";

const FOLDS = 5;

/** Of the grounding check's weights these are set and not fitted, and so a statement is drawn to the whole draft. */
const SET = [5, 6, 7];
const SHRINKAGE = 3;

/** @typedef {(rows: object[]) => Promise<any[]>} Measure what the product says of rows, in their order */

/** The labelled texts of a set, or undefined. @param {string} directory @param {string} name */
export function read(directory, name) {
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
  const signals = {
    "builtin, 5-fold": { scores: refitted, cut: 0 },
    "builtin, as shipped": { scores: shipped, cut: 0.5 },
    "overlap of words": { scores: rows.map(({ response, knowledge }) => overlap(response, knowledge)), cut: OVERLAP_CUT },
    "length, shorter is better": { scores: rows.map(({ response }) => -words(response).length), cut: undefined },
  };
  return { set: "begin_wow", rows: rows.length, signals: Object.fromEntries(Object.entries(signals).map(([name, signal]) => [name, figures(labels, signal)])) };
}

const words = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** The baseline: the share of a draft's words that its source has. It is grounded from this share on. */
const OVERLAP_CUT = 0.8;

function overlap(draft, source) {
  const [own, known] = [new Set(words(draft)), new Set(words(source))];
  return own.size === 0 ? 0 : [...own].filter((word) => known.has(word)).length / own.size;
}

function figures(labels, { scores, cut }) {
  const best = cut ?? median(scores);
  return { auroc: auroc(labels, scores), ...decisions(labels, scores.map((score) => score >= best)), roc: roc(labels, scores) };
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** The evidence for each row from weights fitted without its fold. */
function crossValidated(found, labels, sources) {
  for (const { claims, model, score } of found) {
    const own = claims.length === 0 ? 0 : 1 / (1 + Math.exp(-weakest(claims, model)));
    if (Math.abs(own - score) > 1e-4) throw new Stop(`a draft has the score ${score} and here ${own}: follow src/solver/builtin/grounding.rs`);
  }
  const evidence = new Array(found.length).fill(-Infinity);
  const fixed = Object.fromEntries(SET.map((i) => [i, found[0].model.weights[i]]));
  for (let k = 0; k < FOLDS; k += 1) {
    const within = found.map((_, i) => fold(sources[i], FOLDS) === k);
    const rows = found.flatMap(({ claims }, i) => (within[i] || claims.length === 0 ? [] : [{ features: meanFeatures(claims), label: labels[i] }]));
    const model = fitLogistic(rows, { penalty: 1, fixed });
    found.forEach(({ claims }, i) => {
      if (within[i] && claims.length > 0) evidence[i] = weakest(claims, model);
    });
  }
  return evidence;
}

/** A draft's features: its statements', weighed by their words. */
function meanFeatures(claims) {
  const all = claims.reduce((sum, claim) => sum + claim.words, 0);
  return claims[0].features.map((_, j) => claims.reduce((sum, claim) => sum + claim.words * claim.features[j], 0) / all);
}

/** As the product does it, so that other weights can be tried: with its own the score must be its own. */
function weakest(claims, model) {
  const mean = logit(model, meanFeatures(claims));
  return Math.min(...claims.map(({ words, features }) => (words * logit(model, features) + SHRINKAGE * mean) / (words + SHRINKAGE)));
}

/** Sentences copied from a text, and each with one edit that words alone hardly show. @param {{ context: string, qas: { id: string, a: string }[] }} row */
function edits({ context, qas }) {
  const sentences = context.split(/(?<=[.!?])\s+/);
  const edited = { copied: [...sentences], "number changed": [], denied: [], "exchanged within the text": [] };
  for (const sentence of sentences) {
    const number = /\d+/.exec(sentence)?.[0];
    const other = String(Number(number) + 1);
    if (number !== undefined && !context.includes(other)) edited["number changed"].push(sentence.replace(number, other));
    const denied = sentence.replace(/\b(is|was|are|were|has|had|can|will|could)\b/, "$1 not");
    if (denied !== sentence) edited.denied.push(denied);
  }
  for (const { id, a } of qas) {
    const sentence = sentences.find((one) => one.includes(a));
    const others = qas.map((qa) => qa.a).filter((one) => !a.includes(one) && !one.includes(a) && !sentence?.includes(one));
    if (sentence !== undefined && others.length > 0) edited["exchanged within the text"].push(sentence.replace(a, () => others[fnv(id) % others.length]));
  }
  return edited;
}

/** Which share of edited sentences is flagged, and of copied ones, beside overlap alone. @param {string} directory @param {Measure} measure */
export async function blindSpots(directory, measure) {
  const rows = read(directory, "xquad_en.jsonl");
  if (rows === undefined) return undefined;
  const all = rows.flatMap((row) => Object.entries(edits(row)).flatMap(([edit, drafts]) => drafts.map((draft) => ({ edit, draft, source: row.context }))));
  const found = await measure(all.map(({ draft, source }) => ({ draft, sources: [source] })));
  const flagged = {};
  all.forEach(({ edit, draft, source }, i) => {
    const group = (flagged[edit] ??= { sentences: 0, builtin: 0, overlap: 0 });
    group.sentences += 1;
    group.builtin += Number(found[i].score < 0.5);
    group.overlap += Number(overlap(draft, source) < OVERLAP_CUT);
  });
  return { set: "xquad_en", flagged };
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
