// What a reader can set.
//
// Kept in memory alone. What is stored, or stands in an address or an attribute, every script of the
// site can read for ever; a key is none of their business.

import type { Services, Where } from "./assistants.ts";

/** The most passages that may be looked up for a question. */
export const MOST_PASSAGES = 50;

/** Whom the loop in this page asks: `site` is what the page set up, `worker` answers its steps. */
export type Answering = "site" | "builtin" | "openai" | "worker";

/** Who searches the web. */
export type Searching = "site" | "none" | "tavily" | "worker";

/** A service of the reader's. */
export interface Place {
  baseUrl: string;
  key: string | undefined;
}

/** Everything that can be set. */
export interface Settings {
  where: Where;
  strategy: string;
  k: number;
  answering: Answering;
  model: Place & { name: string };
  searching: Searching;
  tavily: Place;
}

/** The settings of a page whose reader has set nothing. */
export function settingsOf(site: Services, strategy?: string, k?: number): Omit<Settings, "where"> {
  return {
    strategy: strategy ?? "countercheck",
    k: k ?? 4,
    answering: site.chat === undefined ? "builtin" : "site",
    model: { baseUrl: "", key: undefined, name: "" },
    searching: site.search === undefined ? "none" : "site",
    tavily: { baseUrl: "", key: undefined },
  };
}

/** The key that was typed, or else the one that is kept, unless it was for another server. */
export function keyFor(baseUrl: string, typed: string, kept: Place): string | undefined {
  if (typed !== "") return typed;
  return originOf(baseUrl) === originOf(kept.baseUrl) ? kept.key : undefined;
}

function originOf(address: string): string | undefined {
  return URL.canParse(address) ? new URL(address).origin : undefined;
}
