// The settings of the demo page: what can be chosen, what it does, and that a key is kept nowhere.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { QUESTION } from "../node/support.mjs";
import { ask, focused, gate, mustBeClean, openDemo, overflow, screenshot, startDemo, tabUntil } from "./demo.mjs";
import { serveModel, serveSearch } from "./model.mjs";

const KEY = "sk-canary-5f2e";
const FINE = { grade: '{"score": "yes"}', grounding: '{"grounded": "yes"}', usefulness: '{"useful": "yes"}' };

let demo;
let model;
/** The bodies of what the Worker was asked, by path. */
let worker;
/** What the model says on a role; by default that all is well. */
let says;

before(async () => {
  const refuse = (request, response) => {
    let text = "";
    request.on("data", (chunk) => (text += chunk));
    request.on("end", () => {
      worker.push([request.url, JSON.parse(text)]);
      const error = { code: "provider_failed", message: "the key is wrong", service_code: "unauthorized" };
      response.writeHead(502, { "content-type": "application/json" }).end(JSON.stringify({ error }));
    });
  };
  const tasks = ["grade-passages", "generate", "check-grounding", "check-usefulness"];
  const routes = ["/v1/ask", ...tasks.map((task) => `/v1/tasks/${task}`)].map((path) => [path, refuse]);
  demo = await startDemo(Object.fromEntries(routes));
  model = await serveModel(({ role }, reply) => reply.say(says[role] ?? FINE[role] ?? "It is `bodyLimit`. [1]"));
});

after(async () => {
  await demo?.stop();
  await model?.close();
});

beforeEach(() => {
  model.calls.length = 0;
  worker = [];
  says = {};
});

const dialog = (page) => page.getByRole("dialog", { name: "Settings" });

async function openSettings(page) {
  await page.locator("[part=settings-button]").click();
  await dialog(page).waitFor();
}

/** Chooses the model and fills in its fields. */
async function chooseModel(page, { url = model.url, name = "scripted", key = KEY } = {}) {
  // It speaks in the verdicts of the tutorials.
  await page.getByRole("radio", { name: "Self-reflective", exact: true }).check();
  await page.getByRole("radio", { name: "A model at an OpenAI-compatible address" }).check();
  const fields = page.locator(".fields").filter({ has: page.getByLabel("Model", { exact: true }) });
  await fields.getByLabel("Base URL").fill(url);
  await fields.getByLabel("Model").fill(name);
  await fields.getByLabel("Key").fill(key);
}

async function apply(page) {
  await page.getByRole("button", { name: "Use these settings" }).click();
  await dialog(page).waitFor({ state: "hidden" });
}

/** The roles that the model was asked in, in their order. */
const roles = () => model.calls.map(({ role }) => role);

test("a_strategy_and_a_number_of_passages_decide_what_is_asked", async (t) => {
  const opened = await openDemo(t, demo);
  const { page, requests } = opened;
  const calls = {};
  for (const strategy of ["Naive", "Corrective", "Self-reflective"]) {
    await openSettings(page);
    await chooseModel(page);
    await page.getByRole("radio", { name: strategy, exact: true }).check();
    await page.getByRole("spinbutton", { name: "Passages" }).fill("2");
    await apply(page);
    model.calls.length = 0;
    await ask(page, QUESTION);
    await page.getByText("Answered", { exact: true }).waitFor();
    calls[strategy] = roles();
  }
  assert.deepEqual(calls, {
    Naive: ["generate"],
    Corrective: ["grade", "grade", "generate"],
    "Self-reflective": ["grade", "grade", "generate", "grounding", "usefulness"],
  });
  const { key, body } = model.calls[0];
  assert.deepEqual([key, body.model], [KEY, "scripted"]);
  // Four assistants, one download of each file; the module with models came in place of the small one.
  const times = (name) => requests.filter(({ pathname }) => pathname.endsWith(name)).length;
  assert.deepEqual(["docs.ccx", "embedder.bin", "countercheck_models_bg.wasm"].map(times), [1, 1, 1]);
  await mustBeClean(opened);
});

