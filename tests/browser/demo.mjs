// The demo page over the small corpus, for the tests of what its readers do.
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assistantFor } from "../node/support.mjs";
import { browser, openPage, serve } from "./support.mjs";

// Screenshots for whoever looks at them: SCREENSHOTS=directory npm run test:browser
const screenshots = process.env.SCREENSHOTS || mkdtempSync(join(tmpdir(), "countercheck-page-"));

/**
 * Serves the page and starts a browser.
 * @param {Parameters<typeof serve>[0]} [routes] besides the page's own
 */
export async function startDemo(routes = {}) {
  const disposals = [];
  const assistant = await assistantFor({ after: (dispose) => disposals.push(dispose) });
  const index = Buffer.from(await assistant.save());
  const { passages } = await assistant.statistics();
  disposals.forEach((dispose) => dispose());
  const server = await serve({ "/docs.ccx": index, ...routes });
  const chromium = await browser();
  const stop = async () => {
    await chromium.close();
    await server.close();
  };
  return { url: server.url, chromium, passages, stop };
}

/** Opens the page; its violations of the content security policy are collected with the errors. */
export async function openDemo(t, demo, options) {
  const opened = await openPage(demo.chromium, "about:blank", options);
  t.after(() => opened.context.close());
  await opened.page.addInitScript(() => {
    window.violations = [];
    addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
      window.violations.push(`${violatedDirective} ${blockedURI}`),
    );
  });
  await opened.page.goto(`${demo.url}/`);
  await opened.page.getByRole("combobox").waitFor();
  return opened;
}

/** Types a question and asks it. */
export async function ask(page, question) {
  await page.getByRole("combobox").fill(question);
  await page.keyboard.press("Enter");
}

/** The part that has the focus, named as a reader would hear it. */
export function focused(page) {
  return page.evaluate(() => {
    const element = document.activeElement?.shadowRoot?.activeElement ?? document.activeElement;
    const label = element.getAttribute("aria-label") ?? element.labels?.[0]?.textContent;
    return `${element.localName} ${label || element.value || element.textContent}`.trim();
  });
}

/** Moves on to a part. */
export async function tabUntil(page, wanted) {
  for (let presses = 0; presses < 40; presses++) {
    if (wanted.test(await focused(page))) return;
    await page.keyboard.press("Tab");
  }
  assert.fail(`no part like ${wanted} can be reached with Tab`);
}

export async function mustBeClean({ page, foreign, errors }) {
  assert.deepEqual(await page.evaluate(() => window.violations), []);
  assert.deepEqual(errors, []);
  assert.deepEqual(foreign, []);
}

export function screenshot(page, name) {
  return page.screenshot({ path: join(screenshots, `${name}.png`), fullPage: true });
}

/** How much wider than the window the page is. */
export function overflow(page) {
  return page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
}

/** A promise and the function that keeps it. */
export function gate() {
  const made = {};
  made.opened = new Promise((resolve) => {
    made.open = resolve;
  });
  return made;
}
