// What becomes of a question in Node when a service fails; services/failures.mjs says what must.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createAssistant, openai, tavily } from "../../dist/node.js";
import { DOCUMENT, TIMEOUTS, cases, check } from "../services/failures.mjs";
import { serveFixtures } from "../services/fixture-server.mjs";
import { nowhere } from "../services/service.mjs";

let services;
let unreachable;

before(async () => {
  services = await serveFixtures();
  unreachable = `${await nowhere()}/v1`;
});

after(() => services.close());

// All at once: most of them wait for a retry.
test("a service that fails", { concurrency: 16 }, async (t) => {
  const running = cases("node").map((given) => t.test(given.name, () => run(given)));
  await Promise.all(running);
});

async function run(given) {
  const { question, options, naming, isRefused, timeouts } = given;
  const baseUrl = isRefused ? unreachable : services.chatUrl;
  const assistant = await createAssistant({
    embedder: false,
    chat: openai({ baseUrl, model: "m", timeouts: TIMEOUTS[timeouts] }),
    search: tavily({ baseUrl: services.searchUrl, key: "k" }),
  });
  await assistant.add(DOCUMENT);
  const found = await assistant.ask(question, options).then(
    (answer) => ({ answer }),
    ({ code, serviceCode, retryAfterMs, message }) => ({ error: { code, serviceCode, retryAfterMs, message } }),
  );
  assistant.dispose();
  check(given, found, isRefused ? undefined : services.callsOf(naming).length);
  for (const call of services.callsOf(naming)) assert.notEqual(await call.ended, undefined, "the connection is given back");
}
