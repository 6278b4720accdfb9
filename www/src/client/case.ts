// Field names: `snake_case` in wasm and over HTTP, `camelCase` in JavaScript. Values stay as they are.

/** Renames every key below a JSON value from `snake_case` to `camelCase`. */
export function camelKeys<T>(value: unknown): T {
  return renamed(value, (key) => key.replace(/_([a-z0-9])/g, (_, next: string) => next.toUpperCase())) as T;
}

/** Renames every key below a JSON value from `camelCase` to `snake_case`. */
export function snakeKeys(value: unknown): unknown {
  return renamed(value, (key) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
}

function renamed(value: unknown, rename: (key: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => renamed(item, rename));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [rename(key), renamed(item, rename)]));
}
