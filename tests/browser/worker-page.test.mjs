// The demo page served by the real Worker: the same question in the page and at the edge.
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { dist } from "../../scripts/lib/paths.mjs";
import { startWorker } from "../../scripts/lib/worker.mjs";
import { QUESTION, assistantFor } from "../node/support.mjs";
import { browser, openPage } from "./support.mjs";

let chromium;
let worker;
let site;

before(async () => {
  const disposals = [];
  const assistant = await assistantFor({ after: (dispose) => disposals.push(dispose) });
  site = mkdtempSync(join(tmpdir(), "countercheck-site-"));
  cpSync(join(dist, "site"), site, { recursive: true });
  writeFileSync(join(site, "docs.ccx"), await assistant.save());
  disposals.forEach((dispose) => dispose());
  [chromium, worker] = await Promise.all([browser(), startWorker({ assets: site })]);
});

after(async () => {
  await chromium?.close();
  await worker?.stop();
  if (site !== undefined) rmSync(site, { recursive: true, force: true });
});

test("the_page_and_the_edge_give_the_same_answer", async (t) => {
  const { page, context, requests, foreign, errors } = await openPage(chromium, `${worker.url}/`);
  t.after(() => context.close());
  const asked = () => requests.filter(({ pathname }) => pathname === "/v1/ask").length;
  const card = page.getByRole("article");
  const ask = async (where) => {
    await page.getByRole("combobox").fill(QUESTION);
    await page.keyboard.press("Enter");
    await card.getByText(new RegExp(`\\d (ms|s), ${where}`)).waitFor();
    const text = await card.textContent();
    return text.replace(/[\d.]+ (ms|s), .*$/, "");
  };
  const inPage = await ask("in this page");
  assert.equal(asked(), 0);
  // The switch is a pair of radio buttons: an arrow key moves from one to the other.
  await page.getByRole("radio", { name: "In this page" }).focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.getByRole("radio", { name: "At the edge" }).isChecked(), true);
  const atEdge = await ask("at the edge");
  assert.equal(asked(), 1);
  assert.equal(atEdge, inPage);
  assert.match(inPage, /Answered/);
  assert.deepEqual([foreign, errors], [[], []]);
});
