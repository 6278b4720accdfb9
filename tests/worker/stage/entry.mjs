// The Worker on a stage: the built one, and around it what a test cannot do to it from outside.
//
//   x-stage: trap      timers cannot be set during this request, which Rust does not survive
//   POST /stage/hold   from now on the assets do not answer
//   POST /stage/free   they do again, those asked before too
//   GET  /stage        how often each asset was asked for, and how many of the Worker's timers are running
import worker from "../../../dist/worker/entry.js";

const POLL_MS = 20;

const asked = {};
const timers = new Set();
let held = false;

// The stage's own, which are not counted.
const { setTimeout, clearTimeout } = globalThis;

// Rust keeps a timer as a number, whatever the platform makes of it.
globalThis.setTimeout = (callback, ms) => {
  const id = Number(setTimeout(() => {
    timers.delete(id);
    callback();
  }, ms));
  timers.add(id);
  return id;
};

globalThis.clearTimeout = (id) => {
  timers.delete(id);
  clearTimeout(id);
};

/** Named like the platform's class, because the Worker looks at the name. */
class Fetcher {
  #assets;

  constructor(assets) {
    this.#assets = assets;
  }

  async fetch(request, init) {
    const { pathname } = new URL(request.url ?? request);
    asked[pathname] = (asked[pathname] ?? 0) + 1;
    // A request must not wait for a promise of another one, so it looks again and again.
    while (held) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    return this.#assets.fetch(request, init);
  }
}

export default {
  async fetch(request, env, context) {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith("/stage")) return onStage(pathname);
    const staged = { ...env, ASSETS: new Fetcher(env.ASSETS) };
    if (request.headers.get("x-stage") !== "trap") return worker.fetch(request, staged, context);
    const real = globalThis.setTimeout;
    globalThis.setTimeout = () => {
      throw new Error("no timers on this stage");
    };
    try {
      return await worker.fetch(request, staged, context);
    } finally {
      globalThis.setTimeout = real;
    }
  },
};

function onStage(pathname) {
  if (pathname === "/stage/hold") held = true;
  if (pathname === "/stage/free") held = false;
  return Response.json({ asked, timers: timers.size });
}
