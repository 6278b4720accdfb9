// `npm run lint`: formatting, clippy for the native build and the wasm modules, TypeScript's types.
import { join } from "node:path";
import { build } from "./build.mjs";
import { aptInstall } from "./lib/apt.mjs";
import { cargoTarget } from "./lib/paths.mjs";
import { capture, run } from "./lib/run.mjs";
import { WASM_TARGET, findWasmToolchain } from "./lib/rust.mjs";
import { script } from "./lib/stop.mjs";
import { browserModule, modelsModule, workerModule } from "./lib/wasm.mjs";
import { setup } from "./setup.mjs";

const DENY = ["--", "-D", "warnings"];

async function main() {
  await setup({ browser: false });
  await run("cargo", ["fmt", "--check"]);
  await run("cargo", ["clippy", "--all-targets", ...DENY]);
  const { env } = findWasmToolchain();
  if (capture("cargo", ["clippy", "--version"], { env }) === undefined) {
    const sentence = "no clippy for wasm32: `rustup component add clippy`, or `apt-get install rust-web-clippy` as root";
    await aptInstall(["rust-web-clippy"], sentence);
  }
  for (const { feature } of [browserModule, modelsModule, workerModule]) {
    const what = ["--lib", "--target", WASM_TARGET, "--no-default-features", "--features", feature, "--target-dir", join(cargoTarget, feature)];
    await run("cargo", ["clippy", ...what, ...DENY], { env });
  }
  const graph = ["--package", "countercheck-graph", "--target", WASM_TARGET, "--target-dir", join(cargoTarget, "graph")];
  await run("cargo", ["clippy", ...graph, ...DENY], { env });
  // The types of the wasm modules' glue are made by the build.
  await build();
  await run(process.execPath, ["node_modules/typescript/bin/tsc"]);
  console.log("lint: nothing to say");
}

await script("lint", main);
