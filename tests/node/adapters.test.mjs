// Models in JavaScript as functions: the AI SDK with the real package and its mock of a model, the others over
// stand-ins of the form that their packages publish.
import assert from "node:assert/strict";
import { test } from "node:test";
import { simulateReadableStream, streamText } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { aiSdk, promptApi, promptApiAvailability, transformersJs, webLlm, wllamaChat } from "../../dist/adapters.js";
import { createAssistant } from "../../dist/node.js";

const DRAFT = "Knead the dough [1].";
const REQUEST = {
  role: "grade",
  messages: [
    { role: "system", content: "Say yes or no." },
    { role: "user", content: "Is it?" },
  ],
  temperature: 0,
  maxTokens: 64,
  schema: { name: "score", schema: { type: "object" } },
};

/** What a function shows and gives; `signal` may be aborted by the model itself. */
async function asked(chat, request = REQUEST, controller = new AbortController()) {
  const shown = [];
  const reply = await chat(request, { signal: controller.signal, onText: (text) => shown.push(text) });
  return { reply, shown };
}

/** A whole question with that model in every role. */
async function answered(t, chat) {
  const assistant = await createAssistant({ embedder: false, chat });
  t.after(() => assistant.dispose());
  await assistant.add({ id: "bread.md", text: "# Bread\n\nKnead the dough for ten minutes.\n" });
  return assistant.ask("How long do I knead the dough?", { strategy: "naive" });
}

const pieces = ["Knead ", "the ", "dough [1]."];
const chunks = async function* (given = pieces, finish = "stop") {
  for (const content of given) yield { choices: [{ index: 0, delta: { content }, finish_reason: null }] };
  yield { choices: [{ index: 0, delta: {}, finish_reason: finish }] };
  yield { choices: [], usage: { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 } };
};

const USAGE = { inputTokens: { total: 9, noCache: 9 }, outputTokens: { total: 5, text: 5 } };
function mock(parts) {
  return new MockLanguageModelV3({ doStream: async () => ({ stream: simulateReadableStream({ chunks: parts, chunkDelayInMs: null, initialDelayInMs: null }) }) });
}
const SPOKEN = [
  { type: "stream-start", warnings: [] },
  { type: "text-start", id: "1" },
  ...pieces.map((delta) => ({ type: "text-delta", id: "1", delta })),
  { type: "text-end", id: "1" },
];

test("ai_sdk_a_model_answers_a_question_and_its_tokens_are_counted", async (t) => {
  const model = mock([...SPOKEN, { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage: USAGE }]);
  const answer = await answered(t, aiSdk(streamText, model));
  assert.deepEqual([answer.outcome, answer.text, answer.usage.tokens], ["answered", DRAFT, { input: 9, output: 5 }]);
  assert.equal(model.doStreamCalls.length, 1);
  const [{ prompt, maxOutputTokens, abortSignal }] = model.doStreamCalls;
  assert.deepEqual(prompt.map(({ role }) => role), ["system", "user"]);
  assert.ok(maxOutputTokens > 0 && abortSignal instanceof AbortSignal);
});

test("ai_sdk_a_reply_that_was_cut_off_is_truncated_and_one_that_fails_is_no_reply", async (t) => {
  const cut = mock([...SPOKEN, { type: "finish", finishReason: { unified: "length", raw: "length" }, usage: USAGE }]);
  assert.equal((await answered(t, aiSdk(streamText, cut))).reason, "truncated");
  const broken = mock([...SPOKEN.slice(0, 3), { type: "error", error: new Error("overloaded") }]);
  await assert.rejects(asked(aiSdk(streamText, broken)));
  const refusing = new MockLanguageModelV3({ doStream: async () => Promise.reject(new Error("no key")) });
  await assert.rejects(asked(aiSdk(streamText, refusing)));
  assert.equal(refusing.doStreamCalls.length, 1, "nobody repeats but the loop");
});

test("web_llm_is_asked_for_a_schema_in_its_form_and_interrupted_when_nobody_waits", async () => {
  const requests = [];
  let interrupted = 0;
  const create = async (request) => (requests.push(request), chunks());
  const engine = { chat: { completions: { create } }, interruptGenerate: () => interrupted++ };
  const { reply, shown } = await asked(webLlm(engine));
  assert.deepEqual(reply, { text: DRAFT, finish: "stop", usage: { inputTokens: 9, outputTokens: 5 } });
  assert.deepEqual([shown, interrupted], [pieces, 0]);
  const { response_format, max_tokens, stream } = requests[0];
  assert.deepEqual([response_format, max_tokens, stream], [{ type: "json_object", schema: '{"type":"object"}' }, 64, true]);
  const controller = new AbortController();
  const leaving = { ...engine, chat: { completions: { create: async () => (controller.abort(), chunks(["Kn"], null)) } } };
  assert.equal((await asked(webLlm(leaving), REQUEST, controller)).reply.finish, "other", "it is not whole");
  assert.equal(interrupted, 1);
});

