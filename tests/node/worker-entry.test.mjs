// The Worker's entry around a module that stops dead: what the request gets, and what the next one gets.
import assert from "node:assert/strict";
import { join } from "node:path";
import { before, beforeEach, test } from "node:test";
import { build } from "esbuild";
import { root } from "../../scripts/lib/paths.mjs";

// In place of the glue of wasm-bindgen: what the tests say it does.
const GLUE = `
  export const initSync = () => globalThis.glue.calls.push("init");
  export const __wbg_reset_state = () => globalThis.glue.calls.push("reset");
  export const fetch = (...args) => globalThis.glue.answer(...args);`;

let entry;
const page = new EventTarget();

before(async () => {
  globalThis.addEventListener = page.addEventListener.bind(page);
  const standIn = {
    name: "stand-in",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /dist\/worker\// }, ({ path }) => ({ path, namespace: "stand-in" }));
      onLoad({ filter: /\.js$/, namespace: "stand-in" }, () => ({ contents: GLUE }));
      onLoad({ filter: /\.wasm$/, namespace: "stand-in" }, () => ({ contents: "export default {};" }));
    },
  };
  const options = { bundle: true, format: "esm", write: false, plugins: [standIn] };
  const result = await build({ ...options, entryPoints: [join(root, "www", "src", "worker", "entry.ts")] });
  ({ default: entry } = await import(
    `data:text/javascript;base64,${Buffer.from(result.outputFiles[0].contents).toString("base64")}`
  ));
});

beforeEach((t) => {
  globalThis.glue = { calls: [], answer: async () => new Response("well") };
  t.mock.method(console, "error", () => {});
});

const request = () => entry.fetch(new Request("https://edge.example/v1/ask"), {}, {});
const trap = () => new WebAssembly.RuntimeError("unreachable");

async function mustBeInternal(response) {
  assert.equal(response.status, 500);
  const { error, ...rest } = await response.json();
  assert.deepEqual(rest, {});
  assert.equal(error.code, "internal");
  assert.match(error.message, /try again/);
}

test("the_instance_is_made_once_and_replaced_after_a_trap", async () => {
  assert.equal(await (await request()).text(), "well");
  assert.equal(await (await request()).text(), "well");
  assert.deepEqual(glue.calls, ["init"]);
  glue.answer = async () => {
    throw trap();
  };
  await mustBeInternal(await request());
  assert.deepEqual(glue.calls, ["init"]);
  glue.answer = async () => new Response("well again");
  assert.equal(await (await request()).text(), "well again");
  assert.deepEqual(glue.calls, ["init", "reset"]);
});

test("a_trap_in_a_microtask_answers_every_request_under_way", async () => {
  glue.answer = () => new Promise(() => {});
  const underWay = [request(), request()];
  page.dispatchEvent(Object.assign(new Event("error"), { error: trap() }));
  for (const response of await Promise.all(underWay)) await mustBeInternal(response);
  glue.answer = async () => new Response("well");
  assert.equal(await (await request()).text(), "well");
  assert.deepEqual(glue.calls, ["reset"]);
});

/** A stream of events whose pieces the test gives. */
function stream() {
  let controller;
  const source = { cancelled: false };
  const body = new ReadableStream({
    start: (own) => {
      controller = own;
    },
    cancel: () => {
      source.cancelled = true;
    },
  });
  glue.answer = async () =>
    new Response(body, { status: 200, headers: { "content-type": "text/event-stream", "x-kept": "yes" } });
  return Object.assign(source, {
    give: (text) => controller.enqueue(new TextEncoder().encode(text)),
    end: () => controller.close(),
  });
}

test("a_stream_of_events_passes_through", async () => {
  const source = stream();
  const response = await request();
  assert.equal(response.headers.get("x-kept"), "yes");
  source.give("event: a\n\n");
  source.give("event: b\n\n");
  source.end();
  assert.equal(await response.text(), "event: a\n\nevent: b\n\n");
  assert.deepEqual(glue.calls, []);
});

test("a_stream_whose_instance_stops_ends_with_an_error", async () => {
  const source = stream();
  const response = await request();
  source.give("event: a\n\n");
  const text = response.text();
  await new Promise((resolve) => setImmediate(resolve));
  page.dispatchEvent(Object.assign(new Event("error"), { error: trap() }));
  assert.match(await text, /^event: a\n\nevent: error\ndata: {"error":{"code":"internal",.*}}\n\n$/);
  stream().end();
  assert.equal(await (await request()).text(), "");
  assert.deepEqual(glue.calls, ["reset"]);
});

test("a_stream_whose_instance_stopped_between_two_pieces_ends_with_an_error", async () => {
  const source = stream();
  const reader = (await request()).body.getReader();
  source.give("event: a\n\n");
  await reader.read();
  page.dispatchEvent(Object.assign(new Event("error"), { error: trap() }));
  assert.match(new TextDecoder().decode((await reader.read()).value), /^event: error\n/);
  assert.equal((await reader.read()).done, true);
});

test("a_reader_who_leaves_ends_the_stream_behind", async () => {
  const source = stream();
  const reader = (await request()).body.getReader();
  source.give("event: a\n\n");
  await reader.read();
  await reader.cancel();
  assert.equal(source.cancelled, true);
});

test("any_other_error_leaves_the_instance_in_place", async () => {
  glue.answer = async () => {
    throw new Error("no such binding");
  };
  await mustBeInternal(await request());
  page.dispatchEvent(Object.assign(new Event("error"), { error: new Error("elsewhere") }));
  glue.answer = async () => new Response("well");
  assert.equal(await (await request()).text(), "well");
  assert.deepEqual(glue.calls, []);
});
