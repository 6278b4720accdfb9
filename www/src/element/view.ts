// The element's fixed parts: the composer, the switch, the examples, the places for answers and for
// failures, and the region that speaks to assistive technology. All of it is there from the start; only its content
// and what is hidden change.

import type { Where } from "./assistants.ts";
import { h, icon, present } from "./dom.ts";
import { webAddress } from "./links.ts";
import type { Messages } from "./messages.ts";
import { Notice } from "./notice.ts";
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
  settings: HTMLButtonElement;
  notice: Notice;
  examples: HTMLElement;
  log: HTMLElement;
  status: HTMLElement;
}

/** What the fixed parts tell the element. */
export interface Listeners {
  ask: (question: string) => void;
  whereChanged: (where: Where) => void;
  openSettings: () => void;
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
  const settings = h(
    "button",
    { type: "button", class: "settings-button", part: "settings-button", "aria-haspopup": "dialog" },
    icon("sliders"),
    messages.settings,
  );
  settings.addEventListener("click", listeners.openSettings);
  const notice = new Notice(messages);
  const status = h("div", { class: "visually-hidden", role: "status" });
  const root = h(
    "div",
    { class: "assistant", part: "assistant" },
    h("div", { class: "composer-frame" }, form, results.element),
    h("div", { class: "toolbar", part: "toolbar" }, where, note, settings),
    notice.element,
    examples,
    log,
    h("slot"),
    status,
  );
  return { root, form, input, clear, submit, results, where, note, settings, notice, examples, log, status };
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
  /** What leaves this page when answers are made in it. */
  inPage: string;
  /** How much there is to search, once that is known. */
  statistics: string | undefined;
}

/** Shows which place is chosen, what that means, and the switch if there is a choice. */
export function showWhere(view: View, messages: Messages, places: Places): void {
  const { available, where, endpoint, inPage, statistics } = places;
  view.where.hidden = available.length < 2;
  for (const radio of view.where.querySelectorAll("input")) radio.checked = radio.value === where;
  const address = webAddress(endpoint || "/", document.baseURI);
  const host = address === undefined ? endpoint : new URL(address).host;
  const note = where === "page" ? inPage : messages.atEdgeNote(host);
  const counted = statistics !== undefined && h("span", { class: "statistics" }, statistics);
  view.note.replaceChildren(...present(available.length === 0 ? [] : [note, counted]));
}

/** Shows whether a run is under way. */
export function showRunning(view: View, isRunning: boolean, messages: Messages): void {
  view.submit.textContent = isRunning ? messages.stop : messages.ask;
  view.root.classList.toggle("running", isRunning);
}

/** Shows whether there is anything to clear. */
export function showInput(view: View): void {
  view.clear.hidden = view.input.value === "";
}

/** Speaks to those who do not see: what begins and what ended. */
export function announce(view: View, text: string): void {
  view.status.textContent = text;
}
