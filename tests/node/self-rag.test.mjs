// `self-rag` in Node: a checkpoint behind a completions endpoint, a chat model in its place, and none.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { CountercheckError, completions, createAssistant, openai } from "../../dist/node.js";
import { dist } from "../../scripts/lib/paths.mjs";
import { camel } from "../scenarios/scenarios.mjs";
import { CASES, DOCUMENTS, QUESTION, serveCheckpoint, serveReflectingChat } from "../services/self-rag.mjs";

let checkpoint;
let chat;

before(async () => {
  [checkpoint, chat] = await Promise.all([serveCheckpoint(), serveReflectingChat()]);
});

after(() => Promise.all([checkpoint.close(), chat.close()]));

async function assistantWith(t, options) {
  const assistant = await createAssistant({ embedder: false, ...options });
  t.after(() => assistant.dispose());
  await assistant.add(DOCUMENTS);
  return assistant;
}

const checkpointed = () => ({ chat: completions({ baseUrl: checkpoint.url, model: "selfrag/selfrag_llama2_7b" }) });

for (const played of CASES) {
  test(played.id, async (t) => {
    checkpoint.play(played);
    const assistant = await assistantWith(t, checkpointed());
    const selfRag = camel(played.self_rag ?? {});
    checkpoint.check(played, await assistant.ask(played.question ?? QUESTION, { strategy: "self-rag", selfRag }));
  });
}

test("segments_are_told_with_their_scores", async (t) => {
  checkpoint.play({});
  const assistant = await assistantWith(t, checkpointed());
  const told = [];
  const onEvent = (event) => event.type === "segment" && told.push(event);
  await assistant.ask(QUESTION, { strategy: "self-rag", onEvent });
  const kept = told.find(({ passageId }) => passageId === "valid.md#0");
  assert.deepEqual([told.length, kept.level, kept.kept], [2, 1, true]);
  // exp of the mean log probability, then .9 + (.8 + .1) + ½ (.9 + .05)
  const mean = [0.9, 0.9, 0.8, 0.9].reduce((sum, p) => sum + Math.log(p), 0) / 4;
  assert.ok(Math.abs(kept.score - (Math.exp(mean) + 0.9 + 0.9 + 0.475)) < 1e-5, String(kept.score));
});

test("a_chat_model_s_answer_is_labelled_as_approximated", async (t) => {
  const assistant = await assistantWith(t, { chat: openai({ baseUrl: chat.url, model: "m" }) });
  const answer = await assistant.ask(QUESTION, { strategy: "self-rag" });
  assert.deepEqual([answer.outcome, answer.text], ["answered", "A key is valid for 90 days [1]."], JSON.stringify(answer));
  assert.equal(answer.reflection.approximated, true);
  assert.ok(answer.warnings.some(({ code }) => code === "approximated"));
  const { segment, reflect } = answer.usage.calls;
  assert.deepEqual([segment, segment + reflect], [2, chat.calls.length]);
});

test("without_probabilities_a_chat_model_s_answer_is_unchecked", async (t) => {
  const assistant = await assistantWith(t, { chat: () => "A key is valid for 90 days." });
  const { outcome, reason, grounded, useful, warnings } = await assistant.ask(QUESTION, { strategy: "self-rag" });
  assert.deepEqual([outcome, reason, grounded, useful], ["partial", "unchecked", null, null]);
  assert.ok(warnings.some(({ code }) => code === "no_scores"));
});

test("the_built_in_solver_is_told_what_it_needs", async (t) => {
  const small = await assistantWith(t, {});
  const withModels = await assistantWith(t, { chat: { grade: openai({ baseUrl: chat.url, model: "m" }) } });
  for (const assistant of [small, withModels]) {
    for (const options of [{ strategy: "self-rag" }, { strategy: "self-rag", selfRag: { beamWidth: 1 } }]) {
      await assert.rejects(assistant.ask(QUESTION, options), (error) => {
        assert.ok(error instanceof CountercheckError);
        return ["invalid_option", "invalid_request"].includes(error.code) && /needs a model/.test(error.message);
      });
    }
  }
});

test("options_are_checked_and_named_as_in_javascript", async (t) => {
  const assistant = await assistantWith(t, checkpointed());
  for (const [selfRag, code, message] of [
    [{ beamWidth: 9 }, "invalid_option", /selfRag\.beamWidth must be 1 to 8/],
    [{ delta: 1.5 }, "invalid_option", /selfRag\.delta must be 0 to 1/],
    [{ delta: "0.5" }, "invalid_request", /expected a number/],
    [{ choices: "yes" }, "invalid_request", /choices/],
    [{ choices: ["yes"] }, "invalid_option", /2 to 26/],
    [{ width: 2 }, "unknown_field", /width/],
  ]) {
    const asked = assistant.ask(QUESTION, { strategy: "self-rag", selfRag });
    await assert.rejects(asked, (error) => error.code === code && message.test(error.message), JSON.stringify(selfRag));
  }
  const other = assistant.ask(QUESTION, { strategy: "naive", selfRag: {} });
  await assert.rejects(other, ({ code, message }) => code === "invalid_option" && /self-rag/.test(message));
});

test("the_command_line_asks_a_checkpoint", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "countercheck-self-rag-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const assistant = await assistantWith(t, {});
  writeFileSync(join(folder, "docs.ccx"), await assistant.save());
  const run = (...args) => node(folder, [join(dist, "cli.js"), "ask", "docs.ccx", QUESTION, "--json", ...args]);
  const model = ["--chat-url", checkpoint.url, "--chat-model", "m"];

  checkpoint.play(CASES[0]);
  const asked = await run("--strategy", "self-rag", "--chat-protocol", "completions", ...model);
  assert.deepEqual([asked.status, asked.stderr], [0, ""]);
  checkpoint.check(CASES[0], JSON.parse(asked.stdout));
  assert.equal(checkpoint.calls[0].headers.authorization, "Bearer canary-7f3a");
  for (const [args, status, message] of [
    [["--strategy", "self-rag"], 1, /self-rag needs a model/],
    [["--strategy", "selfrag"], 1, /there is no strategy "selfrag"/],
    [["--chat-model", "m"], 2, /go together/],
    [["--chat-protocol", "telepathy", ...model], 2, /neither chat nor completions/],
  ]) {
    const failed = await run(...args);
    assert.deepEqual([failed.status, failed.stdout], [status, ""]);
    assert.match(failed.stderr, message);
  }
});

async function node(folder, args) {
  const child = spawn(process.execPath, args, { cwd: folder, env: { ...process.env, COUNTERCHECK_CHAT_KEY: "canary-7f3a" } });
  const texts = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) child[name].on("data", (data) => (texts[name] += data));
  const [status] = await once(child, "close");
  return { status, ...texts };
}
