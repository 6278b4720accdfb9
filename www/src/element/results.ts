// The list under the input: what to ask, and what a search found. The input keeps the focus, as
// ARIA's combobox pattern has it; the arrow keys move which option is active.

import type { SearchHit } from "../client/index.ts";
import { h, icon } from "./dom.ts";
import { opensNewTab, webAddress } from "./links.ts";
import type { Messages } from "./messages.ts";
import { markWords, snippet } from "./snippet.ts";

/** The popup of the combobox. */
export class Results {
  /** The popup: the list and the hint below it. */
  readonly element: HTMLElement;
  readonly #list: HTMLElement;
  readonly #input: HTMLInputElement;
  readonly #messages: Messages;
  readonly #ask: () => void;
  #options: HTMLElement[] = [];
  #active = -1;

  /** @param ask called when the reader chooses to ask rather than to open a result */
  constructor(input: HTMLInputElement, messages: Messages, ask: () => void) {
    this.#input = input;
    this.#messages = messages;
    this.#ask = ask;
    this.#list = h("div", { role: "listbox", id: "results", "aria-label": messages.results });
    this.element = h(
      "div",
      { part: "results", class: "results", hidden: true },
      this.#list,
      h("p", { class: "hint", "aria-hidden": "true" }, messages.hint),
    );
    // A press must not take the focus from the input, or the list would close under it.
    this.element.addEventListener("mousedown", (event) => event.preventDefault());
  }

  get isOpen(): boolean {
    return !this.element.hidden;
  }

  /** Shows what may be asked while there is nothing found yet. */
  showLoading(query: string): void {
    this.#show(query, [
      h("p", { class: "note" }, h("span", { class: "spinner", "aria-hidden": "true" }), this.#messages.loading),
    ]);
  }

  /** Shows what a search for the query found. */
  showHits(query: string, hits: readonly SearchHit[]): void {
    const note = hits.length === 0 ? [h("p", { class: "note" }, this.#messages.noResults)] : [];
    this.#show(query, [...hits.map((hit) => hitOption(hit, query, this.#messages)), ...note]);
  }

  close(): void {
    this.element.hidden = true;
    this.#input.setAttribute("aria-expanded", "false");
    this.#activate(-1);
  }

  /** Handles a key of the input; true if it was the list's. */
  handleKey(event: KeyboardEvent): boolean {
    if (!this.isOpen || event.isComposing) return false;
    const last = this.#options.length - 1;
    switch (event.key) {
      case "ArrowDown":
        this.#activate(this.#active >= last ? 0 : this.#active + 1);
        return true;
      case "ArrowUp":
        this.#activate(this.#active <= 0 ? last : this.#active - 1);
        return true;
      case "Enter": {
        const option = this.#options[this.#active];
        if (option === undefined) return false;
        option.click();
        return true;
      }
      case "Escape":
        this.close();
        return true;
      default:
        return false;
    }
  }

  #show(query: string, rest: HTMLElement[]): void {
    const ask = h(
      "div",
      { role: "option", class: "result ask-row", part: "ask-option" },
      icon("spark"),
      h("span", {}, this.#messages.askRow(query)),
    );
    ask.addEventListener("click", () => this.#ask());
    // An option that was chosen before more results came stays chosen.
    const before = this.#options[this.#active]?.getAttribute("href");
    const rows = [ask, ...rest];
    this.#options = rows.filter((row) => row.getAttribute("role") === "option");
    this.#options.forEach((option, i) => {
      option.id = `option-${i}`;
      option.setAttribute("aria-selected", "false");
      option.addEventListener("mousemove", () => this.#activate(i));
    });
    this.#list.replaceChildren(...rows);
    this.element.hidden = false;
    this.#input.setAttribute("aria-expanded", "true");
    this.#activate(before == null ? -1 : this.#options.findIndex((option) => option.getAttribute("href") === before));
  }

  #activate(index: number): void {
    if (index === this.#active && index >= 0) return;
    this.#options[this.#active]?.setAttribute("aria-selected", "false");
    this.#active = index;
    const option = this.#options[index];
    if (option === undefined) {
      this.#input.removeAttribute("aria-activedescendant");
      return;
    }
    option.setAttribute("aria-selected", "true");
    option.scrollIntoView({ block: "nearest" });
    this.#input.setAttribute("aria-activedescendant", option.id);
  }
}

/** The best hit of each section. */
export function bestOfSections(hits: readonly SearchHit[], count: number): SearchHit[] {
  const seen = new Set<string>();
  return hits
    .filter(({ url, passageId }) => {
      const key = url === "" ? passageId : url;
      return !seen.has(key) && seen.add(key);
    })
    .slice(0, count);
}

/** Where a section stands: its page's title, then its headings, the title not twice. */
export function trailOf({ title, headings = [] }: { title: string; headings?: readonly string[] }): string[] {
  // A Worker that was deployed before this page may send no headings.
  return [title, ...(headings[0] === title ? headings.slice(1) : headings)];
}

/** A hit as an option; a link as well where it has an address. */
function hitOption(hit: SearchHit, query: string, messages: Messages): HTMLElement {
  const option = hitLink(hit, query, messages);
  option.setAttribute("role", "option");
  option.tabIndex = -1;
  return option;
}

/** A hit as a link with an excerpt. */
export function hitLink(hit: SearchHit, query: string, messages: Messages): HTMLElement {
  const address = webAddress(hit.url, document.baseURI);
  const trail = trailOf(hit);
  const row =
    address === undefined
      ? h("div", { class: "result", part: "result" })
      : opensNewTab(h("a", { class: "result", part: "result" }), address);
  row.append(
    h(
      "span",
      { class: "result-title" },
      h("span", {}, ...markWords(trail.at(-1) ?? "", query)),
      trail.length > 1 && h("span", { class: "trail" }, trail.slice(0, -1).join(" › ")),
    ),
    h("span", { class: "excerpt" }, ...snippet(hit.text, query)),
  );
  if (address !== undefined) row.append(h("span", { class: "visually-hidden" }, messages.newTab));
  return row;
}
