// TypeScript to what is shipped: one bundle an entry, and none of them carries another inside it.
import { basename, join } from "node:path";
import { readdirSync, rmSync } from "node:fs";
import { dist, root } from "./paths.mjs";

const source = (path) => join(root, "www", ...path.split("/"));

// The modules that have a bundle of their own, because they keep state (the wasm instance) or few pages
// need them. Whoever imports one imports its bundle.
const SHARED = new Map([
  [source("src/client/index.ts"), "countercheck.js"],
  [source("src/node.ts"), "node.js"],
  [source("src/element/settings-panel.ts"), "settings.js"],
]);

const COMMON = { bundle: true, loader: { ".module": "binary" }, format: "esm", target: "es2022", legalComments: "none", logLevel: "warning" };
const BROWSER = { ...COMMON, platform: "browser", minify: true };
// What the client loads only when it is needed is a file of its own, below chunks/.
const SPLIT = { splitting: true, outdir: dist, chunkNames: "chunks/[name]-[hash]" };
const NODE = { ...COMMON, platform: "node", target: "node20" };

/** Bundles the package's entries: countercheck.js, element.js, settings.js, adapters.js, node.js, workerd.js, cli.js. */
export async function bundleLibrary() {
  const { build } = await import("esbuild");
  rmSync(join(dist, "chunks"), { recursive: true, force: true });
  const client = entry("src/client/index.ts", "countercheck.js");
  await Promise.all([
    build({ ...BROWSER, ...client, ...SPLIT, entryPoints: { countercheck: client.entryPoints[0] }, outfile: undefined }),
    build({ ...BROWSER, ...entry("src/define.ts", "element.js") }),
    build({ ...BROWSER, ...entry("src/element/settings-panel.ts", "settings.js") }),
    build({ ...BROWSER, ...entry("src/adapters.ts", "adapters.js") }),
    build({ ...NODE, ...entry("src/node.ts", "node.js") }),
    build({ ...COMMON, platform: "neutral", ...entry("src/workerd.ts", "workerd.js") }),
    build({ ...NODE, ...entry("src/cli/main.ts", "cli.js") }),
  ]);
}

/** Bundles the entries of the vector index: vectors.js, vectors-node.js, vectors-workerd.js; each carries the scan. */
export async function bundleVectors() {
  const { build } = await import("esbuild");
  await Promise.all([
    build({ ...BROWSER, ...entry("src/vectors/index.ts", "vectors.js") }),
    build({ ...NODE, ...entry("src/vectors/node.ts", "vectors-node.js") }),
    build({ ...COMMON, platform: "neutral", ...entry("src/vectors/workerd.ts", "vectors-workerd.js") }),
  ]);
}

/** Bundles the Worker's entry; wrangler takes the wasm module that lies beside it. */
export async function bundleWorker() {
  const { build } = await import("esbuild");
  const options = { ...COMMON, platform: "neutral", conditions: ["workerd"], external: ["cloudflare:*"] };
  await build({ ...options, ...entry("src/worker/entry.ts", "worker/entry.js") });
}

/**
 * Bundles the scripts of the site's pages; they import the library from pkg/ beside them.
 * @returns {Promise<string[]>} the names of the sources, which are not to be copied
 */
export async function bundlePages() {
  const { build } = await import("esbuild");
  const names = readdirSync(source("site")).filter((name) => name.endsWith(".ts") && !name.endsWith(".d.ts"));
  const outputs = names.map((name) => [`site/${name}`, `site/${name.replace(/\.ts$/, ".js")}`]);
  await Promise.all(outputs.map(([from, to]) => build({ ...BROWSER, ...entry(from, to, "./pkg/") })));
  return names;
}

/** An entry's source, output, and how it reaches the shared bundles. */
function entry(from, to, library = "./") {
  return { entryPoints: [source(from)], outfile: join(dist, to), plugins: [keepApart(source(from), library)] };
}

/** Leaves shared modules and wasm out of a bundle. */
function keepApart(self, library) {
  return {
    name: "keep-apart",
    setup(build) {
      build.onResolve({ filter: /\.wasm$/ }, ({ path }) => ({ path: `./${basename(path)}`, external: true }));
      build.onResolve({ filter: /^\.{1,2}\// }, async ({ path, importer, resolveDir, kind, pluginData }) => {
        if (pluginData === "resolving") return undefined;
        const found = await build.resolve(path, { importer, resolveDir, kind, pluginData: "resolving" });
        const bundle = found.path === self ? undefined : SHARED.get(found.path);
        return bundle === undefined ? found : { path: `${library}${bundle}`, external: true };
      });
    },
  };
}
