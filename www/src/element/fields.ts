// The parts of the settings' form: choices with a sentence each, and fields with what is wrong beside them.

import { h } from "./dom.ts";
import type { Choice, SettingsMessages } from "./messages-settings.ts";
import { keyFor } from "./settings.ts";
import type { Place } from "./settings.ts";

/** Choices of which one is made. */
export class Radios {
  readonly element: HTMLFieldSetElement;
  readonly #options = new Map<string, { radio: HTMLInputElement; row: HTMLElement }>();

  constructor(name: string, legend: string, choices: Record<string, Choice>, changed = () => {}) {
    this.element = h("fieldset", {}, h("legend", {}, legend));
    for (const [value, choice] of Object.entries(choices)) {
      const textId = `${name}-${value}-text`;
      const radio = h("input", { type: "radio", name, value, "aria-describedby": textId });
      radio.addEventListener("change", changed);
      const text = h("p", { class: "setting-text", id: textId }, choice.text);
      const row = h("div", { class: "choice" }, h("label", {}, radio, choice.name), text);
      this.#options.set(value, { radio, row });
      this.element.append(row);
    }
  }

  /** Offers these choices. */
  offer(values: readonly string[], chosen: string): void {
    for (const [value, { radio, row }] of this.#options) {
      row.hidden = !values.includes(value);
      radio.checked = value === chosen;
    }
  }

  get chosen(): string {
    return [...this.#options.values()].find(({ radio }) => radio.checked)?.radio.value ?? "";
  }

  /** Puts what belongs to a choice below it. */
  place(value: string, element: HTMLElement): void {
    this.#options.get(value)?.row.append(element);
  }
}

/** A labelled input with a place for what is wrong with it. */
export class Field {
  readonly element: HTMLElement;
  readonly input: HTMLInputElement;
  readonly #problem: HTMLElement;

  constructor(id: string, label: string, attributes: Record<string, string>, text?: string) {
    const [textId, problemId] = [`${id}-text`, `${id}-problem`];
    const hint = text !== undefined && h("p", { class: "setting-text", id: textId }, text);
    const described = hint ? `${textId} ${problemId}` : problemId;
    this.input = h("input", { id, autocomplete: "off", ...attributes, "aria-describedby": described });
    this.#problem = h("p", { class: "problem", id: problemId });
    this.element = h("div", { class: "field" }, h("label", { for: id }, label), this.input, hint, this.#problem);
    this.input.addEventListener("input", () => this.complain());
  }

  get value(): string {
    return this.input.value.trim();
  }

  /** Says what is wrong and leads there, or that nothing is. */
  complain(problem?: string): void {
    this.#problem.textContent = problem ?? "";
    this.input.setAttribute("aria-invalid", String(problem !== undefined));
    if (problem !== undefined) this.input.focus();
  }
}

const ADDRESS = { type: "url", inputmode: "url", spellcheck: "false", autocapitalize: "none" };

/** Where a service is and the key for it. The field for the key only ever holds what is being typed. */
export class ServiceFields {
  readonly element: HTMLElement;
  readonly baseUrl: Field;
  readonly key: Field;
  readonly #keptNote: HTMLElement;
  #kept: Place = { baseUrl: "", key: undefined };

  constructor(id: string, baseUrlLabel: string, messages: SettingsMessages, example: string, ...others: Field[]) {
    this.baseUrl = new Field(`${id}-url`, baseUrlLabel, { ...ADDRESS, placeholder: example });
    this.key = new Field(`${id}-key`, messages.key, { type: "password", spellcheck: "false" }, messages.keyNote);
    const forget = h("button", { type: "button", class: "plain" }, messages.forgetKey);
    forget.addEventListener("click", () => {
      this.#keep({ baseUrl: "", key: undefined });
      this.key.input.focus();
    });
    this.#keptNote = h("p", { class: "kept" }, messages.keyKept, " ", forget);
    this.baseUrl.input.addEventListener("input", () => this.#follow());
    const fields = [this.baseUrl, ...others, this.key];
    this.element = h("div", { class: "fields" }, ...fields.map(({ element }) => element), this.#keptNote);
  }

  fill(place: Place): void {
    this.baseUrl.input.value = place.baseUrl;
    this.#keep(place);
  }

  /** The service as it is set, with the key that was typed or is kept for it. */
  read(): Place {
    const baseUrl = this.baseUrl.value;
    return { baseUrl, key: keyFor(baseUrl, this.key.value, this.#kept) };
  }

  /** Empties what was typed: from here on it is in nobody's document. */
  forgetTyped(): void {
    this.key.input.value = "";
    this.#keep({ baseUrl: "", key: undefined });
  }

  clearProblems(): void {
    this.baseUrl.complain();
    this.key.complain();
  }

  #keep(place: Place): void {
    this.#kept = place;
    this.#follow();
  }

  /** Says that there is a key as long as it would be used. */
  #follow(): void {
    this.#keptNote.hidden = keyFor(this.baseUrl.value, "", this.#kept) === undefined;
  }
}
