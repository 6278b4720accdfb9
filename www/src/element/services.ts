// Settings to services: whom the loop in this page asks, and who gets to see a question then.

import { endpoint, openai, tavily } from "../client/index.ts";
import type { Chat, Scorer, Solver, WebSearch } from "../client/index.ts";
import type { Services } from "./assistants.ts";
import { webAddress } from "./links.ts";
import type { Messages } from "./messages.ts";
import type { Answering, Place, Searching, Settings } from "./settings.ts";

/** Whom the loop in this page asks, the page's own services and its Worker being given. */
export function servicesOf(settings: Settings, site: Services, worker: string): Services {
  const { model, tavily: { baseUrl } } = settings;
  const chats: Record<Answering, () => Chat | undefined> = {
    site: () => site.chat,
    builtin: () => undefined,
    openai: () => openai({ model: model.name, baseUrl: model.baseUrl, ...keyOf(model) }),
    worker: () => endpoint(worker),
  };
  const searches: Record<Searching, () => WebSearch | undefined> = {
    site: () => site.search,
    none: () => undefined,
    tavily: () => tavily({ ...keyOf(settings.tavily), ...(baseUrl === "" ? {} : { baseUrl }) }),
    worker: () => endpoint(worker),
  };
  return { chat: chats[settings.answering](), search: searches[settings.searching]() };
}

function keyOf({ key }: Place): { key?: string } {
  return key === undefined ? {} : { key };
}

/** What is sent and to whom, in a sentence for whoever is about to ask. */
export function destinations({ chat, search }: Services, messages: Messages): string {
  if (chat === undefined && search === undefined) return messages.inPageNote;
  const solvers = chat === undefined ? [] : solversOf(chat);
  const models = solvers.filter((solver) => solver !== "builtin").map((solver) => hostOf(solver, messages));
  return messages.sentTo([...new Set(models)], search === undefined ? undefined : hostOf(search, messages));
}

function solversOf(chat: Chat): (Solver | Scorer)[] {
  const isOne = typeof chat !== "object" || Array.isArray(chat) || "kind" in chat;
  return (isOne ? [chat] : Object.values(chat)).flat() as (Solver | Scorer)[];
}

function hostOf(service: Exclude<Solver, "builtin"> | Scorer | WebSearch, messages: Messages): string {
  if (typeof service === "function" || service.kind === "scorer") return messages.ownService;
  // A vendor at its own address is known by its name.
  if ("vendor" in service && !service.baseUrl) return service.vendor;
  const address = webAddress(service.baseUrl || "/", document.baseURI);
  return address === undefined ? "?" : new URL(address).host;
}
