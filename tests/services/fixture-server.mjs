// Plays fixtures as a chat service's and a search service's replies, those that are no HTTP reply
// included. Which one is played follows from the question: it names the case, and so every request
// about it does. Whatever else is asked is answered well.
import { gzipSync } from "node:zlib";
import { bodyOf, fixtures, headersOf } from "./fixtures.mjs";
import { roleOf, sendReply } from "./openai.mjs";
import { listen } from "./service.mjs";
import { sendResults } from "./tavily.mjs";

/** How often what is sent for ever is sent. */
const AGAIN_MS = 100;

/** What a model says that has nothing to complain of. */
export const WELL = {
  grade: '{"score": "yes"}',
  grounding: '{"grounded": "yes"}',
  usefulness: '{"useful": "yes"}',
  rewrite: "kneading time of dough",
  generate: "Knead the dough for ten minutes [1].",
};

/** What the web has. */
export const FOUND = { title: "Dough", url: "https://web.example/dough", content: "Ten minutes of kneading are enough." };

/** What asks for a fixture: `host` and the chat codecs are for drafts, where a reply is streamed. */
const ROLES = { verdict: "grade", search: "search" };

/**
 * The words by which a question asks for a case.
 * @param {string} name of a fixture
 * @param {boolean} [once] whether only the first reply is the fixture's
 */
export function naming(name, once = false) {
  return `${once ? "single" : "every"} case ${name}`;
}

/**
 * Starts the server.
 * @returns {Promise<{ chatUrl: string, searchUrl: string, callsOf: (naming: string) => import("./service.mjs").Call[],
 *   close: () => Promise<void> }>} `callsOf`: the requests for which a case was to be played
 */
export async function serveFixtures() {
  const all = fixtures();
  const played = new Map();
  const reply = (call, response) => {
    const role = call.path === "/search" ? "search" : roleOf(call.body);
    const [named, often, name] = / (single|every) case (F\d\d-[\w-]+)/.exec(JSON.stringify(call.body)) ?? [];
    const fixture = all.get(name);
    if (fixture === undefined || (ROLES[fixture.codec] ?? "generate") !== role) return sendWell(role, fixture, call, response);
    const calls = played.get(named.trim()) ?? [];
    played.set(named.trim(), [...calls, call]);
    if (often === "single" && calls.length > 0) return sendWell(role, fixture, call, response);
    play(fixture, call, response);
  };
  const isOpen = ({ body }) => !JSON.stringify(body).includes(" case F26-");
  const { url, close } = await listen(reply, { cors: isOpen });
  return { chatUrl: `${url}/v1`, searchUrl: url, callsOf: (naming) => played.get(naming) ?? [], close };
}

function sendWell(role, fixture, call, response) {
  // A search is asked for when a passage is not what it should be.
  if (role === "grade" && fixture?.codec === "search") return sendReply(call, response, '{"score": "no"}');
  if (role === "search") return sendResults(response, [FOUND]);
  sendReply(call, response, WELL[role]);
}

function play(fixture, call, response) {
  if (fixture.codec === "verdict") return sendReply(call, response, fixture.reply);
  const { status, wire } = fixture;
  const body = bodyOf(fixture);
  const headers = headersOf(fixture);
  // An address that would be followed must be one of ours.
  if (headers.location !== undefined) headers.location = "/followed";
  if (wire === "reset") return response.socket.resetAndDestroy();
  if (wire === "silent") return;
  if (wire === "gzip") return response.writeHead(status, { ...headers, "content-encoding": "gzip" }).end(gzipSync(body));
  if (wire === "cut") {
    response.writeHead(status, { ...headers, "content-length": body.length + 100 });
    return response.write(body, () => response.socket.destroySoon());
  }
  response.writeHead(status ?? 200, headers).flushHeaders();
  if (wire === "stalled") return response.write(body);
  if (wire === "again") return sendForEver(response, body);
  if (wire === "bytes") return sendBytes(response, body);
  response.end(body);
}

async function sendBytes(response, body) {
  for (const byte of body) {
    response.write(Buffer.of(byte));
    await new Promise(setImmediate);
  }
  response.end();
}

function sendForEver(response, body) {
  const timer = setInterval(() => response.write(body), AGAIN_MS);
  response.on("close", () => clearInterval(timer));
}
