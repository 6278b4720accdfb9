// A short piece of a passage around the words somebody looks for.

import { h } from "./dom.ts";
import { plainText } from "./markdown.ts";

const LENGTH = 170;
const BEFORE = 50;

/** An excerpt of Markdown as nodes, the query's words marked. */
export function snippet(markdown: string, query: string): Node[] {
  // The headings it begins with are shown above it already.
  const text = plainText(markdown.replace(/^(?:\s*#{1,6}[ \t].*(?:\n|$))+/, "")).replace(/\s+/g, " ");
  const words = wordsOf(query);
  const first = words === undefined ? 0 : Math.max(0, text.search(words));
  const start = first <= BEFORE ? 0 : wordStart(text, first - BEFORE);
  const end = start + LENGTH >= text.length ? text.length : wordStart(text, start + LENGTH);
  const excerpt = `${start > 0 ? "… " : ""}${text.slice(start, end).trim()}${end < text.length ? " …" : ""}`;
  return marked(excerpt, words);
}

/** Text with the query's words marked. */
export function markWords(text: string, query: string): Node[] {
  return marked(text, wordsOf(query));
}

function marked(text: string, words: RegExp | undefined): Node[] {
  if (words === undefined) return [document.createTextNode(text)];
  const parts: Node[] = [];
  let end = 0;
  for (const match of text.matchAll(new RegExp(words.source, "giu"))) {
    parts.push(document.createTextNode(text.slice(end, match.index)), h("mark", {}, match[0]));
    end = match.index + match[0].length;
  }
  return [...parts, document.createTextNode(text.slice(end))];
}

// Marked in an excerpt they would only distract; which words matter to the search is the index's affair.
const COMMON = new Set(
  (
    "a about after all an and any are as at be before but by can could did do does for from get had has have how i " +
    "if in into is it its me my no not of off on one or our out set so some than that the their them then there these " +
    "they this to up use was we were what when where which while who why will with would you your"
  ).split(" "),
);

/** What begins with a word of the query. */
function wordsOf(query: string): RegExp | undefined {
  const words = (query.match(/[\p{L}\p{N}_]+/gu) ?? []).filter((word) => !COMMON.has(word.toLowerCase()));
  if (words.length === 0) return undefined;
  const longestFirst = [...new Set(words.slice(0, 16))].sort((a, b) => b.length - a.length);
  return new RegExp(`(?<![\\p{L}\\p{N}_])(?:${longestFirst.join("|")})`, "iu");
}

function wordStart(text: string, near: number): number {
  const space = text.indexOf(" ", near);
  if (space >= 0 && space - near <= 30) return space + 1;
  // Between the halves of a character outside the basic plane is no place to cut.
  return /[\udc00-\udfff]/.test(text.charAt(near)) ? near + 1 : near;
}
