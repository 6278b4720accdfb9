// The Worker's entry: starts the wasm instance, hands requests to it, replaces it after a trap.
//
// All routes are in Rust. What is decided here is what happens when Rust stops dead: the request gets
// an error in the words of the API, as an event where it has begun to stream, and the next request
// gets a fresh instance.

import module from "../../../dist/worker/index_bg.wasm";
import { __wbg_reset_state as resetState, fetch as answer, initSync } from "../../../dist/worker/index.js";

const FAILURE = JSON.stringify({ error: { code: "internal", message: "the Worker failed unexpectedly: try again" } });

let state: "new" | "running" | "broken" = "new";
let traps = 0;
const underWay = new Set<(error: unknown) => void>();

// Futures run in microtasks of their own, where a trap reaches nobody who waits for them.
addEventListener("error", (event) => noteTrap(event.error));

// wrangler takes the handlers from the default export.
export default {
  async fetch(request: Request, env: unknown, context: unknown): Promise<Response> {
    try {
      start();
      return guarded(await untilTrap(() => answer(request, env, context)));
    } catch (error) {
      report(error);
      return new Response(FAILURE, { status: 500, headers: { "content-type": "application/json" } });
    }
  },
};

function start(): void {
  if (state === "new") initSync({ module });
  else if (state === "broken") resetState();
  state = "running";
}

function report(error: unknown): void {
  noteTrap(error);
  console.error(error);
}

function noteTrap(error: unknown): void {
  if (!(error instanceof WebAssembly.RuntimeError)) return;
  state = "broken";
  traps += 1;
  const waiting = [...underWay];
  underWay.clear();
  for (const reject of waiting) reject(error);
}

/** Waits for work in the instance, or for the trap that would keep it from ever ending. */
async function untilTrap<T>(work: () => Promise<T>): Promise<T> {
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

/** A stream of events that ends with an error where its own next piece would never come. */
function guarded(response: Response): Response {
  if (response.body === null || !response.headers.get("content-type")?.startsWith("text/event-stream")) return response;
  const reader = response.body.getReader();
  const before = traps;
  let hasReader = true;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          // A trap between two pieces leaves nobody who could give the next.
          if (traps !== before) throw new Error("the instance of this stream was replaced");
          const { done, value } = await untilTrap(() => reader.read());
          if (!hasReader) return;
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          report(error);
          controller.enqueue(new TextEncoder().encode(`event: error\ndata: ${FAILURE}\n\n`));
          controller.close();
        }
      },
      cancel(reason) {
        hasReader = false;
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, response);
}
