// Each vendor's function over a real connection: the request arrives with the key where the vendor wants it,
// and its reply is an answer. Vendors that speak OpenAI's protocol reply as Mistral does.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as countercheck from "../../dist/node.js";
import { DOCUMENT, WRITTEN, foundBy, serveVendor } from "../services/vendors.mjs";

const { createAssistant } = countercheck;

const BEARER = ["authorization", "Bearer k"];
const CHAT = [
  ["openai", "mistral", BEARER],
  ["ollama", "mistral", BEARER],
  ["llamaCpp", "mistral", BEARER],
  ["vllm", "mistral", BEARER],
  ["groq", "mistral", BEARER],
  ["openrouter", "mistral", BEARER],
  ["mistral", "mistral", BEARER],
  ["anthropic", "anthropic", ["x-api-key", "k"]],
  ["gemini", "gemini", ["x-goog-api-key", "k"]],
  ["workersAi", "workers-ai", BEARER],
];
const SEARCH = [
  ["brave", "brave", ["x-subscription-token", "k"]],
  ["searxng", "searxng", BEARER],
  ["exa", "exa", ["x-api-key", "k"]],
  ["serper", "serper", ["x-api-key", "k"]],
  ["jina", "jina", BEARER],
  ["mistralSearch", "mistral", BEARER],
  ["cloudflareSearch", "cloudflare", BEARER],
];
const EMBED = [
  ["mistralEmbeddings", "mistral", BEARER],
  ["geminiEmbeddings", "gemini", ["x-goog-api-key", "k"]],
  ["workersAiEmbeddings", "workers-ai", BEARER],
];

async function serve(t, vendor) {
  const service = await serveVendor(vendor);
  t.after(() => service.close());
  return service;
}

function assertKeyed(calls, [name, value]) {
  assert.ok(calls.length > 0);
  for (const { headers, path } of calls) {
    assert.equal(headers[name], value);
    // The key is in no other place.
    const others = Object.entries(headers).filter(([other]) => other !== name);
    assert.ok(![path, ...others.flat()].some((text) => text === "k" || text === "Bearer k"));
  }
}

for (const [name, vendor, key] of CHAT) {
  test(`${name} writes the draft`, async (t) => {
    const { url, calls } = await serve(t, vendor);
    const chat = countercheck[name]({ baseUrl: `${url}/v1`, model: "m", key: "k" });
    const assistant = await createAssistant({ embedder: false, chat });
    t.after(() => assistant.dispose());
    await assistant.add(DOCUMENT);
    const shown = [];
    const onEvent = (event) => event.type === "draft-delta" && shown.push(event.text);
    const answer = await assistant.ask("How long do I knead the dough?", { strategy: "naive", onEvent });
    assert.deepEqual([answer.outcome, answer.text, shown.join("")], ["answered", WRITTEN, WRITTEN]);
    assert.deepEqual(answer.usage.tokens, { input: 12, output: 7 });
    assertKeyed(calls, key);
  });
}

for (const [name, vendor, key] of SEARCH) {
  test(`${name} finds pages`, async (t) => {
    const { url, calls } = await serve(t, vendor);
    const search = countercheck[name]({ baseUrl: url, key: "k" });
    const model = ({ role, messages }) => {
      if (role === "grade") return '{"score": "no"}';
      return messages[0].content.includes('"grounded"') ? '{"grounded": "yes"}' : "Ten minutes [1].";
    };
    const assistant = await createAssistant({ embedder: false, chat: model, search });
    t.after(() => assistant.dispose());
    await assistant.add(DOCUMENT);
    const answer = await assistant.ask("How long do I knead the dough?", { strategy: "corrective" });
    assert.deepEqual(answer.sources.map(({ url }) => url), foundBy(vendor));
    assert.ok(answer.sources.every(({ origin }) => origin === "web"));
    assertKeyed(calls, key);
  });
}

for (const [name, vendor, key] of EMBED) {
  test(`${name} makes the vectors of documents and queries`, async (t) => {
    const { url, calls } = await serve(t, vendor);
    const embed = countercheck[name]({ baseUrl: `${url}/v1`, model: "m", key: "k" });
    const assistant = await createAssistant({ embed });
    t.after(() => assistant.dispose());
    // Two passages, since two vectors are on file.
    await assistant.add({ id: "a.md", text: `# A\n\n${"Knead the dough. ".repeat(60)}\n\n# B\n\n${"Bake the bread. ".repeat(60)}` });
    assert.equal((await assistant.statistics()).passages, 2);
    assertKeyed(calls, key);
  });
}

