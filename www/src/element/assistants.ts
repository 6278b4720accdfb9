// The assistants behind the element: one in this page, one at the edge, each made when first needed.
//
// The index and the embedder are downloaded once: an assistant that asks another model gets the same bytes.

import { createAssistant } from "../client/index.ts";
import type { Assistant, AssistantOptions, Chat, WebSearch } from "../client/index.ts";
import { engineFor } from "./engine.ts";
import { loadEmbedder, loadIndex } from "../client/source.ts";

/** Where answers are made. */
export type Where = "page" | "edge";

/** Where the files and the Worker are; what is undefined is not available. */
export interface Places {
  index: string | undefined;
  embedder: string | undefined;
  wasm: string | undefined;
  wasmModels: string | undefined;
  endpoint: string | undefined;
}

/** Who is asked by the loop in this page. */
export interface Services {
  chat: Chat | undefined;
  search: WebSearch | undefined;
}

/** Makes assistants on demand and keeps them. */
export class Assistants {
  readonly #places: Places;
  readonly #made = new Map<Where, Promise<Assistant>>();
  #services: Services;
  #index: Promise<Uint8Array> | undefined;
  #embedder: Promise<Uint8Array> | undefined;

  constructor(places: Places, services: Services) {
    this.#places = places;
    this.#services = services;
  }

  /** Which places are available, the page first. */
  get available(): Where[] {
    const { index, endpoint } = this.#places;
    return [...(index === undefined ? [] : ["page" as const]), ...(endpoint === undefined ? [] : ["edge" as const])];
  }

  /** Who is asked in this page. */
  get services(): Services {
    return this.#services;
  }

  /** The assistant of a place; a failed attempt is not remembered. */
  at(where: Where): Promise<Assistant> {
    return this.#made.get(where) ?? this.#keep(where, createAssistant(this.#options(where, this.#services)));
  }

  /** Whether the assistant of a place has been asked for. */
  has(where: Where): boolean {
    return this.#made.has(where);
  }

  /**
   * Asks others in this page from now on. Where the page is where answers are made, their assistant is made
   * at once: if it cannot be, or the signal is aborted before it is, this rejects and leaves all as it was.
   */
  async use(services: Services, where: Where, signal: AbortSignal): Promise<void> {
    const made = where === "page" ? await createAssistant(this.#options("page", services)) : undefined;
    if (signal.aborted) made?.dispose();
    signal.throwIfAborted();
    this.#dispose("page");
    this.#services = services;
    if (made !== undefined) this.#keep("page", Promise.resolve(made));
  }

  dispose(): void {
    for (const where of [...this.#made.keys()]) this.#dispose(where);
  }

  #keep(where: Where, made: Promise<Assistant>): Promise<Assistant> {
    this.#made.set(where, made);
    made.catch(() => {
      if (this.#made.get(where) === made) this.#made.delete(where);
    });
    return made;
  }

  #dispose(where: Where): void {
    const made = this.#made.get(where);
    this.#made.delete(where);
    made?.then(
      (assistant) => assistant.dispose(),
      () => {},
    );
  }

  #options(where: Where, services: Services): AssistantOptions {
    const { index, embedder, endpoint } = this.#places;
    if (where === "edge") return { endpoint: endpoint ?? "" };
    return {
      ...(index === undefined ? {} : { index: this.#bytesOfIndex(index) }),
      embedder: embedder === "none" ? false : this.#bytesOfEmbedder(embedder),
      ...engineFor(this.#places, services),
    };
  }

  #bytesOfIndex(address: string): Promise<Uint8Array> {
    return (this.#index ??= loadIndex(address).catch((error: unknown) => {
      this.#index = undefined;
      throw error;
    }));
  }

  #bytesOfEmbedder(address: string | undefined): Promise<Uint8Array> {
    const source = address ?? new URL("./embedder.bin", import.meta.url);
    return (this.#embedder ??= loadEmbedder(source).catch((error: unknown) => {
      this.#embedder = undefined;
      throw error;
    }));
  }
}

/** Rejects once the signal is aborted: loading an index does not stop half way, but waiting for it does. */
export function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}