test("wllama_is_asked_in_its_form_one_question_after_the_other", async () => {
  const requests = [];
  let writing = 0;
  const createChatCompletion = async (request) => {
    requests.push(request);
    assert.equal(writing++, 0, "one at a time");
    return (async function* () {
      yield* chunks();
      writing--;
    })();
  };
  const chat = wllamaChat({ createChatCompletion });
  const replies = await Promise.all([asked(chat), asked(chat), asked(chat, { ...REQUEST, schema: undefined })]);
  assert.deepEqual(replies.map(({ reply }) => reply.text), [DRAFT, DRAFT, DRAFT]);
  assert.deepEqual(requests[0].response_format, { type: "json_schema", json_schema: { ...REQUEST.schema, strict: true } });
  assert.ok(requests[0].abortSignal instanceof AbortSignal && !("response_format" in requests[2]));
  const controller = new AbortController();
  controller.abort();
  await assert.rejects(asked(chat, REQUEST, controller), { name: "AbortError" });
  assert.equal(requests.length, 3, "nobody waits for it: it is not asked");
});

test("transformers_js_gives_the_last_message_and_shows_it_while_it_is_written", async () => {
  class TextStreamer {
    constructor(tokenizer, { callback_function, skip_prompt }) {
      Object.assign(this, { tokenizer, callback_function, skip_prompt });
    }
  }
  let stopped = 0;
  class InterruptableStoppingCriteria {
    interrupt = () => stopped++;
  }
  const calls = [];
  const generator = Object.assign(
    async (messages, options) => {
      calls.push(options);
      for (const piece of pieces) options.streamer?.callback_function(piece);
      return [{ generated_text: [...messages, { role: "assistant", content: DRAFT }] }];
    },
    { tokenizer: "t" },
  );
  const { reply, shown } = await asked(transformersJs(generator, { TextStreamer, InterruptableStoppingCriteria }));
  assert.deepEqual([reply, shown, stopped], [DRAFT, pieces, 0]);
  assert.deepEqual([calls[0].max_new_tokens, calls[0].do_sample, calls[0].streamer.skip_prompt], [64, false, true]);
  assert.ok(calls[0].stopping_criteria instanceof InterruptableStoppingCriteria);
  assert.deepEqual(await asked(transformersJs(generator), { ...REQUEST, temperature: 0.2 }), { reply: DRAFT, shown: [] });
  assert.deepEqual([calls[1].do_sample, calls[1].temperature, "streamer" in calls[1]], [true, 0.2, false]);
});

function promptModel(availability, sessions = []) {
  return {
    sessions,
    availability: async () => availability,
    create: async (options) => {
      const monitor = new EventTarget();
      options.monitor(monitor);
      for (const loaded of [0, 0.5, 1]) monitor.dispatchEvent(Object.assign(new Event("downloadprogress"), { loaded }));
      const session = {
        options,
        destroyed: 0,
        promptStreaming: (text, given) => (Object.assign(session, { text, given }), ReadableStream.from(pieces)),
        destroy: () => session.destroyed++,
      };
      sessions.push(session);
      return session;
    },
  };
}

test("the_prompt_api_tells_of_its_download_is_held_to_the_schema_and_gives_its_session_back", async () => {
  const model = promptModel("downloadable");
  const loaded = [];
  const chat = promptApi({ model, languages: ["en"], onDownload: (share) => loaded.push(share) });
  const { reply, shown } = await asked(chat);
  assert.deepEqual([reply, shown, loaded], [DRAFT, pieces, [0, 0.5, 1]]);
  const [{ options, text, given, destroyed }] = model.sessions;
  assert.deepEqual([options.initialPrompts, text], [REQUEST.messages.slice(0, 1), "Is it?"]);
  assert.deepEqual([options.samplingMode, given.responseConstraint, destroyed], ["most-predictable", { type: "object" }, 1]);
  assert.deepEqual(options.expectedInputs, [{ type: "text", languages: ["en"] }]);
  const failing = promptModel("available");
  const create = async (options) => ({ ...(await failing.create(options)), promptStreaming: () => new ReadableStream({ start: (stream) => stream.error(new Error("gone")) }) });
  await assert.rejects(asked(promptApi({ model: { ...failing, create } })));
});

test("the_prompt_api_where_there_is_none", async () => {
  assert.equal(await promptApiAvailability(), "unavailable");
  assert.equal(await promptApiAvailability({ model: promptModel("downloading") }), "downloading");
  await assert.rejects(asked(promptApi()), /LanguageModel/);
});
