// `countercheck ask` and `countercheck search`: an index file and words in, a reply for the terminal out.

import { createAssistant } from "../node.ts";
import type { Answer, Assistant, AssistantOptions, SearchHit } from "../node.ts";
import { EXIT, misuse } from "./failure.ts";
import { bold, dim, indented, printable } from "./terminal.ts";

const SNIPPET_CHARACTERS = 240;

/** What the commands were called with. */
export interface QueryOptions {
  /** The index's path. */
  file: string | undefined;
  /** The question or query. */
  words: string[];
  k: number | undefined;
  /** Whether all passages are graded at once, where the strategy would grade each by itself. */
  batch: boolean;
  json: boolean;
  /** The model that the index was made with, if it is not the table, and who answers and how. */
  models: Pick<AssistantOptions, "embed" | "chat" | "defaults">;
}

/** Answers a question; gives the exit code. */
export async function askCommand(options: QueryOptions): Promise<number> {
  const { assistant, words } = await open(options, "a question");
  const started = performance.now();
  // What is not asked for is left to the strategy.
  const answer = await assistant.ask(words, { ...(options.batch && { batch: true }), ...(options.k !== undefined && { k: options.k }) });
  const milliseconds = Math.max(1, Math.round(performance.now() - started));
  console.log(options.json ? JSON.stringify(answer, null, 2) : printable(answerText(answer, milliseconds)));
  return answer.outcome === "abstained" ? EXIT.abstained : EXIT.done;
}

/** Searches; gives the exit code. */
export async function searchCommand(options: QueryOptions): Promise<number> {
  const { assistant, words } = await open(options, "a query");
  const hits = await assistant.search(words, options.k);
  if (options.models.embed !== undefined && hits.length > 0 && hits.every(({ dense }) => dense === undefined)) {
    console.error("found by words alone: there is no vector of the query, or none of the passages");
  }
  if (options.json) console.log(JSON.stringify(hits, null, 2));
  else console.log(hits.length === 0 ? "nothing found" : hits.map(hitText).join("\n\n"));
  return EXIT.done;
}

async function open({ file, words, models }: QueryOptions, what: string): Promise<{ assistant: Assistant; words: string }> {
  if (file === undefined) throw misuse("name the index file, e.g. docs.ccx");
  if (words.length === 0) throw misuse(`give ${what} after the index file`);
  return { assistant: await createAssistant({ index: file, ...models }), words: words.join(" ") };
}

const OUTCOMES = {
  answered: "Answered",
  partial: "Partial answer: read it with care",
  abstained: "No answer",
} satisfies Record<Answer["outcome"], string>;

function answerText(answer: Answer, milliseconds: number): string {
  const labels = [
    bold(OUTCOMES[answer.outcome]),
    ...(answer.outcome === "abstained"
      ? []
      : [
          flag(answer.grounded, "supported by the sources", "not supported by the sources", "support not checked"),
          flag(answer.useful, "answers the question", "does not answer the question", "usefulness not checked"),
        ]),
    ...(answer.reason === undefined ? [] : [`reason: ${answer.reason.replaceAll("_", " ")}`]),
  ];
  const quoted = answer.solver === "builtin" && answer.outcome !== "abstained";
  const sources = answer.citations.map(({ n, title, url, quote }) =>
    [`${bold(`[${n}]`)} ${title}`, ...(url === "" ? [] : [`    ${url}`]), dim(indented(quote.trim(), "    "))].join(
      "\n",
    ),
  );
  return [
    labels.join(" · "),
    ...(quoted ? [dim("Quoted from the sources, not written by a model.")] : []),
    "",
    answer.text,
    "",
    ...(sources.length > 0 ? [sources.join("\n"), ""] : []),
    // That no web search is configured is so for every answer, and no news to whoever runs this.
    ...answer.warnings.filter(({ code }) => code !== "web_not_configured").map(({ message }) => dim(message)),
    dim(`${milliseconds} ms · ${answer.strategy} · ${answer.solver}`),
  ].join("\n");
}

function flag(value: boolean | null, yes: string, no: string, unknown: string): string {
  return value === null ? unknown : value ? yes : no;
}

function hitText({ title, headings, url, text, score }: SearchHit, i: number): string {
  const trail = [title, ...(headings[0] === title ? headings.slice(1) : headings)].join(" › ");
  const snippet = text.replace(/\s+/g, " ").trim();
  const short = snippet.length > SNIPPET_CHARACTERS ? `${snippet.slice(0, SNIPPET_CHARACTERS)}…` : snippet;
  return printable(
    [`${i + 1}. ${trail} (${score.toFixed(2)})`, ...(url === "" ? [] : [`   ${url}`]), `   ${short}`].join("\n"),
  );
}
