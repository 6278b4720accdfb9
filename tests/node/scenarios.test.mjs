// The scenario files in Node: the same answers as everywhere, field by field.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createAssistant } from "../../dist/node.js";
import { camel, scenarios, snake } from "../scenarios/scenarios.mjs";

for (const { name, documents, cases, answers } of scenarios()) {
  test(`${name} has the answers on file`, async (t) => {
    const assistant = await createAssistant();
    t.after(() => assistant.dispose());
    await assistant.add(camel(documents));
    for (const { name: title, ask, search, error } of cases) {
      const run = async () => {
        if (search) {
          const { query, k, ...rest } = search;
          assert.deepEqual(rest, {});
          return { hits: await assistant.search(query, k) };
        }
        const { question, ...options } = camel(ask);
        return assistant.ask(question, options);
      };
      if (error) await assert.rejects(run, { code: error }, title);
      else assert.deepEqual(snake(await run()), answers[title], title);
    }
  });
}
