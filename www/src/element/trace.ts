// A run's events in human words: its stages while it goes, and every step for those who want to follow.

import type { AnswerEvent } from "../client/index.ts";
import { h, icon } from "./dom.ts";
import type { Child } from "./dom.ts";
import type { Messages } from "./messages.ts";

type State = "active" | "yes" | "no" | "unknown" | "done";

/** A list whose items are replaced by name. */
class Steps {
  readonly element: HTMLOListElement;
  readonly #items = new Map<string, HTMLLIElement>();

  constructor(part: string) {
    this.element = h("ol", { part, class: "steps" });
  }

  /** Adds an item or replaces the one of that name. */
  set(name: string, state: State, ...content: Child[]): void {
    const item = this.#items.get(name) ?? h("li");
    item.className = state;
    item.replaceChildren(stateIcon(state), h("div", {}, ...content));
    if (!this.#items.has(name)) this.element.append(item);
    this.#items.set(name, item);
  }

  /** Takes an item away. */
  drop(name: string): void {
    this.#items.get(name)?.remove();
    this.#items.delete(name);
  }

  /** Takes away what was only expected. */
  dropIfActive(name: string): void {
    if (this.#items.get(name)?.classList.contains("active")) this.drop(name);
  }

  get isEmpty(): boolean {
    return this.#items.size === 0;
  }

  /** Nothing is under way any more. */
  end(): void {
    for (const spinner of this.element.querySelectorAll(".spinner")) spinner.replaceWith(icon("dash"));
  }
}

/** The stages of a run, with what is expected next. */
export class Stages {
  readonly #messages: Messages;
  readonly #steps = new Steps("stages");
  #draft = 0;
  #searches = 0;

  constructor(messages: Messages) {
    this.#messages = messages;
    this.#steps.set("retrieve", "active", messages.searching);
  }

  get element(): HTMLElement {
    return this.#steps.element;
  }

  /** Shows what an event says. */
  show(event: AnswerEvent): void {
    const m = this.#messages;
    const steps = this.#steps;
    switch (event.type) {
      case "decide-retrieval":
        if (event.retrieve === "no") steps.set("retrieve", "done", m.retrieval(event.retrieve));
        return;
      case "retrieve":
        steps.set("retrieve", "done", m.searched(event.passages));
        if (event.passages > 0) steps.set("grade", "active", m.gradingAll(event.passages));
        return;
      case "grade":
        return steps.set(this.#searches > 0 ? "web grade" : "grade", "active", m.grading(event.n, event.of));
      case "decide":
        steps.set("grade", "done", m.graded(event.relevant, event.rejected, event.unknown));
        if (event.needWeb) this.#expectWeb();
        return;
      case "rewrite":
        return this.#expectWeb();
      case "web-search":
        steps.set(`web ${this.#searches}`, "done", m.searchedWeb(event.results));
        this.#searches += 1;
        return;
      case "draft-start":
        // Neither every strategy grades nor every page searches the web.
        steps.dropIfActive("grade");
        steps.dropIfActive("web grade");
        steps.dropIfActive(`web ${this.#searches}`);
        this.#draft = event.attempt;
        return steps.set(`draft ${event.attempt}`, "active", m.drafting);
      case "check":
        steps.set(`draft ${this.#draft}`, "done", m.drafted(this.#draft));
        steps.set(`${event.check} ${this.#draft}`, event.verdict, m.checked(event.check, event.verdict));
        if (event.check === "grounding" && event.verdict === "yes")
          steps.set(`usefulness ${this.#draft}`, "active", m.checking("usefulness"));
        return;
      case "draft-reject":
        // The check says the same.
        steps.drop(`${event.check} ${event.attempt}`);
        steps.set(`draft ${event.attempt}`, "no", m.rejected(event.attempt, event.check));
        if (event.check === "usefulness") this.#expectWeb();
    }
  }

  /** Nothing is under way any more. */
  end(): void {
    this.#steps.end();
  }

  #expectWeb(): void {
    this.#steps.set(`web ${this.#searches}`, "active", this.#messages.searchingWeb);
  }
}

/** Every step of a run, on demand; it may be opened at any time and stays open. */
export class Trace {
  /** The disclosure. */
  readonly element: HTMLDetailsElement;
  readonly #messages: Messages;
  readonly #steps = new Steps("steps");
  #draft = 0;
  #text = "";
  #count = 0;

  constructor(messages: Messages) {
    this.#messages = messages;
    const summary = h("summary", {}, messages.trace);
    this.element = h("details", { part: "trace", class: "trace" }, summary, this.#steps.element);
  }

  get isEmpty(): boolean {
    return this.#steps.isEmpty;
  }

  /** Adds what an event says. */
  show(event: AnswerEvent): void {
    const m = this.#messages;
    switch (event.type) {
      case "decide-retrieval":
        return this.#add("done", m.retrieval(event.retrieve));
      case "retrieve":
        return this.#add("done", m.searched(event.passages), detail(event.query));
      case "grade": {
        const score = event.score === undefined ? "" : ` · ${event.score.toFixed(2)}`;
        return this.#add(event.verdict, m.tracePassage(event.n, event.of, event.verdict), detail(event.passageId + score));
      }
      case "decide":
        return this.#add(
          "done",
          m.graded(event.relevant, event.rejected, event.unknown),
          event.decision !== undefined && detail(m.decided(event.decision)),
        );
      case "rewrite":
        return this.#add("done", m.traceRewrite, detail(event.query));
      case "web-search":
        return this.#add("done", m.searchedWeb(event.results), detail(event.query));
      case "segment": {
        const score = event.score === undefined ? "" : ` · ${event.score.toFixed(2)}`;
        return this.#add(event.kept ? "yes" : "no", m.traceSegment(event.level, event.kept), detail(event.passageId + score));
      }
      case "draft-start":
        this.#draft = event.attempt;
        this.#text = "";
        return this.#steps.set(`draft ${event.attempt}`, "active", m.drafting);
      case "draft-delta":
        this.#text += event.text;
        return;
      case "check":
        this.#endDraft();
        return this.#add(
          event.verdict,
          m.checked(event.check, event.verdict),
          event.support === "partially_supported" && detail(m.supportedInPart),
          event.rating !== undefined && detail(m.rated(event.rating)),
        );
      case "draft-reject": {
        const text = this.#text !== "" && h("del", { class: "withdrawn", part: "withdrawn" }, this.#text);
        return this.#steps.set(`draft ${event.attempt}`, "no", m.rejected(event.attempt, event.check), text);
      }
    }
  }

  /** Nothing is under way any more; what came whole had no stream of events and is added now. */
  end(trace: readonly AnswerEvent[] = []): void {
    if (this.isEmpty) for (const event of trace) this.show(event);
    if (trace.length > 0) this.#endDraft();
    this.#steps.end();
  }

  /** The latest draft is written, unless it was withdrawn already. */
  #endDraft(): void {
    if (this.#draft > 0) this.#steps.set(`draft ${this.#draft}`, "done", this.#messages.drafted(this.#draft));
    this.#draft = 0;
  }

  #add(state: State, ...content: Child[]): void {
    this.#count += 1;
    this.#steps.set(`step ${this.#count}`, state, ...content);
  }
}

function detail(text: string): HTMLElement {
  return h("div", { class: "detail" }, text);
}

function stateIcon(state: State): Node {
  if (state === "active") return h("span", { class: "spinner", "aria-hidden": "true" });
  return icon(state === "no" ? "cross" : state === "unknown" ? "question" : "check");
}
