// The fixtures of tests/provider for the hosts that speak JavaScript; README.md there has the fields.
import { readFileSync, readdirSync } from "node:fs";

const directory = new URL("../provider/fixtures/", import.meta.url);

/** Those that a chat or a search service can send. */
const PLAYED = ["chat", "chat-stream", "host", "search", "verdict"];

/** The moment at which the dates in fixtures were written. */
const WRITTEN = Date.UTC(1994, 10, 6, 8, 49, 37);

const LONG = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/**
 * What a service sends in a connection, by name.
 * @returns {Map<string, any>}
 */
export function fixtures() {
  const all = below(directory);
  return new Map(all.filter(([, { codec, limits }]) => PLAYED.includes(codec) && limits === undefined));
}

/**
 * The fixtures of the vendors, by the vendor's name and their own.
 * @returns {Map<string, Map<string, any>>}
 */
export function vendorFixtures() {
  const folders = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return new Map(folders.map(({ name }) => [name, new Map(below(new URL(`${name}/`, directory)))]));
}

/** The fixtures of a folder, each with its name. */
function below(folder) {
  const names = readdirSync(folder).filter((file) => file.endsWith(".json")).map((file) => file.replace(/\.json$/, ""));
  const read = (name) => JSON.parse(readFileSync(new URL(`${name}.json`, folder), "utf8"));
  return names.sort().map((name) => [name, { name, ...read(name) }]);
}

/** The bytes of a fixture's body. */
export function bodyOf({ body = "", body_hex, json }) {
  if (body_hex !== undefined) return Buffer.from(body_hex, "hex");
  if (json !== undefined) return Buffer.from(JSON.stringify(json));
  const part = (part) => (typeof part === "string" ? part : part.$repeat[0].repeat(part.$repeat[1]));
  return Buffer.from([body].flat().map(part).join(""));
}

/** A fixture's headers, with dates as far from now as they were from when it was written. */
export function headersOf({ headers = {} }) {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, shifted(value)]));
}

/** A date, in the same of the three forms that HTTP knows; everything else as it stands. */
function shifted(value) {
  const written = Date.parse(value.includes("GMT") ? value : `${value} GMT`);
  const [day] = /\d+/.exec(value) ?? [];
  if (!/\d\d:\d\d:\d\d/.test(value) || new Date(written).getUTCDate() !== Number(day)) return value;
  const date = new Date(Date.now() + written - WRITTEN);
  const [, weekday, number, month, year, time] = /^(\w+), (\d+) (\w+) (\d+) (\S+)/.exec(date.toUTCString());
  if (value.includes("-")) return `${LONG[date.getUTCDay()]}, ${number}-${month}-${year.slice(2)} ${time} GMT`;
  return value.includes(",") ? date.toUTCString() : `${weekday} ${month} ${number.replace(/^0/, " ")} ${time} ${year}`;
}
