// `npm run eval`: how good answers are, strategy by strategy, and what the builtin solver can tell.
//
//   npm run eval                                          the project's own questions, builtin solver
//   npm run eval -- --data DIR                            and labelled sets in DIR (tests/eval/README.md)
//   npm run eval -- --chat-url URL --model M --limit 20   a real model, on the first questions of each kind
//   …  --strategy corrective,countercheck -k 2            by some of the strategies, and with fewer passages
//   …  --data DIR --rows 20                               and its verdicts on labelled pairs in DIR, so many of a set
//
// Prints tables, writes a report with plots, and ends with RESULT and JSON. Held-out and tuning half are
// apart; figures of the tuning half flatter.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { askAll, readQuestions, summary } from "../tests/eval/questions.mjs";
import { judged } from "../tests/eval/judged.mjs";
import { answerability, blindSpots, grounding, literals } from "../tests/eval/measured.mjs";
import { report } from "../tests/eval/report.mjs";
import { build } from "./build.mjs";
import { indexDocs } from "./docs.mjs";
import { cargoTarget, dist, root } from "./lib/paths.mjs";
import { runLong } from "./lib/run.mjs";
import { DOCS_INDEX } from "./lib/site.mjs";
import { Stop, script } from "./lib/stop.mjs";
import { setup } from "./setup.mjs";

const FLAGS = /** @type {const} */ ({
  data: { type: "string" },
  "chat-url": { type: "string" },
  model: { type: "string" },
  limit: { type: "string" },
  rows: { type: "string" },
  strategy: { type: "string" },
  k: { type: "string", short: "k" },
  html: { type: "string", default: join("dist", "eval.html") },
});

// A model on a processor reads some dozens of tokens a second: it is waited for as long as a run may take.
const TIMEOUTS = { headers: 300_000, idle: 300_000 };
const DEADLINE_MS = 600_000;

async function main() {
  const { data, html, limit, rows, model = "default", "chat-url": baseUrl, ...options } = readOptions();
  await setup({ browser: false });
  await build(baseUrl !== undefined && data !== undefined ? undefined : ["browser"]);
  await indexDocs();
  const { createAssistant, openai } = await import("../dist/node.js");
  const chat = baseUrl === undefined ? undefined : { baseUrl, model };
  const assistant = await createAssistant({ index: readFileSync(DOCS_INDEX), chat: chat && openai({ ...chat, timeouts: TIMEOUTS }) });
  const solver = chat === undefined ? "builtin" : `${model} at ${baseUrl}`;

  const questions = limited(readQuestions(), limit);
  const strategies = {};
  for (const strategy of chosen(options.strategy)) {
    if (strategy === "self-rag" && chat === undefined) {
      console.log(`${strategy}: not asked, it needs a model (--chat-url)`);
      continue;
    }
    const how = { ...(options.k && { k: Number(options.k) }), ...(chat && { limits: { deadlineMs: DEADLINE_MS } }) };
    const asked = await askAll(assistant, questions, strategy, how);
    strategies[strategy] = Object.fromEntries(groups(asked).map(([name, group]) => [name, summary(group)]));
    console.log(`${strategy}: ${asked.length} questions asked`);
  }
  const sets = data === undefined ? {} : await measureSets(resolve(data), chat, rows && Number(rows));
  const result = { solver, questions: questions.length, ...options, strategies, ...sets };
  console.log(tables(result));
  const file = resolve(root, html);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, report(result));
  console.log(`report: ${file}`);
  console.log(`RESULT ${JSON.stringify(result, (key, value) => (key === "roc" || key === "riskCoverage" ? undefined : rounded(value)))}`);
  return hasRegressed(result.literals) ? 1 : 0;
}

/** The names of the presets, from where they are defined. */
function strategyNames() {
  const source = readFileSync(join(root, "src/pipeline/strategy.rs"), "utf8");
  const names = /pub const NAMES: \[&str; \d+\] =\s*\[([^\]]*)\]/.exec(source)?.[1];
  if (names === undefined) throw new Stop("src/pipeline/strategy.rs has no list NAMES: say in scripts/eval.mjs where the strategies are now");
  return [...names.matchAll(/"([^"]+)"/g)].map(([, name]) => name);
}

