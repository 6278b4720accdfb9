// The custom element's class; define.ts registers it. Importing this file needs no browser.

import type { Answer, AnswerEvent, Assistant, SearchHit } from "../client/index.ts";
import { AnswerCard } from "./answer-card.ts";
import { Assistants, whenAborted } from "./assistants.ts";
import type { Where } from "./assistants.ts";
import { h } from "./dom.ts";
import { shortcutLabel, shortcutOf } from "./keyboard.ts";
import type { Shortcut } from "./keyboard.ts";
import { plainText } from "./markdown.ts";
import { ENGLISH } from "./messages.ts";
import type { Messages } from "./messages.ts";
import { bestOfSections } from "./results.ts";
import { SearchAsYouType } from "./search-as-you-type.ts";
import { styles } from "./styles.ts";
import { buildView, showExamples, showWhere } from "./view.ts";
import type { View } from "./view.ts";

const SHOWN_CLOSEST = 3;
/** Several passages may be of one section. */
const SEARCHED_CLOSEST = 9;
const SEARCH_DELAY_MS: Record<Where, number> = { page: 60, edge: 220 };

/** What `countercheck-answer` tells. */
export interface AnswerDetail {
  question: string;
  answer: Answer;
  where: Where;
  milliseconds: number;
}

// A server has no HTMLElement to extend; nobody makes an element there.
const Base = globalThis.HTMLElement ?? (class {} as typeof HTMLElement);

/**
 * A documentation assistant: search as you type, and answers that check themselves.
 *
 * @attr index - address of the index; makes answers in this page available
 * @attr endpoint - address of a countercheck Worker, empty for this origin; makes answers at the edge available
 * @attr embedder - address of the embedder's table if it is not beside the script, `none` for words alone
 * @attr wasm - address of the wasm module if it is not beside the script
 * @attr where - `page` or `edge`: where answers are made at first
 * @attr strategy - the strategy's name
 * @attr examples - example questions, separated by `|`
 * @attr shortcuts - of `k` (⌘K, Ctrl+K) and `/`, which are on; both by default, empty for none
 * @attr loading - `eager` loads the index at once rather than when the reader turns to the element
 * @attr theme - `light` or `dark`; by default what the page's `color-scheme` says
 *
 * @slot - what stands below the answer
 *
 * @fires countercheck-ask - before a question is asked; `detail.question`; cancelable
 * @fires countercheck-answer - `detail` is an {@link AnswerDetail}
 * @fires countercheck-error - `detail.error`
 *
 * @csspart form, input, button, shortcut, results, result, where, examples, example, log, answer, question,
 *   badge, text, note, citation, sources, source, trace, took, error
 *
 * @cssprop --countercheck-accent - colour of what can be acted on
 * @cssprop --countercheck-text, --countercheck-muted, --countercheck-background, --countercheck-surface,
 *   --countercheck-border - the other colours
 * @cssprop --countercheck-radius, --countercheck-font, --countercheck-mono - shape and type
 */
export class CountercheckAssistant extends Base {
  static readonly observedAttributes = ["index", "embedder", "wasm", "endpoint", "where", "examples", "shortcuts"];

  #messages: Messages = ENGLISH;
  #view: View | undefined;
  #assistants: Assistants | undefined;
  #where: Where = "page";
  readonly #statistics = new Map<Where, string>();
  #running: AbortController | undefined;
  #search: SearchAsYouType | undefined;
  readonly #onPageKey = (event: KeyboardEvent) => this.#handlePageKey(event);

