// One question and what became of it: stages and a draft while it runs, then the answer with its labels
// and its sources with their quotes. How it came about can be followed, or read afterwards.

import type { Answer, AnswerEvent, Citation, SearchHit } from "../client/index.ts";
import { claimList } from "./claims.ts";
import { h, icon } from "./dom.ts";
import { opensNewTab, shortAddress, webAddress } from "./links.ts";
import { renderMarkdown } from "./markdown.ts";
import type { Messages } from "./messages.ts";
import { hitLink, trailOf } from "./results.ts";
import { Stages, Trace } from "./trace.ts";

/** How long "Copied" stays. */
const COPIED_MS = 2000;

/** A warning to the site's owner, which tells its reader nothing. */
const USUAL = "web_not_configured";

/** The card of one question. */
export class AnswerCard {
  readonly element: HTMLElement;
  readonly #messages: Messages;
  readonly #body = h("div", { class: "body" });
  readonly #foot: HTMLElement;
  readonly #stages: Stages;
  readonly #trace: Trace;
  readonly #draft = h("div", { class: "draft", part: "draft", hidden: true });
  readonly #draftText = h("p", { class: "draft-text" });

  constructor(question: string, messages: Messages) {
    this.#messages = messages;
    this.#stages = new Stages(messages);
    this.#trace = new Trace(messages);
    this.#draft.append(h("p", { class: "draft-note" }, messages.unchecked), this.#draftText);
    this.#body.append(this.#stages.element, this.#draft);
    this.#foot = h("footer", { class: "foot" }, this.#trace.element);
    // What is over before anybody could read it is not shown: see `.pending` in the styles.
    this.element = h(
      "article",
      { part: "answer", class: "card pending", "aria-busy": "true" },
      h("h2", { class: "question", part: "question" }, question),
      this.#body,
      this.#foot,
    );
  }

  /** Shows what an event of the run says. */
  show(event: AnswerEvent): void {
    this.#stages.show(event);
    this.#trace.show(event);
    if (event.type === "draft-delta") {
      this.#draftText.append(event.text);
      this.#draft.hidden = false;
    } else if (event.type === "draft-start" || event.type === "draft-reject") {
      this.#draftText.replaceChildren();
      this.#draft.hidden = true;
    }
  }

  /** Replaces stages and draft by the answer. */
  finish(answer: Answer, where: string, milliseconds: number): void {
    this.#end(answer.trace);
    const m = this.#messages;
    const text = h("div", { class: "prose", part: "text", lang: answer.language });
    text.append(
      renderMarkdown(answer.text, {
        links: answer.citations.map(({ url }) => url),
        citation: (n) => this.#mark(answer.citations.find((citation) => citation.n === n)),
      }),
    );
    withCopyButtons(text, m);
    const abstained = answer.outcome === "abstained";
    this.#body.replaceChildren(
      this.#badges(answer),
      ...note(answer.outcome === "partial" && m.partial(answer.reason), "caution"),
      text,
      ...note(abstained && m.abstained(answer.reason), "quiet"),
      ...note(!abstained && answer.solver === "builtin" && m.extractive, "quiet"),
      ...note(
        answer.warnings
          .filter(({ code }) => code !== USUAL)
          .map(({ message }) => message)
          .join(" "),
        "quiet",
      ),
      ...claimList(answer.claims ?? [], m, (n) => this.#mark(answer.citations.find((citation) => citation.n === n))),
      ...this.#sources(answer),
    );
    this.#foot.append(h("span", { class: "took", part: "took" }, m.took(milliseconds, where)));
  }

