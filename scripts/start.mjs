// `npm start`: from a fresh clone to a page and an API that answer, in real workerd on this machine.
//
//   PORT=3000 npm start      serves there instead of on 8787
import { createServer } from "node:net";
import { build } from "./build.mjs";
import { indexDocs } from "./docs.mjs";
import { Stop, script } from "./lib/stop.mjs";
import { startWorker } from "./lib/worker.mjs";
import { setup } from "./setup.mjs";

const DEFAULT_PORT = 8787;

async function main() {
  const port = Number(process.env.PORT || DEFAULT_PORT);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new Stop(`PORT is ${JSON.stringify(process.env.PORT)}: it must be a whole number from 1 to 65535`);
  }
  await mustBeFree(port);
  await setup({ browser: false });
  await build();
  await indexDocs();
  const stopped = new Promise((resolve) => {
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(name, () => resolve(name));
    // A killed npm passes no signal on: whoever stops it by its id must not leave a server behind.
    const parent = process.ppid;
    setInterval(() => process.ppid !== parent && resolve("orphaned"), 1000).unref();
  });
  const worker = await startWorker({ port, onLine: console.log });
  console.log(`\nCountercheck answers at ${worker.url} (Ctrl-C stops it)\n`);
  const code = await Promise.race([stopped, worker.ended]);
  await worker.stop();
  if (typeof code === "number") throw new Stop(`the Worker ended by itself, exit code ${code}; it said:\n${worker.output()}`);
  console.log("\nstopped");
}

/** Fails early: a first build takes minutes, and wrangler would take another port without a word. */
async function mustBeFree(port) {
  await new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", (cause) => {
      reject(new Stop(`cannot listen on port ${port} (${cause.code}): choose another, e.g. \`PORT=3000 npm start\``, { cause }));
    });
    probe.listen(port, "127.0.0.1", () => probe.close(resolve));
  });
}

await script("start", main);
