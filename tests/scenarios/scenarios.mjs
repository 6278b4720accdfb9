// Reads the scenario files for the hosts that speak JavaScript; see README.md.
import { readFileSync, readdirSync } from "node:fs";

const directory = new URL("./", import.meta.url);

/**
 * The scenario files, their documents and requests spelled out.
 * @returns {{ name: string, documents: object[], cases: object[], answers: Record<string, object> }[]}
 */
export function scenarios() {
  const names = readdirSync(directory)
    .filter((name) => name.endsWith(".json"))
    .sort();
  return names.map((name) => {
    const { documents, cases, answers } = JSON.parse(readFileSync(new URL(name, directory), "utf8"));
    return { name, documents: expanded(documents), cases: expanded(cases), answers };
  });
}

function expanded(value) {
  if (Array.isArray(value)) return value.map(expanded);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value.$repeat)) return value.$repeat[0].repeat(value.$repeat[1]);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, expanded(item)]));
}

/** Field names as JavaScript has them. */
export const camel = (value) => renamed(value, (key) => key.replace(/_([a-z])/g, (_, next) => next.toUpperCase()));

/** Field names as the files have them. */
export const snake = (value) => renamed(value, (key) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));

function renamed(value, rename) {
  if (Array.isArray(value)) return value.map((item) => renamed(item, rename));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [rename(key), renamed(item, rename)]));
}
