// Rust to wasm: cargo, then wasm-bindgen, then wasm-opt, for one of the products.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { hashOf, unlessFresh } from "./hash.mjs";
import { cargoTarget, dist, root } from "./paths.mjs";
import { run, runLong } from "./run.mjs";
import { WASM_TARGET, findWasmBindgen, findWasmToolchain, wasmBindgenVersion } from "./rust.mjs";
import { Stop } from "./stop.mjs";

/**
 * @typedef {object} Product
 * @property {string} feature the Cargo feature that makes it
 * @property {string} directory below dist/
 * @property {string} name of the module: NAME.js and NAME_bg.wasm
 * @property {boolean} [fast] compiled for speed: whoever loads it does not download it
 */

/** @type {Product} */
export const browserModule = { feature: "browser", directory: "wasm", name: "countercheck" };

/** @type {Product} the same page with models and web search behind it, loaded in its place */
export const modelsModule = { feature: "models", directory: "wasm-models", name: "countercheck_models" };

/** @type {Product} what Node, Deno and Bun read from disk in place of either */
export const nodeModule = { feature: "models", directory: "wasm-node", name: "countercheck_node", fast: true };

/** @type {Product} */
export const workerModule = { feature: "worker", directory: "worker", name: "index" };

/** The scan of vectors for engines with relaxed SIMD: a module of one function, which the bundles carry inside. */
export const scanModule = join(dist, "vectors", "scan.module");

/** The profiles in Cargo.toml. */
const PROFILE = "wasm";
const FAST_PROFILE = "release";

// `--target web` serves every host: pages fetch the module, Node and workerd hand it over. The reset
// function lets the glue start over in a fresh instance after a panic.
const BINDGEN = ["--target", "web", "--omit-default-module-path", "--experimental-reset-state-function"];

// What rustc turns on for this target, and SIMD; wasm-opt refuses a module that uses more.
const FEATURES = ["bulk-memory", "multivalue", "mutable-globals", "nontrapping-float-to-int", "reference-types", "sign-ext", "simd"];

// Inlining makes a smaller file of more unlike pieces, which compresses worse; functions in the order
// of their names stand beside their like. Together, and with control flow written anew, 4 % of the download.
// The low kilobyte is the far end of the stack: no address points there, so offsets can be folded.
const WASM_OPT = [
  "--flatten", "--rereloop", "-Oz", "-Oz", "--always-inline-max-function-size=0", "--flexible-inline-max-function-size=0",
  "--one-caller-inline-max-function-size=0", "--low-memory-unused", "--reorder-functions-by-name", "--strip-debug", "--strip-producers",
  ...FEATURES.map((feature) => `--enable-${feature}`),
];
const FAST_WASM_OPT = ["-O3", "--low-memory-unused", "--strip-debug", "--strip-producers", ...FEATURES.map((feature) => `--enable-${feature}`)];

/** @param {Product} product @returns {string} path of the finished module */
export const wasmFile = ({ directory, name }) => join(dist, directory, `${name}_bg.wasm`);

/**
 * Compiles a product and binds and shrinks it, if it changed, into its directory below dist/.
 * @param {Product} product
 */
export async function buildWasm(product) {
  const compiled = await compile(product);
  const directory = join(dist, product.directory);
  const script = join(directory, `${product.name}.js`);
  const options = product.fast ? FAST_WASM_OPT : WASM_OPT;
  const hash = hashOf({ files: [compiled, join(root, "package-lock.json")], values: [wasmBindgenVersion(), ...BINDGEN, ...options] });
  const stamp = join(directory, ".inputs");
  const made = await unlessFresh(stamp, hash, [script, wasmFile(product)], () => bind(product, compiled, directory, options));
  console.log(`build: ${label(product)}: ${made ? "made" : "unchanged"}`);
}

const label = ({ feature, fast }) => (fast ? `${feature} module for Node` : `${feature} module`);

// Of so little code that made for speed is 3 kB more to download, and half of a search is not the scan. JavaScript adds a
// function to the table.
const VECTORS = ["build", "--package", "countercheck-vectors", "--config", `profile.${PROFILE}.opt-level=3`];
const OPEN_TABLE = ["-Clink-arg=--export-table", "-Clink-arg=--growable-table"];

// No memory of its own, and no stack in that of the index.
const SCAN = [
  "--edition=2024", "--crate-type=cdylib", "-Copt-level=3", "-Cpanic=abort", "-Ctarget-feature=+simd128,+relaxed-simd",
  "-Clink-arg=--import-memory", "-Clink-arg=-zstack-size=0",
];

/**
 * Compiles the index of vectors and its scan by relaxed SIMD, and shrinks both, if they changed.
 * @returns {Promise<string>} path of the finished index
 */
export async function buildVectors() {
  const directory = join(dist, "vectors");
  mkdirSync(directory, { recursive: true });
  const target = await cargo(undefined, "vectors", "the vectors module", VECTORS, { flags: OPEN_TABLE });
  await shrinkAlone("vectors", join(target, "countercheck_vectors.wasm"), join(directory, "vectors.wasm"));
  const scan = join(directory, "scan.compiled");
  const source = join(root, "www", "src", "vectors", "scan.rs");
  await run("rustc", [source, "--target", WASM_TARGET, ...SCAN, "-o", scan], { env: wasmEnvironment() });
  await shrinkAlone("scan", scan, scanModule);
  return join(directory, "vectors.wasm");
}

