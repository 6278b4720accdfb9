// `npm run seeds`: which test, or which place in the documentation, covers each id of docs/requirements.md.
//
// An id that is named nowhere is a gap, and so is one that is marked `later` although it is covered. Tests
// write an id as C-07, C_07 or c_07; whoever names one says that it is checked there.
import { readFileSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { root } from "./lib/paths.mjs";
import { script } from "./lib/stop.mjs";

const TABLE = join(root, "docs", "requirements.md");

// What may name an id: tests, and the unit tests inside the crate; of the documentation the page on strategies.
const PLACES = ["tests", "src", "docs/strategies.md"];

function main() {
  const rows = [...readFileSync(TABLE, "utf8").matchAll(/^\| ([CRNG]-\d{2}) \| (.*?) \| (later)? ?\|$/gm)];
  const found = new Map(rows.map(([, id]) => [id, []]));
  for (const file of PLACES.flatMap((place) => files(join(root, place)))) note(file, found);

  const gaps = [];
  for (const [, id, demand, later] of rows) {
    const places = found.get(id);
    const covered = places.length > 0;
    if (covered === (later !== undefined)) gaps.push(id);
    const where = covered ? `${places[0]}${places.length > 1 ? ` and ${places.length - 1} more` : ""}` : (later ?? "NOWHERE");
    console.log(`${id}  ${demand}  →  ${where}`);
  }
  const later = rows.filter(([, , , mark]) => mark !== undefined).length;
  for (const id of gaps) {
    const covered = found.get(id).length > 0;
    console.error(`seeds: ${id} is ${covered ? `covered (${found.get(id)[0]}) but marked as later` : "named by no test and no page"}`);
  }
  console.log(`RESULT ${JSON.stringify({ ids: rows.length, covered: rows.length - later - gaps.length, later, gaps })}`);
  return gaps.length > 0 ? 1 : 0;
}

/** The files below a path that are worth reading. */
function files(path) {
  if (/\.(?:rs|mjs|ts|md)$/.test(path)) return [path];
  const entries = readdirSync(path, { withFileTypes: true });
  const wanted = entries.filter((entry) => entry.isDirectory() || /\.(?:rs|mjs|ts)$/.test(entry.name));
  return wanted.flatMap((entry) => files(join(path, entry.name)));
}

/** Notes where a file names ids; of the crate's own files only the tests in them count. */
function note(file, found) {
  const text = readFileSync(file, "utf8");
  const name = relative(root, file);
  const from = name.startsWith("src/") ? text.indexOf("#[cfg(test)]") : 0;
  if (from < 0) return;
  for (const { 1: series, 2: number, index } of text.slice(from).matchAll(/(?<![A-Za-z0-9])([CRNGcrng])[-_](\d{2})(?![0-9A-Za-z])/g)) {
    const places = found.get(`${series.toUpperCase()}-${number}`);
    const line = text.slice(0, from + index).split("\n").length;
    if (places !== undefined && !places.some((place) => place.startsWith(`${name}:`))) places.push(`${name}:${line}`);
  }
}

await script("seeds", main);
