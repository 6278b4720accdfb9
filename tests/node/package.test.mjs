// The files that npm would publish, by name: `UPDATE_PACKAGE=1 node --test tests/node/package.test.mjs` writes
// them to package-files.txt, which is then read like code.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { promisify } from "node:util";
import { root } from "../../scripts/lib/paths.mjs";

const EXPECTED = new URL("package-files.txt", import.meta.url);

async function packedFiles() {
  const { stdout } = await promisify(execFile)("npm", ["pack", "--dry-run", "--ignore-scripts", "--json"], { cwd: root });
  // The hash of a chunk changes with every line of its code.
  return JSON.parse(stdout)[0].files.map(({ path }) => path.replace(/-[A-Z0-9]{8}\.js$/, "-HASH.js")).sort();
}

test("the_package_holds_these_files_and_no_others", async () => {
  const files = await packedFiles();
  if (process.env.UPDATE_PACKAGE) writeFileSync(EXPECTED, `${files.join("\n")}\n`);
  assert.deepEqual(files, readFileSync(EXPECTED, "utf8").trim().split("\n"));
});

/** Every file that the exports, the conditions and the commands of package.json name. */
function namedFiles(value) {
  if (typeof value === "string") return [value.replace(/^\.\//, "")];
  return Object.values(value).flatMap(namedFiles);
}

test("everything_that_package_json_names_is_among_them", async () => {
  const { exports, bin } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  const files = await packedFiles();
  assert.deepEqual(namedFiles({ exports, bin }).filter((name) => !files.includes(name)), []);
});
