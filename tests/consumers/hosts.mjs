// How each host asks a question of the package that is installed in a consumer's folder, and answers.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFileSync, readFileSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { launchChromium } from "../../scripts/lib/chromium.mjs";
import { findNode } from "../../scripts/lib/node.mjs";
import { startWorker } from "../../scripts/lib/worker.mjs";
import { openPage, serve } from "../browser/support.mjs";

/** In Node, of this major version. */
export async function askInNode(major, folder, question) {
  const { stdout } = await promisify(execFile)(findNode(major), ["ask.mjs", question], { cwd: folder });
  return JSON.parse(stdout);
}

/** In Chromium, by one of the folder's pages. */
export async function askInPage(page, folder, question) {
  const server = await serve(filesOf(folder));
  const chromium = await launchChromium();
  try {
    const opened = await openPage(chromium, `${server.url}/${page}`);
    await opened.page.waitForFunction(() => "ask" in globalThis, undefined, { timeout: 30_000 });
    const answer = await opened.page.evaluate((asked) => globalThis.ask(asked), question);
    assert.deepEqual([opened.foreign, opened.errors], [[], []]);
    return answer;
  } finally {
    await chromium.close();
    await server.close();
  }
}

/** In a page of one bundle; esbuild leaves the addresses of the module and the embedder as they are. */
export async function askInBundle(folder, question) {
  const { build } = await import("esbuild");
  const entryPoints = { page: join(folder, "page.js") };
  const bundle = join(folder, "bundle");
  await build({ absWorkingDir: folder, entryPoints, outdir: bundle, bundle: true, format: "esm", logLevel: "error" });
  for (const name of ["countercheck_bg.wasm", "embedder.bin"]) {
    copyFileSync(join(folder, "node_modules", "countercheck", "dist", name), join(bundle, name));
  }
  return askInPage("bundled.html", folder, question);
}

/** In workerd, by a Worker that wrangler bundles: several at once, and one after them. */
export async function askInWorkerd(folder, question) {
  const worker = await startWorker({ config: join(folder, "wrangler.toml") });
  try {
    const ask = async () => {
      const response = await fetch(worker.url, { method: "POST", body: question });
      assert.equal(response.status, 200, worker.output());
      return response.json();
    };
    const careless = await fetch(worker.url);
    assert.match(await careless.text(), /^invalid_option: .*embedder/);
    const [answer, ...others] = [...(await Promise.all([ask(), ask(), ask()])), await ask()];
    for (const other of others) assert.deepEqual(other, answer);
    return answer;
  } finally {
    await worker.stop();
  }
}

/** Every file of a folder by its path on a server. */
function filesOf(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((found) => found.isFile());
  const paths = files.map((found) => join(found.parentPath ?? found.path, found.name));
  return Object.fromEntries(paths.map((path) => [`/${relative(folder, path)}`, readFileSync(path)]));
}
