// Estimates and prices through the promise API and the command line (R-16, R-17, C-22, G-22).
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { createAssistant, estimate } from "../../dist/node.js";
import { dist } from "../../scripts/lib/paths.mjs";
import { DOCUMENTS, QUESTION } from "./support.mjs";

const PRICES = { input: 2, output: 8, webSearch: 0.005, embedding: 0.0001 };
const REPLIES = { grade: '{"score":"yes"}', generate: "It is `bodyLimit` [1]." };

/** An assistant whose model says yes to everything, and how many tokens it took, if anybody knows. */
async function priced(t, { usage, prices = PRICES, search, grade = REPLIES.grade }) {
  const chat = ({ role, messages }) => {
    const check = messages[1].content.includes(DOCUMENTS[1].text.slice(20, 60)) ? '{"grounded":"yes"}' : '{"useful":"yes"}';
    const text = role === "grade" ? grade : (REPLIES[role] ?? check);
    return usage === undefined ? text : { text, usage };
  };
  const assistant = await createAssistant({ embedder: false, chat, prices, ...(search && { search }) });
  t.after(() => assistant.dispose());
  await assistant.add(DOCUMENTS);
  return assistant;
}

test("r_16_an_estimate_has_the_seeds_total_by_step_and_c_22_four_grades_before_the_draft", async () => {
  const { path, upper } = await estimate({ strategy: "self-reflective", k: 4, maxRetries: 1 });
  const calls = Object.fromEntries(Object.entries(path).map(([step, { calls }]) => [step, calls]));
  const none = { embed: 0, decide: 0, rewrite: 0, web: 0, segment: 0, reflect: 0 };
  assert.deepEqual(calls, { ...none, grade: 4, generate: 2, grounding: 2, usefulness: 2, total: 10 });
  assert.equal("cost" in path.total, false);
  // Grades, drafts and checks twice, two searches and a query between them; each call three times.
  assert.equal(upper.total.calls, 3 * (8 + 4 + 4 + 4 + 2 + 1));
  assert.equal((await estimate({ strategy: "naive", embed: true })).path.total.calls, 2, "plain RAG");
  assert.equal((await estimate({ web: false })).upper.web.calls, 0);
  assert.equal((await estimate({ strategy: "corrective-scored", scorer: true })).path.grade.calls, 1);
  assert.equal((await estimate({ strategy: "countercheck", maxRetries: 0 })).path.total.calls, 3);
  assert.equal((await estimate({ strategy: "self-rag" })).path.segment.calls, 4);
});

test("g_22_a_graded_passage_is_500_tokens_and_r_17_money_is_their_price", async () => {
  const { path, upper } = await estimate({ strategy: "self-reflective", k: 4, maxRetries: 0, embed: true, prices: PRICES });
  assert.equal(path.grade.input, 4 * 500);
  assert.equal(path.grade.cost, (2000 * 2 + path.grade.output * 8) / 1e6);
  assert.equal(path.embed.cost, 0.0001);
  assert.equal(upper.web.cost, upper.web.calls * 0.005);
  const sum = Object.entries(upper).reduce((sum, [step, { cost }]) => (step === "total" ? sum : sum + cost), 0);
  assert.ok(Math.abs(sum - upper.total.cost) < 1e-12, `${sum}, not ${upper.total.cost}`);
  // What has no price is not free.
  const { path: known, upper: unknown } = await estimate({ strategy: "self-reflective", prices: { input: 2, output: 8 } });
  assert.ok(known.total.cost > 0);
  assert.deepEqual([unknown.web.cost, unknown.total.cost, unknown.generate.cost > 0], [null, null, true]);
});

test("what_makes_no_sense_is_refused_with_its_name", async () => {
  const refused = async (options, code, pattern) => {
    await assert.rejects(estimate(options), (error) => {
      assert.equal(error.code, code);
      assert.match(error.message, pattern);
      return true;
    });
  };
  await refused({ k: 51 }, "invalid_option", /k is 51/);
  await refused({ maxRetries: 9 }, "invalid_option", /maxRetries is 9/);
  await refused({ strategy: "best" }, "invalid_option", /self-reflective/);
  await refused({ passages: 4 }, "unknown_field", /passages/);
  await refused({ prices: { web: 1 } }, "unknown_field", /webSearch/);
  await refused({ prices: { input: -1 } }, "invalid_option", /prices\.input/);
  await assert.rejects(createAssistant({ prices: { output: "2" } }), { code: "invalid_option" });
});

