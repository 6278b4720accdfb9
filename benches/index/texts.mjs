// Documentation that is on this machine anyway: Markdown and comments of the packages that npm and cargo have
// fetched and of Rust's own library, as passages of some 400 characters, or of others where that gives too few. No two are the same.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { root } from "../../scripts/lib/paths.mjs";
import { capture } from "../../scripts/lib/run.mjs";
import { findWasmToolchain } from "../../scripts/lib/rust.mjs";

const LENGTH = 400;
/** Thousands of alike sentences. */
const GENERATED = /^web-sys-/;

/** So many passages in a fixed order, or all there are. */
export function passages(wanted, length = LENGTH) {
  const found = new Set();
  for (const file of files()) {
    for (const passage of cut(textOf(file), length)) found.add(passage);
    if (found.size >= wanted) break;
  }
  return [...found].slice(0, wanted);
}

/** Whole Markdown files of those packages in a fixed order, no two the same. */
export function* documents() {
  const seen = new Set();
  for (const path of files()) {
    const text = path.endsWith(".md") ? readFileSync(path, "utf8") : "";
    if (text.trim() === "" || seen.has(text)) continue;
    seen.add(text);
    yield { id: path, text };
  }
}

function* files() {
  yield* walk(join(root, "node_modules"), /\.(md|d\.ts)$/);
  const registry = join(process.env.CARGO_HOME || join(homedir(), ".cargo"), "registry", "src");
  const sysroot = capture("rustc", ["--print", "sysroot"], findWasmToolchain());
  const library = join(sysroot ?? "", "lib", "rustlib", "src", "rust", "library");
  for (const sources of [registry, library]) if (existsSync(sources)) yield* walk(sources, /\.(md|rs)$/);
}

function* walk(directory, name) {
  const entries = readdirSync(directory, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const path = join(directory, entry.name);
    if (entry.isDirectory() && !GENERATED.test(entry.name)) yield* walk(path, name);
    else if (entry.isFile() && name.test(entry.name)) yield path;
  }
}

function textOf(path) {
  const text = readFileSync(path, "utf8");
  if (path.endsWith(".md")) return text;
  const comments = text.matchAll(/^[ \t]*(?:\/\/[/!]|\*(?!\/)) ?(.*)$/gm);
  return [...comments].map(([, line]) => line).join("\n");
}

/** Paragraphs, joined until they are long enough. */
function* cut(text, length) {
  let passage = "";
  for (const paragraph of text.split(/\n\s*\n/)) {
    passage += `${passage && "\n"}${paragraph.trim()}`;
    if (passage.length < length) continue;
    yield passage.slice(0, 2 * length);
    passage = "";
  }
  if (passage.length >= length / 3) yield passage;
}
