// The element's fixed parts: the composer, the switch, the examples, the place for answers, and the
// two regions that speak to assistive technology. All of it is there from the start; only its content
// and what is hidden change.

import type { Where } from "./assistants.ts";
import { h, icon, present } from "./dom.ts";
import { webAddress } from "./links.ts";
import type { Messages } from "./messages.ts";
import { Results } from "./results.ts";

/** The parts that the element works with. */
export interface View {
  root: HTMLElement;
  form: HTMLFormElement;
  input: HTMLInputElement;
  clear: HTMLButtonElement;
  submit: HTMLButtonElement;
  results: Results;
  where: HTMLFieldSetElement;
  note: HTMLElement;
  examples: HTMLElement;
  log: HTMLElement;
  alert: HTMLElement;
  status: HTMLElement;
}

/** What the fixed parts tell the element. */
export interface Listeners {
  ask: (question: string) => void;
  whereChanged: (where: Where) => void;
}

/** Builds the parts. */
export function buildView(messages: Messages, shortcut: string | undefined, listeners: Listeners): View {
  const input = h("input", {
    part: "input",
    id: "question",
    type: "text",
    role: "combobox",
    "aria-label": messages.label,
    placeholder: messages.placeholder,
    "aria-expanded": "false",
    "aria-controls": "results",
    "aria-autocomplete": "list",
    "aria-haspopup": "listbox",
    autocomplete: "off",
    autocapitalize: "sentences",
    spellcheck: "false",
    enterkeyhint: "go",
  });
  const results = new Results(input, messages, () => listeners.ask(input.value));
  const clear = h(
    "button",
    { type: "button", class: "clear", part: "clear-button", "aria-label": messages.clear, hidden: true },
    icon("cross"),
  );
  const submit = h("button", { type: "submit", class: "submit", part: "button" }, messages.ask);
  const hint = shortcut === undefined ? undefined : h("kbd", { part: "shortcut", "aria-hidden": "true" }, shortcut);
  const form = h(
    "form",
    { part: "form", class: "composer", role: "search" },
    icon("search"),
    input,
    clear,
    hint,
    submit,
  );
  const where = whereSwitch(messages, listeners);
  const note = h("p", { class: "where-note", part: "note-where" });
  const examples = h("div", { class: "examples", part: "examples", hidden: true });
  const log = h("div", { class: "log", part: "log", role: "log", "aria-live": "off", "aria-label": messages.answers });
  const alert = h("div", { class: "alert", part: "error", role: "alert" });
  const status = h("div", { class: "visually-hidden", role: "status" });
  const root = h(
    "div",
    { class: "assistant", part: "assistant" },
    h("div", { class: "composer-frame" }, form, results.element),
    h("div", { class: "toolbar", part: "toolbar" }, where, note),
    alert,
    examples,
    log,
    h("slot"),
    status,
  );
  return { root, form, input, clear, submit, results, where, note, examples, log, alert, status };
}

function whereSwitch(messages: Messages, { whereChanged }: Listeners): HTMLFieldSetElement {
  const option = (where: Where, text: string) => {
    const radio = h("input", { type: "radio", name: "where", value: where, class: "visually-hidden" });
    radio.addEventListener("change", () => whereChanged(where));
    return h("label", { part: "where-option" }, radio, h("span", {}, text));
  };
  return h(
    "fieldset",
    { class: "where", part: "where", hidden: true },
    h("legend", { class: "visually-hidden" }, messages.where),
    option("page", messages.inPage),
    option("edge", messages.atEdge),
  );
}

/** Fills in the example questions. */
export function showExamples(
  view: View,
  questions: readonly string[],
  messages: Messages,
  ask: (question: string) => void,
): void {
  const buttons = questions.map((question) => {
    const button = h("button", { type: "button", class: "example", part: "example" }, question);
    button.addEventListener("click", () => ask(question));
    return h("li", {}, button);
  });
  view.examples.replaceChildren(h("h2", { class: "examples-title" }, messages.examples), h("ul", {}, ...buttons));
  view.examples.hidden = questions.length === 0;
}

/** What the switch and the note beside it tell. */
export interface Places {
  available: readonly Where[];
  where: Where;
  endpoint: string;
  /** How much there is to search, once that is known. */
  statistics: string | undefined;
}

/** Shows which place is chosen, what that means, and the switch if there is a choice. */
export function showWhere(view: View, { available, where, endpoint, statistics }: Places, messages: Messages): void {
  view.where.hidden = available.length < 2;
  for (const radio of view.where.querySelectorAll("input")) radio.checked = radio.value === where;
  const address = webAddress(endpoint || "/", document.baseURI);
  const host = address === undefined ? endpoint : new URL(address).host;
  const note = where === "page" ? messages.inPageNote : messages.atEdgeNote(host);
  const counted = statistics !== undefined && h("span", { class: "statistics" }, statistics);
  view.note.replaceChildren(...present(available.length === 0 ? [] : [note, counted]));
}
