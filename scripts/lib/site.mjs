// The static site: pages from www/site, and below pkg/ the library with what it loads.
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { dist, root } from "./paths.mjs";

const site = join(dist, "site");

/** The index of the documentation that `npm start` serves; made by docs.mjs, kept by the build. */
export const DOCS_INDEX = join(site, "docs.ccx");

const SCRIPTS = ["countercheck.js", "element.js", "settings.js"];
const LIBRARY = [...SCRIPTS, "countercheck_bg.wasm", "countercheck_models_bg.wasm", "embedder.bin"];

/**
 * Brings dist/site up to date: unchanged files are left alone, those nobody wants any more are removed.
 * @param {string[]} bundled names in www/site that were bundled rather than copied
 */
export function assembleSite(bundled) {
  const pages = join(root, "www", "site");
  const wanted = new Map();
  for (const name of filesBelow(pages)) if (!bundled.includes(name)) wanted.set(name, join(pages, name));
  const chunks = filesBelow(join(dist, "chunks")).map((name) => join("chunks", name));
  for (const name of [...LIBRARY, ...chunks]) wanted.set(join("pkg", name), join(dist, name));

  const scripts = bundled.map((name) => name.replace(/\.ts$/, ".js"));
  const kept = new Set([...wanted.keys(), ...scripts, relative(site, DOCS_INDEX)]);
  for (const name of filesBelow(site)) if (!kept.has(name)) rmSync(join(site, name));
  for (const [name, from] of wanted) copyIfChanged(from, join(site, name));
}

/** Copies a file unless the same bytes are there: a server that watches would restart for nothing. */
export function copyIfChanged(from, to) {
  if (existsSync(to) && statSync(to).size === statSync(from).size && readFileSync(to).equals(readFileSync(from))) return;
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
}

/** Paths of all files below a directory, relative to it, sorted. */
function filesBelow(directory) {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((found) => found.isFile())
    .map((found) => relative(directory, join(found.parentPath ?? found.path, found.name)))
    .sort();
}
