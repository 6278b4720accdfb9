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

/** Whether the module of this URL is the script that Node was started with. */
export function isMain(moduleUrl) {
  const started = process.argv[1];
  return started !== undefined && moduleUrl === pathToFileURL(realpathSync(started)).href;
}
