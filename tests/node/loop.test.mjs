// The loop's vectors in Node, over real services; services/loop.mjs has them.
import { after, before, test } from "node:test";
import { createAssistant, openai, tavily } from "../../dist/node.js";
import { DOCUMENTS, QUESTION, VECTORS, serveLoop } from "../services/loop.mjs";

let services;

before(async () => {
  services = await serveLoop();
});

after(() => services.close());

for (const vector of VECTORS) {
  test(vector.id, async (t) => {
    services.play(vector);
    const assistant = await createAssistant({
      embedder: false,
      chat: openai({ baseUrl: services.chatUrl, model: "m" }),
      search: tavily({ baseUrl: services.searchUrl, key: "k" }),
    });
    t.after(() => assistant.dispose());
    if (!vector.empty) await assistant.add(DOCUMENTS);
    const { batch, max_retries: maxRetries } = vector;
    const found = await assistant.ask(QUESTION, { strategy: "self-reflective", batch, maxRetries }).then(
      (answer) => ({ answer }),
      ({ code }) => ({ error: { code } }),
    );
    services.check(vector, found);
  });
}