  connectedCallback(): void {
    // An element that is only moved keeps its answer.
    if (this.#view === undefined) this.#build();
    else this.#assistants ??= this.#newAssistants();
    document.addEventListener("keydown", this.#onPageKey);
    if (this.getAttribute("loading") === "eager") this.#preload();
  }

  disconnectedCallback(): void {
    document.removeEventListener("keydown", this.#onPageKey);
    this.stop();
    this.#search?.stop();
    this.#assistants?.dispose();
    this.#assistants = undefined;
  }

  attributeChangedCallback(name: string, before: string | null, value: string | null): void {
    if (before === value || this.#view === undefined || !this.isConnected) return;
    if (name === "where") this.#choose(value);
    else this.#build();
  }

  /** The element's strings; what is absent stays English. */
  get messages(): Messages {
    return this.#messages;
  }

  set messages(messages: Partial<Messages>) {
    this.#messages = { ...ENGLISH, ...messages };
    if (this.isConnected) this.#build();
  }

  /** Where answers are made. A place that is not available is not chosen. */
  get where(): Where {
    return this.#where;
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
    if (!this.#dispatch("countercheck-ask", { question: asked })) return undefined;
    this.stop();
    const run = new AbortController();
    const where = this.#where;
    const card = new AnswerCard(asked, this.#messages);
    view.input.value = asked;
    this.#search?.stop();
    this.#showInput();
    this.#showError();
    this.#setRunning(run);
    view.examples.hidden = true;
    // The composer keeps the focus, except where that would leave half the answer under a keyboard.
    if (matchMedia("(hover: none) and (pointer: coarse)").matches) view.input.blur();
    view.log.replaceChildren(card.element);
    this.#announce(this.#messages.searching);
    try {
      return await this.#run(asked, where, card, run.signal);
    } catch (error) {
      if (run.signal.aborted) {
        card.giveUp(this.#messages.stopped);
        if (this.#running === run) this.#announce(this.#messages.announceStopped);
      } else {
        card.element.remove();
        this.#showError(error, () => void this.ask(asked));
      }
      return undefined;
    } finally {
      if (this.#running === run) this.#setRunning(undefined);
    }
  }

  /** Ends the run that is under way, if there is one. */
  stop(): void {
    this.#running?.abort();
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
    this.#showInput();
    this.#showError();
  }

  /** Brings the reader to the input. */
  override focus(options?: FocusOptions): void {
    this.#view?.input.focus(options);
    this.#view?.input.select();
  }

  async #run(question: string, where: Where, card: AnswerCard, signal: AbortSignal): Promise<Answer> {
    const assistant = await Promise.race([this.#assistant(where), whenAborted(signal)]);
    const started = performance.now();
    const strategy = this.getAttribute("strategy");
    let checking = false;
    const onEvent = (event: AnswerEvent) => {
      if (signal.aborted) return;
      card.show(event);
      if (event.type !== "check" || checking) return;
      checking = true;
      this.#announce(this.#messages.checking(event.check));
    };
    const answer = await assistant.ask(question, { signal, onEvent, ...(strategy === null ? {} : { strategy }) });
    const milliseconds = performance.now() - started;
    card.finish(answer, where === "page" ? this.#messages.inPage : this.#messages.atEdge, milliseconds);
    this.#announce(this.#messages.announceAnswer(plainText(answer.text).replace(/\s*\[\d+\]/g, "")));
    this.#dispatch("countercheck-answer", { question, answer, where, milliseconds } satisfies AnswerDetail);
    if (answer.outcome === "abstained") {
      const suggest = (hits: SearchHit[]) => card.suggest(bestOfSections(hits, SHOWN_CLOSEST), question);
      assistant.search(question, SEARCHED_CLOSEST).then(suggest, () => {});
    }
    return answer;
  }

  /** The assistant of a place, with a note while it is being made. */
  async #assistant(where: Where): Promise<Assistant> {
    const assistants = this.#assistants;
    if (assistants === undefined || !assistants.available.includes(where)) {
      throw new Error("this element has neither an index nor an endpoint: set one of these attributes");
    }
    const isNew = !assistants.has(where);
    const made = assistants.at(where);
    if (!isNew) return made;
    this.#view?.note.replaceChildren(h("span", { class: "spinner", "aria-hidden": "true" }), this.#messages.loading);
    try {
      const assistant = await made;
      void this.#countIndexed(assistant, where);
      return assistant;
    } finally {
      this.#showWhere();
    }
  }

  #preload(): void {
    // Whoever then needs it gets the failure.
    if (this.#assistants?.available.includes(this.#where) && !this.#assistants.has(this.#where))
      this.#assistant(this.#where).catch(() => {});
  }

  #build(): void {
    this.stop();
    this.#assistants?.dispose();
    this.#assistants = this.#newAssistants();
    const before = this.#view?.input.value ?? "";
    const view = buildView(this.#messages, shortcutLabel(this.#shortcuts), {
      ask: (question) => void this.ask(question),
      whereChanged: (where) => {
        this.where = where;
      },
    });
    this.#view = view;
    this.#search = this.#searchIn(view);
    view.input.value = before;
    this.#listen(view);
    showExamples(view, this.examples, this.#messages, (question) => {
      view.input.focus();
      void this.ask(question);
    });
    const shadow = this.shadowRoot ?? this.attachShadow({ mode: "open" });
    shadow.adoptedStyleSheets = [styles()];
    shadow.replaceChildren(view.root);
    this.#choose(this.getAttribute("where"));
    this.#showInput();
  }

  #choose(wanted: string | null): void {
    const available = this.#assistants?.available ?? [];
    this.#where = available.find((where) => where === wanted) ?? available[0] ?? "page";
    this.#showWhere();
  }

  #newAssistants(): Assistants {
    const attribute = (name: string) => this.getAttribute(name) ?? undefined;
    const [index, embedder, wasm, endpoint] = ["index", "embedder", "wasm", "endpoint"].map(attribute);
    this.#statistics.clear();
    return new Assistants({ index, embedder, wasm, endpoint });
  }

  #searchIn(view: View): SearchAsYouType {
    return new SearchAsYouType({
      results: view.results,
      delay: () => SEARCH_DELAY_MS[this.#where],
      isLoading: () => this.#assistants?.has(this.#where) === false,
      search: async (query, k, signal) => (await this.#assistant(this.#where)).search(query, k, { signal }),
      announce: (count) => this.#announce(this.#messages.resultCount(count)),
      fail: (error) => this.#showError(error),
    });
  }

  #listen(view: View): void {
    view.form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.#running !== undefined) this.stop();
      else void this.ask(view.input.value);
    });
    view.input.addEventListener("input", () => {
      this.#showInput();
      this.#search?.typed(view.input.value.trim());
    });
    view.input.addEventListener("focus", () => this.#preload());
    view.input.addEventListener("blur", () => this.#search?.stop());
    view.input.addEventListener("keydown", (event) => this.#handleInputKey(event, view));
    view.root.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !event.defaultPrevented) this.stop();
    });
    view.clear.addEventListener("click", () => {
      this.clear();
      view.input.focus();
    });
  }

  #handleInputKey(event: KeyboardEvent, view: View): void {
    if (view.results.handleKey(event)) {
      event.preventDefault();
    } else if (event.key === "Enter" && !event.isComposing) {
      // Enter always asks: while a run is under way the form's button means to stop it.
      event.preventDefault();
      void this.ask(view.input.value);
    } else if (event.key === "ArrowDown" && view.input.value.trim() !== "") {
      event.preventDefault();
      void this.#search?.now(view.input.value.trim());
    } else if (event.key === "Escape" && this.#running === undefined) {
      if (view.input.value !== "") this.clear();
      else view.input.blur();
    }
  }

  #handlePageKey(event: KeyboardEvent): void {
    const shortcut = shortcutOf(event);
    if (shortcut === undefined || !this.#shortcuts.includes(shortcut)) return;
    event.preventDefault();
    this.focus();
  }

  get #shortcuts(): Shortcut[] {
    const on = (this.getAttribute("shortcuts") ?? "k /").split(/\s+/);
    return (["k", "/"] as const).filter((shortcut) => on.includes(shortcut));
  }

  #setRunning(run: AbortController | undefined): void {
    this.#running = run;
    const view = this.#view;
    if (view === undefined) return;
    view.submit.textContent = run === undefined ? this.#messages.ask : this.#messages.stop;
    view.root.classList.toggle("running", run !== undefined);
  }

