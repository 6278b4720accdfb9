// The browser of the page's tests: any Chromium that is there, driven by playwright-core.
import { accessSync, constants } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

const NAMES = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];
const ELSEWHERE = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

/**
 * Finds a Chromium: the variable CHROMIUM (a path or a name), then the usual names on PATH.
 * @returns {string | undefined} a path
 */
export function findChromium() {
  if (process.env.CHROMIUM) return findProgram(process.env.CHROMIUM);
  return [...NAMES, ...ELSEWHERE].map(findProgram).find((path) => path !== undefined);
}

/**
 * Starts Chromium headless. Import only after setup: it needs playwright-core.
 * @param {import("playwright-core").LaunchOptions} [options]
 * @returns {Promise<import("playwright-core").Browser>}
 */
export async function launchChromium(options = {}) {
  const { chromium } = await import("playwright-core");
  // Chromium's sandbox refuses to start for root, which is what a container or CI usually is.
  return chromium.launch({ executablePath: findChromium(), chromiumSandbox: process.getuid?.() !== 0, ...options });
}

/**
 * Finds a program on PATH.
 * @param {string} name a name or an absolute path
 * @returns {string | undefined} a path
 */
export function findProgram(name) {
  const candidates = isAbsolute(name)
    ? [name]
    : (process.env.PATH ?? "").split(delimiter).map((directory) => join(directory, name));
  return candidates.find(isExecutable);
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
