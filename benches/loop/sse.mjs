// The decoder of streams in wasm on 8 MiB that arrive byte by byte, each byte a call of its own from JavaScript: as a
// model sends them, and as one event that is as long. What it makes of them must be what another parser of events
// makes of the whole. Prints one line of JSON.
import { readFileSync } from "node:fs";
import { createParser } from "eventsource-parser";

const BYTES = 8 << 20;
const ROUNDS = 3;
const [, , path] = process.argv;

/** Chunks of a chat model's reply, with a character of several bytes in each. */
function written() {
  const chunk = (n) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: `word ${n} 数🙂` }, finish_reason: null }] })}\n\n`;
  let text = "";
  for (let n = 0; text.length < BYTES; n += 1) text += chunk(n);
  return whole(new TextEncoder().encode(text).subarray(0, BYTES));
}

/** Without the event that the end cuts off. */
function whole(bytes) {
  return bytes.subarray(0, bytes.lastIndexOf(10, bytes.lastIndexOf(10) - 1) + 2);
}

const STREAMS = { "a reply in chunks": written(), "one event": new TextEncoder().encode(`data:${"x".repeat(BYTES - 7)}\n\n`) };

const { instance } = await WebAssembly.instantiate(readFileSync(path), imports());
const { memory, begin, feed, events, text, text_length: length } = instance.exports;

/** What the module imports is never called: randomness that nothing draws. */
function imports() {
  const named = {};
  for (const { module, name } of WebAssembly.Module.imports(new WebAssembly.Module(readFileSync(path)))) {
    (named[module] ??= {})[name] = () => {
      throw new Error(`${module}.${name} is not there`);
    };
  }
  return named;
}

/** The data of a stream's events by the other parser, each with a line feed behind it. */
function reference(bytes) {
  const found = [];
  createParser({ onEvent: ({ data }) => found.push(`${data}\n`) }).feed(new TextDecoder().decode(bytes));
  return found;
}

function measured(name, bytes) {
  const times = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    begin(bytes.length);
    const cpu = process.cpuUsage();
    const started = performance.now();
    for (let i = 0; i < bytes.length; i += 1) if (!feed(bytes[i])) throw new Error(`${name}: byte ${i} is refused`);
    const wallMs = performance.now() - started;
    const { user, system } = process.cpuUsage(cpu);
    times.push({ wallMs, cpuMs: (user + system) / 1000 });
  }
  const expected = reference(bytes);
  const found = new TextDecoder().decode(new Uint8Array(memory.buffer, text(), length()));
  if (events() !== expected.length || found !== expected.join("")) throw new Error(`${name}: ${events()} events, not the ${expected.length} of the reference`);
  const best = (key) => Math.min(...times.map((time) => time[key]));
  return { bytes: bytes.length, events: events(), wallMs: best("wallMs"), cpuMs: best("cpuMs") };
}

console.log(JSON.stringify(Object.fromEntries(Object.entries(STREAMS).map(([name, bytes]) => [name, measured(name, bytes)]))));
