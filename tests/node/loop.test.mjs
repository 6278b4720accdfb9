// The loop's vectors in Node, over real services; services/loop.mjs has them.
import { after, before, test } from "node:test";
import { openai, tavily } from "../../dist/node.js";
import { DOCUMENTS, QUESTION, VECTORS, serveLoop } from "../services/loop.mjs";
import { MODULES } from "./support.mjs";

let services;

before(async () => {
  services = await serveLoop();
});

after(() => services.close());

const each = Object.entries(MODULES).flatMap(([module, create]) => VECTORS.map((vector) => ({ module, create, vector })));

for (const { module, create, vector } of each) {
  test(`${vector.id} in ${module}`, async (t) => {
    services.play(vector);
    const assistant = await create({
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
