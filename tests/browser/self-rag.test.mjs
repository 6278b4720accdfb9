// `self-rag` in a page, over a checkpoint behind a completions endpoint; services/self-rag.mjs has the cases.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { camel } from "../scenarios/scenarios.mjs";
import { CASES, DOCUMENTS, QUESTION, serveCheckpoint } from "../services/self-rag.mjs";
import { browser, openPage, serve } from "./support.mjs";

const PAGE = `<!doctype html><title>Self-RAG</title><script type="module">
  import * as library from "/pkg/countercheck.js";
  window.library = library;
</script>`;

let chromium;
let server;
let checkpoint;

before(async () => {
  [chromium, server, checkpoint] = await Promise.all([browser(), serve({ "/plain.html": PAGE }), serveCheckpoint()]);
});

after(async () => {
  await chromium?.close();
  await Promise.all([server?.close(), checkpoint?.close()]);
});

/** Asks in a page; without an address the page has no model. */
async function ask(t, question, options, baseUrl) {
  const { page, context } = await openPage(chromium, `${server.url}/plain.html`);
  t.after(() => context.close());
  await page.waitForFunction(() => "library" in window);
  return page.evaluate(
    async ({ documents, question, options, baseUrl }) => {
      const { createAssistant, completions } = window.library;
      const chat = baseUrl === undefined ? {} : { chat: completions({ baseUrl, model: "m" }) };
      const assistant = await createAssistant({ embedder: false, ...chat });
      await assistant.add(documents);
      return assistant.ask(question, { strategy: "self-rag", ...options }).then(
        (answer) => ({ answer }),
        ({ code, message }) => ({ error: { code, message } }),
      );
    },
    { documents: DOCUMENTS, question, options, baseUrl },
  );
}

for (const played of CASES) {
  test(played.id, async (t) => {
    checkpoint.play(played);
    const options = { selfRag: camel(played.self_rag ?? {}) };
    const { answer, error } = await ask(t, played.question ?? QUESTION, options, checkpoint.url);
    assert.equal(error, undefined);
    checkpoint.check(played, answer);
  });
}

test("the_small_module_says_what_the_strategy_needs", async (t) => {
  const { error } = await ask(t, QUESTION, {}, undefined);
  assert.equal(error.code, "invalid_option");
  assert.match(error.message, /self-rag needs a model/);
});