  #showInput(): void {
    const view = this.#view;
    if (view !== undefined) view.clear.hidden = view.input.value === "";
  }

  #showWhere(): void {
    if (this.#view === undefined) return;
    const available = this.#assistants?.available ?? [];
    const endpoint = this.getAttribute("endpoint") ?? "";
    const statistics = this.#statistics.get(this.#where);
    showWhere(this.#view, { available, where: this.#where, endpoint, statistics }, this.#messages);
  }

  /** Says how much there is to search; where that cannot be had, nothing is missing. */
  async #countIndexed(assistant: Assistant, where: Where): Promise<void> {
    const found = await assistant.statistics().catch(() => undefined);
    if (found === undefined) return;
    this.#statistics.set(where, this.#messages.indexed(found.documents, found.passages));
    this.#showWhere();
  }

  #showError(error?: unknown, retry?: () => void): void {
    const alert = this.#view?.alert;
    if (alert === undefined) return;
    alert.replaceChildren();
    if (error === undefined) return;
    alert.append(h("p", {}, this.#messages.failed(error instanceof Error ? error.message : String(error))));
    if (retry !== undefined) {
      const button = h("button", { type: "button" }, this.#messages.retry);
      button.addEventListener("click", retry);
      alert.append(button);
    }
    this.#dispatch("countercheck-error", { error });
  }

  /** Speaks to those who do not see: what begins and what ended, never each word on its way. */
  #announce(text: string): void {
    if (this.#view !== undefined) this.#view.status.textContent = text;
  }

  #dispatch(name: string, detail: unknown): boolean {
    return this.dispatchEvent(
      new CustomEvent(name, { detail, bubbles: true, composed: true, cancelable: name === "countercheck-ask" }),
    );
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "countercheck-assistant": CountercheckAssistant;
  }
}
