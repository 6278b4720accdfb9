// A Worker's keys: sent to the services, and in no reply, no log and no file of the build.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { dist, root } from "../../scripts/lib/paths.mjs";
import { DOCUMENT, KEY, QUESTIONS, assertHidden, serveTales } from "../services/canary.mjs";
import { makeIndex, makeSite, post, start } from "./support.mjs";

const site = async () => makeSite({ "docs.ccx": await makeIndex([DOCUMENT], { embedder: false }) });

/** Requests to everything that the Worker answers, right ones and wrong ones. */
function* requests(question) {
  const passages = [{ id: "bread.md#0", text: "Knead the dough for ten minutes." }];
  const draft = "Ten minutes. [1]";
  for (const accept of ["application/json", "text/event-stream"]) {
    for (const strategy of ["naive", "self-reflective"]) yield ["/v1/ask", { question, strategy }, accept];
    yield ["/v1/tasks/generate", { question, passages }, accept];
  }
  yield ["/v1/tasks/grade-passages", { question, passages }];
  yield ["/v1/tasks/rewrite-query", { question, tried: [] }];
  yield ["/v1/tasks/check-grounding", { draft, passages }];
  yield ["/v1/tasks/check-usefulness", { question, draft }];
  yield ["/v1/web-search", { query: question }];
  yield ["/v1/search", { query: question }];
  yield ["/v1/tasks/generate", { question, key: 1 }];
  yield ["/v1/nothing", { question }];
}

test("a key is sent and appears in no reply and no log", async (t) => {
  const tales = await serveTales();
  t.after(() => tales.close());
  const vars = { LOCAL: "yes", CHAT_BASE_URL: tales.chatUrl, CHAT_MODEL: "m", SEARCH_BASE_URL: tales.searchUrl };
  const worker = await start(await site(), vars, { CHAT_API_KEY: KEY, SEARCH_API_KEY: KEY });
  t.after(() => worker.stop());
  const statuses = new Set();
  const look = async (what, response) => {
    statuses.add(response.status);
    assertHidden(`${response.status} ${JSON.stringify([...response.headers])} ${await response.text()}`, what);
  };
  const askAll = async (question) => {
    for (const [path, body, accept = "application/json"] of requests(question)) {
      await look(`${path} (${question})`, await post(worker.url + path, body, { headers: { accept } }));
    }
  };
  await Promise.all(QUESTIONS.map(askAll));
  for (const path of ["/healthz", "/", "/docs.ccx", "/.dev.vars", "/v1/ask"]) await look(path, await fetch(worker.url + path));
  assert.ok([200, 400, 404, 502].every((status) => statuses.has(status)), [...statuses].join());
  assert.ok(worker.output().includes("/v1/ask"), "the output that is looked through is the Worker's");
  assertHidden(worker.output(), "the log");
  tales.assertAsked();
});

const MISCONFIGURED = {
  "keys that no header can carry": [{}, { CHAT_API_KEY: `${KEY} ${KEY}`, SEARCH_API_KEY: `${KEY} ${KEY}` }],
  "a key in an address": [{ CHAT_BASE_URL: `http://user:${KEY}@127.0.0.1:9/v1` }, {}],
  "keys that anybody could spend": [{ LOCAL: "no" }, { CHAT_API_KEY: KEY, SEARCH_API_KEY: KEY }],
};

for (const [title, [vars, secrets]] of Object.entries(MISCONFIGURED)) {
  test(`${title} are not repeated`, async (t) => {
    const common = { LOCAL: "yes", CHAT_BASE_URL: "http://127.0.0.1:9/v1", CHAT_MODEL: "m" };
    const worker = await start(await site(), { ...common, ...vars }, secrets);
    t.after(() => worker.stop());
    for (const [path, body] of requests(QUESTIONS[0])) {
      if (path === "/v1/nothing") continue;
      const response = await post(worker.url + path, body);
      const text = await response.text();
      assert.deepEqual([response.status, JSON.parse(text).error.code], [503, "misconfigured"], path);
      assertHidden(`${JSON.stringify([...response.headers])} ${text}`, path);
    }
    assertHidden(await (await fetch(`${worker.url}/healthz`)).text(), "/healthz");
    assertHidden(worker.output(), "the log");
  });
}

test("a build among keys has none of them", () => {
  const names = ["CHAT_API_KEY", "SEARCH_API_KEY", "OPENAI_API_KEY", "TAVILY_API_KEY"];
  const keys = Object.fromEntries(names.map((name) => [name, KEY]));
  execFileSync(process.execPath, [join(root, "scripts", "build.mjs")], { env: { ...process.env, ...keys }, stdio: "pipe" });
  const files = readdirSync(dist, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  assert.ok(files.some(({ name }) => name === "countercheck_bg.wasm"));
  for (const { parentPath, name } of files) {
    const path = join(parentPath, name);
    assertHidden(readFileSync(path, "latin1"), path);
  }
});
