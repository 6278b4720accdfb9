// The page's shortcuts: ⌘K or Ctrl+K and "/" bring the reader to the input.

/** Which shortcuts are on. */
export type Shortcut = "k" | "/";

/** The shortcuts that an attribute turns on; both unless it says otherwise. */
export function shortcutsIn(attribute: string | null): Shortcut[] {
  const on = (attribute ?? "k /").split(/\s+/);
  return (["k", "/"] as const).filter((shortcut) => on.includes(shortcut));
}

/**
 * The shortcut that a key press means, if any.
 *
 * "/" is left alone where somebody writes or has a control in hand. The first element of the path is
 * asked, since a shadow root shows the page only its host.
 */
export function shortcutOf(event: KeyboardEvent): Shortcut | undefined {
  // Browsers that fill in a form send key events without a key.
  if (event.defaultPrevented || event.isComposing || typeof event.key !== "string") return undefined;
  if (event.key.toLowerCase() === "k" && (event.metaKey || event.ctrlKey) && !event.altKey && !event.shiftKey)
    return "k";
  if (event.key === "/" && !event.metaKey && !event.ctrlKey && !event.altKey && !isInUse(event.composedPath()[0]))
    return "/";
  return undefined;
}

function isInUse(target: EventTarget | undefined): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ["INPUT", "SELECT", "TEXTAREA", "BUTTON"].includes(target.tagName);
}

/** How the shortcut is written on this machine's keyboard. */
export function shortcutLabel(shortcuts: readonly Shortcut[]): string | undefined {
  if (shortcuts.includes("k")) return /mac|iphone|ipad/i.test(navigator.platform) ? "⌘ K" : "Ctrl K";
  return shortcuts.includes("/") ? "/" : undefined;
}