/** Those that are asked for: by default all. @param {string} [asked] with commas between */
function chosen(asked) {
  const names = strategyNames();
  const wanted = asked?.split(",") ?? names;
  const unknown = wanted.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new Stop(`there is no strategy ${unknown}: there are ${names.join(", ")}`);
  return wanted;
}

/** Whether the literals no longer tell wrong answers: on 500 rows 57 of them were flagged and no right one. */
function hasRegressed(literals) {
  if (literals === undefined) return false;
  const { rows, wrongFlagged, rightFlagged } = literals;
  if (wrongFlagged >= 0.08 * rows && rightFlagged <= 0.005 * rows) return false;
  console.error(`eval: literals flag ${wrongFlagged} wrong answers and ${rightFlagged} right ones of ${rows}: at least 8 % and at most 0.5 % are expected`);
  return true;
}

function readOptions() {
  let values;
  try {
    ({ values } = parseArgs({ options: FLAGS }));
  } catch (error) {
    throw new Stop(`${error.message}; there are --${Object.keys(FLAGS).join(", --")}`);
  }
  if (values.data !== undefined && !existsSync(values.data)) throw new Stop(`there is no directory ${values.data}: give that of the labelled sets`);
  if (values.limit !== undefined && !/^\d{1,6}$/.test(values.limit)) throw new Stop(`--limit is ${values.limit}: give a number of questions, or 0 for the sets alone`);
  if (values.rows !== undefined && !/^[1-9]\d{0,5}$/.test(values.rows)) throw new Stop(`--rows is ${values.rows}: give a number of pairs`);
  if (values.k !== undefined && !/^[1-9]\d?$/.test(values.k)) throw new Stop(`-k is ${values.k}: give a number of passages`);
  chosen(values.strategy);
  if (values.model !== undefined && values["chat-url"] === undefined) throw new Stop("--model without --chat-url: say where the model is");
  return values;
}

/** The first questions of each language and kind, in turn, so that few questions are of all kinds. */
function limited(questions, limit) {
  if (limit === undefined) return questions;
  const turns = new Map();
  const turn = (question) => {
    const kind = `${question.language} ${question.answerable}`;
    turns.set(kind, (turns.get(kind) ?? 0) + 1);
    return turns.get(kind);
  };
  const order = questions.map((question) => ({ question, turn: turn(question) }));
  return order.sort((a, b) => a.turn - b.turn).slice(0, Number(limit)).map(({ question }) => question);
}

/** The questions in groups that are reported apart. */
function groups(asked) {
  const of = (holds) => asked.filter(({ question }) => holds(question));
  const english = (heldOut) => of((question) => question.language === "en" && question.heldOut === heldOut);
  const other = (language) => of((question) => question.language === language);
  const all = [["held out, en", english(true)], ["tuning, en", english(false)], ["fr", other("fr")], ["de", other("de")]];
  return all.filter(([, group]) => group.length > 0);
}

/** The sets of the builtin solver, or of a model those of its verdicts. */
async function measureSets(directory, chat, limit) {
  if (chat !== undefined) return { verdicts: await judged(directory, chat, TIMEOUTS, limit) };
  const name = "measure";
  // As `cargo test` builds it, which is quick and optimised.
  await runLong("building the builtin solver natively", "cargo", ["build", "--profile", "test", "--example", name, ...(process.env.CI ? ["--locked"] : [])]);
  const binary = join(cargoTarget, "debug", "examples", name);
  const measure = (rows) => measured(binary, rows);
  return {
    grounding: await grounding(directory, measure),
    blindSpots: await blindSpots(directory, measure),
    literals: await literals(directory, measure),
    answerability: await answerability(directory, measure),
  };
}

