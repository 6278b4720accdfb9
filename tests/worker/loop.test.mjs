// The loop's vectors at the edge, over real services; services/loop.mjs has them.
import { after, before, test } from "node:test";
import { camel } from "../scenarios/scenarios.mjs";
import { DOCUMENTS, QUESTION, VECTORS, serveLoop } from "../services/loop.mjs";
import { makeIndex, makeSite, post, start } from "./support.mjs";

let services;
let workers;

before(async () => {
  services = await serveLoop();
  const over = async (documents) =>
    start(makeSite({ "docs.ccx": await makeIndex(documents, { embedder: false }) }), {
      LOCAL: "yes",
      CHAT_BASE_URL: services.chatUrl,
      CHAT_MODEL: "m",
      SEARCH_BASE_URL: services.searchUrl,
      SEARCH_API_KEY: "k",
    });
  workers = { full: await over(DOCUMENTS), empty: await over([]) };
});

after(async () => {
  await Promise.all(Object.values(workers).map((worker) => worker.stop()));
  await services.close();
});

for (const vector of VECTORS) {
  test(vector.id, async () => {
    services.play(vector);
    const { url } = vector.empty ? workers.empty : workers.full;
    const { batch, max_retries } = vector;
    const response = await post(`${url}/v1/ask`, { question: QUESTION, strategy: "self-reflective", batch, max_retries });
    const body = camel(await response.json());
    services.check(vector, response.ok ? { answer: body } : body);
  });
}
