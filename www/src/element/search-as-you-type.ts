// Searches while the reader types: one search at a time, the latest wins, and none without a pause.

import type { SearchHit } from "../client/index.ts";
import { bestOfSections } from "./results.ts";
import type { Results } from "./results.ts";

const SHOWN_HITS = 6;
/** Several passages may be of one section. */
const SEARCHED_HITS = 18;
const ANNOUNCE_DELAY_MS = 700;

/** What the search needs of the element. */
export interface SearchHost {
  results: Results;
  /** How long the reader must have paused, in milliseconds. */
  delay: () => number;
  /** Whether the first search has to wait for the index. */
  isLoading: () => boolean;
  search: (query: string, k: number, signal: AbortSignal) => Promise<SearchHit[]>;
  /** Says how many results there are, once the reader has stopped typing. */
  announce: (count: number) => void;
  fail: (error: unknown) => void;
}

/** The search behind the input. */
export class SearchAsYouType {
  readonly #host: SearchHost;
  #search: AbortController | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #announcement: ReturnType<typeof setTimeout> | undefined;

  constructor(host: SearchHost) {
    this.#host = host;
  }

  /** The reader has typed: searches after a pause, or closes the list if nothing is left. */
  typed(query: string): void {
    clearTimeout(this.#timer);
    if (query === "") this.stop();
    else this.#timer = setTimeout(() => void this.now(query), this.#host.delay());
  }

  /** Searches at once. */
  async now(query: string): Promise<void> {
    this.#search?.abort();
    clearTimeout(this.#announcement);
    const { signal } = (this.#search = new AbortController());
    const { results, isLoading, search, announce, fail } = this.#host;
    try {
      if (isLoading()) results.showLoading(query);
      const hits = bestOfSections(await search(query, SEARCHED_HITS, signal), SHOWN_HITS);
      if (signal.aborted) return;
      results.showHits(query, hits);
      this.#announcement = setTimeout(() => announce(hits.length), ANNOUNCE_DELAY_MS);
    } catch (error) {
      if (signal.aborted) return;
      this.stop();
      fail(error);
    }
  }

  /** Gives up what is under way and closes the list. */
  stop(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#announcement);
    this.#search?.abort();
    this.#host.results.close();
  }
}
