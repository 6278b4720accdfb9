// Keys and pages: a page's own key goes to the services alone, and a Worker's key never reaches a page.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { DOCUMENT, KEY, QUESTIONS, assertHidden, serveTales } from "../services/canary.mjs";
import { makeSite, start } from "../worker/support.mjs";
import { browser, openPage, serve } from "./support.mjs";

const PAGE = `<!doctype html><title>Canary</title><script type="module">
  import * as library from "/pkg/countercheck.js";
  window.library = library;
</script>`;

let chromium;
let server;
let tales;
let worker;

before(async () => {
  [chromium, server, tales] = await Promise.all([browser(), serve({ "/plain.html": PAGE }), serveTales()]);
  const services = { CHAT_BASE_URL: tales.chatUrl, CHAT_MODEL: "m", SEARCH_BASE_URL: tales.searchUrl };
  const vars = { LOCAL: "yes", ALLOWED_ORIGINS: server.url, ...services };
  worker = await start(makeSite({}), vars, { CHAT_API_KEY: KEY, SEARCH_API_KEY: KEY });
});

after(async () => {
  await chromium?.close();
  await worker?.stop();
  await Promise.all([server?.close(), tales?.close()]);
});

/** Asks all questions; gives all that a script of the page can see of what came of them. */
async function askAll({ urls, key, document, questions }) {
  const { createAssistant, openai, tavily, endpoint } = window.library;
  const { chatUrl, searchUrl, workerUrl } = urls;
  const services = workerUrl
    ? { chat: endpoint(workerUrl), search: endpoint(workerUrl) }
    : { chat: openai({ baseUrl: chatUrl, model: "m", key }), search: tavily({ baseUrl: searchUrl, key }) };
  const ask = async (question) => {
    // One for each: a service that refuses a key is left alone, whatever is asked next.
    const assistant = await createAssistant({ embedder: false, ...services });
    await assistant.add(document);
    const events = [];
    const onEvent = (event) => events.push(event);
    const outcome = await assistant.ask(question, { strategy: "self-reflective", onEvent }).then(
      (answer) => ({ answer }),
      (error) => ({ error: { text: `${error} ${error.stack} ${error.cause} ${error.cause?.stack}`, ...error } }),
    );
    return { events, ...outcome };
  };
  return Promise.all(questions.map(ask));
}

/** Everything that a page prints or is sent, except by the services it has the key for. */
function watch(page, isOwn) {
  const seen = [];
  const pending = [];
  page.on("console", (message) => seen.push(message.text()));
  page.on("request", (request) => {
    if (!isOwn(request.url())) seen.push(`${request.url()} ${JSON.stringify(request.headers())} ${request.postData()}`);
  });
  page.on("response", (response) => {
    if (isOwn(response.url())) return;
    const keep = async () => seen.push(JSON.stringify(response.headers()), await response.text().catch(() => ""));
    pending.push(keep());
  });
  return async () => {
    await Promise.all(pending);
    return seen.join("\n");
  };
}

const WAYS = {
  "a page's own key": () => ({ urls: { chatUrl: tales.chatUrl, searchUrl: tales.searchUrl }, key: KEY }),
  "a Worker's key": () => ({ urls: { workerUrl: worker.url } }),
};

for (const [title, given] of Object.entries(WAYS)) {
  test(title, async (t) => {
    const { page, context, errors } = await openPage(chromium, `${server.url}/plain.html`);
    t.after(() => context.close());
    await page.waitForFunction(() => "library" in window);
    const { urls, key } = given();
    const seen = watch(page, (url) => key !== undefined && url.startsWith(tales.searchUrl));
    const outcomes = await page.evaluate(askAll, { urls, key, document: DOCUMENT, questions: QUESTIONS });
    assertHidden(JSON.stringify(outcomes), "an outcome");
    assertHidden(errors.join("\n"), "an error of the page");
    assertHidden(await seen(), "what the page printed or was sent");
    assertHidden(await page.content(), "the page");
    assert.ok(outcomes.some(({ answer }) => answer?.outcome === "answered"));
    assert.ok(outcomes.some(({ error }) => error?.code === "provider_failed"));
    tales.assertAsked();
  });
}
