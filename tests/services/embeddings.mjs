// An embedding service whose model counts words: texts that share a subject point the same way, whatever
// words they use. It speaks only what the client asks for: numbers, in any order, each with its index.
import { listen } from "./service.mjs";

const SUBJECTS = [
  ["key", "revoke", "secret", "credential", "password"],
  ["limit", "size", "bytes", "megabyte", "413", "429"],
  ["webhook", "deploy", "signature", "callback"],
];

/** The vector of a text: a component for each subject, and one that keeps it from being zero. */
export function meaning(text) {
  const words = text.toLowerCase();
  return [...SUBJECTS.map((subject) => subject.filter((word) => words.includes(word)).length), 0.1];
}

/**
 * Starts the service.
 * @param {{ model?: (text: string) => number[] }} [options]
 * @returns {Promise<{ url: string, calls: import("./service.mjs").Call[], texts: () => string[], breaks: (status?: number) => void,
 *   holds: (which: (text: string) => boolean) => void, close: () => Promise<void> }>} `breaks`: from now on it answers with that status, or
 *   again as it should; `holds`: texts that it never answers; `texts`: all that it was asked for
 */
export async function serveEmbeddings({ model = meaning } = {}) {
  let status = 200;
  let isHeld = (_text) => false;
  const service = await listen(({ path, body }, response) => {
    if (body.input?.some(isHeld)) return;
    const json = (code, value) => response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(value));
    if (path !== "/v1/embeddings" || status !== 200) return json(status === 200 ? 404 : status, {});
    const data = body.input.map((text, index) => ({ object: "embedding", index, embedding: model(text) })).reverse();
    json(200, { object: "list", data, model: body.model, usage: { prompt_tokens: 1, total_tokens: 1 } });
  });
  return {
    ...service,
    url: `${service.url}/v1`,
    texts: () => service.calls.flatMap(({ body }) => body.input),
    breaks: (code = 200) => (status = code),
    holds: (which) => (isHeld = which),
  };
}
