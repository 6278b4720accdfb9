// The settings as a modal dialog, in a bundle of its own that is loaded when somebody opens them. What
// cannot be used is said beside its field, and nothing has changed then. Keys leave the document when
// the dialog closes.

import { h } from "./dom.ts";
import type { Places, Services } from "./assistants.ts";
import { Field, Radios, ServiceFields } from "./fields.ts";
import type { Messages } from "./messages.ts";
import { ENGLISH_SETTINGS } from "./messages-settings.ts";
import type { SettingsMessages } from "./messages-settings.ts";
import { adviceOn } from "./notice.ts";
import { MOST_PASSAGES } from "./settings.ts";
import type { Answering, Searching, Settings } from "./settings.ts";
import { settingsStyles } from "./styles-settings.ts";
import { tryModel } from "./try-model.ts";

/** What a page offers. */
export interface Offer {
  answerings: readonly (Answering | "edge")[];
  searchings: readonly Searching[];
}

/** What the settings are of. */
export interface PanelHost {
  /** Puts the settings to use; rejects if they cannot be used, or once the signal is aborted. */
  apply: (settings: Settings, signal: AbortSignal) => Promise<void>;
  /** Who would be asked with them. */
  services: (settings: Settings) => Services;
  places: () => Places;
}

/** The dialog. */
export class SettingsPanel {
  readonly element: HTMLDialogElement;
  readonly #messages: Messages & SettingsMessages;
  readonly #host: PanelHost;
  readonly #strategies: Radios;
  readonly #answerings: Radios;
  readonly #searchings: Radios;
  readonly #k: Field;
  readonly #modelName: Field;
  readonly #model: ServiceFields;
  readonly #tavily: ServiceFields;
  readonly #problem = h("p", { class: "problem", role: "alert" });
  readonly #trial = h("p", { class: "trial", role: "status" });
  readonly #submit: HTMLButtonElement;
  #before: Settings | undefined;
  #isBusy = false;
  #closing = new AbortController();

