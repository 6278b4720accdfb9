// The loop in workerd, which calls the model itself and streams to its own client.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { DOCUMENTS } from "../node/support.mjs";
import { embedder, makeIndex, makeSite, read, stream } from "../worker/support.mjs";
import { REQUEST, checkLeftAlone, checkRun, listen, startWorkerWithModel } from "./support.mjs";

const { maxRetries: max_retries, limits, ...asked } = REQUEST;
const BODY = { ...asked, max_retries, limits: { max_calls: limits.maxCalls } };

let ear;
let worker;

before(async () => {
  ear = await listen();
  worker = await startWorkerWithModel(ear, makeSite({ "docs.ccx": await makeIndex(DOCUMENTS), ...embedder() }));
});

after(async () => {
  await worker?.stop();
  await ear?.close();
});

test("a question is answered over the model", async () => {
  const started = Date.now();
  const frames = await Array.fromAsync(read(await stream(worker.url, BODY)));
  const events = frames.filter(({ event }) => event !== undefined);
  const last = events.pop();
  assert.equal(last.event, "answer", JSON.stringify(last));
  checkRun("workerd", "llm", started, ear, { answer: last.data, events: events.map(({ data }) => data) });
});

test("cancelling a question ends the model's reply", async () => {
  ear.endless = true;
  const controller = new AbortController();
  const frames = read(await stream(worker.url, BODY, { signal: controller.signal }));
  for await (const { event, data } of frames) {
    assert.ok(event !== "answer" && event !== "error", JSON.stringify(data));
    if (event === "draft-delta") break;
  }
  controller.abort();
  await checkLeftAlone(ear);
});