/** Feeds the product rows and gives its replies, one for each. */
function measured(binary, rows) {
  return new Promise((resolve, reject) => {
    const child = spawn(binary, [join(dist, "embedder.bin")], { stdio: ["pipe", "pipe", "inherit"] });
    const chunks = [];
    child.stdout.on("data", (chunk) => chunks.push(chunk));
    child.on("error", (cause) => reject(new Stop(`cannot run ${binary}: ${cause.message}`, { cause })));
    child.on("close", () => {
      const replies = Buffer.concat(chunks).toString().trim().split("\n").map((line) => JSON.parse(line));
      if (replies.length === rows.length) resolve(replies);
      else reject(new Stop(`${binary} answered ${replies.length} of ${rows.length} rows; what it said is above`));
    });
    child.stdin.on("error", () => {});
    child.stdin.end(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  });
}

const rounded = (value) => (typeof value === "number" && !Number.isInteger(value) ? Number(value.toFixed(4)) : value);

const percent = (value) => (Number.isNaN(value) ? "–" : `${(100 * value).toFixed(0)} %`);
const decimals = (value) => (Number.isNaN(value) ? "–" : value.toFixed(3));

/** What the table of strategies shows, and how wide each column is. */
const COLUMNS = /** @type {const} */ ([
  ["strategy", 19], ["questions", 13], ["answerable", 11], ["unanswerable", 13], ["found: answered, cited", 23], ["unanswerable: declined", 23],
  ["declined", 9], ["answered wrong", 15], ["grading F1", 11], ["citations: precision, ALCE R/P", 31], ["calls", 6], ["rounds", 6],
]);

const row = (cells) => cells.map((cell, i) => cell.padEnd(COLUMNS[i][1])).join("");

function tables({ solver, strategies, grounding: grounded, blindSpots: edited, literals: flagged, answerability: answerable, verdicts }) {
  const three = ({ answered, partial, abstained }) => `${answered}/${partial}/${abstained}`;
  const lines = [`\nsolver: ${solver}; outcomes are answered/partial/declined`, row(COLUMNS.map(([name]) => name))];
  for (const [strategy, byGroup] of Object.entries(strategies)) {
    for (const [group, s] of Object.entries(byGroup)) {
      const citations = `${decimals(s.citationPrecision)} ${decimals(s.citations.recall)}/${decimals(s.citations.precision)}`;
      const shares = [s.foundAnsweredAndCited, s.declinedOfUnanswerable, s.abstentionRate, s.answeredWrongRate].map(percent);
      const cost = [s.callsPerQuestion.toFixed(1), s.roundsPerQuestion.toFixed(2)];
      lines.push(row([strategy, group, three(s.answerable), three(s.unanswerable), ...shares, decimals(s.grading.f1), citations, ...cost]));
    }
  }
  for (const [what, of] of [["grounding", grounded], ["answerable or not", answerable]]) {
    if (of === undefined) continue;
    lines.push(`\n${what}, ${of.set}, ${of.rows} rows`, `  ${"signal".padEnd(30)}AUROC  precision recall  F1     macro F1 accuracy`);
    for (const [name, s] of Object.entries(of.signals)) {
      lines.push(`  ${name.padEnd(30)}${[s.auroc, s.precision, s.recall, s.f1, s.macroF1, s.accuracy].map((value) => decimals(value).padEnd(7)).join("")}`);
    }
  }
  if (verdicts !== undefined) {
    lines.push("\nverdicts of the model on labelled pairs", `  ${"set".padEnd(12)}rows  unknown  accuracy precision recall  F1     macro F1 AUROC of P(yes)  s/call`);
    for (const [name, s] of Object.entries(verdicts)) {
      const figures = [s.accuracy, s.precision, s.recall, s.f1, s.macroF1, s.auroc].map((value) => decimals(value).padEnd(8));
      lines.push(`  ${name.padEnd(12)}${String(s.rows).padEnd(6)}${String(s.unknown).padEnd(9)}${figures.join("")}         ${s.secondsPerCall.toFixed(1)}`);
    }
  }
  if (edited !== undefined) {
    lines.push(`\nsentences flagged, copied and with one edit, ${edited.set}`);
    for (const [edit, { sentences, builtin, overlap }] of Object.entries(edited.flagged)) {
      lines.push(`  ${edit.padEnd(30)}${builtin} of ${sentences}; by overlap of words ${overlap}`);
    }
  }
  if (flagged !== undefined) {
    lines.push(`\nliterals in no source, ${flagged.set}: ${flagged.wrongFlagged} of ${flagged.rows} wrong answers flagged, ${flagged.rightFlagged} right ones (a regression check, no result: length tells this set apart)`);
  }
  return lines.join("\n");
}

await script("eval", main);
