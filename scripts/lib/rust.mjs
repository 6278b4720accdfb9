// Which Rust builds for wasm32: the active toolchain if it has the target, else Debian's.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { cache, root } from "./paths.mjs";
import { capture, runLong } from "./run.mjs";
import { Stop } from "./stop.mjs";

export const WASM_TARGET = "wasm32-unknown-unknown";

const DEBIAN_SCRIPT = join(root, "scripts", "wasm-toolchain.sh");
const mode = process.env.WASM_TOOLCHAIN || "rustup";

/**
 * The environment in which cargo builds for wasm32.
 * @returns {{ label: string, env: Record<string, string> } | undefined} undefined until setup has made one
 */
export function findWasmToolchain() {
  if (mode !== "debian" && activeHasTarget()) return { label: "of the active toolchain", env: {} };
  const toolchain = capture("bash", [DEBIAN_SCRIPT, "check"]);
  if (toolchain === undefined) return undefined;
  const env = toolchain === "" ? {} : { RUSTUP_TOOLCHAIN: toolchain };
  const [, version] = capture("/usr/bin/rustc", ["-V"]).split(" ");
  return { label: `of Debian's rustc ${version}`, env };
}

/** Makes cargo able to build for wasm32 where WASM_TOOLCHAIN=debian asks for it. */
export async function installWasmToolchain() {
  if (mode !== "debian") {
    const debian = "on Debian 12, as root, WASM_TOOLCHAIN=debian builds it from Debian's packages";
    throw new Stop(`Rust cannot build for ${WASM_TARGET}: run \`rustup target add ${WASM_TARGET}\` (${debian})`);
  }
  await runLong("wasm32 standard library", "bash", [DEBIAN_SCRIPT, "install"], { progress: (line) => line.trim() });
}

/** The wasm-bindgen version in Cargo.lock: the command-line tool must be exactly that one. */
export function wasmBindgenVersion() {
  const lock = readFileSync(join(root, "Cargo.lock"), "utf8");
  const version = /^name = "wasm-bindgen"\nversion = "(.+)"$/m.exec(lock)?.[1];
  if (version === undefined) throw new Stop("Cargo.lock names no wasm-bindgen: run `cargo generate-lockfile`");
  return version;
}

/**
 * The wasm-bindgen command-line tool of the locked version.
 * @returns {string | undefined} a path or a name on PATH, undefined until setup has made one
 */
export function findWasmBindgen() {
  const version = wasmBindgenVersion();
  const cached = join(wasmBindgenRoot(version), "bin", "wasm-bindgen");
  return [cached, "wasm-bindgen"].find((tool) => capture(tool, ["--version"]) === `wasm-bindgen ${version}`);
}

/** Compiles the wasm-bindgen command-line tool into the cache. */
export async function installWasmBindgen() {
  const version = wasmBindgenVersion();
  // Without --locked: the tool's own lock may name a yanked or not yet mirrored release of a dependency.
  const args = ["install", "wasm-bindgen-cli", "--version", version, "--root", wasmBindgenRoot(version)];
  await runLong(`compiling wasm-bindgen ${version} (about 3 minutes)`, "cargo", args, {
    // A target directory of ours would keep its objects, and could be locked by a build of ours.
    env: { CARGO_TARGET_DIR: undefined, CARGO_TERM_COLOR: "never" },
    progress: crateCounter(),
  });
}

/** Turns cargo's lines into "n of m crates". */
function crateCounter() {
  let total = "";
  let compiled = 0;
  return (line) => {
    total ||= /Locking (\d+) packages/.exec(line)?.[1] ?? "";
    if (!/^\s*Compiling /.test(line)) return undefined;
    compiled += 1;
    return total ? `(${compiled} of at most ${total} crates)` : `(${compiled} crates)`;
  };
}

function wasmBindgenRoot(version) {
  return join(cache, `wasm-bindgen-${version}`);
}

function activeHasTarget() {
  const directory = capture("rustc", ["--print", "target-libdir", "--target", WASM_TARGET]);
  return directory !== undefined && existsSync(directory) && readdirSync(directory).some((name) => /^libstd-.*\.rlib$/.test(name));
}
