// Markdown to DOM nodes, for text that nobody vouches for: a model's, or a page's that was indexed.
//
// marked's lexer gives a tree of tokens; every node is made from one of them, with the elements named
// here and hardly any attributes. Raw HTML is shown as the text it is. Images are their description:
// loading one would tell a stranger that, and what, somebody reads. Addresses become links only if
// the caller lists them; of others the host is shown, so that nobody is led astray.

import { Marked } from "marked";
import type { MarkedToken, Token, TokenizerObject, Tokens } from "marked";
import { decodeEntities, visible } from "./entities.ts";
import { opensNewTab, pageOf, webAddress } from "./links.ts";

/** What rendering depends on besides the text. */
export interface RenderOptions {
  /** The addresses whose pages may be linked. */
  links?: readonly string[];
  /** What stands for the mark `[n]`; undefined leaves the mark as text. */
  citation?: (n: number) => Node | undefined;
}

/** Longer texts are shown as they are: parsing is not linear in the worst case. */
const MAX_CHARACTERS = 65_536;

/** Deeper nesting is shown as text. */
const MAX_DEPTH = 24;

const MARK = /\[(\d{1,3})\]/g;

/** Renders Markdown. Never throws; what cannot be parsed is shown as it is. */
export function renderMarkdown(text: string, options: RenderOptions = {}): DocumentFragment {
  const fragment = document.createDocumentFragment();
  const tokens = parse(text);
  if (tokens === undefined) fragment.append(element("pre", [visible(text)]));
  else fragment.append(...new Renderer(options).blocks(tokens, 0));
  return fragment;
}

/** The text of Markdown without its marks, a line a block, for announcements and excerpts. */
export function plainText(text: string): string {
  const tokens = parse(text);
  return tokens === undefined
    ? visible(text)
    : plain(tokens)
        .replace(/\n{2,}/g, "\n")
        .trim();
}

function parse(text: string): Token[] | undefined {
  if (text.length > MAX_CHARACTERS) return undefined;
  try {
    return new Marked({ gfm: true, tokenizer: TOKENIZER }).lexer(text);
  } catch {
    // Nesting deep enough to exhaust the stack.
    return undefined;
  }
}

/** Text in brackets and the name of a definition: code or several words, lest `[1][2]` or `a[i][j]` be one. */
const REFERENCE = /^\[((?:`[^`\n]*`|[^[\]`])+)\]\[([^[\]]*)\]/;