// Run once for each index, and then for minutes: speed is what counts, of the sums above all.
const GRAPH = ["build", "--package", "countercheck-graph", "--config", `profile.${PROFILE}.opt-level=3`];
const WIDE = ["-Ctarget-feature=+simd128"];

/**
 * Compiles the module that builds neighbour graphs, which has no glue, and shrinks it, if it changed.
 * @returns {Promise<string>} path of the finished module
 */
export async function buildGraph() {
  const directory = join(dist, "graph");
  mkdirSync(directory, { recursive: true });
  const compiled = join(await cargo(undefined, "graph", "the graph module", GRAPH, { flags: WIDE }), "countercheck_graph.wasm");
  const finished = join(directory, "graph.wasm");
  await shrinkAlone("graph", compiled, finished);
  return finished;
}

/** Shrinks a module without glue, if it changed. */
async function shrinkAlone(name, compiled, finished) {
  const options = [...WASM_OPT, "--strip-target-features", "--enable-relaxed-simd"];
  const hash = hashOf({ files: [compiled, join(root, "package-lock.json")], values: options });
  const made = await unlessFresh(join(dirname(finished), `.${name}`), hash, [finished], () => shrink(name, compiled, finished, options));
  console.log(`build: ${name} module: ${made ? "made" : "unchanged"}`);
}

/** Runs cargo and gives the path of what it made. */
async function compile(product) {
  const { feature, fast } = product;
  // rustc rather than build: only for a lone cdylib does cargo optimise at link time.
  const command = ["rustc", "--lib", "--crate-type", "cdylib"];
  const made = await cargo(feature, feature, `the ${label(product)}`, command, { profile: fast ? FAST_PROFILE : PROFILE });
  return join(made, "countercheck.wasm");
}

/**
 * Compiles an example to wasm, with the dependencies of the browser's module; it gets no glue.
 * @param {string} name
 * @param {{ optimised?: boolean }} [options] as for pages; without, it takes a third of the time
 * @returns {Promise<string>} path of the module
 */
export async function compileExample(name, { optimised = false } = {}) {
  const quick = ["--config", `profile.${PROFILE}.package.countercheck.opt-level=0`];
  const command = ["build", "--example", name, ...(optimised ? [] : quick)];
  return join(await cargo(browserModule.feature, browserModule.feature, `the example ${name}`, command), "examples", `${name}.wasm`);
}

/** Runs cargo for one feature, or none, and gives the directory of what it makes. */
async function cargo(feature, product, label, command, { flags = [], profile = PROFILE } = {}) {
  // A directory for each feature: all are called countercheck.wasm, and cargo would not notice
  // that one has overwritten the other.
  const target = join(cargoTarget, product);
  const locked = process.env.CI ? ["--locked"] : [];
  const env = { ...wasmEnvironment(), CARGO_TERM_COLOR: "never" };
  await run("cargo", ["fetch", "--quiet", "--target", WASM_TARGET, ...locked], { env });
  const what = ["--profile", profile, "--target", WASM_TARGET, ...(feature === undefined ? [] : ["--no-default-features", "--features", feature]), ...locked];
  const where = ["--target-dir", target, "--config", `target.${WASM_TARGET}.rustflags=${JSON.stringify([...remapPaths(), ...flags])}`];
  await runLong(`compiling ${label}`, "cargo", [...command, ...what, ...where], {
    env,
    progress: (line) => /^\s*Compiling (\S+)/.exec(line)?.[1],
  });
  return join(target, WASM_TARGET, profile);
}

async function bind({ name }, compiled, directory, options) {
  mkdirSync(directory, { recursive: true });
  await run(findWasmBindgen(), [...BINDGEN, "--out-dir", directory, "--out-name", name, compiled]);
  // It would type `import module from "./NAME_bg.wasm"` by the exports; hosts give the module itself.
  rmSync(join(directory, `${name}_bg.wasm.d.ts`));
  const bound = join(directory, `${name}_bg.wasm`);
  await shrink(name, bound, bound, options);
}

/** Optimises a module. */
async function shrink(name, from, to, options) {
  const small = `${to}.small`;
  const wasmOpt = join(root, "node_modules", "binaryen", "bin", "wasm-opt");
  await runLong(`wasm-opt ${name}`, process.execPath, [wasmOpt, from, "-o", small, ...options]);
  renameSync(small, to);
}

function wasmEnvironment() {
  const toolchain = findWasmToolchain();
  if (toolchain === undefined) throw new Stop("cargo cannot build for wasm32: run `node scripts/setup.mjs`");
  return toolchain.env;
}

/** Panic messages carry source paths: rustc's flags that make them the same on every machine, and short. */
function remapPaths() {
  const sources = join(process.env.CARGO_HOME || join(homedir(), ".cargo"), "registry", "src");
  const registries = existsSync(sources) ? readdirSync(sources).map((registry) => join(sources, registry, "/")) : [];
  return [root, ...registries].map((path) => `--remap-path-prefix=${path}=`);
}
