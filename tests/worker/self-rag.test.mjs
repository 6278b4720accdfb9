// `self-rag` at the edge, over a checkpoint behind a completions endpoint; services/self-rag.mjs has the cases.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { CASES, DOCUMENTS, QUESTION, serveCheckpoint } from "../services/self-rag.mjs";
import { makeIndex, makeSite, post, read, start, stream } from "./support.mjs";

let checkpoint;
let workers;

before(async () => {
  checkpoint = await serveCheckpoint();
  const site = makeSite({ "docs.ccx": await makeIndex(DOCUMENTS, { embedder: false }) });
  const model = { LOCAL: "yes", CHAT_BASE_URL: checkpoint.url, CHAT_MODEL: "m", CHAT_PROTOCOL: "completions" };
  const [continuing, builtin, wrong] = await Promise.all([
    start(site, model),
    start(site, { LOCAL: "yes" }),
    start(site, { ...model, CHAT_PROTOCOL: "telepathy" }),
  ]);
  workers = { continuing, builtin, wrong };
});

after(async () => {
  await Promise.all(Object.values(workers).map((worker) => worker.stop()));
  await checkpoint.close();
});

const asked = ({ question = QUESTION, self_rag } = {}) => ({ question, strategy: "self-rag", self_rag });

for (const played of CASES) {
  test(played.id, async () => {
    checkpoint.play(played);
    const response = await post(`${workers.continuing.url}/v1/ask`, asked(played));
    assert.equal(response.status, 200);
    checkpoint.check(played, await response.json());
  });
}

test("segments_are_told_as_events", async () => {
  checkpoint.play({});
  const names = [];
  for await (const { event } of read(await stream(workers.continuing.url, asked()))) if (event !== undefined) names.push(event);
  assert.deepEqual(names.filter((name) => name !== "grade"), [
    "decide-retrieval", "retrieve", "draft-start", "segment", "segment", "check", "check", "answer",
  ]);
});

test("a_worker_without_a_model_says_what_the_strategy_needs", async () => {
  const response = await post(`${workers.builtin.url}/v1/ask`, asked());
  const { error } = await response.json();
  assert.deepEqual([response.status, error.code], [400, "invalid_option"]);
  assert.match(error.message, /needs a model/);
});

test("a_protocol_that_nobody_speaks_is_a_setting_of_the_operator_s", async () => {
  const response = await post(`${workers.wrong.url}/v1/ask`, asked());
  const { error } = await response.json();
  assert.deepEqual([response.status, error.code], [503, "misconfigured"]);
  assert.match(error.message, /CHAT_PROTOCOL/);
});
