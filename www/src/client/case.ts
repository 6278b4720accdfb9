// Field names: `snake_case` in wasm and over HTTP, `camelCase` in JavaScript. Values stay as they are.

/** Renames every key below a JSON value from `snake_case` to `camelCase`; the keys are those of our own types. */
export function camelKeys<T>(value: unknown): T {
  return renamed(value) as T;
}

/** Renames every key below a JSON value from `camelCase` to `snake_case`. */
export function snakeKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeKeys);
  if (typeof value !== "object" || value === null) return value;
  const snake = (key: string) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  // Not by assignment: whatever its name, what a caller sets is a field.
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [snake(key), snakeKeys(item)]));
}

/** The names that came so far: there are some fifty, and each comes with every answer. */
const CAMEL = new Map<string, string>();

function camel(key: string): string {
  let name = CAMEL.get(key);
  if (name === undefined) {
    name = key.replace(/_([a-z0-9])/g, (_, next: string) => next.toUpperCase());
    if (CAMEL.size < 1_000) CAMEL.set(key, name);
  }
  return name;
}

function renamed(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(renamed);
  const object: Record<string, unknown> = {};
  for (const key of Object.keys(value)) object[camel(key)] = renamed((value as Record<string, unknown>)[key]);
  return object;
}
