// Plays the loop's vectors over real services; vectors.json has them and README.md what is in them.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { snake } from "../scenarios/scenarios.mjs";
import { serveChat } from "./openai.mjs";
import { serveSearch } from "./tavily.mjs";

/** @type {any[]} */
export const VECTORS = JSON.parse(readFileSync(new URL("vectors.json", import.meta.url), "utf8"));

/** Four documents of one passage each, all of them found. */
export const DOCUMENTS = ["flour", "water", "yeast", "salt"].map((name) => ({
  id: `${name}.md`,
  url: `https://kitchen.example/${name}`,
  text: `# Dough\n\nA dough of bread needs ${name}.\n`,
}));

export const QUESTION = "What does the dough of bread need?";

const NONE = { decide: 0, grade: 0, rewrite: 0, web: 0, generate: 0, grounding: 0, usefulness: 0, segment: 0, reflect: 0 };

/**
 * Starts both services; which vector they play is set before each question.
 * @returns {Promise<{ chatUrl: string, searchUrl: string, play: (vector: any) => void,
 *   check: (vector: any, found: { answer?: object, error?: object }) => void, close: () => Promise<void> }>}
 */
export async function serveLoop() {
  let playing;
  let counts;
  const model = ({ role, prompt }) => say(playing, role, prompt, counts[role]++);
  const web = () => find(playing, counts.web++);
  const [chat, search] = await Promise.all([serveChat(model), serveSearch(web)]);
  return {
    chatUrl: chat.url,
    searchUrl: search.url,
    play: (vector) => {
      playing = vector;
      counts = { ...NONE };
    },
    check: ({ id, expect, calls }, { answer, error }) => {
      const found = snake(answer ?? error);
      const seen = Object.fromEntries(Object.keys(expect).map((key) => [key, found[key]]));
      assert.deepEqual(seen, expect, `${id}: ${JSON.stringify(found)}`);
      assert.deepEqual(counts, { ...NONE, ...calls }, `${id}: requests`);
      if (answer !== undefined) assert.deepEqual(found.usage.calls, { embed: 0, retrieve: 1, ...NONE, ...calls }, `${id}: calls`);
    },
    close: async () => void (await Promise.all([chat.close(), search.close()])),
  };
}

/** What the model says when it is asked in a role for the n-th time, from 0. */
function say(vector, role, prompt, n) {
  const { irrelevant, left_out = [], grounded = "y", useful = "y" } = vector;
  const verdict = (field, yes) => JSON.stringify({ [field]: yes ? "yes" : "no" });
  const nth = (letters) => (letters[n] ?? letters.at(-1)) === "y";
  if (role === "grade") {
    const about = (text, name) => text.includes(`needs ${name}`);
    const score = (text) => (about(text, irrelevant) ? "no" : "yes");
    const numbered = [...prompt.matchAll(/^\[(\d+)\]\n(<<.*>>)\n([^]*?)\2/gm)];
    if (numbered.length === 0) return verdict("score", score(prompt) === "yes");
    const said = numbered.filter(([text]) => !left_out.some((name) => about(text, name)));
    return JSON.stringify({ verdicts: said.map(([text, id]) => ({ id: Number(id), score: score(text) })).reverse() });
  }
  if (role === "grounding") return verdict("grounded", nth(grounded));
  if (role === "usefulness") return verdict("useful", nth(useful));
  if (role === "rewrite") return `ingredients of bread, query ${n + 2}`;
  return `Draft ${n + 1}: the dough needs flour [1].`;
}

/** What the n-th web search finds. */
function find({ found = 1 }, n) {
  const page = (_, i) => ({ title: "Dough", url: `https://web.example/${n}/${i}`, content: `Page ${i} of search ${n}.` });
  return Array.from({ length: found }, page);
}
