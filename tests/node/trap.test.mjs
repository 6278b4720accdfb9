// A trap in Node, where an exception that nobody catches ends the process: ours must not, others' must.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { QUESTION } from "./support.mjs";

const [library, trapping, support] = ["../../dist/node.js", "./trapping.mjs", "./support.mjs"].map((path) => JSON.stringify(new URL(path, import.meta.url)));

/** Runs statements in a process of their own, with an assistant of these options. */
function run(statements, options = "{}") {
  const script = `
    import { trap } from ${trapping};
    import { createAssistant } from ${library};
    import { DOCUMENTS } from ${support};
    let calls = 0;
    const assistant = await createAssistant(${options});
    await assistant.add(DOCUMENTS);
    const ask = (asked) => assistant.ask(${JSON.stringify(QUESTION)}, asked).then(({ outcome }) => outcome, ({ code }) => code);
    ${statements}`;
  return spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
}

/** What is under way is rejected, and what comes after it finds everything in place. */
const LIVES_ON = `
  console.log(await underWay, await other, (await assistant.statistics()).documents);
  console.log(await ask());`;

function livesOn({ status, stdout, stderr }, outcome = "answered") {
  assert.equal(stderr, "");
  assert.equal(stdout, `panicked panicked 3\n${outcome}\n`);
  assert.equal(status, 0);
}

test("a_trap_in_the_first_turn_rejects_what_is_under_way_and_the_process_lives_on", () => {
  livesOn(run(`
    const [underWay, other] = [ask(), ask()];
    trap("start");
    ${LIVES_ON}`));
});

test("so_does_one_at_a_reply", () => {
  const answers = `async ({ role }) => {
    if (calls++ === 0) trap("invoke");
    return role === "grade" ? '{"score": "yes"}' : role === "check" ? '{"grounded": "yes", "useful": "yes"}' : "Turn it [1].";
  }`;
  livesOn(run(
    `const [underWay, other] = [ask(OPTIONS), ask(OPTIONS)];
    ${LIVES_ON.replace("ask()", "ask(OPTIONS)")}`.replaceAll("OPTIONS", `{ strategy: "self-reflective" }`),
    `{ embedder: false, chat: ${answers} }`,
  ));
});

test("and_one_at_a_timer", () => {
  livesOn(run(
    `const { setTimeout } = globalThis;
    globalThis.setTimeout = (ring, _, timer) => setTimeout(ring, 1, timer);
    const [underWay, other] = [ask(), ask()];
    trap("ring");
    await underWay;
    Object.assign(globalThis, { setTimeout });
    ${LIVES_ON.replace("ask()", "ask({ limits: { deadlineMs: 20 } })")}`,
    `{ embedder: false, chat: () => new Promise(() => {}) }`,
  ), "abstained");
});

test("exceptions_of_others_are_none_of_its_business", () => {
  const { status, stdout, stderr } = run(`
    const underWay = ask();
    queueMicrotask(() => { throw new Error("not ours"); });
    console.log(process.listenerCount("uncaughtException"));
    console.log(await underWay);
    console.log("still here");`);
  assert.notEqual(status, 0);
  assert.equal(stdout.includes("still here"), false);
  assert.match(stdout, /^0\n/);
  assert.match(stderr, /not ours/);
});
