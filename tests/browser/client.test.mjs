// The library in a plain page: a module script, an index, no bundler, no server that answers.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { dist } from "../../scripts/lib/paths.mjs";
import { assistantFor, QUESTION } from "../node/support.mjs";
import { camel, scenarios, snake } from "../scenarios/scenarios.mjs";
import { browser, openPage, serve } from "./support.mjs";

const PAGE = `<!doctype html><title>Plain</title><script type="module">
  import { createAssistant } from "/pkg/countercheck.js";
  window.createAssistant = createAssistant;
</script>`;
const wasm = () => readFileSync(join(dist, "countercheck_bg.wasm"));
const typed =
  (type, status = 200) =>
  (_, response) =>
    response.writeHead(status, { "content-type": type }).end(wasm());
const htmlPage = (_, response) =>
  response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>Home</title>");

let chromium;
let server;
let expected;

before(async () => {
  const disposals = [];
  const assistant = await assistantFor({ after: (dispose) => disposals.push(dispose) });
  const index = await assistant.save();
  expected = await assistant.ask(QUESTION);
  disposals.forEach((dispose) => dispose());
  server = await serve({
    "/plain.html": PAGE,
    "/docs.ccx": Buffer.from(index),
    "/octets.wasm": typed("application/octet-stream"),
    "/missing.wasm": typed("application/wasm", 404),
    "/fallback.wasm": htmlPage,
    "/fallback.ccx": htmlPage,
    "/not.wasm": Buffer.from("PK\u0003\u0004, not wasm"),
  });
  chromium = await browser();
});

after(async () => {
  await chromium?.close();
  await server?.close();
});

async function open(t, options) {
  const opened = await openPage(chromium, `${server.url}/plain.html`, options);
  t.after(() => opened.context.close());
  await opened.page.waitForFunction(() => "createAssistant" in window);
  return opened;
}

/** The paths asked for, without the hash that a build gives to what the client shares with its parts. */
function paths(requests) {
  return requests.map(({ pathname }) => pathname.replace(/chunk-\w+\.js$/, "chunk.js")).sort();
}

test("nothing_is_loaded_before_an_assistant_is_made", async (t) => {
  const { requests } = await open(t);
  assert.deepEqual(paths(requests), ["/pkg/chunks/chunk.js", "/pkg/countercheck.js", "/plain.html"]);
});

test("a_page_answers_offline_as_node_does", async (t) => {
  const { page, context, requests, foreign, errors } = await open(t);
  await page.evaluate(async () => {
    window.assistant = await createAssistant({ index: "/docs.ccx" });
  });
  const loaded = paths(requests);
  assert.deepEqual(loaded, [
    "/docs.ccx",
    "/pkg/chunks/chunk.js",
    "/pkg/countercheck.js",
    "/pkg/countercheck_bg.wasm",
    "/pkg/embedder.bin",
    "/plain.html",
  ]);
  await context.setOffline(true);
  const answer = await page.evaluate((question) => window.assistant.ask(question).then((found) => found), QUESTION);
  assert.deepEqual(answer, expected);
  assert.ok(answer.citations.length > 0);
  assert.equal(requests.length, loaded.length, "asking asks nobody");
  assert.deepEqual(foreign, []);
  assert.deepEqual(errors, []);
});

test("the_scenarios_have_the_answers_on_file", async (t) => {
  const { page } = await open(t);
  for (const { name, documents, cases, answers } of scenarios()) {
    const asked = cases.map(({ ask, search }) => ({ ask: camel(ask), search }));
    const results = await page.evaluate(
      async ({ documents, asked }) => {
        // Indexed in the module that reads documents, asked in the small one.
        const indexing = await createAssistant();
        await indexing.add(documents);
        const assistant = await createAssistant({ index: await indexing.save() });
        indexing.dispose();
        const results = [];
        for (const { ask, search } of asked) {
          const { question, ...options } = ask ?? {};
          const run = ask
            ? assistant.ask(question, options)
            : assistant.search(search.query, search.k).then((hits) => ({ hits }));
          results.push(
            await run.then(
              (found) => ({ found }),
              (error) => ({ code: error.code }),
            ),
          );
        }
        assistant.dispose();
        return results;
      },
      { documents: camel(documents), asked },
    );
    for (const [i, { name: title, error }] of cases.entries()) {
      const wanted = error ? { code: error } : { found: answers[title] };
      assert.deepEqual(results[i].found ? { found: snake(results[i].found) } : results[i], wanted, `${name}: ${title}`);
    }
  }
});

