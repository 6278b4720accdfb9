// A service on this machine: what every scripted one shares. It keeps the requests that arrive, lets
// pages of any origin in, and knows when a client leaves before its reply is complete.
import { once } from "node:events";
import { createServer } from "node:http";

/**
 * @typedef {object} Call a request that arrived, preflights aside
 * @property {string} path
 * @property {import("node:http").IncomingHttpHeaders} headers
 * @property {any} body the JSON in it, if any
 * @property {Promise<boolean>} ended once the connection is free again: whether the reply was complete
 */

/**
 * Listens on a free port of this machine.
 * @param {(call: Call, response: import("node:http").ServerResponse) => void} reply
 * @param {{ cors?: (call: Call) => boolean }} [options] whose replies a page of another origin may read
 * @returns {Promise<{ url: string, calls: Call[], close: () => Promise<void> }>} url without a slash at its end
 */
export async function listen(reply, { cors = () => true } = {}) {
  const calls = [];
  const server = createServer(async (request, response) => {
    // Chromium sends a request again by itself when a connection that it has used before breaks.
    response.setHeader("connection", "close");
    const letIn = () => {
      for (const what of ["origin", "headers", "methods"]) response.setHeader(`access-control-allow-${what}`, "*");
      // The wildcard does not cover this one.
      response.appendHeader("access-control-allow-headers", "authorization");
      response.setHeader("access-control-expose-headers", "*");
    };
    if (request.method === "OPTIONS") {
      letIn();
      return response.writeHead(204).end();
    }
    const text = await textOf(request);
    if (text === undefined) return;
    const body = text === "" ? undefined : JSON.parse(text);
    const ended = once(response, "close").then(() => response.writableFinished);
    const call = { path: request.url, headers: request.headers, body, ended };
    calls.push(call);
    if (cors(call)) letIn();
    reply(call, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = async () => {
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  };
  return { url: `http://127.0.0.1:${server.address().port}`, calls, close };
}

/** A request's body; undefined when its sender leaves before the end. */
async function textOf(request) {
  const chunks = [];
  try {
    for await (const chunk of request) chunks.push(chunk);
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks).toString();
}

/** The address of a port of this machine on which nobody listens. */
export async function nowhere() {
  const { url, close } = await listen(() => {});
  await close();
  return url;
}