test("a_cloudflare_account_is_an_address", () => {
  const { workersAi, workersAiEmbeddings, cloudflareSearch } = countercheck;
  const root = "https://api.cloudflare.com/client/v4/accounts/a%2Fb/ai";
  assert.equal(workersAi({ account: "a/b", model: "m", key: "k" }).baseUrl, `${root}/v1`);
  assert.equal(workersAiEmbeddings({ account: "a/b", model: "m", key: "k" }).baseUrl, `${root}/v1`);
  assert.equal(cloudflareSearch({ account: "a/b", key: "k" }).baseUrl, root);
  assert.ok(!("account" in workersAi({ account: "a", model: "m" })));
});

test("the_next_model_of_a_list_answers_when_one_does_not_know_the_key", async (t) => {
  const refusing = await serve(t, "mistral");
  const asked = [];
  const { openai, mistral } = countercheck;
  // Nobody listens at the first.
  const chat = [
    openai({ baseUrl: "http://127.0.0.1:9/v1", model: "m" }),
    mistral({ baseUrl: `${refusing.url}/v1`, model: "m", key: "k" }),
    (request) => asked.push(request),
  ];
  const assistant = await createAssistant({ embedder: false, chat });
  t.after(() => assistant.dispose());
  await assistant.add(DOCUMENT);
  const answer = await assistant.ask("How long do I knead the dough?", { strategy: "naive" });
  assert.deepEqual([answer.outcome, answer.text, asked], ["answered", WRITTEN, []]);
  for (const refused of [[], ["builtin"], [chat]]) {
    await assert.rejects(createAssistant({ embedder: false, chat: refused }), /1 to 8/);
  }
});

test("a_vendor_that_nobody_knows_is_named_with_those_that_there_are", async () => {
  const chat = { kind: "chat", vendor: "nobody", model: "m" };
  await assert.rejects(createAssistant({ embedder: false, chat }), /anthropic/);
});

test("an_option_that_a_service_does_not_have_is_named_with_those_it_has", async () => {
  const { completions, endpoint, openai, openaiEmbeddings, tavily } = countercheck;
  const at = { baseUrl: "http://127.0.0.1:9/v1", model: "m" };
  const wrong = [
    [{ chat: openai({ ...at, kee: "secret" }) }, "unknown_field", "`chat` has no `kee`: there are model, confidence, baseUrl, key, timeouts"],
    [{ chat: { grade: [openai(at), openai({ ...at, temprature: 1 })] } }, "unknown_field", "`chat` has no `temprature`"],
    [{ chat: completions({ ...at, confidence: true }) }, "unknown_field", "`chat` has no `confidence`"],
    [{ chat: openai({ ...at, timeouts: { firstByte: 3 } }) }, "unknown_field", "`chat.timeouts` has no `firstByte`: there are headers, idle"],
    [{ chat: openai({ ...at, timeouts: 3 }) }, "invalid_option", "`chat.timeouts` must be an object"],
    [{ chat: endpoint("http://127.0.0.1:9", { model: "m" }) }, "unknown_field", "`chat` has no `model`"],
    [{ search: tavily({ apiKey: "secret" }) }, "unknown_field", "`search` has no `apiKey`"],
    [{ embed: openaiEmbeddings({ ...at, dims: 4 }) }, "unknown_field", "`embed` has no `dims`: there are model, dimensions"],
    [{ chat: openai(at), cache: 5 }, "invalid_option", "`cache` must be an object"],
  ];
  for (const [options, code, message] of wrong) {
    await assert.rejects(createAssistant({ embedder: false, ...options }), (error) => {
      assert.deepEqual([error.code, error.message.startsWith(message), error.message.includes("secret")], [code, true, false], error.message);
      return true;
    });
  }
  const fine = await createAssistant({ embedder: false, chat: openai({ ...at, key: undefined, confidence: undefined, other: undefined }) });
  fine.dispose();
});
