// Indexes real documentation for the page: what fastify, undici and pino ship in their npm packages.
//
// They are development dependencies of ours, so their Markdown arrives with `npm ci`. Passages link
// to the tagged sources of the very versions that are installed.
import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { hashOf, unlessFresh } from "./lib/hash.mjs";
import { dist, root } from "./lib/paths.mjs";
import { run } from "./lib/run.mjs";
import { DOCS_INDEX } from "./lib/site.mjs";
import { Stop } from "./lib/stop.mjs";

const PACKAGES = ["fastify", "undici", "pino"];

/** Indexes the documentation into the site, unless neither it nor the indexer changed. */
export async function indexDocs() {
  const sources = PACKAGES.map(documentation);
  const indexer = ["cli.js", "node.js", "countercheck.js", "countercheck_node_bg.wasm", "embedder.bin"];
  const files = indexer.map((name) => join(dist, name));
  const hash = hashOf({ files, values: sources.flatMap(({ directory, baseUrl }) => [directory, baseUrl]) });
  const made = await unlessFresh(join(dist, ".docs-inputs"), hash, [DOCS_INDEX], async () => {
    const args = ["index", ...sources.map(({ directory }) => directory)];
    for (const { baseUrl } of sources) args.push("--base-url", baseUrl);
    await run(process.execPath, [join(dist, "cli.js"), ...args, "-o", relative(root, DOCS_INDEX)]);
  });
  if (!made) console.log(`docs: ${PACKAGES.join(", ")}: unchanged`);
}

/** Where a package's documentation is on disk and on the web. */
function documentation(name) {
  const directory = join("node_modules", name, "docs");
  if (!existsSync(join(root, directory))) throw new Stop(`${name} has no ${directory}: remove node_modules and start again`);
  const { version, repository } = JSON.parse(readFileSync(join(root, "node_modules", name, "package.json"), "utf8"));
  const project = repository.url.replace(/^git\+/, "").replace(/\.git$/, "");
  return { directory, baseUrl: `${project}/blob/v${version}/docs/` };
}
