// Field names: `snake_case` in wasm and over HTTP, `camelCase` in JavaScript. Values stay as they are.

/** Renames every key below a JSON value from `snake_case` to `camelCase`; the keys are those of our own types. */
export function camelKeys<T>(value: unknown): T {
  return renamed(value) as T;
}

/** What an engine gives: JSON with its keys renamed, or, from the small module, a value whose keys are to be. */
export function shown<T>(result: unknown): T {
  return typeof result === "string" ? (JSON.parse(result) as T) : camelKeys(result);
}

/** Renames every key below a JSON value from `camelCase` to `snake_case`. */
export function snakeKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeKeys);
  if (typeof value !== "object" || value === null) return value;
  // Not by assignment: whatever its name, what a caller sets is a field.
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [snake(key), snakeKeys(item)]));
}

const camel = remembered((key) => key.replace(/_([a-z0-9])/g, (_, next: string) => next.toUpperCase()));
const snake = remembered((key) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));

/** The same with the names that came so far: there are some fifty, and they come with every answer. */
function remembered(renamed: (key: string) => string): (key: string) => string {
  const known = new Map<string, string>();
  return (key) => {
    let name = known.get(key);
    if (name === undefined) {
      name = renamed(key);
      if (known.size < 1_000) known.set(key, name);
    }
    return name;
  };
}

function renamed(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(renamed);
  const object: Record<string, unknown> = {};
  for (const key of Object.keys(value)) object[camel(key)] = renamed((value as Record<string, unknown>)[key]);
  return object;
}
