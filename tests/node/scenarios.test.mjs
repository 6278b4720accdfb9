// The scenario files in Node: the same answers as everywhere, field by field, and from each of the modules.
import assert from "node:assert/strict";
import { test } from "node:test";
import { camel, scenarios, snake } from "../scenarios/scenarios.mjs";
import { MODULES } from "./support.mjs";

const found = scenarios();
const each = Object.entries(MODULES).flatMap(([module, create]) => found.map((scenario) => ({ module, create, ...scenario })));

for (const { module, create, name, documents, cases, answers } of each) {
  test(`${name} has the answers on file in ${module}`, async (t) => {
    const assistant = await create();
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
