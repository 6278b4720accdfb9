// Which other sites' pages may read replies (R-8), in real workerd.
import assert from "node:assert/strict";
import { request as rawRequest } from "node:http";
import { after, before, test } from "node:test";
import { KITCHEN, makeIndex, makeSite, post, start } from "./support.mjs";

const DOCS = "https://docs.example.com";
const BLOG = "http://localhost:3000";
const QUESTION = { question: "How long do I knead the dough?" };

let worker;

before(async () => {
  const site = makeSite({ "docs.ccx": await makeIndex(KITCHEN, { embedder: false }) });
  worker = await start(site, { ALLOWED_ORIGINS: `${DOCS}, ${BLOG}` });
});

after(() => worker.stop());

test("an origin in the list is allowed by its very name, on errors too", async () => {
  for (const origin of [DOCS, BLOG]) {
    for (const body of [QUESTION, "not JSON"]) {
      const response = await post(`${worker.url}/v1/ask`, body, { headers: { origin } });
      assert.equal(response.headers.get("access-control-allow-origin"), origin);
      assertNeverMore(response);
    }
    const health = await fetch(`${worker.url}/healthz`, { headers: { origin } });
    assert.equal(health.headers.get("access-control-allow-origin"), origin);
  }
});

const OTHERS = [
  "null",
  "https://docs.example.com.evil.test",
  "https://evil-docs.example.com",
  "http://docs.example.com",
  "https://docs.example.com:8443",
  "https://DOCS.example.com",
  "https://docs.example.com.",
  "http://localhost:30000",
];

for (const origin of OTHERS) {
  test(`the origin ${origin} is not allowed`, async () => {
    const response = await post(`${worker.url}/v1/ask`, QUESTION, { headers: { origin } });
    assert.equal(response.headers.get("access-control-allow-origin"), null);
    assertNeverMore(response);
    const refused = await preflight("/v1/ask", origin);
    assert.equal(refused.status, 403);
    assert.equal((await refused.json()).error.code, "origin_not_allowed");
    for (const [name] of refused.headers) assert.ok(!name.startsWith("access-control-"), name);
  });
}

test("two Origin headers are no origin", async () => {
  const headers = await new Promise((resolve, reject) => {
    const twice = ["host", new URL(worker.url).host, "origin", DOCS, "origin", DOCS];
    const sent = rawRequest(`${worker.url}/healthz`, { headers: twice }, (response) => {
      response.resume();
      resolve(response.headers);
    });
    sent.on("error", reject).end();
  });
  assert.equal(headers["access-control-allow-origin"], undefined);
});

test("a preflight of an allowed origin says what it may send", async () => {
  const response = await preflight("/v1/ask", DOCS);
  assert.equal(response.status, 204);
  assert.equal(response.headers.get("access-control-allow-origin"), DOCS);
  assert.match(response.headers.get("access-control-allow-methods"), /\bPOST\b/);
  assert.equal(response.headers.get("access-control-allow-headers"), "content-type");
  assertNeverMore(response);
  assert.equal((await preflight("/v1/nothing", DOCS)).status, 404);
});

function preflight(path, origin) {
  const headers = { origin, "access-control-request-method": "POST", "access-control-request-headers": "content-type" };
  return fetch(worker.url + path, { method: "OPTIONS", headers });
}

/** Whatever is allowed, a reply depends on who asks, and no cookie goes with it. */
function assertNeverMore(response) {
  assert.match(response.headers.get("vary"), /\bOrigin\b/);
  assert.equal(response.headers.get("access-control-allow-credentials"), null);
}
