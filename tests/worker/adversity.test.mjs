// What goes wrong while a request runs: slow assets, clients that leave, a wasm instance that stops dead.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { KITCHEN, embedder, makeIndex, makeSite, post, read, startOnStage, stream, until } from "./support.mjs";

const QUESTION = { question: "How long do I knead the dough?" };

let worker;

// Each test wants an isolate that has loaded nothing yet.
beforeEach(async () => {
  worker = await startOnStage(makeSite({ "docs.ccx": await makeIndex(KITCHEN), ...embedder() }));
});

afterEach(() => worker.stop());

const hold = () => post(`${worker.url}/stage/hold`, {});
const free = () => post(`${worker.url}/stage/free`, {});
const stage = async () => (await fetch(`${worker.url}/stage`)).json();

test("a stream begins and stays alive while the index is still being loaded", async () => {
  await hold();
  const frames = read(await stream(worker.url, QUESTION));
  const opening = await frames.next();
  assert.ok(opening.value.comment !== undefined);
  for (let i = 0; i < 2; i++) assert.match((await frames.next()).value.comment, /keep-alive/);
  await free();
  const rest = await Array.fromAsync(frames);
  assert.equal(rest.at(-1).event, "answer");
  assert.equal(rest.at(-1).data.outcome, "answered");
});

test("the run of a client that has gone is dropped", async () => {
  await hold();
  const controller = new AbortController();
  const frames = read(await stream(worker.url, QUESTION, { signal: controller.signal }));
  for (let i = 0; i < 2; i++) await frames.next();
  await until(async () => (await stage()).timers === 1);
  controller.abort();
  await assert.rejects(frames.next(), { name: "AbortError" });
  // As long as it runs, the stream sets a timer each second: forty looks in a row see none.
  let quiet = 0;
  await until(async () => {
    quiet = (await stage()).timers === 0 ? quiet + 1 : 0;
    return quiet === 40;
  });
  await free();
  assert.equal((await post(`${worker.url}/v1/ask`, QUESTION)).status, 200);
});

test("requests that come before the index is loaded do not depend on each other", async () => {
  await hold();
  const controller = new AbortController();
  const first = post(`${worker.url}/v1/ask`, QUESTION, { signal: controller.signal });
  await until(async () => (await stage()).asked["/docs.ccx"] === 1);
  const others = ["/v1/ask", "/v1/ask", "/v1/ask"].map((path) => post(worker.url + path, QUESTION));
  await until(async () => (await stage()).asked["/docs.ccx"] === 4);
  controller.abort();
  await assert.rejects(first, { name: "AbortError" });
  await free();
  for (const response of await Promise.all(others)) assert.equal((await response.json()).outcome, "answered");
  const { asked } = await stage();
  assert.equal((await post(`${worker.url}/v1/ask`, QUESTION)).status, 200);
  assert.deepEqual((await stage()).asked, asked, "what is loaded is kept");
});

test("fifty cold requests at once are all answered", async () => {
  const responses = await Promise.all(Array.from({ length: 50 }, () => post(`${worker.url}/v1/ask`, QUESTION)));
  for (const response of responses) assert.equal((await response.json()).outcome, "answered");
});

test("after a trap the next request is answered", async () => {
  for (let i = 0; i < 3; i++) {
    const trapped = await post(`${worker.url}/v1/ask`, QUESTION, { headers: { "x-stage": "trap" } });
    assert.equal(trapped.status, 500);
    assert.equal((await trapped.json()).error.code, "internal");
    const next = await post(`${worker.url}/v1/ask`, QUESTION);
    assert.equal((await next.json()).outcome, "answered");
  }
  // A panic's message may quote a question: its place is logged, and no more.
  assert.match(worker.output(), /panicked at \S+:\d+/);
  assert.ok(!worker.output().includes("no timers on this stage"), worker.output());
});

test("a trap ends the requests beside it with an error rather than never", async () => {
  await hold();
  const beside = post(`${worker.url}/v1/ask`, QUESTION);
  await until(async () => (await stage()).asked["/docs.ccx"] === 1);
  await post(`${worker.url}/v1/ask`, QUESTION, { headers: { "x-stage": "trap" } });
  await free();
  const response = await beside;
  assert.equal(response.status, 500);
  assert.equal((await response.json()).error.code, "internal");
  assert.equal((await post(`${worker.url}/v1/ask`, QUESTION)).status, 200);
});
