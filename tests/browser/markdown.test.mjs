// The renderer of answers against Markdown that attacks its reader, whole and as it streams in.
//
// A control page that renders the same payloads the naive way must be hit, or these tests prove nothing.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { build } from "esbuild";
import { root } from "../../scripts/lib/paths.mjs";
import { browser, openPage, serve } from "./support.mjs";

const corpus = JSON.parse(readFileSync(join(root, "tests", "data", "xss", "corpus.json"), "utf8"));
const CITED = "https://docs.example/guide#limits";

const ELEMENTS = [
  "p",
  "h3",
  "h4",
  "h5",
  "h6",
  "ul",
  "ol",
  "li",
  "code",
  "pre",
  "em",
  "strong",
  "a",
  "blockquote",
  "table",
  "thead",
  "tbody",
  "tr",
  "th",
  "td",
  "br",
  "hr",
  "del",
];
const ATTRIBUTES = { a: ["href", "target", "rel"], ol: ["start"] };

let chromium;
let server;

before(async () => {
  const bundle = async (contents) => {
    const options = { bundle: true, format: "esm", write: false, logLevel: "warning" };
    const result = await build({ ...options, stdin: { contents, resolveDir: root, loader: "ts" } });
    return Buffer.from(result.outputFiles[0].contents);
  };
  const page = "<!doctype html><title>Markdown</title><main></main>";
  server = await serve({
    "/page.html": page,
    "/renderer.js": await bundle(`export { plainText, renderMarkdown } from "./www/src/element/markdown.ts";`),
    "/naive.js": await bundle(`export { parse } from "marked";`),
  });
  chromium = await browser();
});

after(async () => {
  await chromium?.close();
  await server?.close();
});

/** Renders texts in the page, and gives what a hole in the renderer would leave behind. */
async function rendered(page, texts) {
  return page.evaluate(
    async ({ texts, elements, attributes, cited }) => {
      const { renderMarkdown } = await import("/renderer.js");
      const main = document.querySelector("main");
      const strange = [];
      for (const text of texts) {
        const place = document.createElement("div");
        main.append(place);
        place.append(renderMarkdown(text, { links: [cited] }));
        for (const element of place.querySelectorAll("*")) {
          const name = element.localName;
          if (!elements.includes(name)) strange.push(`${text.slice(0, 80)}: <${name}>`);
          for (const attribute of element.getAttributeNames()) {
            if (!attributes[name]?.includes(attribute)) strange.push(`${text.slice(0, 80)}: <${name} ${attribute}>`);
          }
          const isForeign =
            name === "a" &&
            (!element.href.startsWith("https://docs.example/guide") || element.rel !== "noopener noreferrer");
          if (isForeign) strange.push(`${text.slice(0, 80)}: a link to ${element.href}`);
          element.addEventListener("click", (event) => event.preventDefault());
          element.click();
          element.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
        }
        // Drawn once, then out of the way: a thousand at a time would only make drawing slow.
        place.getBoundingClientRect();
        if (texts.length > 200) place.remove();
      }
      // What a payload loads was asked for before this image, so it has failed by then, too.
      await new Promise((resolve) => {
        const image = new Image();
        image.onerror = () => requestAnimationFrame(() => setTimeout(resolve, 0));
        image.src = "/missing.png";
      });
      return { strange: strange.slice(0, 5), fired: window.__pwn ?? 0 };
    },
    { texts, elements: ELEMENTS, attributes: ATTRIBUTES, cited: CITED },
  );
}

/** All beginnings of a short text, and some of a long one. */
function prefixes(text) {
  const step = Math.max(1, Math.floor(text.length / 150));
  return Array.from({ length: Math.floor(text.length / step) }, (_, i) => text.slice(0, (i + 1) * step));
}

test("no_payload_fires_fetches_or_leaves_an_element_beyond_the_list", async () => {
  const { page, requests, foreign, errors } = await openPage(chromium, `${server.url}/page.html`);
  const result = await rendered(
    page,
    corpus.map(({ md }) => md),
  );
  assert.deepEqual(result, { strange: [], fired: 0 });
  assert.deepEqual(foreign, []);
  assert.deepEqual(errors, []);
  const paths = new Set(requests.map(({ pathname }) => pathname));
  assert.deepEqual([...paths].sort(), ["/missing.png", "/page.html", "/renderer.js"]);
  await page.context().close();
});

test("no_beginning_of_a_payload_does_either", async () => {
  const { page, foreign, errors } = await openPage(chromium, `${server.url}/page.html`);
  const texts = corpus.filter(({ kind }) => kind !== "dos").flatMap(({ md }) => prefixes(md));
  assert.ok(texts.length > 3000, `${texts.length} beginnings`);
  assert.deepEqual(await rendered(page, texts), { strange: [], fired: 0 });
  assert.deepEqual(foreign, []);
  assert.deepEqual(errors, []);
  await page.context().close();
});

/** Renders payloads of a kind as a careless page would. */
async function renderedNaively(page, kind) {
  await page.evaluate(
    async (texts) => {
      const { parse } = await import("/naive.js");
      for (const text of texts) {
        const place = document.createElement("div");
        document.querySelector("main").append(place);
        place.innerHTML = parse(text);
      }
    },
    corpus.filter((payload) => payload.kind === kind).map(({ md }) => md),
  );
}

