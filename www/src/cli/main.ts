#!/usr/bin/env node
// The command line: reads arguments, runs a command, turns what it throws into a sentence and a code.

import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { CountercheckError, teacher } from "../node.ts";
import type { EstimateOptions, Stemming } from "../node.ts";
import { askCommand, searchCommand } from "./ask-command.ts";
import { answering } from "./chat.ts";
import { embedding } from "./embedding.ts";
import { estimateCommand } from "./estimate-command.ts";
import { EXIT, Failure, misuse } from "./failure.ts";
import { indexCommand } from "./index-command.ts";

const HELP = `Answers from documentation that check themselves.

Usage
  countercheck index DIR... [--base-url URL]... -o FILE
      Indexes the .md, .markdown, .mdx and .txt files below the directories.
      --base-url URL   where readers find DIR; one for each DIR
      --lenient        exit with 0 even if files had to be skipped
      --teacher DIR    better vectors of documents: by all-MiniLM-L6-v2 in DIR (model.onnx, tokenizer.json), run
                       by onnxruntime-node; questions still need the built-in embedder alone
      --stemming LANG  whose word endings are cut: en (default), fr, de, es or none
      --graph          links the vectors, so that an index of 150,000 passages or more is searched faster and almost as
                       well; takes minutes, and makes the file a quarter larger
  countercheck search FILE QUERY [-k N] [--json]
      Finds passages, best first.
  countercheck ask FILE QUESTION [-k N] [--batch] [--json]
      Answers from the index, with citations and what the checks said.
      --batch          grades all passages with one call in place of one each
      --strategy NAME          how; countercheck by default, self-rag needs a model
      --chat-model NAME        a model, in place of the built-in solver
      --chat-vendor NAME       whose it is: openai (or whoever speaks like it), ollama, mistral, anthropic, …
      --chat-url URL           where it is, if not at its vendor's usual address
      --chat-protocol NAME     chat, or completions for a Self-RAG checkpoint
      COUNTERCHECK_CHAT_KEY    the environment variable with the key, if it takes one
  countercheck estimate [--strategy NAME] [-k N] [--max-retries N] [--json]
      Counts the calls and tokens of a question: on its path, and at the most.
      --embed          a model elsewhere makes the query's vector
      --no-web         there is no web search
      --scorer         one call of a scorer grades all passages
      --price-input P, --price-output P, --price-web-search P, --price-embedding P
                       for a million tokens read, a million written, a search, a vector
  Vectors come from the built-in embedder, or from an embedding model; an index is searched with the
  model that it was made with.
      --embed-model NAME       the model's name
      --embed-vendor NAME      whose it is: openai (or whoever speaks like it), ollama, mistral, gemini, …
      --embed-url URL          where it is, for instance http://127.0.0.1:11434/v1
      --embed-dimensions N     of its vectors, where the model lets one choose
      COUNTERCHECK_EMBED_KEY   the environment variable with the key, if it takes one
  countercheck --help | --version

Exit codes
  0  done                  2  wrong usage
  1  failed, or skipped    3  asked, and there is no answer in the index
`;

const OPTIONS = {
  "base-url": { type: "string", multiple: true },
  output: { type: "string", short: "o" },
  lenient: { type: "boolean" },
  teacher: { type: "string" },
  stemming: { type: "string" },
  graph: { type: "boolean" },
  k: { type: "string", short: "k" },
  batch: { type: "boolean" },
  json: { type: "boolean" },
  strategy: { type: "string" },
  "chat-url": { type: "string" },
  "chat-model": { type: "string" },
  "chat-vendor": { type: "string" },
  "chat-protocol": { type: "string" },
  "max-retries": { type: "string" },
  embed: { type: "boolean" },
  "no-web": { type: "boolean" },
  scorer: { type: "boolean" },
  "price-input": { type: "string" },
  "price-output": { type: "string" },
  "price-web-search": { type: "string" },
  "price-embedding": { type: "string" },
  "embed-url": { type: "string" },
  "embed-model": { type: "string" },
  "embed-vendor": { type: "string" },
  "embed-dimensions": { type: "string" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean" },
} as const;

const ANSWERING = ["strategy", "chat-url", "chat-model", "chat-vendor", "chat-protocol"] as const;
const EMBEDDING = ["embed-url", "embed-model", "embed-vendor", "embed-dimensions"] as const;

const PRICES = ["price-input", "price-output", "price-web-search", "price-embedding"] as const;

/** Which options each command understands. */
const COMMANDS = {
  index: ["base-url", "output", "lenient", "teacher", "stemming", "graph", ...EMBEDDING],
  search: ["k", "json", ...EMBEDDING],
  ask: ["k", "batch", "json", ...ANSWERING, ...EMBEDDING],
  estimate: ["strategy", "k", "max-retries", "embed", "no-web", "scorer", "batch", "json", ...PRICES],
} as const;

type Parsed = ReturnType<typeof parse>;

function parse(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw misuse(error instanceof Error ? (error.message.split(". ")[0] ?? "") : String(error));
  }
}