test("assistants_made_at_once_share_one_module", async (t) => {
  const { page, requests } = await open(t);
  const counts = await page.evaluate(async () => {
    const made = await Promise.all([
      createAssistant({ embedder: false }),
      createAssistant({ embedder: false }),
      createAssistant({ embedder: false }),
    ]);
    await Promise.all([made[0].add({ id: "a", text: "one" }), made[1].add({ id: "b", text: "two" })]);
    return Promise.all(made.map(async (assistant) => (await assistant.statistics()).documents));
  });
  assert.deepEqual(counts, [1, 1, 0]);
  const modules = paths(requests).filter((path) => path.endsWith(".wasm"));
  assert.deepEqual(modules, ["/pkg/countercheck_bg.wasm", "/pkg/countercheck_models_bg.wasm"]);
});

test("a_document_is_added_by_the_larger_module_which_is_loaded_then", async (t) => {
  const { page, context, requests, errors } = await open(t);
  let blocked = true;
  await context.route("**/countercheck_models_bg.wasm", (route) => (blocked ? route.abort() : route.fallback()));
  const add = () =>
    page.evaluate(async (question) => {
      window.assistant ??= await createAssistant({ index: "/docs.ccx" });
      const underWay = window.assistant.ask(question);
      const added = await window.assistant
        .add({ id: "extra.md", text: "# Extra\n\nThe kettle boils at noon." })
        .catch(({ code }) => code);
      const kettle = await window.assistant.ask("When does the kettle boil?");
      return { added, underWay: await underWay, again: await window.assistant.ask(question), kettle: kettle.outcome };
    }, QUESTION);
  const { again, ...failed } = await add();
  assert.deepEqual(failed, { added: "load_failed", underWay: expected, kettle: "abstained" });
  assert.deepEqual(again, expected);
  blocked = false;
  const { added, underWay, kettle } = await add();
  assert.deepEqual([added, kettle], [{ documents: 1, passages: 1 }, "answered"]);
  assert.deepEqual(underWay, expected);
  const modules = paths(requests).filter((path) => path.endsWith(".wasm"));
  assert.deepEqual(modules, ["/pkg/countercheck_bg.wasm", "/pkg/countercheck_models_bg.wasm"]);
  assert.deepEqual(errors, []);
});

test("a_cancelled_question_rejects_and_the_next_one_is_answered", async (t) => {
  const { page } = await open(t);
  const result = await page.evaluate(async (question) => {
    const assistant = await createAssistant({ index: "/docs.ccx" });
    const controller = new AbortController();
    const seen = [];
    const onEvent = ({ type }) => {
      seen.push(type);
      controller.abort();
    };
    const error = await assistant.ask(question, { signal: controller.signal, onEvent }).catch((reason) => reason);
    const next = await assistant.ask(question);
    return { name: error.name, isDom: error instanceof DOMException, seen, outcome: next.outcome };
  }, QUESTION);
  assert.deepEqual(result, { name: "AbortError", isDom: true, seen: ["retrieve"], outcome: "answered" });
});

test("a_wrong_type_of_the_module_is_no_obstacle", async (t) => {
  const { page, errors } = await open(t);
  const documents = await page.evaluate(
    async () => (await (await createAssistant({ wasm: "/octets.wasm", embedder: false })).statistics()).documents,
  );
  assert.equal(documents, 0);
  assert.deepEqual(errors, []);
});

