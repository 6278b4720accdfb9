// What becomes of a question at the edge when a service fails; services/failures.mjs says what must.
import { after, before, test } from "node:test";
import { camel, snake } from "../scenarios/scenarios.mjs";
import { DOCUMENT, TIMEOUTS, cases, check } from "../services/failures.mjs";
import { serveFixtures } from "../services/fixture-server.mjs";
import { nowhere } from "../services/service.mjs";
import { makeIndex, makeSite, post, start } from "./support.mjs";

let services;
let site;

before(async () => {
  services = await serveFixtures();
  site = makeSite({ "docs.ccx": await makeIndex([DOCUMENT], { embedder: false }) });
});

after(() => services.close());

// A Worker's services are in its settings: one Worker for those who share them.
const all = cases("worker");
const GROUPS = {
  "a service that fails": all.filter(({ isRefused, timeouts }) => !isRefused && timeouts === "long"),
  "a service that takes too long": all.filter(({ timeouts }) => timeouts === "short"),
  "a service that is not there": all.filter(({ isRefused }) => isRefused),
};

for (const [title, group] of Object.entries(GROUPS)) {
  test(title, { concurrency: 16 }, async (t) => {
    const { headers, idle } = TIMEOUTS[group[0].timeouts];
    const worker = await start(site, {
      LOCAL: "yes",
      CHAT_BASE_URL: group[0].isRefused ? `${await nowhere()}/v1` : services.chatUrl,
      CHAT_MODEL: "m",
      CHAT_HEADERS_TIMEOUT_MS: String(headers),
      CHAT_IDLE_TIMEOUT_MS: String(idle),
      SEARCH_BASE_URL: services.searchUrl,
      SEARCH_API_KEY: "k",
    });
    t.after(() => worker.stop());
    await Promise.all(group.map((given) => t.test(given.name, () => run(worker, given))));
  });
}

async function run(worker, given) {
  const { question, options, naming, isRefused } = given;
  const response = await post(`${worker.url}/v1/ask`, { question, ...snake(options) });
  const body = camel(await response.json());
  check(given, response.ok ? { answer: body } : body, isRefused ? undefined : services.callsOf(naming).length);
}
