// One key in every place where a key can stand, and services that repeat it wherever a service can. Whoever
// asks them sends it, and nobody else ever sees it, nor a part of it.
import assert from "node:assert/strict";
import { WELL } from "./fixture-server.mjs";
import { roleOf, sendReply } from "./openai.mjs";
import { listen } from "./service.mjs";
import { sendResults } from "./tavily.mjs";

export const KEY = "qz7Vd0xKp3Lw9mTb2RfYh5Gc";

/** So much of a key is worth having. */
const PART = 8;

export const DOCUMENT = { id: "bread.md", text: "# Bread\n\nKnead the dough for ten minutes.\n" };

const said = `Incorrect API key provided: ${KEY}. You sent authorization: Bearer ${KEY}`;
const json = { "content-type": "application/json", "x-api-key": KEY, "www-authenticate": `Bearer ${KEY}` };
const error = (code, fields) => JSON.stringify({ error: { message: said, type: KEY, param: KEY, code, ...fields } });

/** How the services answer, by a word in the question. */
const TALES = {
  well: undefined,
  unauthorised: (response) => response.writeHead(401, json).end(error("invalid_api_key")),
  rejected: (response) => response.writeHead(400, json).end(error(KEY)),
  limited: (response) => response.writeHead(429, { ...json, "retry-after": "86400" }).end(error(KEY)),
  redirected: (response) => response.writeHead(302, { ...json, location: `/?key=${KEY}` }).end(said),
  replaced: (response) => response.writeHead(200, { "content-type": "text/html" }).end(`<title>${said}</title>`),
  reported: (response) => response.writeHead(200, json).end(error(KEY)),
  garbled: (response) => response.writeHead(200, json).end(`{"choices": [{"message": ${said}`),
  streamed: (response) =>
    response
      .writeHead(200, { "content-type": "text/event-stream" })
      .end(`event: ${KEY}\nid: ${KEY}\n: ${said}\ndata: ${said}\n\nevent: error\ndata: ${said}\n\n`),
  broken: (response) => {
    response.writeHead(200, { ...json, "content-length": 9999 });
    response.write(said, () => response.socket.destroySoon());
  },
};

/** The questions: one for each way in which the model's service fails, the checks' and the search's. */
export const QUESTIONS = [
  ...Object.keys(TALES).map((tale) => `How long is the dough kneaded? The model is ${tale}.`),
  "How long is the dough kneaded? The checks are unauthorised.",
  "How long is the dough kneaded? The search is unauthorised.",
];

/**
 * Starts the services.
 * @returns {Promise<{ chatUrl: string, searchUrl: string, assertAsked: () => void, close: () => Promise<void> }>}
 *   `assertAsked`: that both were sent the key, without which nothing here would show anything
 */
export async function serveTales() {
  const { url, calls, close } = await listen((call, response) => {
    const role = call.path === "/search" ? "search" : roleOf(call.body);
    const [, who, tale] = /The (model|checks|search) (?:is|are) (\w+)/.exec(JSON.stringify(call.body)) ?? [];
    const isTold = who === "model" || (who === "search" && role === "search") || (who === "checks" && role === "usefulness");
    if (isTold && TALES[tale] !== undefined) return TALES[tale](response);
    if (role === "search") return sendResults(response, []);
    sendReply(call, response, who === "search" && role === "grade" ? '{"score": "no"}' : WELL[role]);
  });
  const keyed = (isSearch) => calls.filter(({ path }) => (path === "/search") === isSearch);
  const assertAsked = () => {
    for (const asked of [keyed(true), keyed(false)]) {
      assert.ok(asked.length > 0);
      for (const { headers } of asked) assert.equal(headers.authorization, `Bearer ${KEY}`);
    }
    assert.ok(!calls.some(({ path }) => path.startsWith("/?key=")), "a redirect was followed");
  };
  return { chatUrl: `${url}/v1`, searchUrl: url, assertAsked, close };
}

/**
 * Fails if a text shows the key or a part of it.
 * @param {string} text
 * @param {string} what it is
 */
export function assertHidden(text, what) {
  for (let from = 0; from + PART <= KEY.length; from++) {
    const at = text.indexOf(KEY.slice(from, from + PART));
    assert.equal(at, -1, `${what} shows the key: …${text.slice(Math.max(0, at - 200), at + 200)}…`);
  }
}