test("the_same_payloads_hit_a_page_that_renders_them_naively", async () => {
  const run = await openPage(chromium, `${server.url}/page.html`);
  await renderedNaively(run.page, "exec");
  await run.page.waitForFunction(() => window.__pwn >= 8, undefined, { timeout: 20_000 });
  await run.page.context().close();

  const fetched = await openPage(chromium, `${server.url}/page.html`);
  const asked = fetched.page.waitForEvent("requestfailed", {
    timeout: 20_000,
    predicate: () => fetched.foreign.length >= 8,
  });
  await renderedNaively(fetched.page, "net");
  await asked;
  await fetched.page.context().close();
});

test("a_payload_without_end_is_drawn_in_seconds", async () => {
  const { page } = await openPage(chromium, `${server.url}/page.html`);
  for (const { id, md } of corpus.filter(({ kind }) => kind === "dos")) {
    const started = Date.now();
    const { fired } = await rendered(page, [md]);
    assert.equal(fired, 0);
    assert.ok(Date.now() - started < 8_000, `${id} took ${Date.now() - started} ms`);
  }
  await page.context().close();
});

const CASES = [
  ["a **b** `c` ~~d~~", "<p>a <strong>b</strong> <code>c</code> <del>d</del></p>"],
  ["# One\n\n###### Six", "<h3>One</h3><h6>Six</h6>"],
  ["1. a\n2. b", "<ol><li>a</li><li>b</li></ol>"],
  ["3. a\n\n   b", '<ol start="3"><li><p>a</p><p>b</p></li></ol>'],
  ["- [x] a\n- [ ] b", "<ul><li>☑ a</li><li>☐ b</li></ul>"],
  [
    "|a|\n|-|\n|`b`|",
    "<table><thead><tr><th>a</th></tr></thead><tbody><tr><td><code>b</code></td></tr></tbody></table>",
  ],
  ["> a\n\n---", "<blockquote><p>a</p></blockquote><hr>"],
  ["```js\na < b && c\n```", "<pre><code>a &lt; b &amp;&amp; c</code></pre>"],
  ["R&amp;D &lt;b&gt; &#x41; &nosuch;", "<p>R&amp;D &lt;b&gt; A &amp;nosuch;</p>"],
  ["<b>x</b> & <script>y</script>", "<p>&lt;b&gt;x&lt;/b&gt; &amp; &lt;script&gt;y&lt;/script&gt;</p>"],
  ["![a chart](https://evil.test/x.png)", "<p>a chart</p>"],
  [
    "[here](https://docs.example/guide#other)",
    '<p><a href="https://docs.example/guide#other" target="_blank" rel="noopener noreferrer">here</a></p>',
  ],
  ["[here](https://docs.example/guide2)", "<p>here (docs.example)</p>"],
  ["[here](https://docs.example:444/guide)", "<p>here (docs.example:444)</p>"],
  ["[docs.example](https://evil.test/)", "<p>docs.example (evil.test)</p>"],
  ["<https://evil.test/>", "<p>https://evil.test/</p>"],
  ["[here](../other.md)", "<p>here</p>"],
  ["[x](javascript:alert(1))", "<p>x</p>"],
  ["It is so.[1] And [2], [12] too.", "<p>It is so.⟨1⟩ And ⟨2⟩, [12] too.</p>"],
  ["See [`a()`][A], [the guide][] and x[i][j].[1][2]", "<p>See <code>a()</code>, the guide and x[i][j].⟨1⟩⟨2⟩</p>"],
  ["`a[1]` and \\[1\\]", "<p><code>a[1]</code> and [1]</p>"],
  ["Trust me [1].\n\n[1]: https://evil.test/", "<p>Trust me ⟨1⟩.</p><p>⟨1⟩: https://evil.test/</p>"],
  ["a\u202eb\u{e0041}c\u0007d", "<p>abcd</p>"],
];

test("markdown_becomes_the_elements_it_means", async () => {
  const { page } = await openPage(chromium, `${server.url}/page.html`);
  const found = await page.evaluate(
    async ({ texts, cited }) => {
      const { renderMarkdown } = await import("/renderer.js");
      return texts.map((text) => {
        const place = document.createElement("div");
        place.append(
          renderMarkdown(text, {
            links: [cited],
            citation: (n) => (n <= 2 ? document.createTextNode(`⟨${n}⟩`) : undefined),
          }),
        );
        return place.innerHTML.replaceAll("\n", "");
      });
    },
    { texts: CASES.map(([text]) => text), cited: CITED },
  );
  for (const [i, [text, expected]] of CASES.entries()) assert.equal(found[i], expected, text);
  await page.context().close();
});

test("the_text_of_markdown_is_read_without_its_marks", async () => {
  const { page } = await openPage(chromium, `${server.url}/page.html`);
  const text = await page.evaluate(async () =>
    (await import("/renderer.js")).plainText(
      "# Title\n\nUse `a` and **[b](c)**.[1]\n\n- one\n- two\n\n```js\ncode\n```\n\n|x|y|\n|-|-|\n|1|2|\n\n<div>",
    ),
  );
  assert.equal(text, "Title\nUse a and b.[1]\none\ntwo\ncode\nx y\n1 2");
  await page.context().close();
});
