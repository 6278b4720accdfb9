// The assistants behind the element: one in this page, one at the edge, each made when first needed.

import { createAssistant } from "../client/index.ts";
import type { Assistant, AssistantOptions } from "../client/index.ts";

/** Where answers are made. */
export type Where = "page" | "edge";

/** Where the files and the Worker are; what is undefined is not available. */
export interface Places {
  index: string | undefined;
  embedder: string | undefined;
  wasm: string | undefined;
  endpoint: string | undefined;
}

/** Makes assistants on demand and keeps them. */
export class Assistants {
  readonly #places: Places;
  readonly #made = new Map<Where, Promise<Assistant>>();

  constructor(places: Places) {
    this.#places = places;
  }

  /** Which places are available, the page first. */
  get available(): Where[] {
    const { index, endpoint } = this.#places;
    return [...(index === undefined ? [] : ["page" as const]), ...(endpoint === undefined ? [] : ["edge" as const])];
  }

  /** The assistant of a place; a failed attempt is not remembered. */
  at(where: Where): Promise<Assistant> {
    const known = this.#made.get(where);
    if (known !== undefined) return known;
    const made = createAssistant(this.#options(where));
    this.#made.set(where, made);
    made.catch(() => this.#made.delete(where));
    return made;
  }

  /** Whether the assistant of a place has been asked for. */
  has(where: Where): boolean {
    return this.#made.has(where);
  }

  dispose(): void {
    for (const assistant of this.#made.values())
      assistant.then(
        (made) => made.dispose(),
        () => {},
      );
    this.#made.clear();
  }

  #options(where: Where): AssistantOptions {
    const { index, embedder, wasm, endpoint } = this.#places;
    if (where === "edge") return { endpoint: endpoint ?? "" };
    return {
      ...(index === undefined ? {} : { index }),
      ...(embedder === undefined ? {} : { embedder: embedder === "none" ? (false as const) : embedder }),
      ...(wasm === undefined ? {} : { wasm }),
    };
  }
}

/** Rejects once the signal is aborted: loading an index does not stop half way, but waiting for it does. */
export function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}
