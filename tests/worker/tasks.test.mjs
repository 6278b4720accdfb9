// What a Worker with a model lets others do: typed tasks within bounds, and nothing with an unguarded key.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { root } from "../../scripts/lib/paths.mjs";
import { startWorker } from "../../scripts/lib/worker.mjs";
import { KITCHEN, makeIndex, makeSite, post, start } from "./support.mjs";

const KEY = "canary-4c1d";
const PASSAGE = { id: "bread.md#1", title: "Bread", headings: ["Bread", "Kneading"], text: "Knead for ten minutes." };
const GRADING = { question: "How long do I knead?", passages: [PASSAGE] };

let model;
let asked = 0;
let site;

before(async () => {
  site = makeSite({ "docs.ccx": await makeIndex(KITCHEN, { embedder: false }) });
  model = createServer(async (request, response) => {
    asked += 1;
    let body = "";
    for await (const piece of request.setEncoding("utf8")) body += piece;
    const { messages, logprobs } = JSON.parse(body);
    const isBatch = messages[0].content.includes('"verdicts"');
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ choices: [choice(isBatch ? BATCH : SINGLE, logprobs)] }));
  });
  await new Promise((resolve) => model.listen(0, "127.0.0.1", resolve));
});

/** What the model says, as tokens. */
const SINGLE = ['{"score": "', "yes", '"}'];
const BATCH = ['[{"id": 3, "score": "', "no", '"}, {"id": 1, "score": "', "yes", '"}]'];

function choice(tokens, logprobs) {
  const share = { yes: 0.75, no: 0.25 };
  const top_logprobs = Object.entries(share).map(([token, share]) => ({ token, logprob: Math.log(share) }));
  const content = tokens.map((token) => ({ token, logprob: Math.log(share[token] ?? 1), top_logprobs }));
  const message = { role: "assistant", content: tokens.join("") };
  return { index: 0, message, finish_reason: "stop", ...(logprobs ? { logprobs: { content } } : {}) };
}

after(() => model.close());

const chat = () => ({ CHAT_BASE_URL: `http://127.0.0.1:${model.address().port}/v1`, CHAT_MODEL: "m", EMBEDDER_PATH: "" });

async function refused(reply, status, code) {
  const { error } = await reply.json();
  assert.deepEqual([reply.status, error.code], [status, code], error.message);
  return error.message;
}

// W43: the key is the Worker's, and no page needs one.
test("a_key_that_anybody_could_use_is_not_used", async () => {
  const worker = await start(site, { ...chat(), CHAT_API_KEY: KEY });
  try {
    const before = asked;
    for (const [path, body] of [
      ["/v1/ask", { question: "How long do I knead?" }],
      ["/v1/search", { query: "dough" }],
      ["/v1/tasks/grade-passages", GRADING],
      ["/v1/web-search", { query: "dough" }],
    ]) {
      const message = await refused(await post(worker.url + path, body), 503, "misconfigured");
      assert.match(message, /ALLOWED_ORIGINS/);
      assert.ok(!message.includes(KEY));
    }
    const health = await fetch(`${worker.url}/healthz`);
    assert.deepEqual([health.status, (await health.json()).error.code], [503, "misconfigured"]);
    assert.equal(asked, before, "the model was asked");
  } finally {
    await worker.stop();
  }
});