  constructor(messages: Messages, host: PanelHost) {
    const m = { ...ENGLISH_SETTINGS, ...messages };
    this.#messages = m;
    this.#host = host;
    const follow = () => this.#follow();
    this.#strategies = new Radios("strategy", m.strategy, m.strategies);
    this.#answerings = new Radios("answering", m.answering, m.answerings, follow);
    this.#searchings = new Radios("searching", m.webSearch, m.webSearches);
    this.#searchings.element.addEventListener("change", follow);
    const range = { type: "number", min: "1", max: String(MOST_PASSAGES), required: "" };
    this.#k = new Field("k", m.passages.name, range, m.passages.text);
    this.#modelName = new Field("model-name", m.model, { spellcheck: "false", autocapitalize: "none" });
    this.#model = new ServiceFields("model", m.baseUrl, m, "http://127.0.0.1:11434/v1", this.#modelName);
    this.#tavily = new ServiceFields("tavily", m.baseUrlIfOther, m, "https://api.tavily.com");
    const tryIt = h("button", { type: "button", class: "plain" }, m.tryModel);
    tryIt.addEventListener("click", () => void this.#try());
    this.#model.element.append(h("div", { class: "try" }, tryIt, this.#trial));
    this.#answerings.place("openai", this.#model.element);
    this.#searchings.place("tavily", this.#tavily.element);
    this.#submit = h("button", { type: "submit", class: "submit" }, m.apply);
    const cancel = h("button", { type: "button", class: "plain" }, m.cancel);
    cancel.addEventListener("click", () => this.element.close());
    const form = h(
      "form",
      { novalidate: true },
      h("h2", { id: "settings-title" }, m.settings),
      this.#answerings.element,
      this.#strategies.element,
      this.#k.element,
      this.#searchings.element,
      h("footer", {}, this.#problem, this.#submit, cancel),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#apply();
    });
    this.element = h("dialog", { part: "settings", class: "settings", "aria-labelledby": "settings-title" }, form);
    this.element.addEventListener("close", () => this.#closed());
    // What is typed here is not for the page's shortcuts.
    this.element.addEventListener("keydown", (event) => event.stopPropagation());
  }

  /** Opens the dialog in a shadow root. */
  open(root: ShadowRoot, settings: Settings, { answerings, searchings }: Offer): void {
    if (this.element.parentNode !== root) {
      root.adoptedStyleSheets = [...root.adoptedStyleSheets, settingsStyles()];
      root.append(this.element);
    }
    this.#before = settings;
    this.#closing = new AbortController();
    this.#strategies.offer(Object.keys(this.#messages.strategies), settings.strategy);
    this.#answerings.offer(answerings, settings.where === "edge" ? "edge" : settings.answering);
    this.#searchings.offer(searchings, settings.searching);
    this.#k.input.value = String(settings.k);
    this.#modelName.input.value = settings.model.name;
    this.#model.fill(settings.model);
    this.#tavily.fill(settings.tavily);
    this.#clearProblems();
    this.#follow();
    this.element.showModal();
  }

  /** Shows the fields of what is chosen. */
  #follow(): void {
    this.#model.element.hidden = this.#answerings.chosen !== "openai";
    this.#tavily.element.hidden = this.#searchings.chosen !== "tavily";
    // A Worker that answers everything searches the web by itself.
    this.#searchings.element.hidden = this.#answerings.chosen === "edge";
  }

  #read(before: Settings): Settings {
    const answering = this.#answerings.chosen as Answering | "edge";
    const searching = this.#searchings.chosen as Searching;
    // What is not chosen stays as it was: its fields are not to be seen.
    return {
      where: answering === "edge" ? "edge" : "page",
      strategy: this.#strategies.chosen || before.strategy,
      k: this.#k.input.valueAsNumber,
      answering: answering === "edge" ? before.answering : answering,
      model: answering === "openai" ? { name: this.#modelName.value, ...this.#model.read() } : before.model,
      searching,
      tavily: searching === "tavily" ? this.#tavily.read() : before.tavily,
    };
  }

  async #apply(): Promise<void> {
    const before = this.#before;
    if (before === undefined || this.#isBusy) return;
    const { signal } = this.#closing;
    this.#clearProblems();
    if (!this.#k.input.checkValidity()) return this.#k.complain(this.#messages.passagesRange(1, MOST_PASSAGES));
    const settings = this.#read(before);
    const { baseUrl, key } = settings.tavily;
    if (settings.searching === "tavily" && baseUrl === "" && key === undefined)
      return this.#tavily.key.complain(this.#messages.keyMissing);
    this.#setBusy(true);
    try {
      await this.#host.apply(settings, signal);
      this.element.close();
    } catch (error) {
      if (!signal.aborted && !this.#complainOf(error)) this.#problem.textContent = adviceOn(error, true, this.#messages);
    } finally {
      this.#setBusy(false);
    }
  }

  async #try(): Promise<void> {
    const before = this.#before;
    if (before === undefined) return;
    const { signal } = this.#closing;
    this.#clearProblems();
    this.#trial.textContent = this.#messages.trying;
    let outcome = this.#messages.modelAnswers;
    try {
      const services = this.#host.services(this.#read(before));
      await tryModel(services, this.#host.places(), signal);
    } catch (error) {
      outcome = this.#complainOf(error) ? "" : adviceOn(error, true, this.#messages);
    }
    if (!signal.aborted) this.#trial.textContent = outcome;
  }

  /** Says what is wrong beside the field that the error is about, if it is about one. */
  #complainOf(error: unknown): boolean {
    const { code, message = "" } = error as { code?: unknown; message?: string };
    const [, role, problem] = /^(\w+): (.+)$/s.exec(message) ?? [];
    if (code !== "invalid_option" || problem === undefined) return false;
    const service = role === "search" ? this.#tavily : this.#model;
    if (service.element.hidden) return false;
    const fields: Record<string, Field> = { "base URL": service.baseUrl, key: service.key, model: this.#modelName };
    // The first of them that is named is what is wrong.
    fields[/base URL|key|model/.exec(problem)?.[0] ?? "base URL"]?.complain(sentence(problem));
    return true;
  }

  #clearProblems(): void {
    for (const part of [this.#problem, this.#trial]) part.textContent = "";
    for (const field of [this.#k, this.#modelName]) field.complain();
    for (const service of [this.#model, this.#tavily]) service.clearProblems();
  }

  #setBusy(isBusy: boolean): void {
    this.#isBusy = isBusy;
    this.#submit.setAttribute("aria-disabled", String(isBusy));
    this.#submit.textContent = isBusy ? this.#messages.applying : this.#messages.apply;
  }

  #closed(): void {
    this.#closing.abort();
    this.#before = undefined;
    this.#model.forgetTyped();
    this.#tavily.forgetTyped();
  }
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
