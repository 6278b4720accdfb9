// A run's events in human words: the stages while it goes, every step afterwards.

import type { AnswerEvent } from "../client/index.ts";
import { h, icon } from "./dom.ts";
import type { Messages } from "./messages.ts";

type StageState = "active" | "yes" | "no" | "unknown" | "done";

/** The stages of a run as a list that grows while it goes. */
export class Stages {
  /** The list. */
  readonly element = h("ol", { part: "stages", class: "stages" });
  readonly #messages: Messages;
  readonly #items = new Map<string, HTMLLIElement>();
  #draft = 0;

  constructor(messages: Messages) {
    this.#messages = messages;
    this.#set("retrieve", "active", messages.searching);
  }

  /** Shows what an event says. */
  show(event: AnswerEvent): void {
    const m = this.#messages;
    switch (event.type) {
      case "retrieve":
        return this.#set("retrieve", "done", m.searched(event.passages));
      case "grade":
        return this.#set("grade", "active", m.grading(event.n, event.of));
      case "decide":
        return this.#set("grade", "done", m.graded(event.relevant, event.rejected, event.unknown));
      case "rewrite":
        return this.#set(`web ${event.query}`, "active", m.searchingWeb);
      case "web-search":
        return this.#set(`web ${event.query}`, "done", m.searchedWeb(event.results));
      case "draft-start":
        this.#draft = event.attempt;
        return this.#set(`draft ${event.attempt}`, "active", m.drafting);
      case "draft-reject":
        return this.#set(`draft ${event.attempt}`, "no", m.rejected(event.attempt, event.check));
      case "check":
        this.#set(`draft ${this.#draft}`, "done", m.drafted(this.#draft));
        return this.#set(`${event.check} ${this.#draft}`, event.verdict, m.checked(event.check, event.verdict));
    }
  }

  /** Nothing is under way any more. */
  end(): void {
    for (const item of this.#items.values()) item.classList.remove("active");
  }

  #set(key: string, state: StageState, text: string): void {
    const item = this.#items.get(key) ?? h("li");
    item.className = state;
    item.replaceChildren(stateIcon(state), text);
    if (!this.#items.has(key)) this.element.append(item);
    this.#items.set(key, item);
  }
}

/** Every step of a run as a list. */
export function traceList(trace: readonly AnswerEvent[], messages: Messages): HTMLOListElement {
  return h(
    "ol",
    { class: "steps" },
    ...trace.flatMap((event) => {
      const step = stepOf(event, messages);
      return step === undefined
        ? []
        : [
            h(
              "li",
              { class: step.state },
              stateIcon(step.state),
              step.text,
              step.detail !== undefined && h("span", { class: "detail" }, step.detail),
            ),
          ];
    }),
  );
}

function stepOf(event: AnswerEvent, m: Messages): { state: StageState; text: string; detail?: string } | undefined {
  switch (event.type) {
    case "retrieve":
      return { state: "done", text: m.searched(event.passages), detail: event.query };
    case "grade":
      return {
        state: event.verdict,
        text: m.tracePassage(event.n, event.of, event.verdict),
        detail: event.score === undefined ? event.passageId : `${event.passageId} · ${event.score.toFixed(2)}`,
      };
    case "decide":
      return { state: "done", text: m.graded(event.relevant, event.rejected, event.unknown) };
    case "rewrite":
      return { state: "done", text: m.traceRewrite(event.query) };
    case "web-search":
      return { state: "done", text: m.searchedWeb(event.results), detail: event.query };
    case "draft-start":
      return { state: "done", text: m.drafted(event.attempt) };
    case "draft-reject":
      return { state: "no", text: m.rejected(event.attempt, event.check) };
    case "check":
      return { state: event.verdict, text: m.checked(event.check, event.verdict) };
    default:
      return undefined;
  }
}

function stateIcon(state: StageState): Node {
  if (state === "active") return h("span", { class: "spinner", "aria-hidden": "true" });
  return icon(state === "no" ? "cross" : state === "unknown" ? "question" : "check");
}
