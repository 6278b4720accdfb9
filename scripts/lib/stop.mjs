// An expected failure is one sentence that says what to do; anything else is a bug and keeps its stack.
import { realpathSync } from "node:fs";
import { pathToFileURL } from "node:url";

/** Thrown to end a script with a sentence for the person who ran it. */
export class Stop extends Error {}

/**
 * Runs a script's main function and turns what it throws into an exit code.
 * @param {string} name the script's name, put before the sentence
 * @param {() => Promise<number | void>} main its result, if a number, is the exit code
 */
export async function script(name, main) {
  try {
    process.exitCode = (await main()) ?? 0;
  } catch (error) {
    console.error(error instanceof Stop ? `${name}: ${error.message}` : error);
    process.exitCode = 1;
  }
}

/**
 * Fulfils when this process is asked to end, or when whoever started it has gone.
 * @returns {Promise<string>} the reason; from the call on the signals end nothing by themselves
 */
export function askedToStop() {
  return new Promise((resolve) => {
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(name, () => resolve(name));
    // A killed npm passes no signal on: whoever stops it by its id must not leave a server behind.
    const parent = process.ppid;
    setInterval(() => process.ppid !== parent && resolve("orphaned"), 1000).unref();
  });
}

/** Whether the module of this URL is the script that Node was started with. */
export function isMain(moduleUrl) {
  const started = process.argv[1];
  return started !== undefined && moduleUrl === pathToFileURL(realpathSync(started)).href;
}
