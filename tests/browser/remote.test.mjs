// The library over an endpoint: what a Worker sends, in one piece and in many, and what can go wrong.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { browser, openPage, serve } from "./support.mjs";

const ANSWER = {
  outcome: "answered",
  text: "Yes. [1]",
  citations: [],
  grounded: true,
  useful: null,
  attempts: 1,
  sources: [],
  sources_used: 2,
  web_search_used: false,
  verdicts: [],
  usage: { calls: {} },
  warnings: [],
  trace: [],
  strategy: "self-reflective",
  solver: "builtin",
  language: "en",
};
const EVENTS = [
  ["retrieve", { type: "retrieve", query: "Why? 🦀", passages: 2 }],
  ["grade", { type: "grade", n: 1, of: 2, passage_id: "a.md#0", verdict: "yes", score: 0.5 }],
  ["draft-delta", { type: "draft-delta", text: "line\nline" }],
  ["answer", ANSWER],
];
const frame = ([name, data]) => `: keep-alive\n\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
const PAGE = `<!doctype html><title>Remote</title><script type="module">
  import { createAssistant } from "/pkg/countercheck.js";
  window.createAssistant = createAssistant;
</script>`;

let chromium;
let server;
let bodies;
let closed;

before(async () => {
  chromium = await browser();
  const stream = (response) => response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
  const error = (status, body) => (_, response) =>
    response.writeHead(status, { "content-type": "application/json" }).end(body);
  server = await serve({
    "/plain.html": PAGE,
    "/whole/v1/ask": async (request, response) => {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      bodies.push({ accept: request.headers.accept, body: JSON.parse(Buffer.concat(chunks).toString()) });
      stream(response).end(EVENTS.map(frame).join(""));
    },
    // One byte at a time: frames, lines and characters are torn everywhere.
    "/torn/v1/ask": async (_, response) => {
      stream(response);
      for (const byte of Buffer.from(EVENTS.map(frame).join("").replaceAll("\n", "\r\n"))) {
        if (!response.write(Buffer.of(byte))) await new Promise((resolve) => response.once("drain", resolve));
      }
      response.end();
    },
    "/json/v1/ask": (_, response) =>
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(ANSWER)),
    "/endless/v1/ask": (_, response) => {
      response.on("close", () => closed.push("endless"));
      stream(response).write(frame(EVENTS[0]));
    },
    "/cut/v1/ask": (_, response) => stream(response).end(frame(EVENTS[0])),
    "/broken/v1/ask": (_, response) => {
      stream(response).write(frame(EVENTS[0]));
      setImmediate(() => response.destroy());
    },
    "/failing/v1/ask": (_, response) =>
      stream(response).end(
        frame(EVENTS[0]) + frame(["error", { code: "provider_failed", message: "no answer could be produced" }]),
      ),
    "/refusing/v1/ask": error(
      400,
      JSON.stringify({ error: { code: "empty_question", message: "the question is empty" } }),
    ),
    "/html/v1/ask": error(502, "<html>Bad gateway</html>"),
    "/html/v1/search": (_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<html>"),
    "/whole/v1/search": (_, response) =>
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ hits: [{ passage_id: "a.md#0" }] })),
    "/whole/healthz": (_, response) =>
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ status: "ok", documents: 3, passages: 9 })),
  });
});

after(async () => {
  await chromium?.close();
  await server?.close();
});

async function open(t) {
  bodies = [];
  closed = [];
  const opened = await openPage(chromium, `${server.url}/plain.html`);
  t.after(() => opened.context.close());
  await opened.page.waitForFunction(() => "createAssistant" in window);
  return opened;
}

/** Asks an endpoint; gives the events and the answer, or the error. */
function ask(page, endpoint, options = {}) {
  return page.evaluate(
    async ({ endpoint, options }) => {
      const assistant = await createAssistant({ endpoint });
      const events = [];
      try {
        const answer = await assistant.ask("Why? 🦀", { ...options, onEvent: (event) => events.push(event) });
        return { events, answer };
      } catch ({ code, name, message }) {
        return { events, error: { code, name, message } };
      }
    },
    { endpoint, options },
  );
}

test("events_and_answer_come_in_camel_case_and_no_module_is_loaded", async (t) => {
  const { page, requests } = await open(t);
  const { events, answer } = await ask(page, "/whole/", { maxRetries: 1, limits: { maxCalls: 9 } });
  assert.equal(answer.sourcesUsed, 2);
  assert.deepEqual(events.slice(0, 3), [
    EVENTS[0][1],
    { type: "grade", n: 1, of: 2, passageId: "a.md#0", verdict: "yes", score: 0.5 },
    EVENTS[2][1],
  ]);
  assert.deepEqual(events[3], { type: "answer", answer });
  assert.deepEqual(bodies, [
    { accept: "text/event-stream", body: { question: "Why? 🦀", max_retries: 1, limits: { max_calls: 9 } } },
  ]);
  assert.ok(requests.every(({ pathname }) => !pathname.endsWith(".wasm")));
});

test("a_stream_torn_anywhere_and_plain_json_give_the_same_answer", async (t) => {
  const { page } = await open(t);
  const whole = await ask(page, "/whole");
  assert.deepEqual(await ask(page, "/torn"), whole);
  assert.deepEqual((await ask(page, "/json")).answer, whole.answer);
});

test("search_and_statistics_ask_the_worker", async (t) => {
  const { page } = await open(t);
  const found = await page.evaluate(async () => {
    const assistant = await createAssistant({ endpoint: "/whole" });
    return { hits: await assistant.search("why", 3), statistics: await assistant.statistics() };
  });
  assert.deepEqual(found, { hits: [{ passageId: "a.md#0" }], statistics: { documents: 3, passages: 9 } });
});

const FAILURES = [
  ["/refusing", "empty_question", /the question is empty/],
  ["/failing", "provider_failed", /no answer could be produced/],
  ["/cut", "unreachable", /ended before the answer/],
  ["/broken", "unreachable", /broke off|cannot be reached/],
  ["/html", "http_error", /answered 502/],
  ["/nowhere", "http_error", /answered 404/],
  ["http://127.0.0.1:9", "unreachable", /cannot be reached/],
];

test("what_goes_wrong_has_a_code_and_a_sentence", async (t) => {
  const { page } = await open(t);
  for (const [endpoint, code, message] of FAILURES) {
    const { error } = await ask(page, endpoint);
    assert.equal(error?.code, code, endpoint);
    assert.match(error.message, message);
  }
  const codes = await page.evaluate(async () => {
    const assistant = await createAssistant({ endpoint: "/html" });
    const code = (promise) =>
      promise.then(
        () => "none",
        (error) => error.code,
      );
    return [
      await code(assistant.search("why")),
      await code(assistant.add({ id: "a", text: "b" })),
      await code(assistant.save()),
    ];
  });
  assert.deepEqual(codes, ["http_error", "unsupported", "unsupported"]);
});

test("cancelling_closes_the_connection", async (t) => {
  const { page } = await open(t);
  const name = await page.evaluate(async () => {
    const assistant = await createAssistant({ endpoint: "/endless" });
    const controller = new AbortController();
    const answering = assistant.ask("Why?", { signal: controller.signal, onEvent: () => controller.abort() });
    return answering.then(
      () => "none",
      (error) => error.name,
    );
  });
  assert.equal(name, "AbortError");
  while (closed.length === 0) await page.evaluate(() => new Promise(requestAnimationFrame));
  const code = await page.evaluate(async () => {
    const assistant = await createAssistant({ endpoint: "/endless" });
    const answering = assistant.ask("Why?", { onEvent: () => assistant.dispose() });
    return answering.then(
      () => "none",
      (error) => error.code,
    );
  });
  assert.equal(code, "disposed");
  while (closed.length < 2) await page.evaluate(() => new Promise(requestAnimationFrame));
});
