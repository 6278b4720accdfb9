// Builds DOM nodes: elements by name, icons by path. No string of markup is ever parsed.

/** What an element's attributes may be: true sets an empty one, false and undefined none. */
export type Attributes = Record<string, string | boolean | undefined>;

/** What may stand inside an element; nothing is skipped. */
export type Child = Node | string | undefined | false;

/** Makes an element of this document. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (typeof value === "string") element.setAttribute(name, value);
  }
  element.append(...present(children));
  return element;
}

/** The children that are there. */
export function present(children: Child[]): (Node | string)[] {
  return children.filter((child): child is Node | string => child !== undefined && child !== false && child !== "");
}

const ICONS = {
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14Zm5 12 4.5 4.5",
  check: "m5 12.5 4.5 4.5L19 7",
  cross: "M6 6l12 12M18 6 6 18",
  half: "M12 4a8 8 0 1 0 0 16V4Zm0 0a8 8 0 0 1 0 16",
  question: "M9 9.2a3 3 0 1 1 4.4 2.7c-.9.5-1.4 1-1.4 2.1M12 17.5v.1",
  dash: "M6 12h12",
  external: "M14 5h5v5M19 5l-8.5 8.5M17 14v5H5V7h5",
  spark: "M12 4v4M12 16v4M4 12h4M16 12h4M6.5 6.5l2.5 2.5M15 15l2.5 2.5M17.5 6.5 15 9M9 15l-2.5 2.5",
  sliders: "M4 7h9M17 7h3M4 17h3M11 17h9M15 5v4M9 15v4",
} as const;

/** A line icon of the text's size and colour, hidden from assistive technology. */
export function icon(name: keyof typeof ICONS): SVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}
