// Keys in Node: sent to the services, and shown nowhere.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { createAssistant, openai, tavily } from "../../dist/node.js";
import { DOCUMENT, KEY, QUESTIONS, assertHidden, serveTales } from "../services/canary.mjs";

/** All of a value that an inspection or a log could show. */
const shown = (value) => inspect(value, { depth: Infinity, showHidden: true, getters: true, maxStringLength: Infinity });

/** Keeps what is printed while a test runs, by whomever. */
function listen(t) {
  const printed = [];
  for (const stream of [process.stdout, process.stderr]) {
    const write = stream.write.bind(stream);
    t.mock.method(stream, "write", (chunk, ...rest) => {
      printed.push(String(chunk));
      return write(chunk, ...rest);
    });
  }
  return printed;
}

test("a key is sent and appears in no answer, event, error or output", async (t) => {
  const tales = await serveTales();
  t.after(() => tales.close());
  const printed = listen(t);
  // One for each question: a service that refuses a key is left alone, whatever is asked next.
  const make = async () => {
    const assistant = await createAssistant({
      embedder: false,
      chat: openai({ baseUrl: tales.chatUrl, model: "m", key: KEY }),
      search: tavily({ baseUrl: tales.searchUrl, key: KEY }),
    });
    t.after(() => assistant.dispose());
    await assistant.add(DOCUMENT);
    return assistant;
  };
  const ask = async ([question, strategy]) => {
    const assistant = await make();
    const events = [];
    const asked = assistant.ask(question, { strategy, onEvent: (event) => events.push(event) });
    const outcome = await asked.then(
      (answer) => ({ answer }),
      (error) => ({ error, text: `${error} ${error.stack} ${JSON.stringify(error)}` }),
    );
    assertHidden(shown({ outcome, events }), `${question} (${strategy})`);
    return outcome;
  };
  const strategies = ["naive", "self-reflective"];
  const outcomes = await Promise.all(QUESTIONS.flatMap((question) => strategies.map((s) => [question, s])).map(ask));
  console.error("seen");
  assertHidden(shown(await make()), "the assistant");
  assertHidden(printed.join(""), "the output");
  assert.ok(printed.join("").includes("seen"), "the output that was looked through is this process's");
  assert.ok(outcomes.some(({ answer }) => answer?.outcome === "answered"));
  assert.ok(outcomes.some(({ error }) => error?.code === "provider_failed"));
  tales.assertAsked();
});

const REFUSED = {
  "a key with a line end in it": { chat: { baseUrl: "http://127.0.0.1:9/v1", key: `${KEY}\r\nx-evil: 1` } },
  "a key that is no text": { chat: { baseUrl: "http://127.0.0.1:9/v1", key: { value: KEY } } },
  "a key in a base URL": { chat: { baseUrl: `http://user:${KEY}@127.0.0.1:9/v1` } },
  "a key in a query": { chat: { baseUrl: `http://127.0.0.1:9/v1?key=${KEY}` } },
  "a search's key with a space in it": { search: { baseUrl: "http://127.0.0.1:9", key: `${KEY} ${KEY}` } },
};

for (const [title, { chat, search }] of Object.entries(REFUSED)) {
  test(`${title} is refused without being repeated`, async () => {
    const options = { ...(chat && { chat: openai({ model: "m", ...chat }) }), ...(search && { search: tavily(search) }) };
    const made = createAssistant({ embedder: false, ...options });
    const error = await made.then(
      () => undefined,
      (reason) => reason,
    );
    assert.equal(error?.code, "invalid_option");
    assertHidden(`${shown(error)} ${error.stack}`, "the error");
  });
}
