// `npm start`: from a fresh clone to a page and an API that answer, in real workerd on this machine.
//
//   PORT=3000 npm start      serves there instead of on 8787
import { build } from "./build.mjs";
import { indexDocs } from "./docs.mjs";
import { freePort } from "./lib/port.mjs";
import { Stop, askedToStop, script } from "./lib/stop.mjs";
import { startWorker } from "./lib/worker.mjs";
import { setup } from "./setup.mjs";

const DEFAULT_PORT = 8787;

async function main() {
  const port = await freePort(DEFAULT_PORT);
  await setup({ browser: false });
  await build();
  await indexDocs();
  const stopped = askedToStop();
  const worker = await startWorker({ port, onLine: console.log });
  console.log(`\nCountercheck answers at ${worker.url} (Ctrl-C stops it)\n`);
  const code = await Promise.race([stopped, worker.ended]);
  await worker.stop();
  if (typeof code === "number") throw new Stop(`the Worker ended by itself, exit code ${code}; it said:\n${worker.output()}`);
  console.log("\nstopped");
}

await script("start", main);
