// `countercheck index`: folders of Markdown and text in, one index file out.

import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { CountercheckError, createAssistant } from "../node.ts";
import type { Assistant, AssistantOptions } from "../node.ts";
import { EXIT, Failure, misuse } from "./failure.ts";
import { findDocuments } from "./files.ts";
import type { Found } from "./files.ts";
import { withGraph } from "./graph.ts";
import { Progress, count, printable, size } from "./terminal.ts";

/** What the command was called with. */
export interface IndexOptions {
  directories: string[];
  /** None, or one for each directory. */
  baseUrls: string[];
  output: string;
  /** Whether files that cannot be indexed leave the exit code alone. */
  lenient: boolean;
  /** Whether vectors are linked, so that very many are searched in less time. */
  graph: boolean;
  /** Who makes the vectors, if it is not the table, and whose word endings are cut. */
  making: Pick<AssistantOptions, "embed" | "teacher" | "stemming">;
}

/** Indexes; gives the exit code. */
export async function indexCommand(options: IndexOptions): Promise<number> {
  const { directories, baseUrls, output, lenient, graph, making } = options;
  if (directories.length === 0) throw misuse("name at least one directory to index");
  const [bases, folders] = [baseUrls.length, directories.length];
  if (bases > 0 && bases !== folders) {
    throw misuse(`give one --base-url for each directory: there are ${bases} for ${folders}`);
  }
  for (const url of baseUrls)
    if (!URL.canParse(url) && !url.startsWith("/"))
      throw misuse(`--base-url ${url} is neither a URL nor a path from the root`);

  const started = performance.now();
  const files = findDocuments(directories, baseUrls);
  if (files.length === 0)
    throw new Failure(`nothing to index: no .md, .markdown, .mdx or .txt file below ${directories.join(", ")}`);

  const assistant = await createAssistant(making);
  const report = await addAll(assistant, files);
  for (const { id, reason } of report.skipped) console.error(`skipped ${printable(id)}: ${reason}`);
  if (report.pages === 0) throw new Failure("nothing was indexed");
  const saved = await assistant.save();
  const snapshot = graph ? await withGraph(saved) : saved;
  write(output, snapshot);

  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const skipped = report.skipped.length > 0 ? `, ${report.skipped.length} skipped` : "";
  const indexed = [count(report.pages, "page"), count(report.passages, "passage"), `${size(report.bytes)} of text`];
  console.log(`${indexed.join(", ")}${skipped}: ${output} (${size(snapshot.length)}) in ${seconds} s`);
  return report.skipped.length > 0 && !lenient ? EXIT.failed : EXIT.done;
}

interface Report {
  pages: number;
  passages: number;
  bytes: number;
  skipped: { id: string; reason: string }[];
}

async function addAll(assistant: Assistant, files: Found[]): Promise<Report> {
  const report: Report = { pages: 0, passages: 0, bytes: 0, skipped: [] };
  const progress = new Progress(files.length, "pages");
  for (const [i, file] of files.entries()) {
    progress.show(i);
    try {
      const bytes = readFileSync(file.path);
      report.passages += await addOne(assistant, file, bytes);
      report.pages += 1;
      report.bytes += bytes.length;
    } catch (error) {
      report.skipped.push({ id: file.id, reason: reasonOf(error) });
    }
  }
  progress.end();
  return report;
}

async function addOne(assistant: Assistant, { id, url, format }: Found, bytes: Uint8Array): Promise<number> {
  // A byte order mark stays: quotes are counted in bytes of the file as it is.
  const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  const { passages } = await assistant.add(url === undefined ? { id, text, format } : { id, text, format, url });
  return passages;
}

/**
 * A file that is at fault is skipped; anything else ends the command: a fault of ours, or a service that
 * would fail for the next file too.
 */
function reasonOf(error: unknown): string {
  const isTheirs = ({ code, serviceCode }: CountercheckError) =>
    code !== "panicked" && (code !== "provider_failed" || serviceCode === "too_large");
  if (error instanceof CountercheckError && isTheirs(error)) return error.message;
  if (error instanceof TypeError && (error as { code?: unknown }).code === "ERR_ENCODING_INVALID_ENCODED_DATA")
    return "it is not UTF-8";
  const code = (error as NodeJS.ErrnoException).code;
  if (typeof code === "string" && /^E[A-Z]+$/.test(code)) return `it cannot be read (${code})`;
  throw error;
}

/** Writes all or nothing: an index that is being served must not be half of one. */
function write(path: string, bytes: Uint8Array): void {
  const unfinished = `${path}.${process.pid}.part`;
  try {
    writeFileSync(unfinished, bytes);
    renameSync(unfinished, path);
  } catch (cause) {
    rmSync(unfinished, { force: true });
    throw new Failure(`cannot write ${path} (${(cause as NodeJS.ErrnoException).code})`, { cause });
  }
}
