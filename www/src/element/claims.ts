// How each statement of an answer fared, where they were checked one by one: closed while all of them hold.

import type { Claim, Support } from "../client/index.ts";
import { h, icon } from "./dom.ts";
import type { Messages } from "./messages.ts";

const ICONS: Record<Support, "check" | "half" | "cross" | "question"> = {
  fully_supported: "check",
  partially_supported: "half",
  no_support: "cross",
  unknown: "question",
};

/** The statements with their verdicts; `mark` makes the link to a source. */
export function claimList(
  claims: readonly Claim[],
  messages: Messages,
  mark: (n: number) => Node | undefined,
): HTMLElement[] {
  if (claims.length === 0) return [];
  const held = claims.filter(({ support }) => support === "fully_supported").length;
  const item = ({ text, support, citation }: Claim) =>
    h(
      "li",
      { class: `claim ${support}`, part: "claim" },
      icon(ICONS[support]),
      h("span", { class: "visually-hidden" }, messages.claim(support)),
      h("span", { class: "claim-text" }, text, " ", citation !== undefined && mark(citation)),
    );
  const open = held < claims.length;
  return [
    h(
      "details",
      { class: "claims", part: "claims", open },
      h("summary", {}, messages.claims(held, claims.length)),
      h("ul", { "aria-label": messages.claims(held, claims.length) }, ...claims.map(item)),
    ),
  ];
}