test("r_17_every_answer_says_what_it_cost", async (t) => {
  const assistant = await priced(t, { usage: { inputTokens: 1000, outputTokens: 10 } });
  const asked = { k: 2, strategy: "self-reflective" };
  const { usage, outcome } = await assistant.ask(QUESTION, asked);
  assert.equal(outcome, "answered");
  const calls = usage.calls.grade + usage.calls.generate + usage.calls.grounding + usage.calls.usefulness;
  assert.deepEqual(usage.tokens, { input: 1000 * calls, output: 10 * calls });
  assert.ok(Math.abs(usage.cost - (calls * (1000 * 2 + 10 * 8)) / 1e6) < 1e-12);
  let told;
  for await (const event of assistant.ask(QUESTION, asked)) if (event.type === "answer") told = event.answer;
  assert.equal(told.usage.cost, usage.cost, "the event's answer too");
});

test("tokens_or_prices_that_nobody_knows_make_the_cost_null", async (t) => {
  const silent = await priced(t, {});
  assert.equal((await silent.ask(QUESTION)).usage.cost, null);
  const usage = { inputTokens: 1000, outputTokens: 10 };
  const search = async () => [{ title: "Web", url: "https://web.example/", text: "A page." }];
  const searched = await priced(t, { usage, search, grade: '{"score":"no"}', prices: { input: 2, output: 8 } });
  const answer = await searched.ask(QUESTION);
  assert.deepEqual([answer.usage.calls.web, answer.usage.cost], [1, null]);
});

test("an_assistant_without_prices_says_nothing_of_cost_and_the_builtin_solver_costs_nothing", async (t) => {
  const plain = await createAssistant({ embedder: false });
  t.after(() => plain.dispose());
  await plain.add(DOCUMENTS);
  assert.equal("cost" in (await plain.ask(QUESTION)).usage, false);
  const builtin = await createAssistant({ embedder: false, prices: PRICES });
  t.after(() => builtin.dispose());
  await builtin.add(DOCUMENTS);
  assert.equal((await builtin.ask(QUESTION)).usage.cost, 0);
});

test("an_explicit_max_calls_wins_over_the_estimate", async (t) => {
  const assistant = await priced(t, { usage: { inputTokens: 1, outputTokens: 1 } });
  const limits = { maxCalls: 2, deadlineMs: 600_000 };
  const { outcome, reason, usage } = await assistant.ask(QUESTION, { k: 2, strategy: "self-reflective", limits });
  assert.deepEqual([outcome, reason], ["partial", "budget"]);
  assert.deepEqual([usage.calls.grade, usage.calls.generate, usage.calls.grounding, usage.calls.usefulness], [0, 1, 1, 0]);
});

test("r_16_the_command_line_prints_the_total_and_each_step", () => {
  const run = (...args) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(dist, "cli.js"), "estimate", ...args], { encoding: "utf8" });
    return { status, stdout, stderr };
  };
  const { status, stdout } = run("--strategy", "self-reflective", "--k", "4", "--max-retries", "1");
  assert.equal(status, 0);
  const rows = Object.fromEntries(stdout.split("\n").map((line) => line.trim().split(/\s+/)).map(([name, ...cells]) => [name, cells]));
  assert.deepEqual([rows.grade[0], rows.generate[0], rows.grounding[0], rows.usefulness[0]], ["4", "2", "2", "2"]);
  assert.deepEqual([rows.total[0], rows.total[3]], ["10", "69"]);
  assert.equal(rows.grade[1], "2,000");
  const priced = run("--price-input", "2", "--price-output", "8", "--price-web-search", ".005", "--max-retries", "0", "--json");
  assert.ok(JSON.parse(priced.stdout).path.total.cost > 0);
  for (const [args, says] of [
    [["docs.ccx"], /options alone/],
    [["--price-input", "cheap"], /is no price/],
    [["-k", "x"], /-k x is not a whole number/],
    [["--max-retries", "x"], /--max-retries x is not/],
    [["-o", "x"], /no option --output/],
  ]) {
    const { status, stderr } = run(...args);
    assert.deepEqual([status, says.test(stderr)], [2, true], stderr);
  }
});