const TOKENIZER: TokenizerObject = {
  // Without definitions no text can give the marks [1] an address of its own.
  def: () => undefined,
  // A quoted sentence has left its page's definitions behind: what remains of the link is its text.
  reflink(source) {
    const [raw, text = "", name = ""] = REFERENCE.exec(source) ?? [];
    if (raw === undefined || /^\d+$/.test(text) || !(name === "" || /[`\s]/.test(text))) return false;
    return { type: "link", raw, href: "", title: null, text, tokens: this.lexer.inlineTokens(text) };
  },
};

const INLINE = new Set(["text", "escape", "codespan", "strong", "em", "del", "link", "image", "br"]);

function plain(tokens: Token[]): string {
  const texts = (tokens as MarkedToken[]).map((token): string => {
    switch (token.type) {
      case "br":
        return " ";
      case "code":
        return `${token.text}\n`;
      case "html":
        return token.block ? "\n" : "";
      case "list":
        return token.items.map((item) => `${plain(item.tokens)}\n`).join("");
      case "table":
        return [token.header, ...token.rows]
          .map((row) => `${row.map((cell) => plain(cell.tokens)).join(" ")}\n`)
          .join("");
      case "space":
      case "hr":
      case "checkbox":
        return "\n";
    }
    const children =
      "tokens" in token && token.tokens !== undefined && token.tokens.length > 0 ? token.tokens : undefined;
    const inner = children === undefined ? decodeEntities("text" in token ? token.text : "") : plain(children);
    return INLINE.has(token.type) ? inner : `${inner}\n`;
  });
  return visible(texts.join(""));
}

type Made = Node | string;

function element<K extends keyof HTMLElementTagNameMap>(name: K, children: Made[]): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  made.append(...children);
  return made;
}

class Renderer {
  readonly #base = document.baseURI;
  readonly #pages: Set<string>;
  readonly #citation: (n: number) => Node | undefined;

  constructor({ links = [], citation = () => undefined }: RenderOptions) {
    const addresses = links.map((link) => webAddress(link, this.#base)).filter((link) => link !== undefined);
    this.#pages = new Set(addresses.map(pageOf));
    this.#citation = citation;
  }

  blocks(tokens: Token[], depth: number): Made[] {
    return (tokens as MarkedToken[]).flatMap((token) => this.#block(token, depth));
  }

  #block(token: MarkedToken, depth: number): Made[] {
    if (depth > MAX_DEPTH) return [visible(token.raw)];
    switch (token.type) {
      case "space":
        return [];
      case "hr":
        return [element("hr", [])];
      case "code":
        return [element("pre", [element("code", [visible(token.text)])])];
      case "heading":
        return [element(headingName(token.depth), this.#inlines(token.tokens, depth + 1))];
      case "paragraph":
        return [element("p", this.#inlines(token.tokens, depth + 1))];
      case "blockquote":
        return [element("blockquote", this.blocks(token.tokens, depth + 1))];
      case "list":
        return [this.#list(token, depth)];
      case "table":
        return [this.#table(token, depth)];
      case "html":
        return token.block ? [element("p", [visible(token.raw.trim())])] : [visible(token.raw)];
      case "checkbox":
        return [token.checked ? "☑ " : "☐ "];
      case "text":
        return token.tokens === undefined ? [decoded(token.text)] : this.#inlines(token.tokens, depth + 1);
      default:
        return this.#inlines([token], depth);
    }
  }

  #list(list: Tokens.List, depth: number): HTMLElement {
    const items = list.items.map((item) => element("li", this.blocks(item.tokens, depth + 1)));
    if (!list.ordered) return element("ul", items);
    const ordered = element("ol", items);
    if (typeof list.start === "number" && list.start !== 1) ordered.start = list.start;
    return ordered;
  }

  #table(table: Tokens.Table, depth: number): HTMLElement {
    const row = (cells: Tokens.TableCell[], name: "th" | "td") =>
      element(
        "tr",
        cells.map((cell) => element(name, this.#inlines(cell.tokens, depth + 1))),
      );
    const head = element("thead", [row(table.header, "th")]);
    return element("table", [
      head,
      element(
        "tbody",
        table.rows.map((cells) => row(cells, "td")),
      ),
    ]);
  }

  #inlines(tokens: Token[], depth: number): Made[] {
    return (tokens as MarkedToken[]).flatMap((token) => this.#inline(token, depth));
  }

  #inline(token: MarkedToken, depth: number): Made[] {
    if (depth > MAX_DEPTH) return [visible(token.raw)];
    switch (token.type) {
      case "strong":
      case "em":
      case "del":
        return [element(token.type, this.#inlines(token.tokens, depth + 1))];
      case "codespan":
        return [element("code", [visible(token.text)])];
      case "br":
        return [element("br", [])];
      case "escape":
        return [visible(token.text)];
      case "link":
        return this.#link(token, depth);
      case "image":
        return [decoded(token.text)];
      case "text":
        return token.tokens === undefined ? this.#marked(decoded(token.text)) : this.#inlines(token.tokens, depth + 1);
      case "checkbox":
        return [token.checked ? "☑ " : "☐ "];
      default:
        return [visible(token.raw)];
    }
  }

  #link(link: Tokens.Link, depth: number): Made[] {
    const children = this.#inlines(link.tokens, depth + 1);
    const href = link.autolink ? link.href : decodeEntities(link.href);
    const address = webAddress(href, this.#base);
    if (address !== undefined && this.#pages.has(pageOf(address))) {
      return [opensNewTab(element("a", children), address)];
    }
    // A relative address means another page than this one, and there is nothing to warn of.
    const foreign = /^(?:[a-z][a-z0-9+.-]*:|\/\/|\\\\)/i.test(href.trim()) && address !== undefined;
    const saysItself = link.text === link.href;
    return foreign && !saysItself ? [...children, ` (${new URL(address).host})`] : children;
  }

  /** Text with its citation marks replaced. */
  #marked(text: string): Made[] {
    const made: Made[] = [];
    let end = 0;
    for (const match of text.matchAll(MARK)) {
      const node = this.#citation(Number(match[1]));
      if (node === undefined) continue;
      made.push(text.slice(end, match.index), node);
      end = match.index + match[0].length;
    }
    return [...made, text.slice(end)];
  }
}

function decoded(text: string): string {
  return visible(decodeEntities(text));
}

/** The page around has its own first and second level. */
function headingName(depth: number): "h3" | "h4" | "h5" | "h6" {
  return (["h3", "h4", "h5", "h6"] as const)[Math.min(depth, 4) - 1] ?? "h6";
}
