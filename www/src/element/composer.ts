// What the composer's keys and buttons do. Enter always asks: the button means to stop while a run is
// under way.

import type { View } from "./view.ts";

/** What the composer does to the element. */
export interface Composing {
  ask: (question: string) => void;
  isRunning: () => boolean;
  stop: () => void;
  clear: () => void;
  /** The reader begins to write. */
  begin: () => void;
  /** The reader has written this. */
  typed: (query: string) => void;
  searchNow: (query: string) => void;
  stopSearch: () => void;
}

/** Listens to the composer. */
export function listenToComposer({ form, input, clear, root, results }: View, composing: Composing): void {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (composing.isRunning()) composing.stop();
    else composing.ask(input.value);
  });
  input.addEventListener("input", () => composing.typed(input.value.trim()));
  input.addEventListener("focus", composing.begin);
  input.addEventListener("blur", composing.stopSearch);
  input.addEventListener("keydown", (event) => {
    const query = input.value.trim();
    if (results.handleKey(event)) {
      event.preventDefault();
    } else if (event.key === "Enter" && !event.isComposing) {
      event.preventDefault();
      composing.ask(input.value);
    } else if (event.key === "ArrowDown" && query !== "") {
      event.preventDefault();
      composing.searchNow(query);
    } else if (event.key === "Escape" && !composing.isRunning()) {
      if (input.value === "") input.blur();
      else composing.clear();
    }
  });
  root.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.defaultPrevented) composing.stop();
  });
  clear.addEventListener("click", () => {
    composing.clear();
    input.focus();
  });
}
