// The sets of vectors: made once from texts on this machine, by the built-in table or by the model that it was fitted
// to, and kept in the cache.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cache, cargoTarget, root } from "../../scripts/lib/paths.mjs";
import { Stop } from "../../scripts/lib/stop.mjs";
import { passages } from "./texts.mjs";

const QUERIES = 100;
const TABLE_DIMENSION = 256;
const folder = join(cache, "bench-index");

/**
 * `wide` vectors are those of the table with the first half of the next passage's: as long as MiniLM's, of no
 * model.
 */
export const SETS = [
  { name: "1k-256", rows: 1_000, dimension: 256, quick: true },
  { name: "10k-256", rows: 10_000, dimension: 256, quick: true },
  { name: "5k-384-wide", rows: 5_000, dimension: 384, quick: true },
  { name: "5k-384", rows: 5_000, dimension: 384, quick: false, encode: minilm },
  { name: "100k-256", rows: 100_000, dimension: 256, quick: false, length: 100 },
];

const fileOf = ({ name }) => join(folder, `${name}.f32`);

/** Whether a set has been made. */
export function isMade(set) {
  return existsSync(fileOf(set));
}

/** The rows and queries of a set, flat. */
export function load(set) {
  const bytes = readFileSync(fileOf(set));
  const all = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
  const split = set.rows * set.dimension;
  const rowOf = (data) => (at) => data.subarray(at * set.dimension, (at + 1) * set.dimension);
  const [rows, queries] = [all.subarray(0, split), all.subarray(split)];
  return { ...set, flat: rows, row: rowOf(rows), query: rowOf(queries), queries: queries.length / set.dimension };
}

/** Makes a set; false where there are not enough texts. */
export function make(set) {
  // Questions are the beginnings of passages that are not among the rows.
  const { encode = embed } = set;
  const wide = encode === embed ? set.dimension - TABLE_DIMENSION : 0;
  const dimension = set.dimension - wide;
  const wanted = set.rows + QUERIES + Number(wide > 0);
  const texts = passages(wanted + Math.ceil(wanted / 20), set.length);
  const every = Math.floor(texts.length / QUERIES);
  const isQuery = (_, at) => at % every === 0 && at < every * QUERIES;
  const first = encode(texts.filter((text, at) => !isQuery(text, at)));
  const asked = encode(texts.filter(isQuery).map((text) => text.slice(0, 80)));
  if (first.length < (set.rows + Number(wide > 0)) * dimension || asked.length < dimension * 50) return false;
  const rows = widened(first, set.rows, dimension, wide);
  const queries = widened(asked, asked.length / dimension - Number(wide > 0), dimension, wide);
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${fileOf(set)}.new`, Buffer.concat([rows, queries].map((part) => Buffer.from(part.buffer))));
  renameSync(`${fileOf(set)}.new`, fileOf(set));
  return true;
}

function embed(texts) {
  const example = join(cargoTarget, "debug", "examples", "embed");
  execFileSync("cargo", ["build", "--quiet", "--example", "embed"], { cwd: root, stdio: "inherit" });
  const input = texts.map((text) => `${JSON.stringify(text)}\n`).join("");
  const made = spawnSync(example, [join(root, "assets", "embedder.bin")], { input, maxBuffer: 2 ** 31 });
  if (made.status !== 0) throw new Stop(`the example embed failed: ${made.stderr}`);
  return numbers(made.stdout);
}

/** The vectors of all-MiniLM-L6-v2; none where the model cannot be had. It and what runs it are those of bench:retrieval. */
function minilm(texts) {
  const cwd = join(root, "benches", "retrieval");
  const input = texts.map((text) => `${JSON.stringify(text)}\n`).join("");
  const made = spawnSync(process.execPath, ["encode.mjs"], { cwd, input, maxBuffer: 2 ** 31, stdio: ["pipe", "pipe", "inherit"] });
  return made.status === 0 ? numbers(made.stdout) : new Float32Array();
}

const numbers = ({ buffer, byteOffset, length }) => new Float32Array(buffer.slice(byteOffset, byteOffset + length));

/** Rows of vectors, each with so many components of the next one, of length 1. */
function widened(vectors, rows, own, wide) {
  if (wide === 0) return vectors.slice(0, rows * own);
  const dimension = own + wide;
  const out = new Float32Array(rows * dimension);
  for (let row = 0; row < rows; row += 1) {
    const from = row * own;
    const vector = out.subarray(row * dimension, (row + 1) * dimension);
    vector.set(vectors.subarray(from, from + dimension));
    const length = Math.sqrt(vector.reduce((sum, component) => sum + component * component, 0));
    vector.forEach((component, at) => (vector[at] = component / length));
  }
  return out;
}
