// The Worker's entry: starts the wasm instance, hands requests to it, replaces it after a trap.
//
// All routes are in Rust. What is decided here is what happens when Rust stops dead: the request gets
// an error in the words of the API, and the next one a fresh instance.

import module from "../../../dist/worker/index_bg.wasm";
import { __wbg_reset_state as resetState, fetch as answer, initSync } from "../../../dist/worker/index.js";

let state: "new" | "running" | "broken" = "new";
const underWay = new Set<(error: unknown) => void>();

// Futures run in microtasks of their own, where a trap reaches nobody who waits for them.
addEventListener("error", (event) => noteTrap(event.error));

// wrangler takes the handlers from the default export.
export default {
  async fetch(request: Request, env: unknown, context: unknown): Promise<Response> {
    try {
      start();
      return await untilTrap(() => answer(request, env, context));
    } catch (error) {
      noteTrap(error);
      console.error(error);
      return failure();
    }
  },
};

function start(): void {
  if (state === "new") initSync({ module });
  else if (state === "broken") resetState();
  state = "running";
}

function noteTrap(error: unknown): void {
  if (!(error instanceof WebAssembly.RuntimeError)) return;
  state = "broken";
  const waiting = [...underWay];
  underWay.clear();
  for (const reject of waiting) reject(error);
}

/** Waits for a response, or for the trap that would keep it from ever coming. */
async function untilTrap(work: () => Promise<Response>): Promise<Response> {
  let stop: (error: unknown) => void = () => {};
  const trap = new Promise<never>((_, reject) => {
    stop = reject;
    underWay.add(reject);
  });
  try {
    return await Promise.race([work(), trap]);
  } finally {
    underWay.delete(stop);
  }
}

function failure(): Response {
  const message = "the Worker stopped unexpectedly; the next request starts it again";
  return Response.json({ error: { code: "internal", message } }, { status: 500 });
}
