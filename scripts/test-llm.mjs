// `npm run test:llm`: the loop over a real model on this machine, in Node, in Chromium and in workerd, and
// three strategies in Node over real documentation.
//
//   npm run test:llm                         SmolLM2-135M: 127 MB, once
//   npm run test:llm -- --model 1.5b         Qwen2.5-Coder-1.5B: 1.1 GB, once, and minutes for each test
//   npm run test:llm -- --model model.gguf   one of your own
//
// Of a larger model than the smallest only the strategies are tried: a Worker has a minute for a run.
//
// The tests look at how the model is called, what comes back and when it is left alone, never at what it decides:
// the smallest is too small to judge anything. How well one judges `npm run eval` measures. The last line is RESULT
// and JSON, the seconds, calls and tokens of each run.
import { parseArgs } from "node:util";
import { build } from "./build.mjs";
import { indexDocs } from "./docs.mjs";
import { SMALLEST, modelOf, startModel } from "./lib/llm.mjs";
import { findNode22 } from "./lib/node.mjs";
import { nodeTest } from "./lib/node-test.mjs";
import { run } from "./lib/run.mjs";
import { Stop, script } from "./lib/stop.mjs";
import { setup } from "./setup.mjs";

/** A larger model takes up to ten minutes for each run, on a machine that is busy. */
const LARGER = { only: "docs", limitMs: 45 * 60_000 };

async function main() {
  const asked = readOptions();
  await setup({ model: asked });
  await build();
  await indexDocs();
  const model = await startModel({ model: asked });
  try {
    const env = { LLM_URL: model.url, LLM_NAME: model.name };
    const { code, output } = await run(findNode22(), nodeTest("llm", asked === SMALLEST ? {} : LARGER), { env, allowFailure: true });
    const hosts = [...output.matchAll(/^LLM (\{.*\})$/gm)].map(([, line]) => JSON.parse(line));
    console.log(`RESULT ${JSON.stringify({ model: model.name, hosts })}`);
    return code;
  } finally {
    await model.stop();
  }
}

/** Which model, as lib/llm.mjs calls it. */
function readOptions() {
  let values;
  try {
    ({ values } = parseArgs({ options: { model: { type: "string", default: SMALLEST } } }));
  } catch (error) {
    throw new Stop(`${error.message}; there is --model NAME`);
  }
  modelOf(values.model);
  return values.model;
}

await script("test:llm", main);
