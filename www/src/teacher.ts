// Who makes the vectors of documents in Node, for `countercheck index --teacher DIR` and `createAssistant`'s
// `teacher`: all-MiniLM-L6-v2, run by ONNX Runtime with the model and the tokenizer in DIR. Neither is part of
// this package, nor are the two libraries: whoever wants better vectors installs them.

import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { CountercheckError } from "./client/index.ts";
import type { Teacher } from "./client/index.ts";

/** What the model reads of a text, as its authors set it. */
const MOST_TOKENS = 256;

/** Components of its vectors. */
const DIMENSION = 384;

/** The parts of ONNX Runtime that are used. */
interface Onnx {
  InferenceSession: { create(path: string): Promise<Session> };
  Tensor: new (type: "int64", data: BigInt64Array, dims: number[]) => unknown;
}

interface Session {
  inputNames: readonly string[];
  outputNames: readonly string[];
  run(feeds: Record<string, unknown>): Promise<Record<string, { data: Float32Array; dims: readonly number[] }>>;
}

interface Tokenizers {
  Tokenizer: new (tokenizer: unknown, config: unknown) => { encode(text: string): { ids: number[] } };
}

/**
 * The model that the embedder's table was fitted to, all-MiniLM-L6-v2, from a directory: `model.onnx`, at the
 * top or in `onnx/`, `tokenizer.json` and `tokenizer_config.json`. Needs the packages `onnxruntime-node` and
 * `@huggingface/tokenizers`.
 *
 * @throws {CountercheckError} `load_failed` when a file or a package is missing
 *
 * @example
 * const assistant = await createAssistant({ teacher: await teacher("./all-MiniLM-L6-v2") });
 */
export async function teacher(directory: string): Promise<Teacher> {
  const model = [join(directory, "model.onnx"), join(directory, "onnx", "model.onnx")].find((path) => existsSync(path));
  if (model === undefined) throw failed(`${directory} has no model.onnx: give the folder of all-MiniLM-L6-v2`);
  const [{ InferenceSession, Tensor }, { Tokenizer }] = await Promise.all([
    installed<Onnx>("onnxruntime-node"),
    installed<Tokenizers>("@huggingface/tokenizers"),
  ]);
  const tokenizer = new Tokenizer(json(directory, "tokenizer.json"), json(directory, "tokenizer_config.json"));
  const session = await InferenceSession.create(model);
  return { encode };

  async function encode(texts: string[]): Promise<Float32Array[]> {
    const tokens = texts.map((text) => cut(tokenizer.encode(text).ids));
    // Texts of like length together: what is padded is computed for nothing.
    const order = tokens.map((_, i) => i).sort((a, b) => (tokens[a]?.length ?? 0) - (tokens[b]?.length ?? 0));
    const vectors: Float32Array[] = [];
    for (let from = 0; from < order.length; from += 8) {
      const rows = order.slice(from, from + 8);
      const found = await means(rows.map((row) => tokens[row] ?? []));
      rows.forEach((row, i) => (vectors[row] = found[i] ?? new Float32Array()));
    }
    return vectors;
  }

  async function means(batch: number[][]): Promise<Float32Array[]> {
    const length = Math.max(...batch.map((ids) => ids.length));
    const filled = (value: (id: number | undefined) => number) =>
      new Tensor(
        "int64",
        BigInt64Array.from(batch.flatMap((ids) => Array.from({ length }, (_, i) => BigInt(value(ids[i]))))),
        [batch.length, length],
      );
    const feeds: Record<string, unknown> = {
      input_ids: filled((id) => id ?? 0),
      attention_mask: filled((id) => Number(id !== undefined)),
      token_type_ids: filled(() => 0),
    };
    const wanted = Object.fromEntries(session.inputNames.map((name) => [name, feeds[name]]));
    const output = (await session.run(wanted))[session.outputNames[0] ?? ""];
    if (output?.dims.at(-1) !== DIMENSION || output.dims.length !== 3) {
      throw failed(`${model} is no all-MiniLM-L6-v2: its first output has the shape ${output?.dims.join(" × ")}`);
    }
    return batch.map((ids, row) => {
      const mean = new Float32Array(DIMENSION);
      for (let token = 0; token < ids.length; token += 1) {
        const at = (row * length + token) * DIMENSION;
        for (let i = 0; i < DIMENSION; i += 1) mean[i] = (mean[i] ?? 0) + (output.data[at + i] ?? 0) / ids.length;
      }
      return mean;
    });
  }
}

/** With the marks of its beginning and its end. */
function cut(ids: number[]): number[] {
  return ids.length <= MOST_TOKENS ? ids : [...ids.slice(0, MOST_TOKENS - 1), ids.at(-1) ?? 0];
}

/** A library that is installed beside this one, or in the project from which this is run. */
async function installed<T>(name: string): Promise<T> {
  try {
    const library = (await import(name).catch(() => import(resolved(name)))) as T & { default?: T };
    return library.default ?? library;
  } catch (cause) {
    throw failed(`the teacher needs ${name}: npm install onnxruntime-node @huggingface/tokenizers`, cause);
  }
}

function resolved(name: string): string {
  return pathToFileURL(createRequire(join(process.cwd(), "package.json")).resolve(name)).href;
}

function failed(message: string, cause?: unknown): CountercheckError {
  return new CountercheckError("load_failed", message, { cause });
}

function json(directory: string, name: string): unknown {
  try {
    return JSON.parse(readFileSync(join(directory, name), "utf8"));
  } catch (cause) {
    throw failed(`${directory} has no ${name} that can be read: it belongs to the model's tokenizer`, cause);
  }
}
