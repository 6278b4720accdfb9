// A streamed draft over connections that are slow, in slices, or break after any of its bytes: what comes of it
// is the draft itself, a part of it that says so, or a failure with a name; never another answer.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createAssistant, openai } from "../../dist/node.js";
import { spoil } from "../services/chaos.mjs";
import { listen } from "../services/service.mjs";

const WORDS = ["Knead it ", "ten minutes ", "数🙂é", "\u{1F469}‍\u{1F373} ", "[1]."];
const WHOLE = WORDS.join("");
const CODES = ["network", "truncated", "timeout", "bad_response", "cors_or_network"];
const chunk = (content, finish_reason = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason }] })}\n\n`;
const BODY = `: hello\n\n${WORDS.map((word) => chunk(word)).join("")}${chunk("", "stop")}data: [DONE]\n\n`;

let service;
let proxy;
let length;

before(async () => {
  service = await listen((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of BODY.split(/(?<=\n\n)/)) response.write(event);
    response.end();
  });
  proxy = await spoil(service.url);
  length = (await (await fetch(service.url, { method: "POST", body: "{}" })).arrayBuffer()).byteLength + 400;
});

after(async () => {
  await proxy.close();
  await service.close();
});

async function assistantFor(t, timeouts) {
  const chat = openai({ baseUrl: `${proxy.url}/v1`, model: "m", timeouts });
  const assistant = await createAssistant({ embedder: false, chat });
  t.after(() => assistant.dispose());
  await assistant.add({ id: "bread.md", text: "# Bread\n\nKnead the dough for ten minutes.\n" });
  return assistant;
}

/** What came of a question: `whole`, `part`, or the name of a failure. */
async function outcome(assistant, kind, n, limits = { maxCalls: 1 }) {
  const question = `How long do I knead the dough? Say it in chaos ${kind} ${n}.`;
  const shown = [];
  const onEvent = (event) => event.type === "draft-delta" && shown.push(event.text);
  let answer;
  try {
    answer = await assistant.ask(question, { strategy: "naive", limits, onEvent });
  } catch ({ code, serviceCode }) {
    assert.equal(code, "provider_failed", `${kind} ${n}`);
    assert.ok(CODES.includes(serviceCode), `${kind} ${n}: ${serviceCode}`);
    assert.equal(shown.join(""), "", `${kind} ${n}: what was shown is kept`);
    return serviceCode;
  }
  assert.ok(WHOLE.startsWith(shown.join("")), `${kind} ${n} shows ${shown.join("")}`);
  if (answer.outcome === "answered") {
    assert.equal(answer.text, WHOLE, `${kind} ${n}`);
    return "whole";
  }
  assert.ok(answer.reason === "truncated" || answer.reason === "budget", `${kind} ${n}: ${answer.reason}`);
  if (answer.outcome === "abstained") return "budget";
  assert.ok(WHOLE.startsWith(answer.text.trim()), `${kind} ${n}: ${answer.text}`);
  return "part";
}

/** Sweeps a number, many at once. */
async function sweep(from, to, step, run) {
  const counts = {};
  let next = from;
  const worker = async () => {
    while (next < to) {
      const n = next;
      next += step;
      const came = await run(n);
      counts[came] = (counts[came] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: 16 }, worker));
  return counts;
}

// Every byte where the connection is closed; a reset differs by what the system makes of it, so fewer of them.
for (const [kind, step] of [["end", 1], ["reset", 7]]) {
  test(`a_connection_that_is_gone_after_any_byte: ${kind}`, async (t) => {
    const assistant = await assistantFor(t);
    const counts = await sweep(0, length, step, (n) => outcome(assistant, kind, n));
    t.diagnostic(JSON.stringify(counts));
    assert.ok(counts.whole > 0 && counts.part > 50, JSON.stringify(counts));
    assert.equal(Object.values(counts).reduce((sum, count) => sum + count), Math.ceil(length / step));
  });
}

test("a_connection_on_which_nothing_more_comes", async (t) => {
  // Long enough for a busy machine; all of them wait at once.
  const assistant = await assistantFor(t, { headers: 4000, idle: 4000 });
  const counts = await sweep(0, length, Math.ceil(length / 16), (n) => outcome(assistant, "hole", n));
  t.diagnostic(JSON.stringify(counts));
  assert.ok(counts.timeout > 0 && counts.part > 0 && counts.whole > 0, JSON.stringify(counts));
});

test("every_size_of_slice_splits_every_character_somewhere_and_the_draft_is_whole", async (t) => {
  const assistant = await assistantFor(t);
  assert.deepEqual(await sweep(1, 40, 1, (n) => outcome(assistant, "slices", n)), { whole: 39 });
});

test("a_reply_that_is_late_or_comes_byte_by_byte", async (t) => {
  const assistant = await assistantFor(t);
  assert.equal(await outcome(assistant, "latency", 700), "whole");
  // A byte a second: the deadline ends it while there are only headers.
  const slow = await outcome(assistant, "trickle", 1000, { maxCalls: 1, deadlineMs: 2500 });
  assert.equal(slow, "budget");
});
