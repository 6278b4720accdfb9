// A service that replies as a vendor does, with the vendor's own fixtures, and keeps what it is asked.
import { bodyOf, headersOf, vendorFixtures } from "./fixtures.mjs";
import { listen } from "./service.mjs";

/** What a model of the fixtures writes: the text of `chat-stream`. */
export const WRITTEN = "Knead 数🙂.";

/** What is asked about. */
export const DOCUMENT = { id: "bread.md", url: "https://kitchen.example/bread", text: "# Bread\n\nKnead the dough for ten minutes.\n" };

/**
 * Starts the service; it replies to each request with the fixture that its kind of request is about.
 * @param {string} vendor whose fixtures
 * @returns {Promise<{ url: string, calls: import("./service.mjs").Call[], close: () => Promise<void> }>}
 */
export async function serveVendor(vendor) {
  const files = vendorFixtures().get(vendor);
  return listen((call, response) => {
    const fixture = files.get(kindOf(call));
    response.writeHead(fixture.status, headersOf(fixture)).end(bodyOf(fixture));
  });
}

function kindOf({ path, body }) {
  if (body === undefined || /\/(?:search|websearch\/|conversations)$/.test(path)) return "search-reply";
  if (/embed/i.test(path)) return "embed-reply";
  return body.stream === true || path.includes(":streamGenerateContent") ? "chat-stream" : "chat-reply";
}

/** The addresses that the search on file finds. */
export function foundBy(vendor) {
  return vendorFixtures().get(vendor).get("search-reply").expect.results.map(({ url }) => url);
}
