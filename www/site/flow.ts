// The demo page's picture of a run: the steps of the chosen strategy, lit as they happen, with what each says.
// The element tells readers of a screen reader how far it is; this is for whoever wants to look.

import type { AnswerEvent } from "../src/client/index.ts";
import { h } from "../src/element/dom.ts";

/** The steps there are, in their order. */
const STEPS = {
  "decide-retrieval": "Retrieve?",
  retrieve: "Retrieve",
  grade: "Grade",
  decide: "Decide",
  web: "Search the web",
  segments: "Write segments",
  generate: "Write",
  grounding: "Supported?",
  repair: "Mend",
  usefulness: "Useful?",
};

type Step = keyof typeof STEPS;

const CORRECTIVE: Step[] = ["retrieve", "grade", "decide", "web", "generate"];

/** The steps of each strategy; of another one, those that happen. */
const FLOWS: Record<string, Step[]> = {
  naive: ["retrieve", "generate"],
  corrective: CORRECTIVE,
  "corrective-scored": CORRECTIVE,
  "self-reflective": [...CORRECTIVE, "grounding", "usefulness"],
  "self-rag-prompted": ["decide-retrieval", "retrieve", "grade", "decide", "generate", "grounding", "usefulness"],
  countercheck: [...CORRECTIVE, "grounding", "repair", "usefulness"],
  "self-rag": ["decide-retrieval", "retrieve", "segments", "grounding", "usefulness"],
};

type State = "waiting" | "active" | "done" | "yes" | "no" | "unknown" | "skipped";

const STATES: Record<State, string> = {
  waiting: "",
  active: "under way",
  done: "done",
  yes: "yes",
  no: "no",
  unknown: "unknown",
  skipped: "not needed",
};

/** The steps of one run. */
class Flow {
  readonly element = h("ol", { class: "steps" });
  readonly #items = new Map<Step, HTMLLIElement>();
  #graded: Step = "grade";

  constructor(strategy: string) {
    for (const step of FLOWS[strategy] ?? []) this.#add(step);
  }

  show(event: AnswerEvent): void {
    switch (event.type) {
      case "decide-retrieval":
        return this.#set("decide-retrieval", event.retrieve === "no" ? "no" : "done", event.retrieve);
      case "retrieve":
        this.#set("retrieve", "done", `${event.passages} passages`);
        return this.#expect("grade");
      case "grade":
        this.#set(this.#graded, event.n < event.of ? "active" : "done", `${event.n} of ${event.of}`);
        return this.#verdict(this.#graded, event.verdict, event.score, event.passageId);
      case "decide": {
        const counts = `${event.relevant} relevant, ${event.rejected} not, ${event.unknown} unknown`;
        this.#set("decide", "done", event.decision === undefined ? counts : `${event.decision}: ${counts}`);
        return event.needWeb ? this.#expect("web") : this.#skip("web");
      }
      case "rewrite":
        return this.#set("web", "active", event.query);
      case "web-search":
        this.#graded = "web";
        return this.#set("web", "done", `${event.results} new pages`);
      case "segment":
        this.#set("segments", "active", `segment ${event.level}`);
        return this.#verdict("segments", event.kept ? "kept" : "dropped", event.score, event.passageId);
      case "draft-start":
        // No web search may be configured; the checks are of this draft.
        if (this.#items.get("web")?.dataset.state === "active") this.#skip("web");
        for (const step of ["grounding", "usefulness"] as const) if (this.#items.has(step)) this.#set(step, "waiting", "");
        return this.#set("generate", "active", `draft ${event.attempt}`);
      case "check": {
        const degree = event.support ?? (event.rating === undefined ? "" : `${event.rating} of 5`);
        this.#leave("generate");
        this.#set(event.check, event.verdict, degree.replaceAll("_", " "));
        return event.check === "grounding" && event.verdict === "yes" ? this.#expect("usefulness") : undefined;
      }
      case "repair":
        return this.#set("repair", "done", event.claims === 1 ? "1 statement" : `${event.claims} statements`);
      case "draft-reject":
        return this.#set("generate", "no", `draft ${event.attempt} withdrawn`);
      case "answer":
        this.#leave("segments");
        this.#leave("generate");
    }
  }

  /** Nothing is under way any more; what did not happen was not needed. */
  end(): void {
    for (const [step, item] of this.#items) {
      if (item.dataset.state === "active") this.#set(step, "unknown", "stopped");
      else if (item.dataset.state === "waiting") this.#set(step, "skipped", "");
    }
  }

  /** In the order of all steps. */
  #add(step: Step): HTMLLIElement {
    const name = h("b", {}, STEPS[step]);
    const item = h("li", { "data-step": step, "data-state": "waiting" }, name, h("span", { class: "state" }), h("span", { class: "said" }));
    const order = Object.keys(STEPS);
    const next = [...this.#items].find(([other]) => order.indexOf(other) > order.indexOf(step));
    this.element.insertBefore(item, next?.[1] ?? null);
    this.#items.set(step, item);
    return item;
  }

  #set(step: Step, state: State, said: string): void {
    const item = this.#items.get(step) ?? this.#add(step);
    item.dataset.state = state;
    if (state === "active") item.setAttribute("aria-current", "step");
    else item.removeAttribute("aria-current");
    item.children[1]?.replaceChildren(STATES[state]);
    item.children[2]?.replaceChildren(said);
  }

  #expect(step: Step): void {
    if (this.#items.has(step)) this.#set(step, "active", "");
  }

  #skip(step: Step): void {
    if (this.#items.has(step)) this.#set(step, "skipped", "");
  }

  /** What was under way is done. */
  #leave(step: Step): void {
    const item = this.#items.get(step);
    if (item?.dataset.state === "active") this.#set(step, "done", item.children[2]?.textContent ?? "");
  }

  #verdict(step: Step, verdict: string, score: number | undefined, passage: string): void {
    const item = this.#items.get(step) ?? this.#add(step);
    const list = item.querySelector("ul") ?? item.appendChild(h("ul", { "aria-label": "Verdict on each passage" }));
    const said = score === undefined ? verdict : `${verdict} ${score.toFixed(2)}`;
    list.append(h("li", { "data-verdict": verdict, title: passage }, said));
  }
}

const section = document.querySelector(".flow");
const place = section?.querySelector("ol");
const title = section?.querySelector("b");

if (section && place && title) {
  let shown: HTMLElement = place;
  let flow: Flow;
  const begin = (strategy: string) => {
    flow = new Flow(strategy);
    title.textContent = strategy;
    shown.replaceWith(flow.element);
    shown = flow.element;
  };
  begin(document.querySelector("countercheck-assistant")?.getAttribute("strategy") ?? "countercheck");
  document.addEventListener("countercheck-ask", (event) => begin((event as CustomEvent<{ strategy: string }>).detail.strategy));
  document.addEventListener("countercheck-step", (event) => {
    const told = (event as CustomEvent<{ event?: AnswerEvent }>).detail.event;
    if (told === undefined) flow.end();
    else flow.show(told);
  });
}
