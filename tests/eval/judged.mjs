// What a model's verdicts are worth on labelled pairs (`--data DIR` with `--chat-url`): each is put to the built Worker
// as one of its tasks, so the prompt, the form of the reply and how it is read are the product's. Sets that are not in
// the directory are left out.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startWorker } from "../../scripts/lib/worker.mjs";
import { Stop } from "../../scripts/lib/stop.mjs";
import { read } from "./measured.mjs";
import { auroc, decisions } from "./metrics.mjs";

/** A passage as a task has it. */
const passage = (text) => ({ id: "d", title: "Documentation", text });

/** The sets by their file: which task a row is, and what the reply says on it. */
const SETS = {
  relevance: {
    task: "grade-passages",
    body: ({ q_en, doc }) => ({ question: q_en, passages: [passage(doc)] }),
    said: ({ grades: [{ verdict, score }] }) => ({ verdict, score }),
  },
  grounded: {
    task: "check-grounding",
    body: ({ doc, answer }) => ({ draft: answer, passages: [passage(doc)] }),
    said: ({ verdict }) => ({ verdict }),
  },
  useful: {
    task: "check-usefulness",
    body: ({ question, answer }) => ({ question, draft: answer }),
    said: ({ verdict }) => ({ verdict }),
  },
};

/**
 * @param {string} directory of the sets
 * @param {{ baseUrl: string, model: string }} chat
 * @param {{ headers: number, idle: number }} timeouts in milliseconds
 * @param {number} [limit] the most rows of each set; half of them of either label, as far as there are
 */
export async function judged(directory, chat, timeouts, limit = Infinity) {
  const sets = Object.entries(SETS).map(([name, set]) => ({ name, ...set, rows: balanced(read(directory, `${name}.jsonl`) ?? [], limit) }));
  const found = sets.filter(({ rows }) => rows.length > 0);
  if (found.length === 0) return undefined;
  const site = mkdtempSync(join(tmpdir(), "countercheck-site-"));
  writeFileSync(join(site, "index.html"), "<!doctype html><title>Home</title>");
  const worker = await startWorker({ assets: site, vars: variables(chat, timeouts) });
  try {
    const results = {};
    for (const set of found) results[set.name] = await measure(worker.url, set);
    return results;
  } finally {
    await worker.stop();
    rmSync(site, { recursive: true, force: true });
  }
}

const variables = ({ baseUrl, model }, { headers, idle }) => ({
  LOCAL: "yes",
  CHAT_BASE_URL: baseUrl,
  CHAT_MODEL: model,
  CHAT_CONFIDENCE: "yes",
  CHAT_HEADERS_TIMEOUT_MS: String(headers),
  CHAT_IDLE_TIMEOUT_MS: String(idle),
});

/** The first rows of each label, in turns. */
function balanced(rows, limit) {
  const of = (label) => rows.filter((row) => row.label === label);
  const [yes, no] = [of(1), of(0)];
  const turns = yes.flatMap((row, i) => [row, no[i]]).filter((row) => row !== undefined);
  return [...turns, ...no.slice(yes.length)].slice(0, limit);
}

async function measure(url, { name, task, body, said, rows }) {
  const replies = [];
  const started = Date.now();
  for (const row of rows) {
    const options = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body(row)) };
    const response = await fetch(`${url}/v1/tasks/${task}`, options);
    const text = await response.text();
    if (!response.ok) throw new Stop(`${name}: the Worker answers ${response.status} ${text}`);
    replies.push({ label: row.label === 1, ...said(JSON.parse(text)) });
  }
  const seconds = (Date.now() - started) / 1000 / rows.length;
  const decided = replies.filter(({ verdict }) => verdict !== "unknown");
  const scored = replies.filter(({ score }) => score !== undefined);
  return {
    rows: rows.length,
    unknown: rows.length - decided.length,
    secondsPerCall: seconds,
    ...decisions(decided.map(({ label }) => label), decided.map(({ verdict }) => verdict === "yes")),
    // Of those whose probability of yes the service told.
    auroc: auroc(scored.map(({ label }) => label), scored.map(({ score }) => score)),
    scored: scored.length,
  };
}