test("a_key_is_in_memory_and_nowhere_else", async (t) => {
  const { page } = await openDemo(t, demo);
  const sent = [];
  page.on("request", (request) => {
    const all = [request.url(), request.postData(), JSON.stringify(request.headers())].join(" ");
    if (all.includes(KEY)) sent.push(new URL(request.url()).origin);
  });
  await openSettings(page);
  await chooseModel(page);
  assert.equal(await page.getByLabel("Key").first().getAttribute("type"), "password");
  await apply(page);
  await ask(page, QUESTION);
  await page.getByText("Answered", { exact: true }).waitFor();
  const kept = await page.evaluate(async () => {
    const shadow = document.querySelector("countercheck-assistant").shadowRoot;
    const inputs = [...shadow.querySelectorAll("input")].map(({ value }) => value);
    return {
      everywhere: [document.documentElement.outerHTML, shadow.innerHTML, ...inputs, location.href].join(" "),
      stored: [localStorage.length, sessionStorage.length, document.cookie, (await indexedDB.databases()).length],
      cached: await caches.keys(),
      history: JSON.stringify(history.state),
    };
  });
  assert.equal(kept.everywhere.includes(KEY), false);
  assert.deepEqual([kept.stored, kept.cached, kept.history], [[0, 0, "", 0], [], "null"]);
  assert.deepEqual([...new Set(sent)], [new URL(model.url).origin], "it went to the model alone");

  // Opened again, the dialog knows that there is a key, but does not have it.
  await openSettings(page);
  assert.equal(await page.getByLabel("Key").first().inputValue(), "");
  await page.getByText("A key is kept in memory.").first().waitFor();
  await apply(page);
  model.calls.length = 0;
  await ask(page, QUESTION);
  await page.getByText("Answered", { exact: true }).waitFor();
  assert.equal(model.calls[0].key, KEY);
  await openSettings(page);
  await page.getByRole("button", { name: "Forget the key" }).click();
  await apply(page);
  model.calls.length = 0;
  await ask(page, QUESTION);
  await page.getByText("Answered", { exact: true }).waitFor();
  assert.equal(model.calls[0].key, undefined);

  await page.reload();
  await openSettings(page);
  assert.equal(await page.getByRole("radio", { name: "Built in" }).isChecked(), true);
});

test("a_key_goes_to_the_server_it_was_typed_for", async (t) => {
  const { page } = await openDemo(t, demo);
  const other = await serveModel((_, reply) => reply.say("It is `bodyLimit`. [1]"));
  t.after(() => other.close());
  await openSettings(page);
  await chooseModel(page);
  await page.getByRole("radio", { name: "Naive" }).check();
  await apply(page);
  await openSettings(page);
  await page.getByLabel("Base URL", { exact: true }).fill(other.url);
  assert.equal(await page.getByText("A key is kept in memory.").first().isVisible(), false);
  await apply(page);
  await ask(page, QUESTION);
  await page.getByText("Answered", { exact: true }).waitFor();
  assert.deepEqual(other.calls.map(({ key }) => key), [undefined]);
});

