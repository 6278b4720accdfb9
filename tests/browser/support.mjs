// What the page's tests share: a server on this machine, and pages whose every request is watched.
import { once } from "node:events";
import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { launchChromium } from "../../scripts/lib/chromium.mjs";
import { dist } from "../../scripts/lib/paths.mjs";

const TYPES = {
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".json": "application/json",
  ".map": "application/json",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

/**
 * Serves routes, then the files of the built site.
 * @param {Record<string, string | Buffer | ((request, response) => void)>} [routes] by path; the type follows from
 *   the extension
 * @returns {Promise<{ url: string, close: () => Promise<void> }>} url without a slash at its end
 */
export async function serve(routes = {}) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    const path = pathname === "/" ? "/index.html" : pathname;
    const route = routes[path] ?? file(path);
    if (typeof route === "function") return route(request, response);
    if (route === undefined) return response.writeHead(404, { "content-type": "text/plain" }).end("not here");
    response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "application/octet-stream" }).end(route);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  return { url: `http://127.0.0.1:${server.address().port}`, close };
}

function file(path) {
  const name = join(dist, "site", path);
  return existsSync(name) && statSync(name).isFile() ? readFileSync(name) : undefined;
}

/**
 * A browser for a test file.
 * @returns {Promise<import("playwright-core").Browser>}
 */
export function browser() {
  return launchChromium();
}

/**
 * Opens a page that reaches nothing but this machine. What it tries beyond, and the errors it reports,
 * are for the test to look at.
 * @param {import("playwright-core").Browser} chromium
 * @param {string} url
 * @param {import("playwright-core").BrowserContextOptions} [options]
 */
export async function openPage(chromium, url, options = {}) {
  const context = await chromium.newContext(options);
  const requests = [];
  const foreign = [];
  await context.route(
    () => true,
    (route) => {
      const asked = new URL(route.request().url());
      requests.push(asked);
      const isHere = asked.hostname === "127.0.0.1" || asked.protocol === "data:" || asked.protocol === "blob:";
      if (isHere) return route.continue();
      foreign.push(asked.href);
      return route.abort();
    },
  );
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(error.message));
  await page.goto(url);
  return { page, context, requests, foreign, errors };
}
