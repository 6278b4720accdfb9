// What went wrong, in a sentence that says what to do, with the ways to do it beside it. What is known
// besides is there on demand.

import { h, present } from "./dom.ts";
import type { Messages } from "./messages.ts";

/** What the reader may do about a failure. */
export interface Remedies {
  retry?: () => void;
  openSettings?: () => void;
}

/** What a thrown value tells besides its message. */
interface Told {
  code?: unknown;
  serviceCode?: unknown;
  retryAfterMs?: unknown;
}

/** What to do about an error, and its message where nothing better is known. */
export function adviceOn(error: unknown, isReaders: boolean, messages: Messages): string {
  const { code, serviceCode } = toldBy(error);
  const byService = typeof serviceCode === "string";
  const failed = { code: byService ? serviceCode : String(code), byService, isReaders, origin: location.origin };
  return messages.advice(failed) ?? messages.failed(messageOf(error));
}

/** The place for failures, empty while there are none. */
export class Notice {
  /** The place. */
  readonly element: HTMLElement;
  readonly #messages: Messages;
  // There from the start, and nothing in it changes by itself: it is read out once.
  readonly #sentence = h("p", { role: "alert" });
  readonly #rest = h("div", { class: "alert-rest" });
  #countdown: ReturnType<typeof setInterval> | undefined;

  constructor(messages: Messages) {
    this.#messages = messages;
    this.element = h("div", { class: "alert", part: "error", hidden: true }, this.#sentence, this.#rest);
  }

  /** Says a sentence. */
  say(sentence: string): void {
    this.clear();
    this.element.hidden = false;
    this.#sentence.append(sentence);
  }

  /** Says what to do about an error. */
  show(error: unknown, isReaders: boolean, { retry, openSettings }: Remedies): void {
    const m = this.#messages;
    const advice = adviceOn(error, isReaders, m);
    this.say(advice);
    const { code, serviceCode, retryAfterMs } = toldBy(error);
    const codes = [code, serviceCode].filter((name) => typeof name === "string").join(", ");
    const message = messageOf(error);
    const isSaid = advice.includes(message);
    this.#rest.append(
      ...present([
        retry && this.#retryButton(retry, typeof retryAfterMs === "number" ? retryAfterMs : 0),
        typeof serviceCode === "string" && openSettings && button(m.settings, openSettings),
        !isSaid && h("details", {}, h("summary", {}, m.details), h("p", {}, message, " ", h("code", {}, codes))),
      ]),
    );
  }

  /** Takes everything away. */
  clear(): void {
    clearInterval(this.#countdown);
    this.element.hidden = true;
    this.#sentence.replaceChildren();
    this.#rest.replaceChildren();
  }

  /** A button that can be pressed once the service takes the question again. */
  #retryButton(retry: () => void, milliseconds: number): HTMLButtonElement {
    const made = button(this.#messages.retry, retry);
    const end = Date.now() + milliseconds;
    const tick = () => {
      const left = end - Date.now();
      made.disabled = left > 0;
      made.textContent = left > 0 ? this.#messages.retryIn(left) : this.#messages.retry;
      if (left <= 0) clearInterval(this.#countdown);
    };
    if (milliseconds > 0) this.#countdown = setInterval(tick, 1000);
    tick();
    return made;
  }
}

function button(text: string, press: () => void): HTMLButtonElement {
  const made = h("button", { type: "button" }, text);
  made.addEventListener("click", press);
  return made;
}

function toldBy(error: unknown): Told {
  return typeof error === "object" && error !== null ? error : {};
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
