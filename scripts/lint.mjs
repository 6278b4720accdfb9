// `npm run lint`: formatting, clippy for every build there is, TypeScript's types.
import { build } from "./build.mjs";
import { run } from "./lib/run.mjs";
import { script } from "./lib/stop.mjs";
import { setup } from "./setup.mjs";

const CLIPPY = ["clippy", "--all-targets"];
const DENY = ["--", "-D", "warnings"];

async function main() {
  await setup({ browser: false });
  await run("cargo", ["fmt", "--check"]);
  await run("cargo", [...CLIPPY, ...DENY]);
  // The façades compile for the host too, all but what is only there on wasm32.
  for (const feature of ["browser", "worker"]) await run("cargo", [...CLIPPY, "--features", feature, ...DENY]);
  // The types of the wasm modules' glue are made by the build.
  await build();
  await run(process.execPath, ["node_modules/typescript/bin/tsc", "--noEmit"]);
  console.log("lint: nothing to say");
}

await script("lint", main);
