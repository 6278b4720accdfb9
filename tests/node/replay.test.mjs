// Recorded runs of the simulation on wasm: the same events and answers as natively, byte for byte.
import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { cargoTarget } from "../../scripts/lib/paths.mjs";
import { runLong } from "../../scripts/lib/run.mjs";
import { compileExample } from "../../scripts/lib/wasm.mjs";

test("recorded runs replay on wasm as they do natively", async () => {
  const { recordings, expected } = await record();
  const replay = instantiate(readFileSync(await compileExample("replay")));
  const replayed = replay(recordings);
  const lines = expected.toString().split("\n");
  assert.ok(lines.length > 200, `${lines.length} lines`);
  replayed.toString().split("\n").forEach((line, i) => assert.equal(line, lines[i], `recording ${i}`));
  assert.ok(replayed.equals(expected), "other bytes");

  const [first] = JSON.parse(recordings.toString());
  const { may_call } = first.orders[0];
  first.orders[0].may_call += 1;
  const other = replay(Buffer.from(JSON.stringify([first]))).toString();
  assert.ok(other.startsWith(`order 0 is another: ${may_call} calls for `), `a run is compared with its recording: ${other}`);
});

/** Recordings made by the native simulation, and what it makes of them. */
async function record() {
  const folder = join(cargoTarget, "recordings");
  rmSync(folder, { recursive: true, force: true });
  const locked = process.env.CI ? ["--locked"] : [];
  const command = ["test", ...locked, "--test", "simulation", "recorded_runs_replay_from_json"];
  await runLong("recording runs", "cargo", command, { env: { SIM_RECORDINGS: folder } });
  return { recordings: readFileSync(join(folder, "recordings.json")), expected: readFileSync(join(folder, "replays.jsonl")) };
}

/** The module of tests/replay/wasm.rs. */
function instantiate(bytes) {
  const module = new WebAssembly.Module(bytes);
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    imports[from] ??= {};
    imports[from][name] = () => assert.fail(`a replay calls ${name}`);
  }
  const { put, replay, byte_at: byteAt } = new WebAssembly.Instance(module, imports).exports;
  return (recordings) => {
    for (const byte of recordings) put(byte);
    return Buffer.alloc(replay()).map((_, at) => byteAt(at));
  };
}
