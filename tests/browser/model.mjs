// Services for the tests of the page: a chat of OpenAI's form whose model is a function, which also says
// when it says something, and a search of Tavily's.
import { once } from "node:events";
import { createServer } from "node:http";

/**
 * Starts the service. Any page may ask it.
 * @param {(asked: { role: Role, body: object, key: string | undefined }, reply: Reply) => void | Promise<void>} model
 * @returns {Promise<{ url: string, calls: { role: Role, body: object, key: string | undefined }[], close: () => Promise<void> }>}
 *   the base URL, and what was asked
 *
 * @typedef {"grade" | "rewrite" | "generate" | "grounding" | "usefulness" | "claims" | "repair"} Role
 *
 * @typedef {object} Reply
 * @property {(text: string) => void} say the whole reply; a draft is sent word by word
 * @property {(piece: string) => void} stream a piece of a draft
 * @property {() => void} end
 * @property {(status: number, headers?: Record<string, string>) => void} fail
 */
export async function serveModel(model) {
  const calls = [];
  const { url, close } = await listen(async ({ body, key }, response) => {
    const call = { role: roleOf(body), body, key };
    calls.push(call);
    await model(call, replyTo(body, response));
  });
  return { url: `${url}/v1`, calls, close };
}

/** Verdicts are asked for by the JSON that the prompt wants. */
function roleOf({ messages: [{ content }] }) {
  const verdicts = { grade: '"score":', claims: '{"claims"', repair: '{"statements"', grounding: '{"grounded"', usefulness: '{"useful"' };
  const verdict = Object.keys(verdicts).find((role) => content.includes(verdicts[role]));
  return verdict ?? (/web search/.test(content) ? "rewrite" : "generate");
}

function replyTo({ stream }, response) {
  const begin = () => {
    if (!response.headersSent) response.writeHead(200, { "content-type": stream ? "text/event-stream" : "application/json" });
  };
  const send = (choice) => {
    begin();
    response.write(`data: ${JSON.stringify({ object: "chat.completion.chunk", choices: [{ index: 0, ...choice }] })}\n\n`);
  };
  const reply = {
    stream: (content) => send({ delta: { content }, finish_reason: null }),
    end: () => {
      send({ delta: {}, finish_reason: "stop" });
      response.end("data: [DONE]\n\n");
    },
    say: (content) => {
      if (stream) {
        for (const word of content.match(/\s*\S+\s*/g)) reply.stream(word);
        return reply.end();
      }
      begin();
      response.end(JSON.stringify({ choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content } }] }));
    },
    fail: (status, headers = {}) =>
      response
        .writeHead(status, { "content-type": "application/json", ...headers })
        .end(JSON.stringify({ error: { message: "no" } })),
  };
  return reply;
}

/**
 * Starts a search service of Tavily's form that finds the same pages for every query.
 * @param {{ title: string, url: string, content: string }[]} results
 * @returns {Promise<{ url: string, calls: { key: string | undefined, query: string }[], close: () => Promise<void> }>}
 */
export async function serveSearch(results) {
  const calls = [];
  const { url, close } = await listen(({ key, body }, response) => {
    calls.push({ key, query: body.query });
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ results }));
  });
  return { url, calls, close };
}

/** Listens on a free port of this machine, for pages of every origin. */
async function listen(answer) {
  const server = createServer(async (request, response) => {
    response.setHeader("access-control-allow-origin", "*");
    response.setHeader("access-control-allow-headers", "authorization, content-type");
    response.setHeader("access-control-expose-headers", "*");
    if (request.method === "OPTIONS") return response.writeHead(204).end();
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk;
    await answer({ body: JSON.parse(text), key: request.headers.authorization?.replace("Bearer ", "") }, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  return { url: `http://127.0.0.1:${server.address().port}`, close };
}
