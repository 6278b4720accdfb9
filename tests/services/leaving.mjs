// A model that never comes to an end, and what a client that leaves must put an end to.
import assert from "node:assert/strict";
import { serveChat } from "./openai.mjs";

const LIMIT_MS = 3_000;

export const DOCUMENT = { id: "bread.md", text: "# Bread\n\nKnead the dough for ten minutes.\n" };
export const QUESTION = "How long do I knead the dough?";

/**
 * Starts the service: it grades well and ends no draft, or, silent at another role, gives that no reply at all.
 * @param {{ at?: import("./openai.mjs").Role, begins?: string }} [options] begins: what it writes of a draft
 * @returns {Promise<{ url: string, asked: () => Promise<{ ends: () => Promise<void> }>, close: () => Promise<void> }>}
 *   `asked` waits for the next request for that; `ends` fails unless its connection soon ends
 */
export async function serveSilence({ at = "generate", begins = "" } = {}) {
  let next = promised();
  const chat = await serveChat((asked) => {
    if (asked.role !== at) return '{"score": "yes"}';
    next.resolve(asked);
    next = promised();
    return at === "generate" ? { begins } : {};
  });
  const asked = async () => {
    const call = await next.promise;
    const ends = async () => {
      const late = promised();
      const timer = setTimeout(late.resolve, LIMIT_MS, "still open");
      const end = await Promise.race([call.ended, late.promise]);
      clearTimeout(timer);
      assert.equal(end, false, `${at}: still being asked for, and nobody waits for it`);
    };
    return { ends };
  };
  return { url: chat.url, asked, close: chat.close };
}

function promised() {
  const made = {};
  made.promise = new Promise((resolve) => (made.resolve = resolve));
  return made;
}
