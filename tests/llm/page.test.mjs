// The loop in Chromium, whose tasks a Worker puts to the model: the page knows neither its address nor a key.
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { dist } from "../../scripts/lib/paths.mjs";
import { browser, openPage } from "../browser/support.mjs";
import { DOCUMENTS } from "../node/support.mjs";
import { makeIndex } from "../worker/support.mjs";
import { REQUEST, TIMEOUTS, checkLeftAlone, checkRun, listen, startWorkerWithModel } from "./support.mjs";

let chromium;
let ear;
let site;
let worker;

before(async () => {
  site = mkdtempSync(join(tmpdir(), "countercheck-site-"));
  cpSync(join(dist, "site"), site, { recursive: true });
  writeFileSync(join(site, "docs.ccx"), await makeIndex(DOCUMENTS));
  writeFileSync(join(site, "blank.html"), "<!doctype html><title>Blank</title>");
  [chromium, ear] = await Promise.all([browser(), listen()]);
  worker = await startWorkerWithModel(ear, site);
});

after(async () => {
  await chromium?.close();
  await worker?.stop();
  await ear?.close();
  if (site !== undefined) rmSync(site, { recursive: true, force: true });
});

/** Opens a page of the Worker's site that has an assistant over the Worker's model. */
async function open(t) {
  const opened = await openPage(chromium, `${worker.url}/blank`);
  t.after(() => opened.context.close());
  await opened.page.evaluate(async (timeouts) => {
    const { createAssistant, endpoint } = await import("/pkg/countercheck.js");
    const chat = endpoint(location.origin, { timeouts });
    window.assistant = await createAssistant({ index: "/docs.ccx", chat });
  }, TIMEOUTS);
  return opened;
}

test("a question is answered over the Worker's model", async (t) => {
  const { page, requests, foreign, errors } = await open(t);
  const started = Date.now();
  const run = await page.evaluate(async ({ question, ...options }) => {
    const events = [];
    const answer = await window.assistant.ask(question, { ...options, onEvent: (event) => events.push(event) });
    return { answer, events };
  }, REQUEST);
  checkRun("chromium", "remote", started, ear, run);
  const asked = requests.map(({ pathname }) => pathname).filter((path) => path.startsWith("/v1/"));
  assert.equal(asked.length, ear.exchanges.length);
  assert.ok(asked.every((path) => path.startsWith("/v1/tasks/")), asked.join(" "));
  assert.deepEqual([foreign, errors], [[], []]);
});

test("cancelling a question ends the model's reply", async (t) => {
  ear.endless = true;
  const { page } = await open(t);
  const name = await page.evaluate(async ({ question, ...options }) => {
    const controller = new AbortController();
    const onEvent = ({ type }) => type === "draft-delta" && controller.abort();
    const answering = window.assistant.ask(question, { ...options, signal: controller.signal, onEvent });
    return answering.then(
      () => "none",
      (error) => error.name,
    );
  }, REQUEST);
  assert.equal(name, "AbortError");
  await checkLeftAlone(ear);
});
