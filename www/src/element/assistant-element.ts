// The custom element's class; define.ts registers it. Importing this file needs no browser.

import type { Answer, Assistant, Chat, WebSearch } from "../client/index.ts";
import { Asking } from "./asking.ts";
import type { AnswerDetail } from "./asking.ts";
import type { Where } from "./assistants.ts";
import { listenToComposer } from "./composer.ts";
import { h } from "./dom.ts";
import { shortcutLabel, shortcutOf, shortcutsIn } from "./keyboard.ts";
import { ENGLISH } from "./messages.ts";
import type { Messages } from "./messages.ts";
import { adoptProperties, reflect } from "./properties.ts";
import { SearchAsYouType } from "./search-as-you-type.ts";
import type { Settings } from "./settings.ts";
import type { SettingsPanel } from "./settings-panel.ts";
import { PLACE_ATTRIBUTES, Setup } from "./setup.ts";
import { styles } from "./styles.ts";
import { announce, buildView, showExamples, showInput, showWhere } from "./view.ts";
import type { View } from "./view.ts";

const SEARCH_DELAY_MS: Record<Where, number> = { page: 60, edge: 220 };

export type { AnswerDetail };

// A server has no HTMLElement to extend; nobody makes an element there.
const Base = globalThis.HTMLElement ?? (class {} as typeof HTMLElement);

/**
 * A documentation assistant: search as you type, and answers that check themselves.
 *
 * @attr index - address of the index; makes answers in this page available
 * @attr endpoint - address of a countercheck Worker, empty for this origin; makes answers at the edge available
 * @attr embedder - address of the embedder's table if it is not beside the script, `none` for words alone
 * @attr wasm, wasm-models - addresses of countercheck_bg.wasm and countercheck_models_bg.wasm if not beside the script
 * @attr where - `page` or `edge`: where answers are made at first
 * @attr strategy - the strategy's name, for instance `corrective`; `countercheck` by default
 * @attr k - how many passages are looked up for a question
 * @attr settings - lets the reader choose strategy, model and web search
 * @attr examples - example questions, separated by `|`
 * @attr shortcuts - of `k` (⌘K, Ctrl+K) and `/`, which are on; both by default, empty for none
 * @attr loading - `eager` loads the index at once rather than when the reader turns to the element
 * @attr theme - `light` or `dark`; by default what the page's `color-scheme` says
 *
 * Properties besides: `chat` and `search` as `createAssistant` takes them, `messages`, `examples`.
 *
 * @slot - what stands below the answer
 * @fires countercheck-ask - before a question is asked; `detail.question`, `detail.strategy`; cancelable
 * @fires countercheck-step - as a run goes on; `detail.event` as of `ask`, none at its end
 * @fires countercheck-answer - `detail` is an {@link AnswerDetail}
 * @fires countercheck-error - `detail.error`
 *
 * @csspart form, input, button, shortcut, results, result, where, settings-button, settings, examples, example, log,
 *   answer, question, stages, draft, badge, text, note, citation, sources, source, trace, withdrawn, took, error
 *
 * @cssprop --countercheck-accent - colour of what can be acted on
 * @cssprop --countercheck-text, --countercheck-muted, --countercheck-background, --countercheck-surface,
 *   --countercheck-border - the other colours
 * @cssprop --countercheck-radius, --countercheck-font, --countercheck-mono - shape and type
 */
export class CountercheckAssistant extends Base {
  static readonly observedAttributes = [...PLACE_ATTRIBUTES, "where", "examples", "shortcuts", "settings"];

  #messages: Messages = ENGLISH;
  #view: View | undefined;
  #panel: SettingsPanel | undefined;
  readonly #setup = new Setup(this);
  readonly #statistics = new Map<Where, string>();
  #asking: Asking | undefined;
  #search: SearchAsYouType | undefined;
  readonly #onPageKey = (event: KeyboardEvent) => this.#handlePageKey(event);

