// The assistant: checks what callers pass, joins cancellation and disposal, leaves the work to a backend.

import type { Answer as RunAnswer, AskRequest, DocumentInput } from "../generated/wire.ts";
import { startAnswering } from "./answering.ts";
import type { Answer } from "./cost.ts";
import { CountercheckError, abortError } from "./error.ts";
import type { AskDefaults, Assistant, Backend } from "./types.ts";

/** Indexing yields to the page when it has kept it waiting this long. */
const YIELD_AFTER_MS = 50;

/** Makes an assistant of a backend; each answer goes through `finish`. */
export function assistantOf(
  backend: Backend,
  defaults: AskDefaults = {},
  finish: (answer: RunAnswer) => Answer = (answer) => answer,
): Assistant {
  const disposal = new AbortController();

  /** Runs a call that ends with the caller's signal or with the assistant, whichever comes first. */
  async function guarded<T>(signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    mustLive(disposal.signal);
    if (signal?.aborted) throw abortError(signal);
    const signals = signal === undefined ? [disposal.signal] : [disposal.signal, signal];
    const { joined, release } = join(signals);
    try {
      return await Promise.race([work(joined), rejectionOf(joined, disposal.signal, signal)]);
    } finally {
      release();
    }
  }

  const assistant: Assistant = {
    ask(question, { signal, onEvent, ...options } = {}) {
      const request = { ...defaults, ...options, question } as AskRequest;
      return startAnswering((emit) => guarded(signal, (joined) => backend.ask(request, emit, joined)).then(finish), onEvent);
    },
    search: (query, k, { signal } = {}) => guarded(signal, (joined) => backend.search(query, k, joined)),
    async add(input) {
      const documents: DocumentInput[] = Array.isArray(input) ? input : [input];
      let passages = 0;
      let yielded = performance.now();
      for (const document of documents) {
        passages += await guarded(undefined, (joined) => backend.add(document, joined));
        if (performance.now() - yielded > YIELD_AFTER_MS) {
          await new Promise((resolve) => setTimeout(resolve, 0));
          yielded = performance.now();
        }
      }
      return { documents: documents.length, passages };
    },
    remove: (id) => guarded(undefined, () => backend.remove(id)),
    save: () => guarded(undefined, () => backend.save()),
    statistics: () => guarded(undefined, () => backend.statistics()),
    dispose() {
      if (disposal.signal.aborted) return;
      disposal.abort();
      backend.dispose();
    },
    [Symbol.dispose]: () => assistant.dispose(),
  };
  return assistant;
}

function mustLive(disposal: AbortSignal): void {
  if (disposal.aborted) throw new CountercheckError("disposed", "the assistant was disposed of: create another one");
}

/** A signal that follows several; AbortSignal.any would do, but Safari before 17.4 has none. */
function join(signals: AbortSignal[]): { joined: AbortSignal; release: () => void } {
  const controller = new AbortController();
  const abort = () => controller.abort();
  for (const signal of signals) signal.addEventListener("abort", abort, { once: true });
  return {
    joined: controller.signal,
    release: () => signals.forEach((signal) => signal.removeEventListener("abort", abort)),
  };
}

/** Rejects as soon as the call is cancelled, however long its work takes to notice. */
function rejectionOf(joined: AbortSignal, disposal: AbortSignal, signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    joined.addEventListener(
      "abort",
      () => {
        try {
          mustLive(disposal);
          reject(abortError(signal));
        } catch (error) {
          reject(error as Error);
        }
      },
      { once: true },
    );
  });
}
