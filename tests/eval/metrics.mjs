// The figures of an evaluation as pure functions: plain values in, numbers out. A figure that nothing
// defines (a share of no claims) is NaN, never 0 or 1.

const share = (part, of) => (of === 0 ? NaN : part / of);
const count = (items, holds) => items.filter(holds).length;
const mean = (values) => share(values.reduce((sum, value) => sum + value, 0), values.length);

/**
 * The probability that a positive has a higher score than a negative; equal scores count half.
 * @param {boolean[]} labels @param {number[]} scores of the same length
 */
export function auroc(labels, scores) {
  const order = scores.map((score, i) => ({ score, positive: labels[i] })).sort((a, b) => a.score - b.score);
  let ranks = 0;
  for (let start = 0, end; start < order.length; start = end) {
    end = start;
    while (end < order.length && order[end].score === order[start].score) end += 1;
    // Equal scores share the mean of their ranks, which begin at 1.
    ranks += count(order.slice(start, end), ({ positive }) => positive) * ((start + 1 + end) / 2);
  }
  const positives = count(labels, Boolean);
  return share(ranks - (positives * (positives + 1)) / 2, positives * (labels.length - positives));
}

/**
 * What a yes-or-no decision is worth against its labels.
 * @param {boolean[]} labels @param {boolean[]} said
 */
export function decisions(labels, said) {
  const cell = (label, answer) => count(labels, (_, i) => labels[i] === label && said[i] === answer);
  const [hit, miss, alarm, rest] = [cell(true, true), cell(true, false), cell(false, true), cell(false, false)];
  const f1 = share(2 * hit, 2 * hit + miss + alarm);
  return {
    precision: share(hit, hit + alarm),
    recall: share(hit, hit + miss),
    f1,
    macroF1: (f1 + share(2 * rest, 2 * rest + miss + alarm)) / 2,
    accuracy: share(hit + rest, labels.length),
  };
}

/** The share of an answer's claims that its context supports (Ragas). @param {boolean[]} supported */
export const faithfulness = (supported) => share(count(supported, Boolean), supported.length);

/** The share of the reference's claims that the context supports (Ragas). @param {boolean[]} attributed */
export const contextRecall = faithfulness;

/** The mean cosine of questions made of the answer with the question (Ragas). @param {number[]} cosines */
export const answerRelevancy = mean;

/** The mean of precision at each relevant rank (Ragas: context precision at K). @param {boolean[]} relevant by rank */
export function contextPrecision(relevant) {
  const precisions = relevant.map((_, i) => mean(relevant.slice(0, i + 1).map(Number)));
  return mean(precisions.filter((_, i) => relevant[i]));
}

/**
 * The figures of RAGChecker (Ru et al., 2024).
 * @param {object} checked
 * @param {{ correct: boolean, chunks: boolean[] }[]} checked.response its claims, and which chunks entail each
 * @param {{ answered: boolean, chunks: boolean[] }[]} checked.reference its claims: whether the response has them
 * @param {number} checked.chunks how many were retrieved
 */
export function ragChecker({ response, reference, chunks }) {
  const entailed = (claim) => claim.chunks.some(Boolean);
  const relevant = Array.from({ length: chunks }, (_, i) => reference.some((claim) => claim.chunks[i]));
  const by = (claim, wanted) => claim.chunks.some((entails, i) => entails && relevant[i] === wanted);
  const recalled = reference.filter(entailed);
  const of = (holds) => share(count(response, holds), response.length);
  return {
    claimRecall: share(recalled.length, reference.length),
    contextPrecision: share(count(relevant, Boolean), chunks),
    utilisation: share(count(recalled, (claim) => claim.answered), recalled.length),
    noiseRelevant: of((claim) => !claim.correct && by(claim, true)),
    noiseIrrelevant: of((claim) => !claim.correct && by(claim, false) && !by(claim, true)),
    hallucination: of((claim) => !claim.correct && !entailed(claim)),
    selfKnowledge: of((claim) => claim.correct && !entailed(claim)),
    faithfulness: of(entailed),
  };
}

/** At most so many citations of a sentence count. */
const MOST_CITATIONS = 3;

/**
 * Citation recall and precision (ALCE, Gao et al., 2023). A sentence is recalled when its citations together
 * entail it; a citation is precise when its sentence is recalled and it is needed: it entails the sentence alone,
 * or without it the others no longer do. A citation of no document spoils its sentence.
 * @param {number[][]} sentences the documents that each cites, from 1
 * @param {number} documents how many there are
 * @param {(sentence: number, cited: number[]) => boolean} entails
 */
export function alce(sentences, documents, entails) {
  let recalled = 0;
  let precise = 0;
  let citations = 0;
  sentences.forEach((all, i) => {
    const cited = [...new Set(all)].slice(0, MOST_CITATIONS);
    citations += cited.length;
    const valid = cited.length > 0 && cited.every((n) => n >= 1 && n <= documents);
    if (!valid || !entails(i, cited)) return;
    recalled += 1;
    precise += count(cited, (n) => entails(i, [n]) || !entails(i, cited.filter((other) => other !== n)));
  });
  return { recall: share(recalled, sentences.length), precision: citations === 0 ? 0 : precise / citations };
}

/**
 * FActScore (Min et al., 2023): the share of supported facts, with the penalty exp(1 − γ/n) below γ of them.
 * @param {boolean[]} supported
 */
export function factScore(supported, gamma = 10) {
  const n = supported.length;
  return faithfulness(supported) * (n < gamma ? Math.exp(1 - gamma / n) : 1);
}

/** MiniCheck (Tang et al., 2024): supported when any chunk supports it by more than one half. @param {number[]} support by chunk */
export const miniCheck = (support) => Math.max(...support) > 0.5;

/** RGB (Chen et al., 2024): how many of the passages are noise. */
export const noisePassages = (passages, noise) => Math.ceil(passages * noise);

/**
 * RGB: whether every item of the gold answer, by any of its names, is in the text; case is ignored.
 * @param {string} text @param {string[][]} gold
 */
export function containsAll(text, gold) {
  const lower = text.toLowerCase();
  return gold.every((names) => names.some((name) => lower.includes(name.toLowerCase())));
}

/**
 * Risk against coverage: the questions in order of confidence, the surest first; after each, which share was answered
 * and which share of those answers was wrong. Equal confidences are one step.
 * @param {{ confidence: number, wrong: boolean }[]} answers
 * @param {number} questions how many were asked, declined ones included
 */
export function riskCoverage(answers, questions) {
  const sorted = [...answers].sort((a, b) => b.confidence - a.confidence);
  const points = [];
  let wrong = 0;
  sorted.forEach((answer, i) => {
    wrong += Number(answer.wrong);
    if (sorted[i + 1]?.confidence === answer.confidence) return;
    points.push({ coverage: (i + 1) / questions, risk: wrong / (i + 1), confidence: answer.confidence });
  });
  return points;
}

/** The points of a ROC curve, from nothing flagged to all. @param {boolean[]} labels @param {number[]} scores */
export function roc(labels, scores) {
  const positives = count(labels, Boolean);
  const order = scores.map((score, i) => ({ score, positive: labels[i] })).sort((a, b) => b.score - a.score);
  const points = [{ x: 0, y: 0 }];
  let hits = 0;
  order.forEach(({ score, positive }, i) => {
    hits += Number(positive);
    if (order[i + 1]?.score === score) return;
    points.push({ x: share(i + 1 - hits, labels.length - positives), y: share(hits, positives) });
  });
  return points;
}
