// The port of a server that somebody starts by hand: from the variable PORT, and free.
import { createServer } from "node:net";
import { Stop } from "./stop.mjs";

/**
 * Fails early: what comes before the server may take minutes, and wrangler would take another port without a word.
 * @param {number} usual where PORT is not set
 * @returns {Promise<number>}
 * @throws {Stop} when it is no port, or taken
 */
export async function freePort(usual) {
  const port = Number(process.env.PORT || usual);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new Stop(`PORT is ${JSON.stringify(process.env.PORT)}: it must be a whole number from 1 to 65535`);
  }
  await new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", (cause) => {
      reject(new Stop(`cannot listen on port ${port} (${cause.code}): set the variable PORT to another, e.g. PORT=3000`, { cause }));
    });
    probe.listen(port, "127.0.0.1", () => probe.close(resolve));
  });
  return port;
}