async function run(args: string[]): Promise<number> {
  const parsed = parse(args);
  const [command, ...operands] = parsed.positionals;
  if (parsed.values.version) return print(packageVersion());
  if (parsed.values.help || command === "help") return print(HELP.trimEnd());
  if (command === undefined) throw misuse("name a command: index, search, ask or estimate");
  if (!isCommand(command)) throw misuse(`there is no command ${command}`);
  mustUnderstand(command, parsed.values);
  const { values } = parsed;
  if (command === "index") {
    if (values.output === undefined) throw misuse("say where to write the index, e.g. -o docs.ccx");
    const baseUrls = values["base-url"] ?? [];
    const { output, lenient = false, graph = false, stemming } = values;
    const taught = values.teacher === undefined ? {} : { teacher: await teacher(values.teacher) };
    const analysed = stemming === undefined ? {} : { stemming: stemming as Stemming };
    const making = { ...embedding(values), ...taught, ...analysed };
    return indexCommand({ directories: operands, baseUrls, output, lenient, graph, making });
  }
  if (command === "estimate") {
    if (operands.length > 0) throw misuse("estimate takes options alone");
    return estimateCommand({ ...estimateOptions(values), json: values.json ?? false });
  }
  const [file, ...words] = operands;
  const { batch = false, json = false } = values;
  const models = { ...embedding(values), ...answering(values) };
  const options = { file, words, k: wholeNumber("-k", values.k), batch, json, models };
  return command === "ask" ? askCommand(options) : searchCommand(options);
}

function isCommand(name: string): name is keyof typeof COMMANDS {
  return Object.hasOwn(COMMANDS, name);
}

function mustUnderstand(command: keyof typeof COMMANDS, values: Parsed["values"]): void {
  const known: readonly string[] = COMMANDS[command];
  const foreign = Object.keys(values).find((name) => !known.includes(name));
  if (foreign !== undefined) throw misuse(`${command} has no option ${foreign === "k" ? "-k" : `--${foreign}`}`);
}

function estimateOptions(values: Parsed["values"]): EstimateOptions {
  const { strategy, embed, scorer } = values;
  const k = wholeNumber("-k", values.k);
  const maxRetries = wholeNumber("--max-retries", values["max-retries"]);
  const given = { strategy, k, maxRetries, embed, scorer, web: values["no-web"] ? false : undefined };
  const prices = { input: price("input"), output: price("output"), webSearch: price("web-search"), embedding: price("embedding") };
  const priced = Object.values(prices).some((price) => price !== undefined);
  return defined({ ...given, prices: priced ? defined(prices) : undefined });

  function price(of: "input" | "output" | "web-search" | "embedding"): number | undefined {
    const value = values[`price-${of}`];
    if (value !== undefined && !/^\d+(?:\.\d+)?$|^\.\d+$/.test(value)) throw misuse(`--price-${of} ${value} is no price`);
    return value === undefined ? undefined : Number(value);
  }
}

function defined<T extends object>(options: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as never;
}

function wholeNumber(option: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (!/^\d{1,15}$/.test(value)) throw misuse(`${option} ${value} is not a whole number`);
  return Number(value);
}

function packageVersion(): string {
  const description = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  return description.version;
}

function print(text: string): number {
  console.log(text);
  return EXIT.done;
}

// A reader that has seen enough (`… | head`) is no error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(EXIT.done);
  throw error;
});

run(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    if (error instanceof Failure || error instanceof CountercheckError) {
      console.error(`countercheck: ${error.message}`);
      process.exitCode = error instanceof Failure ? error.code : EXIT.failed;
    } else {
      console.error(error);
      process.exitCode = EXIT.failed;
    }
  },
);
