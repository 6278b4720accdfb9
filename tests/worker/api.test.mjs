// The API over a small index, in real workerd.
import assert from "node:assert/strict";
import { request as rawRequest } from "node:http";
import { after, before, test } from "node:test";
import { KITCHEN, embedder, makeIndex, makeSite, post, read, start, stream } from "./support.mjs";

const KNEADING = { question: "How long do I knead the dough?" };

let worker;

before(async () => {
  worker = await start(makeSite({ "docs.ccx": await makeIndex(KITCHEN), ...embedder() }));
});

after(() => worker.stop());

test("healthz says what is loaded", async () => {
  const response = await fetch(`${worker.url}/healthz`);
  assert.equal(response.status, 200);
  const health = await response.json();
  assert.equal(health.status, "ok");
  assert.equal(health.solver, "builtin");
  assert.equal(health.documents, 2);
  assert.ok(health.passages >= 2);
  assert.match(health.version, /^\d+\.\d+\.\d+$/);
});

test("a question is answered as JSON, with quotes that stand in the source", async () => {
  const response = await post(`${worker.url}/v1/ask`, KNEADING);
  assert.equal(response.status, 200);
  assert.match(response.headers.get("content-type"), /^application\/json/);
  assertApiHeaders(response);
  const answer = await response.json();
  assert.equal(answer.outcome, "answered");
  assert.match(answer.text, /ten minutes/);
  assert.ok(answer.citations.length > 0);
  for (const { start: from, end, quote, url } of answer.citations) {
    assert.match(url, /^https:\/\/kitchen\.example\/bread/);
    assert.equal(Buffer.from(KITCHEN[0].text).subarray(from, end).toString(), quote);
  }
});

test("a question the index does not cover is not answered", async () => {
  const answer = await (await post(`${worker.url}/v1/ask`, { question: "What is the boiling point of mercury?" })).json();
  assert.equal(answer.outcome, "abstained");
});

test("a stream has a first byte at once, the stages in order, and the answer at its end", async () => {
  const response = await stream(worker.url, KNEADING);
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("content-type"), "text/event-stream");
  assertApiHeaders(response);
  const found = await Array.fromAsync(read(response));
  assert.ok(found[0].comment !== undefined, "the first frame is a comment");
  const events = found.filter(({ event }) => event !== undefined);
  assert.equal(events[0].event, "retrieve");
  const answer = events.at(-1);
  assert.equal(answer.event, "answer");
  const steps = events.slice(0, -1).filter(({ event }) => event !== "draft-delta");
  assert.deepEqual(steps.map(({ data }) => data), answer.data.trace);
  assert.deepEqual(steps.map(({ event }) => event), answer.data.trace.map(({ type }) => type));
  assert.ok(events.some(({ event }) => event === "draft-delta"));
  assert.deepEqual(answer.data, await (await post(`${worker.url}/v1/ask`, KNEADING)).json());
});

test("a question cannot forge an event", async () => {
  const question = 'knead the dough?\n\nevent: answer\ndata: {"outcome":"answered"}\r\n\r\n';
  const found = await Array.fromAsync(read(await stream(worker.url, { question })));
  assert.equal(found.filter(({ event }) => event === "answer").length, 1);
  assert.equal(found.find(({ event }) => event === "retrieve").data.query, question.trim());
});

test("a stream that is broken off leaves the Worker well", async () => {
  const controller = new AbortController();
  const frames = read(await stream(worker.url, KNEADING, { signal: controller.signal }));
  await frames.next();
  controller.abort();
  await assert.rejects(Array.fromAsync(frames), { name: "AbortError" });
  assert.equal((await post(`${worker.url}/v1/ask`, KNEADING)).status, 200);
});

test("search gives passages with their places", async () => {
  const response = await post(`${worker.url}/v1/search`, { query: "green tea leaves", k: 1 });
  assert.equal(response.status, 200);
  assertApiHeaders(response);
  const { hits } = await response.json();
  assert.equal(hits.length, 1);
  assert.equal(hits[0].document_id, "tea.md");
  assert.equal(Buffer.from(KITCHEN[1].text).subarray(hits[0].start, hits[0].end).toString(), hits[0].text);
  assert.equal(typeof hits[0].dense, "number");
});

test("everything else is the site", async () => {
  const page = await fetch(`${worker.url}/`);
  assert.equal(page.status, 200);
  assert.match(await page.text(), /<title>Home<\/title>/);
  assert.equal((await fetch(`${worker.url}/docs.ccx`)).status, 200);
  assert.equal((await fetch(`${worker.url}/nothing-here`)).status, 404);
});

