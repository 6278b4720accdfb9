// Which addresses may become links: web pages only, and those an answer cites.

/** The absolute form of an address that a browser may be sent to, undefined for any other scheme. */
export function webAddress(address: string, base: string): string | undefined {
  if (address.trim() === "") return undefined;
  try {
    const url = new URL(address, base);
    return url.protocol === "https:" || url.protocol === "http:" ? url.href : undefined;
  } catch {
    return undefined;
  }
}

/** An address without its fragment: what is cited is a page, whichever of its sections. */
export function pageOf(address: string): string {
  const end = address.indexOf("#");
  return end < 0 ? address : address.slice(0, end);
}

/** Turns an anchor into one that opens a new tab, which gets no handle on this one. */
export function opensNewTab(anchor: HTMLAnchorElement, address: string): HTMLAnchorElement {
  anchor.href = address;
  anchor.target = "_blank";
  anchor.rel = "noopener noreferrer";
  return anchor;
}

/** Host, end of the path and fragment of an address, for people. */
export function shortAddress(address: string): string {
  const { host, pathname, hash } = new URL(address);
  const parts = pathname.split("/").filter((part) => part !== "");
  const path = parts.length > 2 ? `…/${parts.slice(-2).join("/")}` : parts.join("/");
  return decoded(`${host}/${path}${hash}`);
}

function decoded(text: string): string {
  try {
    return decodeURI(text);
  } catch {
    return text;
  }
}
