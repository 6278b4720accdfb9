// The scenario files in real workerd: the same answers as everywhere, field by field.
import assert from "node:assert/strict";
import { test } from "node:test";
import { scenarios } from "../scenarios/scenarios.mjs";
import { embedder, makeIndex, makeSite, post, start } from "./support.mjs";

for (const { name, documents, cases, answers } of scenarios()) {
  test(`${name} has the answers on file`, async (t) => {
    const worker = await start(makeSite({ "docs.ccx": await makeIndex(documents), ...embedder() }));
    t.after(() => worker.stop());
    for (const { name: title, ask, search, error } of cases) {
      const response = await (ask ? post(`${worker.url}/v1/ask`, ask) : post(`${worker.url}/v1/search`, search));
      const body = await response.json();
      if (error) assert.equal(body.error?.code, error, title);
      else assert.deepEqual(body, answers[title], title);
    }
  });
}