// What is typed, the field that is wrong, and what is said beside it.
const WRONG = [
  [{ url: "ftp://models.example" }, "Base URL", /^The base URL does not begin with https/],
  [{ url: "https://me:secret@models.example/v1" }, "Base URL", /^The base URL contains a user name/],
  [{ url: "http://models.example/v1" }, "Key", /^The key would be sent in plain text/],
  [{ key: "two words" }, "Key", /^The key is empty or contains characters that no key has/],
  [{ name: " " }, "Model", /^Give the model's name/],
];

test("a_wrong_setting_is_explained_beside_its_field_and_changes_nothing", async (t) => {
  const opened = await openDemo(t, demo);
  const { page } = opened;
  await openSettings(page);
  for (const [wrong, field, message] of WRONG) {
    await chooseModel(page, wrong);
    await page.getByRole("button", { name: "Use these settings" }).click();
    const input = page.locator("[aria-invalid=true]");
    await input.waitFor();
    assert.equal(await input.evaluate((it) => it.labels[0].textContent), field);
    assert.equal(await input.evaluate((it) => it.matches(":focus")), true);
    const described = (await input.getAttribute("aria-describedby")).split(" ").at(-1);
    assert.match(await page.locator(`#${described}`).textContent(), message);
  }
  await chooseModel(page);
  await page.getByRole("spinbutton", { name: "Passages" }).fill("51");
  await page.getByRole("button", { name: "Use these settings" }).click();
  await page.getByText("Give a number from 1 to 50.").waitFor();
  await page.getByRole("spinbutton", { name: "Passages" }).fill("4");
  await page.getByRole("radio", { name: "Tavily" }).check();
  await page.getByRole("button", { name: "Use these settings" }).click();
  await page.getByText("Give your key.").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();

  await page.getByText("Nothing you type leaves this page.").waitFor();
  await ask(page, QUESTION);
  await page.getByText("Quoted from the sources, not written by a model.").waitFor();
  assert.equal(model.calls.length, 0);
  await mustBeClean(opened);
});

test("settings_that_are_cancelled_while_they_load_are_not_used", async (t) => {
  const { page, context } = await openDemo(t, demo);
  const loading = gate();
  await context.route(/countercheck_models_bg\.wasm$/, (route) => loading.open(route));
  await openSettings(page);
  await chooseModel(page);
  await page.getByRole("button", { name: "Use these settings" }).click();
  await page.getByRole("button", { name: "Loading…" }).waitFor();
  const route = await loading.opened;
  await page.keyboard.press("Escape");
  await dialog(page).waitFor({ state: "hidden" });
  await Promise.all([page.waitForResponse(/countercheck_models_bg\.wasm$/), route.continue()]);
  await openSettings(page);
  await page.getByRole("button", { name: "Use these settings" }).waitFor();
  assert.equal(await page.getByRole("radio", { name: "Built in" }).isChecked(), true);
  await page.keyboard.press("Escape");
  await ask(page, QUESTION);
  await page.getByText("Quoted from the sources, not written by a model.").waitFor();
  assert.equal(model.calls.length, 0);
});

test("the_settings_can_be_used_by_keyboard", async (t) => {
  const opened = await openDemo(t, demo);
  const { page } = opened;
  await tabUntil(page, /^button Settings/);
  await page.keyboard.press("Enter");
  await dialog(page).waitFor();
  await tabUntil(page, /^input Built in/);
  await page.keyboard.press("ArrowDown");
  assert.match(await focused(page), /^input A model at an OpenAI-compatible address/);
  const type = async (label, text) => {
    await tabUntil(page, new RegExp(`^input ${label}`));
    await page.keyboard.type(text);
  };
  // "/" is a character here as everywhere where one writes.
  await type("Base URL", model.url);
  await type("Model", "scripted/one");
  await page.keyboard.press("Enter");
  await dialog(page).waitFor({ state: "hidden" });
  assert.match(await focused(page), /^button Settings/);
  await page.getByText(`Questions and passages go to ${new URL(model.url).host}.`).waitFor();
  await page.keyboard.press("Enter");
  await dialog(page).waitFor();
  await page.keyboard.press("Escape");
  await dialog(page).waitFor({ state: "hidden" });
  assert.match(await focused(page), /^button Settings/);
  await mustBeClean(opened);
});

test("a_model_can_be_tried_before_it_is_used", async (t) => {
  const { page } = await openDemo(t, demo);
  await openSettings(page);
  await chooseModel(page);
  await page.getByRole("button", { name: "Try it" }).click();
  await page.getByText("The model answers.").waitFor();
  assert.deepEqual(roles(), ["generate"], "one call");
  await chooseModel(page, { url: "http://127.0.0.1:9/v1" });
  await page.getByRole("button", { name: "Try it" }).click();
  await page.getByText(/^The browser could not reach the service\./).waitFor();
  await chooseModel(page, { name: "" });
  await page.getByRole("button", { name: "Try it" }).click();
  await page.getByText("Give the model's name.").waitFor();
});

test("the_web_is_searched_where_the_documentation_falls_short", async (t) => {
  says = { grade: '{"score": "no"}', generate: "The web knows. [1]" };
  const search = await serveSearch([{ title: "News", url: "https://news.example/a", content: "The web knows it." }]);
  t.after(() => search.close());
  const { page } = await openDemo(t, demo);
  await openSettings(page);
  await chooseModel(page);
  await page.getByRole("radio", { name: "Tavily" }).check();
  await page.getByLabel("Base URL, if not Tavily’s own").fill(search.url);
  await page.getByLabel("Key").last().fill("tvly-canary");
  await apply(page);
  await page.getByText(`To search the web, questions go to ${new URL(search.url).host}.`).waitFor();
  await ask(page, QUESTION);
  await page.getByText("Answered", { exact: true }).waitFor();
  await page.getByText("from the web").waitFor();
  assert.deepEqual(search.calls, [{ key: "tvly-canary", query: QUESTION }]);
});

test("the_worker_can_do_each_step_or_everything", async (t) => {
  const { page } = await openDemo(t, demo);
  await openSettings(page);
  await page.getByRole("radio", { name: "This site’s Worker, loop in this page" }).check();
  await apply(page);
  await page.getByText(`Questions and passages go to ${new URL(demo.url).host}.`).waitFor();
  await ask(page, QUESTION);
  await page.getByText("Only the owner of this site can mend that.").waitFor();
  assert.ok(worker.some(([path]) => path === "/v1/tasks/generate"));

  worker = [];
  await openSettings(page);
  await page.getByRole("radio", { name: "At the edge" }).last().check();
  await page.getByRole("radio", { name: "Corrective", exact: true }).check();
  await page.getByRole("spinbutton", { name: "Passages" }).fill("7");
  await apply(page);
  assert.equal(await page.getByRole("radio", { name: "At the edge" }).isChecked(), true, "the switch has followed");
  await ask(page, QUESTION);
  await page.getByText("Only the owner of this site can mend that.").waitFor();
  assert.deepEqual(worker, [["/v1/ask", { question: QUESTION, strategy: "corrective", k: 7 }]]);
});

test("a_page_can_bring_its_own_model_and_leave_the_settings_out", async (t) => {
  const { page } = await openDemo(t, demo);
  await page.evaluate(() => {
    // As a page does that sets properties before the element's script has come.
    const element = document.createElement("countercheck-assistant");
    window.asked = [];
    element.chat = ({ role }) => {
      window.asked.push(role);
      return role === "generate" ? "It is `bodyLimit`. [1]" : '{"score": "yes", "grounded": "yes", "useful": "yes"}';
    };
    Object.assign(element, { strategy: "corrective", k: 1 });
    element.setAttribute("index", "/docs.ccx");
    document.querySelector("countercheck-assistant").replaceWith(element);
  });
  assert.equal(await page.getByRole("button", { name: "Settings" }).count(), 0);
  await page.getByText("Questions and passages go to a service of this site.").waitFor();
  await ask(page, QUESTION);
  await page.getByText("Answered", { exact: true }).waitFor();
  assert.deepEqual(await page.evaluate(() => window.asked), ["grade", "generate"]);
  await page.evaluate(() => document.querySelector("countercheck-assistant").setAttribute("settings", ""));
  await openSettings(page);
  assert.equal(await page.getByRole("radio", { name: "As this page was set up" }).first().isChecked(), true);
  assert.equal(await page.getByRole("radio", { name: "Corrective", exact: true }).isChecked(), true);
});

for (const [name, options] of [
  ["light", { viewport: { width: 1100, height: 900 }, colorScheme: "light" }],
  ["dark", { viewport: { width: 1100, height: 900 }, colorScheme: "dark" }],
  ["phone", { viewport: { width: 380, height: 740 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true }],
]) {
  test(`the settings fit: ${name}`, async (t) => {
    const { page } = await openDemo(t, demo, options);
    await openSettings(page);
    await chooseModel(page);
    await page.getByRole("radio", { name: "Tavily" }).check();
    await screenshot(page, `settings-${name}`);
    const { wide, inner, color } = await dialog(page).evaluate((it) => ({
      wide: it.scrollWidth - it.clientWidth,
      inner: it.getBoundingClientRect().right - innerWidth,
      color: Number(/\d+/.exec(getComputedStyle(it).backgroundColor)[0]),
    }));
    assert.ok(wide === 0 && inner <= 0, "nothing is wider than the window");
    assert.equal(await overflow(page), 0);
    assert.ok(name === "dark" ? color < 60 : color > 200, `${color}`);
  });
}