  connectedCallback(): void {
    // An element that is only moved keeps its answer.
    if (this.#view === undefined) {
      adoptProperties(this, ["chat", "search", "messages", "strategy", "k", "where", "examples"]);
      this.#build();
    }
    document.addEventListener("keydown", this.#onPageKey);
    if (this.getAttribute("loading") === "eager") this.#preload();
  }

  disconnectedCallback(): void {
    document.removeEventListener("keydown", this.#onPageKey);
    this.stop();
    this.#search?.stop();
    this.#panel?.element.close();
    this.#setup.dispose();
  }

  attributeChangedCallback(name: string, before: string | null, value: string | null): void {
    if (before === value || this.#view === undefined) return;
    if (name === "where") this.#choose(value);
    else this.#changed();
  }

  /** The element's strings; what is absent stays English. */
  get messages(): Messages {
    return this.#messages;
  }

  set messages(messages: Partial<Messages>) {
    this.#messages = { ...ENGLISH, ...messages };
    this.#changed();
  }

  /** Whom the loop in this page asks, as `createAssistant` takes it; by default the built-in solver. */
  get chat(): Chat | undefined {
    return this.#setup.site.chat;
  }

  set chat(chat: Chat | undefined) {
    this.#setup.site = { chat };
    this.#changed();
  }

  /** Who searches the web for the loop in this page, as `createAssistant` takes it. */
  get search(): WebSearch | undefined {
    return this.#setup.site.search;
  }

  set search(search: WebSearch | undefined) {
    this.#setup.site = { search };
    this.#changed();
  }

  /** The strategy's name, unless the reader has set another. */
  get strategy(): string | undefined {
    return this.getAttribute("strategy") ?? undefined;
  }

  set strategy(strategy: string | undefined) {
    reflect(this, "strategy", strategy);
  }

  /** How many passages are looked up for a question, unless the reader has set another number. */
  get k(): number | undefined {
    return this.hasAttribute("k") ? Number(this.getAttribute("k")) : undefined;
  }

  set k(k: number | undefined) {
    reflect(this, "k", k);
  }

  /** Where answers are made. A place that is not available is not chosen. */
  get where(): Where {
    return this.#setup.where;
  }

  set where(where: Where) {
    this.setAttribute("where", where);
  }

  /** The example questions. */
  get examples(): string[] {
    return (this.getAttribute("examples") ?? "")
      .split("|")
      .map((question) => question.trim())
      .filter((question) => question !== "");
  }

  set examples(questions: string[]) {
    this.setAttribute("examples", questions.join("|"));
  }

  /** Asks a question as if the reader had; undefined if it was cancelled or failed, or nobody sees the element. */
  async ask(question: string): Promise<Answer | undefined> {
    const view = this.#view;
    const asked = question.trim();
    if (view === undefined || asked === "") return undefined;
    const { strategy } = this.#setup.settings;
    if (!this.#dispatch("countercheck-ask", { question: asked, strategy })) return undefined;
    view.input.value = asked;
    this.#search?.stop();
    showInput(view);
    view.notice.clear();
    view.examples.hidden = true;
    // The composer keeps the focus, except where that would leave half the answer under a keyboard.
    if (matchMedia("(hover: none) and (pointer: coarse)").matches) view.input.blur();
    return this.#asking?.ask(asked);
  }

  /** Ends the run that is under way, if there is one. */
  stop(): void {
    this.#asking?.stop();
  }

  /** Empties the input and takes the answer away. */
  clear(): void {
    this.stop();
    this.#search?.stop();
    const view = this.#view;
    if (view === undefined) return;
    view.input.value = "";
    view.log.replaceChildren();
    view.examples.hidden = this.examples.length === 0;
    showInput(view);
    view.notice.clear();
  }

  /** Brings the reader to the input. */
  override focus(options?: FocusOptions): void {
    this.#view?.input.focus(options);
    this.#view?.input.select();
  }

  /** The assistant of a place, with a note while it is being made. */
  async #assistant(where: Where): Promise<Assistant> {
    const { assistants } = this.#setup;
    if (!assistants.available.includes(where)) {
      throw new Error("this element has neither an index nor an endpoint: set one of these attributes");
    }
    const isNew = !assistants.has(where);
    const made = assistants.at(where);
    if (!isNew) return made;
    this.#view?.note.replaceChildren(h("span", { class: "spinner", "aria-hidden": "true" }), this.#messages.loading);
    // Another index may have been set meanwhile, with a note of its own.
    const isCurrent = () => this.#setup.assistants === assistants;
    try {
      const assistant = await made;
      if (isCurrent()) void this.#countIndexed(assistant, where);
      return assistant;
    } finally {
      if (isCurrent()) this.#showWhere();
    }
  }

  #preload(): void {
    const { assistants, where } = this.#setup;
    // Whoever then needs it gets the failure.
    if (assistants.available.includes(where) && !assistants.has(where)) this.#assistant(where).catch(() => {});
  }

  #build(): void {
    this.stop();
    this.#setup.dispose();
    this.#statistics.clear();
    const before = this.#view?.input.value ?? "";
    const view = buildView(this.#messages, shortcutLabel(shortcutsIn(this.getAttribute("shortcuts"))), {
      whereChanged: (where) => {
        this.where = where;
      },
      ask: (question) => this.#askTyped(question),
      openSettings: () => void this.#openSettings(),
    });
    this.#view = view;
    this.#search = this.#searchIn(view);
    this.#asking = this.#askingIn(view);
    view.input.value = before;
    this.#listen(view);
    showExamples(view, this.examples, this.#messages, (question) => {
      view.input.focus();
      void this.ask(question);
    });
    const shadow = this.shadowRoot ?? this.attachShadow({ mode: "open" });
    shadow.adoptedStyleSheets = [styles()];
    this.#panel?.element.close();
    this.#panel = undefined;
    shadow.replaceChildren(view.root);
    view.settings.hidden = !this.hasAttribute("settings");
    this.#choose(this.getAttribute("where"));
    showInput(view);
  }

  /** Builds anew what is shown, at once or when it is next to be seen. */
  #changed(): void {
    if (this.#view === undefined) return;
    if (this.isConnected) this.#build();
    else this.#view = undefined;
  }

  #choose(wanted: string | null): void {
    this.#setup.choose(wanted);
    this.#showWhere();
  }

  async #openSettings(): Promise<void> {
    try {
      const { SettingsPanel } = await import("./settings-panel.ts");
      this.#panel ??= new SettingsPanel(this.#messages, {
        apply: (settings, signal) => this.#apply(settings, signal),
        services: (settings) => this.#setup.servicesWith(settings),
        places: () => this.#setup.places,
      });
    } catch (error) {
      return this.#showError(error);
    }
    if (this.shadowRoot !== null) this.#panel.open(this.shadowRoot, this.#setup.settings, this.#setup.offer);
  }

  async #apply(settings: Settings, signal: AbortSignal): Promise<void> {
    this.stop();
    this.#search?.stop();
    const { where } = settings;
    await this.#setup.use(settings, signal);
    this.where = where;
    this.#view?.notice.clear();
    this.#showWhere();
    if (where === "page") void this.#countIndexed(await this.#setup.assistants.at(where), where);
  }

  #searchIn(view: View): SearchAsYouType {
    return new SearchAsYouType({
      results: view.results,
      delay: () => SEARCH_DELAY_MS[this.#setup.where],
      isLoading: () => !this.#setup.assistants.has(this.#setup.where),
      search: async (query, k, signal) => (await this.#assistant(this.#setup.where)).search(query, k, { signal, prefix: true }),
      announce: (count) => announce(view, this.#messages.resultCount(count)),
      fail: (error) => this.#showError(error),
    });
  }

  #askingIn(view: View): Asking {
    return new Asking({
      view,
      messages: this.#messages,
      where: () => this.#setup.where,
      defaults: () => this.#setup.defaults,
      assistant: (where) => this.#assistant(where),
      step: (event) => this.#dispatch("countercheck-step", { event }),
      answered: (detail) => this.#dispatch("countercheck-answer", detail satisfies AnswerDetail),
      failed: (error, question) => this.#showError(error, () => this.#askAgain(question)),
    });
  }

  #listen(view: View): void {
    listenToComposer(view, {
      ask: (question) => this.#askTyped(question),
      isRunning: () => this.#asking?.isRunning === true,
      stop: () => this.stop(),
      clear: () => this.clear(),
      begin: () => this.#preload(),
      typed: (query) => {
        showInput(view);
        view.notice.clear();
        this.#search?.typed(query);
      },
      searchNow: (query) => void this.#search?.now(query),
      stopSearch: () => this.#search?.stop(),
    });
  }

  /** The button that was pressed goes away, so the reader is back at the input. */
  #askAgain(question: string): void {
    this.#view?.input.focus();
    void this.ask(question);
  }

  #askTyped(question: string): void {
    if (question.trim() !== "") return void this.ask(question);
    this.#view?.notice.say(this.#messages.askSomething);
    this.#view?.input.focus();
  }

  #handlePageKey(event: KeyboardEvent): void {
    const shortcut = shortcutOf(event);
    if (shortcut === undefined || !shortcutsIn(this.getAttribute("shortcuts")).includes(shortcut)) return;
    event.preventDefault();
    this.focus();
  }

  #showWhere(): void {
    if (this.#view === undefined) return;
    const { where, assistants } = this.#setup;
    showWhere(this.#view, this.#messages, {
      available: assistants.available,
      where,
      endpoint: this.getAttribute("endpoint") ?? "",
      inPage: this.#setup.note(this.#messages),
      statistics: this.#statistics.get(where),
    });
  }

  /** Says how much there is to search; where that cannot be had, nothing is missing. */
  async #countIndexed(assistant: Assistant, where: Where): Promise<void> {
    const found = await assistant.statistics().catch(() => undefined);
    if (found === undefined) return;
    this.#statistics.set(where, this.#messages.indexed(found.documents, found.passages));
    this.#showWhere();
  }

  #showError(error: unknown, retry?: () => void): void {
    const openSettings = () => void this.#openSettings();
    this.#view?.notice.show(error, this.#setup.isReaders, {
      ...(retry === undefined ? {} : { retry }),
      ...(this.hasAttribute("settings") ? { openSettings } : {}),
    });
    this.#dispatch("countercheck-error", { error });
  }

  #dispatch(name: string, detail: unknown): boolean {
    const cancelable = name === "countercheck-ask";
    return this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true, cancelable }));
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "countercheck-assistant": CountercheckAssistant;
  }
}
