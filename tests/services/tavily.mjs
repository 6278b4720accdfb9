// A search service like Tavily's whose web is a function.
import { listen } from "./service.mjs";

/**
 * Starts the service.
 * @param {(query: string, n: number) => { title: string, url: string, content: string }[]} web what is found for a
 *   query, the n-th from 0
 * @returns {Promise<{ url: string, calls: import("./service.mjs").Call[], close: () => Promise<void> }>}
 */
export async function serveSearch(web) {
  let asked = 0;
  return listen((call, response) => {
    if (call.path !== "/search") return response.writeHead(404).end("{}");
    sendResults(response, web(call.body.query, asked++));
  });
}

/** Sends pages found. */
export function sendResults(response, results) {
  const body = { results: results.map((result) => ({ score: 0.5, ...result })), response_time: 0.1, request_id: "r" };
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
}
