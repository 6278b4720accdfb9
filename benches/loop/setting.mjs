// What the measurements of a run have in common: a question, and what there is to answer it from.

/** Runs between two looks at the CPU clock: a look takes as long as a tenth of a run, on some machines longer. */
export const BATCH = 10;

export const QUESTION = "How do I limit the size of a request body?";

export const PASSAGES = [
  "The option bodyLimit sets the maximum size of a request body in bytes. Its default is 1048576 bytes (1 MiB).",
  "A request with a body above the limit is answered with status 413, before a handler has seen it.",
  "A route may have a limit of its own, larger or smaller than that of the server that it belongs to.",
  "The size is that of the body as it was sent: a compressed request body is counted compressed.",
].map((text, i) => ({ title: `Limits ${i + 1}`, text }));
