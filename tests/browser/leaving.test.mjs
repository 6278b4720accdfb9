// Who cancels a question, or leaves the page, stops what is asked of a service for it: by the page, or by a
// Worker for the page.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { DOCUMENT, QUESTION, serveSilence } from "../services/leaving.mjs";
import { makeSite, start } from "../worker/support.mjs";
import { browser, openPage, serve } from "./support.mjs";

const PAGE = `<!doctype html><title>Leaving</title><script type="module">
  import * as library from "/pkg/countercheck.js";
  window.library = library;
</script>`;

let chromium;
let server;
let silence;
let worker;

before(async () => {
  [chromium, server, silence] = await Promise.all([browser(), serve({ "/plain.html": PAGE }), serveSilence()]);
  const vars = { LOCAL: "yes", ALLOWED_ORIGINS: server.url, CHAT_BASE_URL: silence.url, CHAT_MODEL: "m" };
  worker = await start(makeSite({}), vars);
});

after(async () => {
  await chromium?.close();
  await worker?.stop();
  await Promise.all([server?.close(), silence?.close()]);
});

const WAYS = {
  "a service asked by the page": () => ({ baseUrl: silence.url }),
  "a service asked by a Worker": () => ({ workerUrl: worker.url }),
};

for (const [way, address] of Object.entries(WAYS)) {
  for (const leave of ["the question is cancelled", "the page is closed"]) {
    test(`${way}: ${leave}`, async (t) => {
      const { page, context } = await openPage(chromium, `${server.url}/plain.html`);
      t.after(() => context.close());
      await page.waitForFunction(() => "library" in window);
      const asked = silence.asked();
      await page.evaluate(ask, { ...address(), document: DOCUMENT, question: QUESTION });
      const call = await asked;
      if (leave === "the page is closed") await page.close();
      else assert.equal(await page.evaluate(cancel), "AbortError");
      await call.ends();
    });
  }
}

/** Asks in the page and does not wait for the answer. */
async function ask({ baseUrl, workerUrl, document, question }) {
  const { createAssistant, openai, endpoint } = window.library;
  const chat = baseUrl === undefined ? endpoint(workerUrl) : openai({ baseUrl, model: "m" });
  const assistant = await createAssistant({ embedder: false, chat });
  await assistant.add(document);
  window.controller = new AbortController();
  window.answer = assistant.ask(question, { signal: window.controller.signal }).catch(({ name }) => name);
}

/** Cancels it; gives the name of what it rejects with. */
async function cancel() {
  window.controller.abort();
  return window.answer;
}
