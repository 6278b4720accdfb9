// Who answers, and how: what the page says in attributes and properties, and what its reader has set since.

import type { AskDefaults, Chat, WebSearch } from "../client/index.ts";
import { Assistants } from "./assistants.ts";
import type { Places, Services, Where } from "./assistants.ts";
import type { Messages } from "./messages.ts";
import { destinations, servicesOf } from "./services.ts";
import { settingsOf } from "./settings.ts";
import type { Settings } from "./settings.ts";
import type { Offer } from "./settings-panel.ts";

/** The attributes that say where things are. */
export const PLACE_ATTRIBUTES = ["index", "embedder", "wasm", "wasm-models", "endpoint"] as const;

/** What an element has to ask with. */
export class Setup {
  readonly #element: HTMLElement;
  #site: Services = { chat: undefined, search: undefined };
  #reader: Settings | undefined;
  #where: Where = "page";
  #assistants: Assistants | undefined;

  constructor(element: HTMLElement) {
    this.#element = element;
  }

  /** The assistants of what is set up now. */
  get assistants(): Assistants {
    return (this.#assistants ??= new Assistants(this.places, this.servicesWith(this.settings)));
  }

  /** Gives up the assistants; what is needed again is made again. */
  dispose(): void {
    this.#assistants?.dispose();
    this.#assistants = undefined;
  }

  /** Whom the page would have asked. */
  get site(): Services {
    return this.#site;
  }

  set site(services: { chat?: Chat | undefined; search?: WebSearch | undefined }) {
    this.#site = { ...this.#site, ...services };
  }

  /** Where answers are made. */
  get where(): Where {
    return this.#where;
  }

  /** Chooses where answers are made, as far as there is a choice. */
  choose(wanted: string | null): void {
    const { available } = this.assistants;
    this.#where = available.find((where) => where === wanted) ?? available[0] ?? "page";
  }

  /** What is set, by the reader or else by the page. */
  get settings(): Settings {
    const settings = this.#reader ?? settingsOf(this.#site, this.#strategy, this.#k);
    return { ...settings, where: this.#where };
  }

  /** The options of a question. What nobody has set is left to whoever answers. */
  get defaults(): AskDefaults {
    const { strategy, k } = this.#reader ?? { strategy: this.#strategy, k: this.#k };
    return { ...(strategy === undefined ? {} : { strategy }), ...(k === undefined ? {} : { k }) };
  }

  /** Whether the reader has set the service that is asked. */
  get isReaders(): boolean {
    return this.#where === "page" && this.#reader?.answering === "openai";
  }

  /** Puts the reader's settings to use, or rejects and leaves all as it was. */
  async use(settings: Settings, signal: AbortSignal): Promise<void> {
    await this.assistants.use(this.servicesWith(settings), settings.where, signal);
    this.#reader = settings;
  }

  /** What there is to choose from. */
  get offer(): Offer {
    const { available } = this.assistants;
    const inPage = available.includes("page");
    const hasWorker = available.includes("edge");
    const { chat, search } = this.#site;
    return {
      answerings: [
        ...(inPage && chat !== undefined ? (["site"] as const) : []),
        ...(inPage ? (["builtin", "openai"] as const) : []),
        ...(inPage && hasWorker ? (["worker"] as const) : []),
        ...(hasWorker ? (["edge"] as const) : []),
      ],
      searchings: [
        ...(search === undefined ? [] : (["site"] as const)),
        ...(["none", "tavily"] as const),
        ...(hasWorker ? (["worker"] as const) : []),
      ],
    };
  }

  /** Who gets to see a question that is answered in this page. */
  note(messages: Messages): string {
    return destinations(this.assistants.services, messages);
  }

  /** Whom the loop would ask with these settings. */
  servicesWith(settings: Settings): Services {
    return servicesOf(settings, this.#site, this.places.endpoint ?? "");
  }

  /** Where things are. */
  get places(): Places {
    const [index, embedder, wasm, wasmModels, endpoint] = PLACE_ATTRIBUTES.map(
      (name) => this.#element.getAttribute(name) ?? undefined,
    );
    return { index, embedder, wasm, wasmModels, endpoint };
  }

  get #strategy(): string | undefined {
    return this.#element.getAttribute("strategy") ?? undefined;
  }

  get #k(): number | undefined {
    const k = this.#element.getAttribute("k");
    return k === null ? undefined : Number(k);
  }
}
