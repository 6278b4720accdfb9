// The project's own questions through a strategy: what was answered, declined, right, cited, and at what cost.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../scripts/lib/paths.mjs";
import { alce, containsAll, decisions, riskCoverage } from "./metrics.mjs";
import { fnv } from "./regression.mjs";

/** Of each question the five best passages are looked at for the labelled section. */
const FIRST = 5;

/** The labelled questions (tests/questions/README.md), each with whether it is held out. */
export function readQuestions() {
  const lines = readFileSync(join(root, "tests/questions/questions.jsonl"), "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line)).map((question) => ({ ...question, heldOut: isHeldOut(question.id) }));
}

/** Odd hashes are held out. @param {string} id */
export const isHeldOut = (id) => fnv(id) % 2 === 1;

/** Whether a passage is one of the question's labelled sections. */
export const isLabelled = (question, passageId, url) =>
  question.sections.some(({ document, anchor }) => passageId.replace(/#\d+$/, "") === document && url.endsWith(`#${anchor}`));

/**
 * Asks all questions under one strategy.
 * @param {import("../../www/src/client/types.ts").Assistant} assistant
 * @param {{ question: string }[]} questions
 * @param {string} strategy
 * @param {import("../../www/src/client/types.ts").AskOptions} [options] besides it
 */
export async function askAll(assistant, questions, strategy, options = {}) {
  const asked = [];
  for (const question of questions) {
    const hits = await assistant.search(question.question, FIRST);
    const answer = await ask(assistant, question.question, { ...options, strategy });
    asked.push(judge(question, hits, answer));
  }
  return asked;
}

/** What a service that failed could not answer is declined, with that reason; any other error is one. */
async function ask(assistant, question, options) {
  try {
    return await assistant.ask(question, options);
  } catch (error) {
    if (error.code !== "provider_failed") throw error;
    return { outcome: "abstained", reason: error.code, text: "", citations: [], verdicts: [], sources: [], attempts: 0, usage: { calls: {} } };
  }
}

/** What an answer is worth against its question's labels. */
export function judge(question, hits, answer) {
  const cites = answer.citations.map(({ passageId, url }) => isLabelled(question, passageId, url));
  const urls = new Map(hits.map(({ passageId, url }) => [passageId, url]));
  const graded = answer.verdicts.filter(({ passageId, verdict }) => urls.has(passageId) && verdict !== "unknown");
  const calls = Object.values(answer.usage?.calls ?? {}).reduce((sum, n) => sum + n, 0);
  const said = answer.outcome !== "abstained";
  return {
    question,
    outcome: answer.outcome,
    reason: answer.reason,
    grounded: answer.grounded,
    found: hits.some(({ passageId, url }) => isLabelled(question, passageId, url)),
    cited: cites.some(Boolean),
    cites,
    // A check of the topic: one of the strings that a right answer has.
    right: said && question.answerable && question.must_contain.some((text) => containsAll(answer.text, [[text]])),
    confidence: Math.max(0, ...answer.verdicts.map(({ score, verdict }) => score ?? Number(verdict === "yes"))),
    grades: graded.map(({ passageId, verdict }) => ({ label: isLabelled(question, passageId, urls.get(passageId)), said: verdict === "yes" })),
    sentences: marks(answer.text),
    calls,
    rounds: answer.attempts,
  };
}

/** The numbers of the marks `[n]` in each paragraph of an answer that has one. @param {string} text */
export function marks(text) {
  const paragraphs = text.split(/\n{2,}/).map((paragraph) => [...paragraph.matchAll(/\[(\d+)\]/g)].map(([, n]) => Number(n)));
  return paragraphs.filter((cited) => cited.length > 0);
}

/** The figures of one group of asked questions. @param {ReturnType<typeof judge>[]} asked */
export function summary(asked) {
  const can = asked.filter(({ question }) => question.answerable);
  const cannot = asked.filter(({ question }) => !question.answerable);
  const share = (items, holds) => (items.length === 0 ? NaN : items.filter(holds).length / items.length);
  const outcomes = (items) => Object.fromEntries(["answered", "partial", "abstained"].map((name) => [name, items.filter(({ outcome }) => outcome === name).length]));
  const answered = asked.filter(({ outcome }) => outcome === "answered");
  const wrong = ({ right }) => !right;
  const grades = asked.flatMap((one) => one.grades);
  const cites = can.flatMap((one) => one.cites);
  const found = can.filter((one) => one.found);
  const mean = (items, of) => (items.length === 0 ? NaN : items.reduce((sum, item) => sum + of(item), 0) / items.length);
  return {
    answerable: { ...outcomes(can), found: found.length, cited: can.filter(({ cited }) => cited).length },
    unanswerable: outcomes(cannot),
    foundAnsweredAndCited: share(found, (one) => one.outcome === "answered" && one.cited),
    declinedOfUnanswerable: share(cannot, ({ outcome }) => outcome === "abstained"),
    abstentionRate: share(asked, ({ outcome }) => outcome === "abstained"),
    answeredWrongRate: share(asked, (one) => one.outcome === "answered" && wrong(one)),
    wrongOfAnswered: share(answered, wrong),
    grading: decisions(grades.map(({ label }) => label), grades.map(({ said }) => said)),
    citationPrecision: share(cites, Boolean),
    citations: citations(can),
    riskCoverage: riskCoverage(asked.filter(({ outcome }) => outcome !== "abstained").map((one) => ({ confidence: one.confidence, wrong: !one.right })), asked.length),
    callsPerQuestion: mean(asked, ({ calls }) => calls),
    roundsPerQuestion: mean(asked, ({ rounds }) => rounds),
  };
}

/** ALCE over all answers, where a citation entails its paragraph when it is of a labelled section. */
function citations(asked) {
  const scores = asked.filter(({ sentences }) => sentences.length > 0).map(({ sentences, cites }) =>
    alce(sentences, cites.length, (_, cited) => cited.some((n) => cites[n - 1])),
  );
  const mean = (key) => (scores.length === 0 ? NaN : scores.reduce((sum, score) => sum + score[key], 0) / scores.length);
  return { recall: mean("recall"), precision: mean("precision") };
}
