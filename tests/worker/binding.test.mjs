// Workers AI and Cloudflare's web search by the Worker's own binding, in place of an address and a key.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { DOCUMENT } from "../services/failures.mjs";
import { makeIndex, makeSite, post, startOnStage, until } from "./support.mjs";

const QUESTION = { question: "How long do I knead the dough?", strategy: "corrective" };
const VARS = { LOCAL: "yes", EMBEDDER_PATH: "", CHAT_VENDOR: "workers-ai", CHAT_MODEL: "@cf/meta/llama-3.1-8b-instruct" };

let site;

before(async () => {
  site = makeSite({ "docs.ccx": await makeIndex([DOCUMENT], { embedder: false }) });
});

async function start(t, vars) {
  const worker = await startOnStage(site, { entry: "ai.mjs", vars: { ...VARS, ...vars } });
  t.after(() => worker.stop());
  return worker;
}

/** What the binding was asked, in order. */
function askedOf(worker) {
  const lines = worker.output().split("\n").filter((line) => line.includes("AI {"));
  return lines.map((line) => JSON.parse(line.slice(line.indexOf("{"))));
}

test("a_question_is_graded_searched_for_and_answered_by_the_binding", async (t) => {
  const worker = await start(t, { SEARCH_VENDOR: "cloudflare", SEARCH_ENGINE: "exa", SEARCH_GATEWAY: "mine" });
  const answer = await (await post(`${worker.url}/v1/ask`, QUESTION)).json();
  assert.deepEqual([answer.outcome, answer.text, answer.solver], ["answered", "Ten minutes [1].", "llm"], JSON.stringify(answer));
  assert.deepEqual(answer.sources.map(({ url }) => url), ["https://web.example/dough"]);
  assert.deepEqual(answer.usage.tokens, { input: 24, output: 14 });
  const [graded, searched, written] = askedOf(worker);
  assert.deepEqual([graded.model, graded.options, graded.signal], [VARS.CHAT_MODEL, { returnRawResponse: true }, true]);
  assert.equal(graded.inputs.response_format.json_schema.type, "object");
  assert.deepEqual(searched.websearch, { query: QUESTION.question, limit: 5, gatewayId: "mine", provider: "exa" });
  assert.equal(written.inputs.stream, true);
});

test("what_the_binding_refuses_and_a_binding_that_is_missing_have_their_names", async (t) => {
  const spent = await start(t, { CHAT_MODEL: "@cf/spent" });
  const refused = await post(`${spent.url}/v1/ask`, { ...QUESTION, strategy: "naive" });
  const { error } = await refused.json();
  assert.deepEqual([error.code, error.service_code], ["provider_failed", "quota_exhausted"]);
  assert.ok(!error.message.includes("upstream text"));
  const unbound = await start(t, { UNBOUND: "yes" });
  const missing = await (await post(`${unbound.url}/v1/ask`, { ...QUESTION, strategy: "naive" })).json();
  assert.deepEqual([missing.error.code, missing.error.service_code], ["provider_failed", "not_found"]);
  assert.match(missing.error.message, /wrangler\.toml/);
});

test("a_model_of_the_binding_is_told_when_nobody_waits_for_it_any_longer", async (t) => {
  const slow = await start(t, { CHAT_MODEL: "@cf/slow", CHAT_HEADERS_TIMEOUT_MS: "300" });
  const { error } = await (await post(`${slow.url}/v1/ask`, { ...QUESTION, strategy: "naive" })).json();
  assert.deepEqual([error.code, error.service_code], ["provider_failed", "timeout"]);
  await until(() => askedOf(slow).filter(({ abandoned }) => abandoned).length === askedOf(slow).filter(({ model }) => model).length);
});

test("a_binding_spends_money_as_a_key_does", async (t) => {
  const worker = await start(t, { LOCAL: "" });
  const response = await post(`${worker.url}/v1/ask`, QUESTION);
  assert.deepEqual([response.status, (await response.json()).error.code], [503, "misconfigured"]);
});