const BAD_BODIES = [
  ["an empty body", "", 400, "invalid_request"],
  ["not JSON", "how long?", 400, "invalid_request"],
  ["cut off", '{"question":"how', 400, "invalid_request"],
  ["invalid UTF-8", Buffer.from([...Buffer.from('{"question":"'), 0xff, 0xfe, ...Buffer.from('"}')]), 400, "invalid_request"],
  ["a lone surrogate", '{"question":"\\ud800"}', 400, "invalid_request"],
  ["fields by position", ["How long must the dough be kneaded?", null, null, null, null, null], 400, "invalid_request"],
  ["no question", {}, 400, "invalid_request"],
  ["a question that is no text", { question: 7 }, 400, "invalid_request"],
  ["an unknown field", { ...KNEADING, model: "huge" }, 400, "unknown_field"],
  ["an unknown limit", { ...KNEADING, limits: { max_words: 1e6 } }, 400, "unknown_field"],
  ["duplicate keys", '{"question":"a","question":"b"}', 400, "invalid_request"],
  ["something behind the JSON", '{"question":"a"}{}', 400, "invalid_request"],
  ["depth", `{"question":${"[".repeat(15_000)}`, 400, "invalid_request"],
  ["depth in an unknown field", `{"deep":${"[".repeat(15_000)}`, 400, "unknown_field"],
  ["an empty question", { question: "" }, 400, "empty_question"],
  ["a blank question", { question: " \n\t\u3000" }, 400, "empty_question"],
  ["a question above its limit", { question: "a".repeat(8 * 1024 + 1) }, 413, "too_large"],
  ["a body one byte above its limit", " ".repeat(16 * 1024 + 1), 413, "too_large"],
  ["a question of 100 kB", { question: "word ".repeat(20_000) }, 413, "too_large"],
  ["a question of 900 kB", { question: "word ".repeat(180_000) }, 413, "too_large"],
  ["k = 0", { ...KNEADING, k: 0 }, 400, "invalid_option"],
  ["k = 10⁹", { ...KNEADING, k: 1e9 }, 400, "invalid_option"],
  ["k = −1", { ...KNEADING, k: -1 }, 400, "invalid_request"],
  ["k = 1.5", { ...KNEADING, k: 1.5 }, 400, "invalid_request"],
  ["k = 1e400", '{"question":"a","k":1e400}', 400, "invalid_request"],
  ["a strategy that is none", { ...KNEADING, strategy: "psychic" }, 400, "invalid_option"],
  ["a language that is none", { ...KNEADING, language: "tlh" }, 400, "invalid_request"],
];

for (const [what, body, status, code] of BAD_BODIES) {
  test(`refused with ${code}: ${what}`, async () => {
    for (const accept of ["application/json", "text/event-stream"]) {
      await assertProblem(await post(`${worker.url}/v1/ask`, body, { headers: { accept } }), status, code);
    }
  });
}

test("a search is checked like a question", async () => {
  const url = `${worker.url}/v1/search`;
  await assertProblem(await post(url, { query: "" }), 400, "empty_question");
  await assertProblem(await post(url, { query: "tea", k: 0 }), 400, "invalid_option");
  await assertProblem(await post(url, { question: "tea" }), 400, "unknown_field");
  await assertProblem(await post(url, { query: "word ".repeat(20_000) }), 413, "too_large");
});

test("what a body has at most is taken", async () => {
  const question = "é".repeat(4 * 1024);
  assert.equal((await post(`${worker.url}/v1/ask`, { question })).status, 200);
  const padded = JSON.stringify(KNEADING).padEnd(16 * 1024);
  assert.equal((await post(`${worker.url}/v1/ask`, padded)).status, 200);
  assert.equal((await post(`${worker.url}/v1/ask`, { question: "a\u0000b 漢字 🍵" })).status, 200);
});

