// The assistant: checks what callers pass, joins cancellation and disposal, leaves the work to a backend.

import type { AskRequest, DocumentInput, SearchRequest } from "../generated/wire.ts";
import { startAnswering } from "./answering.ts";
import { Cancellation } from "./cancellation.ts";
import type { Answer, Pricing } from "./usage.ts";
import { CountercheckError, abortError } from "./error.ts";
import type { AskDefaults, Assistant, Backend, Events } from "./types.ts";

/** Indexing yields to the page when it has kept it waiting this long. */
const YIELD_AFTER_MS = 50;

/** Makes an assistant of a backend, and of prices if there are any. */
export function assistantOf(backend: Backend, defaults: AskDefaults = {}, priced?: Pricing): Assistant {
  let disposed = false;
  const underWay = new Set<() => void>();

  /** Runs a call that ends with the caller's signal or with the assistant, however long its work takes to notice. */
  function guarded<T>(signal: AbortSignal | undefined, work: (cancellation: Cancellation) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (disposed) throw disposal();
      if (signal !== undefined && typeof signal?.addEventListener !== "function") throw misuse("signal", "an AbortSignal");
      if (signal?.aborted) throw abortError(signal);
      const cancellation = new Cancellation();
      const end = () => {
        underWay.delete(abort);
        signal?.removeEventListener("abort", abort);
      };
      const abort = () => {
        end();
        reject(disposed ? disposal() : abortError(signal));
        cancellation.abort();
      };
      underWay.add(abort);
      signal?.addEventListener("abort", abort);
      work(cancellation).then(
        (found) => {
          end();
          resolve(found);
        },
        (error: unknown) => {
          end();
          reject(error as Error);
        },
      );
    });
  }

  const assistant: Assistant = {
    ask(question, { signal, onEvent, ...options } = {}) {
      if (onEvent !== undefined && typeof onEvent !== "function") throw misuse("onEvent", "a function");
      const asked = { ...defaults, ...options, question } as AskRequest;
      const request = priced?.request(asked) ?? asked;
      const run = (events: Events): Promise<Answer> => {
        const answer = guarded(signal, (ended) => backend.ask(request, events, ended));
        return priced === undefined ? answer : answer.then((found) => priced.answer(found));
      };
      return startAnswering(run, onEvent);
    },
    search: (query, k, { signal, ...options } = {}) =>
      guarded(signal, (ended) => backend.search({ ...options, query, k } as SearchRequest, ended)),
    async add(input) {
      const documents: DocumentInput[] = Array.isArray(input) ? input : [input];
      let passages = 0;
      let yielded = performance.now();
      for (const document of documents) {
        passages += await guarded(undefined, (ended) => backend.add(document, ended));
        if (performance.now() - yielded > YIELD_AFTER_MS) {
          await new Promise((resolve) => setTimeout(resolve, 0));
          yielded = performance.now();
        }
      }
      return { documents: documents.length, passages };
    },
    remove: (id) =>
      guarded(undefined, () => {
        if (typeof id !== "string") throw misuse("id", "a string");
        return backend.remove(id);
      }),
    save: () => guarded(undefined, () => backend.save()),
    statistics: () => guarded(undefined, () => backend.statistics()),
    dispose() {
      if (disposed) return;
      disposed = true;
      for (const abort of underWay) abort();
      backend.dispose();
    },
    [Symbol.dispose]: () => assistant.dispose(),
  };
  return assistant;
}

function misuse(name: string, kind: string): CountercheckError {
  return new CountercheckError("invalid_option", `\`${name}\` must be ${kind}`);
}

function disposal(): CountercheckError {
  return new CountercheckError("disposed", "the assistant was disposed of: create another one");
}
