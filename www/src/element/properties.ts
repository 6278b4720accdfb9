// How a custom element's properties and attributes meet.

/** Sets an attribute, or removes it. */
export function reflect(element: Element, name: string, value: string | number | undefined): void {
  if (value === undefined) element.removeAttribute(name);
  else element.setAttribute(name, String(value));
}

/** Hands properties that were set before the element's class was there to the class's own, which they hide. */
export function adoptProperties(element: Element, names: readonly string[]): void {
  for (const name of names) {
    if (!Object.hasOwn(element, name)) continue;
    const value: unknown = Reflect.get(element, name);
    Reflect.deleteProperty(element, name);
    Reflect.set(element, name, value);
  }
}
