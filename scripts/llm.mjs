// `npm run llm`: a small chat model on this machine, to try the loop over a real one without a key.
//
//   npm run llm                        SmolLM2-135M: it can follow the forms, and judges no better than chance
//   npm run llm -- 1.5b                Qwen2.5-Coder-1.5B, the smallest that can judge: 1.1 GB, once
//   npm run llm -- model.gguf          one of your own
//   PORT=3000 npm run llm              listens there instead of on 8181
import { SMALLEST, modelOf, startModel } from "./lib/llm.mjs";
import { freePort } from "./lib/port.mjs";
import { Stop, askedToStop, script } from "./lib/stop.mjs";
import { setup } from "./setup.mjs";

const DEFAULT_PORT = 8181;

async function main() {
  const [asked = SMALLEST] = process.argv.slice(2);
  modelOf(asked);
  const port = await freePort(DEFAULT_PORT);
  await setup({ browser: false, model: asked });
  const stopped = askedToStop();
  const model = await startModel({ port, model: asked });
  console.log(`\n${model.name} answers at ${model.url}/v1 (Ctrl-C stops it)\n`);
  const said = await Promise.race([stopped.then(() => undefined), model.ended]);
  await model.stop();
  if (said !== undefined) throw new Stop(`the server ended by itself; it said:\n${said}`);
  console.log("\nstopped");
}

await script("llm", main);