test("with_origins_and_a_rate_limit_it_is_used_until_the_limit_is_reached", async () => {
  const limit = '\n[[ratelimits]]\nname = "RATE_LIMITER"\nnamespace_id = "1001"\nsimple = { limit = 3, period = 60 }\n';
  const config = join(makeSite({}), "wrangler.toml");
  const entry = join(root, "dist", "worker", "entry.js");
  const built = readFileSync(join(root, "wrangler.toml"), "utf8");
  writeFileSync(config, built.replace(/^main = .*$/m, `main = ${JSON.stringify(entry)}`) + limit);
  const vars = { ...chat(), CHAT_API_KEY: KEY, ALLOWED_ORIGINS: "https://docs.example" };
  const worker = await startWorker({ assets: site, vars, config });
  try {
    for (let call = 0; call < 3; call += 1) {
      const reply = await post(`${worker.url}/v1/tasks/grade-passages`, GRADING);
      assert.equal(reply.status, 200, await reply.clone().text());
    }
    const reply = await post(`${worker.url}/v1/tasks/grade-passages`, GRADING);
    assert.equal(reply.headers.get("retry-after"), "60");
    await refused(reply, 429, "rate_limited");
    const search = await post(`${worker.url}/v1/search`, { query: "dough" });
    assert.equal(search.status, 200, "what costs nothing is not limited");
  } finally {
    await worker.stop();
  }
});

test("tasks_are_typed_and_bounded", async () => {
  const worker = await start(site, chat());
  const task = (name, body) => post(`${worker.url}/v1/tasks/${name}`, body);
  try {
    const graded = await task("grade-passages", GRADING);
    assert.deepEqual(await graded.json(), { grades: [{ verdict: "yes" }], called: 1 });
    const before = asked;
    await refused(await task("anything", GRADING), 404, "not_found");
    await refused(await task("grade-passages", { ...GRADING, prompt: "Say hello." }), 400, "unknown_field");
    await refused(await task("grade-passages", { ...GRADING, messages: [] }), 400, "unknown_field");
    await refused(await task("grade-passages", { question: "Why?" }), 400, "invalid_request");
    await refused(await task("rewrite-query", { ...GRADING, draft: "It is bread." }), 400, "unknown_field");
    await refused(await task("grade-passages", { ...GRADING, passages: Array(21).fill(PASSAGE) }), 413, "too_large");
    const long = { ...GRADING, passages: [{ ...PASSAGE, text: "a".repeat(65 * 1024) }] };
    await refused(await task("grade-passages", long), 413, "too_large");
    await refused(await task("grade-passages", "{"), 400, "invalid_request");
    const got = await fetch(`${worker.url}/v1/tasks/grade-passages`);
    assert.equal(got.headers.get("allow"), "POST, OPTIONS");
    await refused(got, 405, "method_not_allowed");
    await refused(await post(`${worker.url}/v1/web-search`, { query: "dough" }), 503, "not_configured");
    await refused(await post(`${worker.url}/v1/web-search`, { query: "dough", limit: 21 }), 400, "invalid_option");
    assert.equal(asked, before, "the model was asked");
  } finally {
    await worker.stop();
  }
});

test("several_passages_are_one_call_and_their_grades_come_by_number_and_with_scores", async () => {
  const three = { ...GRADING, passages: [1, 2, 3].map((n) => ({ ...PASSAGE, id: `bread.md#${n}` })) };
  for (const [vars, score] of [
    [{}, {}],
    [{ CHAT_CONFIDENCE: "yes" }, { score: 0.75 }],
  ]) {
    const worker = await start(site, { ...chat(), ...vars });
    try {
      const reply = await (await post(`${worker.url}/v1/tasks/grade-passages`, three)).json();
      const near = ({ verdict, score }) => ({ verdict, ...(score === undefined ? {} : { score: Number(score.toFixed(6)) }) });
      assert.deepEqual(reply.grades.map(near), [{ verdict: "yes", ...score }, { verdict: "unknown" }, { verdict: "no", ...score }]);
      assert.equal(reply.called, 1);
    } finally {
      await worker.stop();
    }
  }
});

test("without_a_model_there_are_no_tasks", async () => {
  const worker = await start(site, { EMBEDDER_PATH: "" });
  try {
    const message = await refused(await post(`${worker.url}/v1/tasks/grade-passages`, GRADING), 503, "not_configured");
    assert.match(message, /CHAT_BASE_URL/);
  } finally {
    await worker.stop();
  }
});
