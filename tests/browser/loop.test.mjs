// The loop's vectors in a page, over real services; services/loop.mjs has them. The page asks the services
// itself, and again by way of a Worker that keeps the keys.
import { after, before, test } from "node:test";
import { DOCUMENTS, QUESTION, VECTORS, serveLoop } from "../services/loop.mjs";
import { makeSite, start } from "../worker/support.mjs";
import { browser, openPage, serve } from "./support.mjs";

const PAGE = `<!doctype html><title>Loop</title><script type="module">
  import * as library from "/pkg/countercheck.js";
  window.library = library;
</script>`;

let chromium;
let server;
let services;
let worker;

before(async () => {
  [chromium, server, services] = await Promise.all([browser(), serve({ "/plain.html": PAGE }), serveLoop()]);
  worker = await start(makeSite({}), {
    LOCAL: "yes",
    ALLOWED_ORIGINS: server.url,
    CHAT_BASE_URL: services.chatUrl,
    CHAT_MODEL: "m",
    SEARCH_BASE_URL: services.searchUrl,
    SEARCH_API_KEY: "k",
  });
});

after(async () => {
  await chromium?.close();
  await worker?.stop();
  await Promise.all([server?.close(), services?.close()]);
});

/** What an assistant is made with, in the page. */
const WAYS = {
  "services asked by the page": ({ openai, tavily }, { chatUrl, searchUrl }) => ({
    chat: openai({ baseUrl: chatUrl, model: "m" }),
    search: tavily({ baseUrl: searchUrl, key: "k" }),
  }),
  "services asked by a Worker": ({ endpoint }, { workerUrl }) => ({
    chat: endpoint(workerUrl),
    search: endpoint(workerUrl),
  }),
};

for (const [way, made] of Object.entries(WAYS)) {
  for (const vector of VECTORS) {
    test(`${vector.id}, ${way}`, async (t) => {
      services.play(vector);
      const { page, context } = await openPage(chromium, `${server.url}/plain.html`);
      t.after(() => context.close());
      await page.waitForFunction(() => "library" in window);
      const urls = { chatUrl: services.chatUrl, searchUrl: services.searchUrl, workerUrl: worker.url };
      const options = { strategy: "self-reflective", batch: vector.batch, maxRetries: vector.max_retries };
      const given = { urls, documents: vector.empty ? [] : DOCUMENTS, question: QUESTION, asked: options };
      await page.evaluate(`window.options = ${made}`);
      const found = await page.evaluate(async ({ urls, documents, question, asked }) => {
        const { library, options } = window;
        const assistant = await library.createAssistant({ embedder: false, ...options(library, urls) });
        await assistant.add(documents);
        return assistant.ask(question, asked).then(
          (answer) => ({ answer }),
          ({ code, message }) => ({ error: { code, message } }),
        );
      }, given);
      services.check(vector, found);
    });
  }
}
