// A client that leaves stops what the Worker asks of a service for it. By events alone: a Worker only
// notices while it writes, and to those who want JSON it writes nothing before it is done.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { DOCUMENT, QUESTION, serveSilence } from "../services/leaving.mjs";
import { makeIndex, makeSite, post, start } from "./support.mjs";

let silence;
let worker;

before(async () => {
  silence = await serveSilence();
  const site = makeSite({ "docs.ccx": await makeIndex([DOCUMENT], { embedder: false }) });
  worker = await start(site, { LOCAL: "yes", CHAT_BASE_URL: silence.url, CHAT_MODEL: "m" });
});

after(async () => {
  await worker?.stop();
  await silence?.close();
});

const GENERATE = { question: QUESTION, passages: [{ id: "bread.md#0", text: "Knead the dough for ten minutes." }] };

const CLIENTS = [
  ["a question", "/v1/ask", { question: QUESTION }],
  ["a question that is not checked", "/v1/ask", { question: QUESTION, strategy: "naive" }],
  ["a task", "/v1/tasks/generate", GENERATE],
];

for (const [title, path, body] of CLIENTS) {
  test(title, async () => {
    const controller = new AbortController();
    const asked = silence.asked();
    const headers = { accept: "text/event-stream" };
    const reply = post(worker.url + path, body, { headers, signal: controller.signal });
    const read = assert.rejects(reply.then((response) => response.text()), { name: "AbortError" });
    const call = await Promise.race([asked, reply.then(failed)]);
    controller.abort();
    await read;
    await call.ends();
  });
}

/** A reply has begun when the model is asked, unless there is none. */
async function failed(response) {
  if (response.ok) return new Promise(() => {});
  throw new Error(await response.text());
}
