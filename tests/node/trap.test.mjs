// A trap in Node, where an exception that nobody catches ends the process: ours must not, others' must.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { QUESTION } from "./support.mjs";

const library = new URL("../../dist/node.js", import.meta.url).href;
const support = new URL("./support.mjs", import.meta.url).href;

/** Runs statements in a process of their own, with an assistant and a question under way. */
function run(statements) {
  const script = `
    import { createAssistant } from ${JSON.stringify(library)};
    import { DOCUMENTS } from ${JSON.stringify(support)};
    const assistant = await createAssistant();
    await assistant.add(DOCUMENTS);
    const ask = () => assistant.ask(${JSON.stringify(QUESTION)}).then(({ outcome }) => outcome, ({ code }) => code);
    const underWay = ask();
    ${statements}`;
  return spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
}

test("a_trap_in_a_microtask_rejects_what_is_under_way_and_the_process_lives_on", () => {
  const { status, stdout, stderr } = run(`
    queueMicrotask(() => { throw new WebAssembly.RuntimeError("unreachable"); });
    console.log(await underWay, await ask(), (await assistant.statistics()).documents);
    console.log(process.listenerCount("uncaughtException"));`);
  assert.equal(stderr, "");
  assert.equal(stdout, "panicked answered 3\n0\n");
  assert.equal(status, 0);
});

test("anybody_elses_uncaught_exception_still_ends_the_process", () => {
  const { status, stdout, stderr } = run(`
    queueMicrotask(() => { throw new Error("not ours"); });
    console.log(await underWay);
    console.log("still here");`);
  assert.notEqual(status, 0);
  assert.equal(stdout.includes("still here"), false);
  assert.match(stderr, /not ours/);
});

test("with_a_listener_of_its_own_the_program_decides", () => {
  const { status, stdout } = run(`
    process.on("uncaughtException", ({ message }) => console.log("heard", message));
    queueMicrotask(() => { throw new Error("not ours"); });
    console.log(await underWay);`);
  assert.equal(stdout, "heard not ours\nanswered\n");
  assert.equal(status, 0);
});
