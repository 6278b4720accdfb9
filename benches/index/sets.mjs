// The sets of vectors: made once from texts on this machine, by the built-in table, and kept in the cache.
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
  const wide = set.dimension - TABLE_DIMENSION;
  const wanted = set.rows + QUERIES + Number(wide > 0);
  const texts = passages(wanted + Math.ceil(wanted / 20), set.length);
  const every = Math.floor(texts.length / QUERIES);
  const isQuery = (_, at) => at % every === 0 && at < every * QUERIES;
  const first = embed(texts.filter((text, at) => !isQuery(text, at)));
  const asked = embed(texts.filter(isQuery).map((text) => text.slice(0, 80)));
  if (first.length < (set.rows + 1) * TABLE_DIMENSION || asked.length < TABLE_DIMENSION * 50) return false;
  const rows = widened(first, set.rows, wide);
  const queries = widened(asked, asked.length / TABLE_DIMENSION - Number(wide > 0), wide);
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
  return new Float32Array(made.stdout.buffer.slice(made.stdout.byteOffset, made.stdout.byteOffset + made.stdout.length));
}

/** Rows of the table's vectors, each with so many components of the next one, of length 1. */
function widened(vectors, rows, wide) {
  if (wide === 0) return vectors.slice(0, rows * TABLE_DIMENSION);
  const dimension = TABLE_DIMENSION + wide;
  const out = new Float32Array(rows * dimension);
  for (let row = 0; row < rows; row += 1) {
    const from = row * TABLE_DIMENSION;
    const vector = out.subarray(row * dimension, (row + 1) * dimension);
    vector.set(vectors.subarray(from, from + dimension));
    const length = Math.sqrt(vector.reduce((sum, component) => sum + component * component, 0));
    vector.forEach((component, at) => (vector[at] = component / length));
  }
  return out;
}
