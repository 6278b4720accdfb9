// What is searched and for what: sections with their page's title, questions with the sections that answer them.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { isHeldOut, readQuestions } from "../../tests/eval/questions.mjs";
import { root } from "../../scripts/lib/paths.mjs";

/**
 * @typedef {{ id: string, page: string, text: string, format: "plain" | "markdown" }} Section
 * @typedef {{ id: string, text: string, relevant: string[], group: string, heldOut: boolean }} Query
 */

const lines = (path) => readFileSync(path, "utf8").trim().split("\n").map((line) => JSON.parse(line));

/**
 * A labelled set: `docs.jsonl` and `queries.jsonl`. A question that is a section's title is not searched in
 * that title: sections are their page's title and their text.
 * @returns {{ name: string, sections: Section[], queries: Query[] }}
 */
export function labelledSet(directory) {
  const sections = lines(join(directory, "docs.jsonl")).map(({ id, page, text }) => ({ id, page, text, format: "plain" }));
  const groupOf = ({ kind, src }) => (kind === "faq" ? (src === "pythonfaq" ? "python" : "faq") : kind === "en_title" ? "titles" : undefined);
  const queries = lines(join(directory, "queries.jsonl")).map((query) => ({
    id: query.id,
    text: query.text,
    relevant: query.rel,
    group: groupOf(query),
    heldOut: isHeldOut(query.id),
  }));
  return { name: "labelled set", sections, queries: queries.filter(({ group }) => group !== undefined) };
}

/** The project's own questions over the documentation of three npm packages, cut at its headings. */
export function ownSet() {
  const sections = ["fastify", "undici", "pino"].flatMap((name) => documentation(name));
  const known = new Set(sections.map(({ id }) => id));
  const queries = readQuestions()
    .filter(({ language, answerable }) => language === "en" && answerable)
    .map(({ id, question, sections: labels, heldOut }) => ({
      id,
      text: question,
      relevant: labels.map(({ document, anchor }) => `${document}#${anchor}`).filter((label) => known.has(label)),
      group: "own",
      heldOut,
    }));
  return { name: "own questions", sections, queries: queries.filter(({ relevant }) => relevant.length > 0) };
}

function documentation(name) {
  const folder = join(root, "node_modules", name, "docs");
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder, { recursive: true }).map(String).filter((file) => file.endsWith(".md")).sort();
  return files.flatMap((file) => sectionsOf(`${name}/docs/${file}`, readFileSync(join(folder, file), "utf8")));
}

/** A Markdown file cut before each heading outside of code, named after GitHub's anchors. */
export function sectionsOf(path, source) {
  const seen = new Map();
  const sections = [];
  let page = path;
  let fence = "";
  for (const line of source.split(/(?<=\n)/)) {
    const mark = /^\s*(```|~~~)/.exec(line)?.[1];
    if (mark !== undefined) fence = fence === "" ? mark : fence === mark ? "" : fence;
    const heading = fence === "" ? /^(#{1,6})\s+(.+?)\s*#*\s*$/.exec(line) : null;
    if (heading !== null) {
      const slug = slugOf(heading[2]);
      const count = seen.get(slug) ?? 0;
      seen.set(slug, count + 1);
      if (heading[1] === "#" && page === path) page = heading[2];
      sections.push({ id: `${path}#${count === 0 ? slug : `${slug}-${count}`}`, page, text: "", format: "markdown" });
    }
    const last = sections.at(-1);
    if (last !== undefined) last.text += line;
  }
  return sections;
}

/** GitHub's anchor of a heading. */
function slugOf(heading) {
  const text = heading.replace(/<[^>]*>/g, "").replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/[`*]/g, "");
  return text.toLowerCase().replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, "").replaceAll(" ", "-");
}
