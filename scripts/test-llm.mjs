// `npm run test:llm`: the loop over a real model on this machine, in Node, in Chromium and in workerd.
//
// The model is too small to judge anything: the tests look at how it is called, what comes back and when it
// is left alone, never at what it decides. The last line is RESULT and JSON, a host's seconds and calls each.
import { build } from "./build.mjs";
import { startModel } from "./lib/llm.mjs";
import { findNode22 } from "./lib/node.mjs";
import { nodeTest } from "./lib/node-test.mjs";
import { run } from "./lib/run.mjs";
import { script } from "./lib/stop.mjs";
import { setup } from "./setup.mjs";

async function main() {
  await setup({ model: true });
  await build();
  const model = await startModel();
  try {
    const env = { LLM_URL: model.url, LLM_NAME: model.name };
    const { code, output } = await run(findNode22(), nodeTest("llm"), { env, allowFailure: true });
    const hosts = [...output.matchAll(/^LLM (\{.*\})$/gm)].map(([, line]) => JSON.parse(line));
    console.log(`RESULT ${JSON.stringify({ model: model.name, hosts })}`);
    return code;
  } finally {
    await model.stop();
  }
}

await script("test:llm", main);
