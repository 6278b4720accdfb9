// What becomes of a question in a page when a service fails; services/failures.mjs says what must.
import { after, before, test } from "node:test";
import { DOCUMENT, TIMEOUTS, cases, check } from "../services/failures.mjs";
import { serveFixtures } from "../services/fixture-server.mjs";
import { nowhere } from "../services/service.mjs";
import { browser, openPage, serve } from "./support.mjs";

const PAGE = `<!doctype html><title>Failures</title><script type="module">
  import * as library from "/pkg/countercheck.js";
  window.library = library;
</script>`;

let chromium;
let server;
let services;
let unreachable;
let opened;

before(async () => {
  chromium = await browser();
  server = await serve({ "/plain.html": PAGE });
  services = await serveFixtures();
  unreachable = `${await nowhere()}/v1`;
  opened = await openPage(chromium, `${server.url}/plain.html`);
  await opened.page.waitForFunction(() => "library" in window);
});

after(async () => {
  await chromium?.close();
  await server?.close();
  await services?.close();
});

// A browser opens six connections to a host at the most.
test("a service that fails", { concurrency: 5 }, async (t) => {
  const running = cases("chromium").map((given) => t.test(given.name, () => run(given)));
  await Promise.all(running);
});

async function run(given) {
  const { question, options, naming, isRefused, timeouts } = given;
  const chat = { baseUrl: isRefused ? unreachable : services.chatUrl, model: "m", timeouts: TIMEOUTS[timeouts] };
  const web = { baseUrl: services.searchUrl, key: "k" };
  const found = await opened.page.evaluate(
    async ({ question, options, chat, web, document }) => {
      const { createAssistant, openai, tavily } = window.library;
      const assistant = await createAssistant({ embedder: false, chat: openai(chat), search: tavily(web) });
      await assistant.add(document);
      const found = await assistant.ask(question, options).then(
        (answer) => ({ answer }),
        ({ code, serviceCode, retryAfterMs, message }) => ({ error: { code, serviceCode, retryAfterMs, message } }),
      );
      assistant.dispose();
      return found;
    },
    { question, options, chat, web, document: DOCUMENT },
  );
  check(given, found, isRefused ? undefined : services.callsOf(naming).length);
}