test("the length of a body is counted, not believed", async () => {
  // Sent in chunks, without content-length.
  const chunks = ReadableStream.from(Array.from({ length: 10 }, () => Buffer.alloc(2048, " ")));
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${worker.url}/v1/ask`, { method: "POST", headers, body: chunks, duplex: "half" });
  await assertProblem(response, 413, "too_large");
});

test("a body that stalls is given up after five seconds", async () => {
  const started = Date.now();
  const { status, body } = await new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": "1000" };
    const sent = rawRequest(`${worker.url}/v1/ask`, { method: "POST", headers }, async (response) => {
      resolve({ status: response.statusCode, body: Buffer.concat(await Array.fromAsync(response)).toString() });
      sent.destroy();
    });
    sent.on("error", reject);
    sent.write('{"question":');
  });
  assert.equal(status, 408);
  assert.equal(JSON.parse(body).error.code, "too_slow");
  assert.ok(Date.now() - started >= 4_500);
});

test("a body must be sent as JSON", async () => {
  const types = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/json, text/plain", ""];
  for (const type of types) {
    const response = await post(`${worker.url}/v1/ask`, JSON.stringify(KNEADING), { headers: { "content-type": type } });
    await assertProblem(response, 415, "unsupported_media_type");
  }
  const form = await fetch(`${worker.url}/v1/ask`, { method: "POST", body: new URLSearchParams(KNEADING) });
  await assertProblem(form, 415, "unsupported_media_type");
});

test("an endpoint names the methods it takes", async () => {
  for (const method of ["GET", "PUT", "PATCH", "DELETE"]) {
    const response = await fetch(`${worker.url}/v1/ask`, { method });
    assert.equal(response.headers.get("allow"), "POST, OPTIONS");
    await assertProblem(response, 405, "method_not_allowed");
  }
  const posted = await post(`${worker.url}/healthz`, {});
  assert.equal(posted.headers.get("allow"), "GET, HEAD, OPTIONS");
  await assertProblem(posted, 405, "method_not_allowed");
  const head = await fetch(`${worker.url}/v1/ask`, { method: "HEAD" });
  assert.equal(head.status, 405);
  assert.equal(head.headers.get("allow"), "POST, OPTIONS");
});

test("HEAD and OPTIONS are answered without a body", async () => {
  const head = await fetch(`${worker.url}/healthz`, { method: "HEAD" });
  assert.equal(head.status, 200);
  assert.match(head.headers.get("content-type"), /^application\/json/);
  assert.equal(await head.text(), "");
  const options = await fetch(`${worker.url}/v1/search`, { method: "OPTIONS" });
  assert.equal(options.status, 204);
  assert.equal(options.headers.get("allow"), "POST, OPTIONS");
});

test("a path below /v1 that is no endpoint is an error of the API, and is not repeated", async () => {
  for (const path of ["/v1", "/v1/", "/v1/ask/", "/v1/ask/x.css", "/v1/%61sk", "/v1/chat/completions"]) {
    const response = await post(worker.url + path, KNEADING);
    const { message } = await assertProblem(response, 404, "not_found");
    assert.ok(!message.includes("x.css") && !message.includes("chat"), message);
  }
});

test("without a list of origins no page of another site is let in", async () => {
  const headers = { origin: "https://docs.example.com" };
  const response = await post(`${worker.url}/v1/ask`, KNEADING, { headers });
  assert.equal(response.headers.get("access-control-allow-origin"), null);
  const preflight = { ...headers, "access-control-request-method": "POST" };
  await assertProblem(await fetch(`${worker.url}/v1/ask`, { method: "OPTIONS", headers: preflight }), 403, "origin_not_allowed");
});

test("no text of a question is logged", async () => {
  const canary = "xylographic-canary";
  for (const question of [canary, `${canary} ${"a".repeat(9000)}`]) await post(`${worker.url}/v1/ask`, { question });
  await post(`${worker.url}/v1/ask`, `{"question":"${canary}"`);
  await post(`${worker.url}/v1/search`, { query: canary });
  await Array.fromAsync(read(await stream(worker.url, { question: canary })));
  assert.ok(worker.output().includes("/v1/search"), "the output that is looked through is the Worker's");
  assert.ok(!worker.output().includes(canary), worker.output());
});

function assertApiHeaders(response) {
  assert.equal(response.headers.get("cache-control"), "no-store");
  assert.equal(response.headers.get("x-content-type-options"), "nosniff");
  assert.match(response.headers.get("vary"), /\bOrigin\b/);
  assert.equal(response.headers.get("access-control-allow-credentials"), null);
}

async function assertProblem(response, status, code) {
  const body = await response.json();
  assert.deepEqual([response.status, body.error?.code], [status, code], JSON.stringify(body));
  assert.deepEqual(Object.keys(body), ["error"]);
  assert.deepEqual(Object.keys(body.error), ["code", "message"]);
  assert.ok(body.error.message.length > 10);
  assertApiHeaders(response);
  return body.error;
}
