// A chat service like OpenAI's whose model is a function. Replies are streamed to those who ask for it.
import { listen } from "./service.mjs";

/**
 * @typedef {"grade" | "rewrite" | "generate" | "grounding" | "usefulness" | "claims" | "repair"} Role
 *
 * @typedef {object} Asked
 * @property {Role} role what the model is asked for
 * @property {string} prompt what the user's message says
 * @property {number} n how often this role was asked before
 *
 * @typedef {string | { begins?: string }} Said what the model says, or begins to say and never ends; `{}`: no reply begins
 */

/**
 * Starts the service.
 * @param {(asked: Asked) => Said} model
 * @returns {Promise<{ url: string, calls: (import("./service.mjs").Call & Asked)[], close: () => Promise<void> }>}
 *   the base URL, and what was asked
 */
export async function serveChat(model) {
  const counts = {};
  const service = await listen((call, response) => {
    if (call.path !== "/v1/chat/completions") return response.writeHead(404).end("{}");
    const role = roleOf(call.body);
    const n = (counts[role] = (counts[role] ?? -1) + 1);
    Object.assign(call, { role, prompt: call.body.messages.at(-1).content, n });
    sendReply(call, response, model(call));
  });
  return { ...service, url: `${service.url}/v1` };
}

/**
 * What a request asks for: verdicts by the JSON that the prompt wants, which it wants in every language.
 * @returns {Role}
 */
export function roleOf({ messages: [{ content }] }) {
  const verdicts = { grade: '"score":', claims: '{"claims"', repair: '{"statements"', grounding: '{"grounded"', usefulness: '{"useful"' };
  const verdict = Object.keys(verdicts).find((role) => content.includes(verdicts[role]));
  return verdict ?? (/web search|moteur de recherche/.test(content) ? "rewrite" : "generate");
}

/**
 * Sends a reply in the form that the request wants.
 * @param {import("./service.mjs").Call} call
 * @param {import("node:http").ServerResponse} response
 * @param {Said} said
 */
export function sendReply({ body }, response, said) {
  if (typeof said !== "string" && said.begins === undefined) return;
  if (body.stream) return sendStream(response, said);
  response.writeHead(200, { "content-type": "application/json" });
  if (said.begins !== undefined) return response.flushHeaders();
  const message = { role: "assistant", content: said };
  response.end(JSON.stringify({ choices: [{ index: 0, finish_reason: "stop", message }], usage: usageOf(said) }));
}

function sendStream(response, said) {
  response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
  const text = said.begins ?? said;
  const send = (data) => response.write(`data: ${JSON.stringify({ object: "chat.completion.chunk", ...data })}\n\n`);
  const delta = (delta, finish_reason = null) => send({ choices: [{ index: 0, delta, finish_reason }] });
  for (const content of text.match(/\s*\S+\s*/g) ?? []) delta({ content });
  if (said.begins !== undefined) return;
  delta({}, "stop");
  send({ choices: [], usage: usageOf(said) });
  response.end("data: [DONE]\n\n");
}

const usageOf = (said) => ({ prompt_tokens: 9, completion_tokens: said.length, total_tokens: 9 + said.length });
