// A client that leaves stops what the Worker asks of a service for it. To those who want JSON a Worker writes
// nothing before it is done, and while it writes nothing the platform tells it of a connection that was reset,
// and not of one that was closed.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { DOCUMENT, QUESTION, serveSilence } from "../services/leaving.mjs";
import { postAndLeave, startBare } from "./bare.mjs";
import { makeIndex, makeSite, post, start } from "./support.mjs";

let site;
let silence;
let worker;

before(async () => {
  silence = await serveSilence();
  site = makeSite({ "docs.ccx": await makeIndex([DOCUMENT], { embedder: false }) });
  worker = await start(site, asking(silence));
});

after(async () => {
  await worker?.stop();
  await silence?.close();
});

const asking = ({ url }) => ({ LOCAL: "yes", CHAT_BASE_URL: url, CHAT_MODEL: "m" });

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

test("a question whose passages are being graded", async (t) => {
  const grading = await serveSilence({ at: "grade" });
  t.after(() => grading.close());
  const ungraded = await start(site, asking(grading));
  t.after(() => ungraded.stop());
  const controller = new AbortController();
  const asked = grading.asked();
  const headers = { accept: "text/event-stream" };
  const reply = post(`${ungraded.url}/v1/ask`, { question: QUESTION }, { headers, signal: controller.signal });
  const read = assert.rejects(reply.then((response) => response.text()), { name: "AbortError" });
  const call = await Promise.race([asked, reply.then(failed)]);
  controller.abort();
  await read;
  await call.ends();
});

test("a caller of JSON whose connection is reset", async (t) => {
  const port = await startBare(t, site, asking(silence));
  for (const [path, body] of [["/v1/ask", { question: QUESTION }], ["/v1/tasks/generate", GENERATE]]) {
    const asked = silence.asked();
    const connection = await postAndLeave(port, path, body);
    const call = await asked;
    connection.resetAndDestroy();
    await call.ends();
  }
});

/** A reply has begun when the model is asked, unless there is none. */
async function failed(response) {
  if (response.ok) return new Promise(() => {});
  throw new Error(await response.text());
}
