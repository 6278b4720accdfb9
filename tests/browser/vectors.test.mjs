// The index of vectors in a page: Chromium has relaxed SIMD, which the Node that runs other tests may lack.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { dist } from "../../scripts/lib/paths.mjs";
import { browser, openPage, serve } from "./support.mjs";

const PAGE = `<!doctype html><title>Vectors</title><script type="module">
  Object.assign(window, await import("/lib/vectors.js"));
</script>`;
const NEIGHBOURS = readFileSync(new URL("../data/neighbours.txt", import.meta.url), "utf8");

let chromium;
let server;

before(async () => {
  const file = (name, type) => (_, response) => response.writeHead(200, { "content-type": type }).end(readFileSync(join(dist, name)));
  server = await serve({
    "/vectors.html": PAGE,
    "/lib/vectors.js": file("vectors.js", "text/javascript"),
    "/lib/vectors.wasm": file("vectors.wasm", "application/wasm"),
  });
  chromium = await browser();
});

after(async () => {
  await chromium?.close();
  await server?.close();
});

test("both_scans_find_in_a_page_what_native_code_finds_to_the_last_bit", async (t) => {
  const { page, context, requests, errors } = await openPage(chromium, `${server.url}/vectors.html`);
  t.after(() => context.close());
  await page.waitForFunction(() => "createVectorIndex" in window);
  const found = await page.evaluate(searches);
  assert.equal(found.scans, 1, "the scan by relaxed SIMD is given to the one index that may have it");
  assert.equal(found.neighbours, NEIGHBOURS);
  assert.ok(found.relaxed.length > 0);
  assert.deepEqual(found.relaxed, found.plain);
  assert.deepEqual(requests.map(({ pathname }) => pathname).sort(), ["/lib/vectors.js", "/lib/vectors.wasm", "/vectors.html"]);
  assert.deepEqual(errors, []);
});

/** In the page: vectors by Knuth's MMIX generator as in tests/vectors.rs, and searches by both scans. */
async function searches() {
  const lcg = (seed) => {
    let state = BigInt(seed);
    return (dimension) =>
      Float32Array.from({ length: dimension }, () => {
        state = BigInt.asUintN(64, state * 6364136223846793005n + 1442695040888963407n);
        return Number(state >> 40n) / 2 ** 23 - 1;
      });
  };
  const bits = (score) => new Uint32Array(Float32Array.of(score).buffer)[0].toString(16).padStart(8, "0");
  const search = async (seed, dimension, relaxed) => {
    const vector = lcg(seed);
    const index = await window.createVectorIndex({ dimension, relaxed });
    for (let at = 0; at < 1003; at += 1) index.add(String(at).padStart(5, "0"), vector(dimension));
    let hits = "";
    for (let query = 0; query < 4; query += 1) {
      for (const { id, score } of index.search(vector(dimension), 10)) hits += `${id} ${bits(score)}\n`;
    }
    return hits;
  };
  const neighbours = await search(7, 70, false);
  const plain = await search(9, 64, false);
  // Only an index that is given the scan makes an instance at once.
  const { Instance } = WebAssembly;
  let scans = 0;
  WebAssembly.Instance = new Proxy(Instance, { construct: (target, given) => ((scans += 1), new target(...given)) });
  const relaxed = await search(9, 64, true);
  return { neighbours, plain, relaxed, scans };
}