const BROKEN = [
  [
    { wasm: "/missing.wasm" },
    /WebAssembly module could not be loaded: .*\/missing\.wasm answered 404.*createAssistant\(\{ wasm/,
  ],
  [{ wasm: "/fallback.wasm" }, /answered with an HTML page/],
  [{ wasm: "/not.wasm" }, /starts with "PK/],
  [{ wasm: "http://127.0.0.1:9/x.wasm" }, /no connection/],
  [{ index: "/missing.ccx" }, /the index could not be loaded: .* answered 404/],
  [{ index: "/fallback.ccx" }, /answered with an HTML page/],
  [{ embedder: "/missing.bin" }, /the embedder could not be loaded/],
];

test("a_file_that_cannot_be_loaded_is_explained_and_does_not_stand_in_the_way_of_the_next_attempt", async (t) => {
  const { page } = await open(t);
  for (const [options, message] of BROKEN) {
    const error = await page.evaluate(
      (given) =>
        createAssistant(given).then(
          () => undefined,
          ({ code, message }) => ({ code, message }),
        ),
      options,
    );
    assert.equal(error?.code, "load_failed", JSON.stringify(options));
    assert.match(error.message, message);
  }
  const answer = await page.evaluate(
    async (question) => (await createAssistant({ index: "/docs.ccx" })).ask(question).then((found) => found),
    QUESTION,
  );
  assert.deepEqual(answer, expected);
});

// A module of one function, `f`, that traps.
const TRAP = [0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 7, 5, 1, 1, 102, 0, 0, 10, 5, 1, 3, 0, 0, 11];

/** Makes the engine trap: in its next call, or in the next turn of what it has under way. */
function trappable() {
  window.instances = 0;
  const Instance = WebAssembly.Instance;
  WebAssembly.Instance = function (module, imports) {
    const { exports } = new Instance(module, imports);
    window.instances += 1;
    const watched = Object.entries(exports).map(([name, value]) => {
      if (typeof value !== "function" || !(name.startsWith("engine_") || name === "start")) return [name, value];
      return [name, (...args) => (window.trapNext ? ((window.trapNext = false), window.trap()) : value(...args))];
    });
    return { exports: Object.fromEntries(watched) };
  };
  window.makeTrap = async (bytes) => {
    const { instance } = await WebAssembly.instantiate(new Uint8Array(bytes));
    window.trap = instance.exports.f;
  };
}

async function openTrappable(t) {
  const opened = await open(t);
  await opened.page.evaluate(trappable);
  await opened.page.evaluate((bytes) => window.makeTrap(bytes), TRAP);
  return opened;
}

test("a_trap_in_a_call_is_that_calls_error_and_the_next_finds_everything_in_place", async (t) => {
  const { page } = await openTrappable(t);
  const result = await page.evaluate(async (question) => {
    const other = await createAssistant({ index: "/docs.ccx" });
    await other.add({ id: "other.md", text: "# Other\n\nThe stove is warm." });
    const assistant = await createAssistant({ index: "/docs.ccx" });
    await assistant.add({ id: "extra.md", text: "# Extra\n\nThe kettle boils at noon." });
    await assistant.remove("webhooks.md");
    const state = async () => [
      await assistant.ask(question),
      await assistant.statistics(),
      await assistant.save(),
      await other.statistics(),
    ];
    const before = await state();
    const underWay = other.ask(question).catch(({ code }) => code);
    window.trapNext = true;
    const code = await assistant.search("kettle").catch((error) => error.code);
    return {
      codes: [code, await underWay],
      instances: window.instances,
      before,
      after: await state(),
      again: window.instances,
    };
  }, QUESTION);
  assert.deepEqual(result.codes, ["panicked", "panicked"], "the instance is shared: whoever used it is told");
  assert.deepEqual([result.instances, result.again], [2, 3], "the small module's lives on");
  assert.deepEqual(result.after, result.before);
});

test("a_trap_in_a_turn_ends_what_is_under_way", async (t) => {
  const { page } = await openTrappable(t);
  const result = await page.evaluate(async (question) => {
    const assistant = await createAssistant({ index: "/docs.ccx" });
    const before = await assistant.ask(question);
    const underWay = [assistant.ask(question), assistant.ask(question)].map((asked) => asked.catch(({ code }) => code));
    window.trapNext = true;
    return { codes: await Promise.all(underWay), before, after: await assistant.ask(question), instances: window.instances };
  }, QUESTION);
  assert.deepEqual([result.codes, result.instances], [["panicked", "panicked"], 2]);
  assert.deepEqual(result.after, result.before);
});

test("a_second_trap_within_a_minute_is_not_papered_over", async (t) => {
  const { page } = await openTrappable(t);
  const result = await page.evaluate(async (question) => {
    const assistant = await createAssistant({ index: "/docs.ccx" });
    const codes = [];
    for (const trapNext of [true, false, true, false]) {
      window.trapNext = trapNext;
      codes.push(
        await assistant.ask(question).then(
          ({ outcome }) => outcome,
          (error) => error.code,
        ),
      );
    }
    const now = performance.now.bind(performance);
    performance.now = () => now() + 61_000;
    codes.push((await assistant.ask(question)).outcome);
    return { codes, instances: window.instances };
  }, QUESTION);
  assert.deepEqual(result, { codes: ["panicked", "answered", "panicked", "panicked", "answered"], instances: 3 });
});