  /** Shows where the reader may look instead, below an abstention. */
  suggest(hits: readonly SearchHit[], query: string): void {
    if (hits.length === 0) return;
    const list = h(
      "div",
      { class: "closest", part: "closest" },
      h("h3", {}, this.#messages.closest),
      ...hits.map((hit) => hitLink(hit, query, this.#messages)),
    );
    this.#body.append(list);
  }

  /** The run ended without an answer. */
  giveUp(message: string): void {
    this.#end();
    this.#draft.remove();
    this.#body.append(...note(message, "quiet"));
  }

  #end(trace: readonly AnswerEvent[] = []): void {
    this.#stages.end();
    this.#trace.end(trace);
    this.element.classList.remove("pending");
    this.element.removeAttribute("aria-busy");
  }

  #badges({ outcome, grounded, useful }: Answer): HTMLElement {
    const m = this.#messages;
    const outcomes = { answered: "check", partial: "half", abstained: "dash" } as const;
    const flag = (value: boolean | null, text: string, name: string) =>
      h(
        "span",
        { class: `badge ${value === null ? "unknown" : value ? "good" : "bad"}`, part: `badge badge-${name}` },
        icon(value === null ? "question" : value ? "check" : "cross"),
        text,
      );
    return h(
      "p",
      { class: "badges", part: "badges" },
      h(
        "span",
        { class: `badge solid ${outcome}`, part: "badge badge-outcome" },
        icon(outcomes[outcome]),
        m.outcomes[outcome],
      ),
      outcome !== "abstained" && flag(grounded, m.grounded(grounded), "grounded"),
      outcome !== "abstained" && flag(useful, m.useful(useful), "useful"),
    );
  }

  /** The mark [n] as a link to the section it quotes. */
  #mark(citation: Citation | undefined): Node | undefined {
    if (citation === undefined) return undefined;
    const address = webAddress(citation.url, document.baseURI);
    const label = this.#messages.citation(citation.n, trailOf(citation).join(" › "));
    if (address === undefined) return h("span", { class: "mark", title: label }, `[${citation.n}]`);
    const link = h(
      "a",
      { class: "mark", part: "citation", title: trailOf(citation).join(" › "), "aria-label": `${label} ${this.#messages.newTab}` },
      `[${citation.n}]`,
    );
    return opensNewTab(link, address);
  }

  #sources({ citations }: Answer): HTMLElement[] {
    if (citations.length === 0) return [];
    const list = h("ol", { class: "sources", part: "sources" }, ...citations.map((citation) => this.#source(citation)));
    return [h("h3", { class: "sources-title" }, this.#messages.sources), list];
  }

  #source(citation: Citation): HTMLLIElement {
    const m = this.#messages;
    const { n, url, quote, origin } = citation;
    const title = trailOf(citation).join(" › ");
    const address = webAddress(url, document.baseURI);
    const heading = h(
      "div",
      { class: "source-head" },
      h("span", { class: "number", "aria-hidden": "true" }, String(n)),
    );
    if (address === undefined) heading.append(h("span", { class: "source-title" }, title));
    else {
      const link = opensNewTab(
        h(
          "a",
          { class: "source-title", part: "source-link" },
          title,
          icon("external"),
          h("span", { class: "visually-hidden" }, m.newTab),
        ),
        address,
      );
      heading.append(link, h("span", { class: "address" }, shortAddress(address)));
    }
    if (origin === "web") heading.append(h("span", { class: "badge unknown" }, m.fromWeb));
    const text = h("blockquote", { class: "prose" });
    text.append(renderMarkdown(quote));
    return h("li", { part: "source", class: "source", value: String(n) }, heading, text);
  }
}

function note(text: string | false, kind: "caution" | "quiet"): HTMLElement[] {
  return text === false || text === "" ? [] : [h("p", { class: `note ${kind}`, part: `note note-${kind}` }, text)];
}

/** Gives each code block a button that copies it, and lets the keyboard scroll it. */
function withCopyButtons(root: HTMLElement, messages: Messages): void {
  for (const block of root.querySelectorAll("pre")) {
    block.tabIndex = 0;
    // Pages that are not served securely have no clipboard.
    if (navigator.clipboard === undefined) continue;
    const button = h("button", { type: "button", class: "copy", part: "copy-button" }, messages.copy);
    const say = (text: string) => {
      button.textContent = text;
    };
    const copied = () => {
      say(messages.copied);
      setTimeout(() => say(messages.copy), COPIED_MS);
    };
    // Where the page may not copy, the reader still can.
    button.addEventListener(
      "click",
      () => void navigator.clipboard.writeText(block.textContent).then(copied, () => {}),
    );
    const frame = h("div", { class: "code" });
    block.replaceWith(frame);
    frame.append(block, button);
  }
}
