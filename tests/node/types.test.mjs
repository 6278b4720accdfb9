// The package's types as a strict TypeScript project sees them, without this project's own settings.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { dist, root } from "../../scripts/lib/paths.mjs";

const STRICT = {
  compilerOptions: {
    strict: true, noEmit: true, target: "es2022", module: "nodenext", lib: ["es2022", "dom", "dom.iterable"], types: [],
  },
  files: ["main.ts"],
};

const RIGHT = `
import { createAssistant, CountercheckError, type Answer, type AnswerEvent } from "countercheck";
import type { CountercheckAssistant } from "countercheck/element";

const assistant = await createAssistant({ index: "docs.ccx", defaults: { k: 4, limits: { deadlineMs: 1000 } } });
const answering = assistant.ask("Why?", { signal: new AbortController().signal, maxRetries: 1 });
for await (const event of answering) { const seen: AnswerEvent = event; if (seen.type === "grade") seen.passageId.at(0); }
const answer: Answer = await answering;
const first: string | undefined = answer.citations[0]?.quote;
const grounded: boolean | null = answer.grounded;
declare const element: CountercheckAssistant;
element.ask(first ?? String(grounded));
export const isOurs = (error: unknown): string => (error instanceof CountercheckError ? error.code : "other");
`;

const WRONG = [
  ["an unknown option", 'import { createAssistant } from "countercheck"; await createAssistant({ indx: "docs.ccx" });'],
  ["k as text", 'import { createAssistant } from "countercheck"; (await createAssistant()).ask("Why?", { k: "4" });'],
  ["a field in snake_case", 'import type { Answer } from "countercheck"; export const f = (a: Answer) => a.web_search_used;'],
];

/** Type-checks one file that imports the package by its name; what the compiler says. */
async function check(t, source) {
  const project = mkdtempSync(join(tmpdir(), "countercheck-types-"));
  t.after(() => rmSync(project, { recursive: true }));
  const installed = join(project, "node_modules", "countercheck");
  mkdirSync(installed, { recursive: true });
  cpSync(join(root, "package.json"), join(installed, "package.json"));
  cpSync(join(dist, "types"), join(installed, "dist", "types"), { recursive: true });
  writeFileSync(join(project, "package.json"), '{ "type": "module" }');
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify(STRICT));
  writeFileSync(join(project, "main.ts"), source);
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const said = await promisify(execFile)(process.execPath, [tsc, "--project", project]).catch((error) => error);
  return said.stdout;
}

test("right calls are right to a strict compiler", async (t) => {
  assert.equal(await check(t, RIGHT), "");
});

for (const [what, source] of WRONG) {
  test(`${what} is an error to it`, async (t) => {
    assert.match(await check(t, source), /main\.ts\(1,\d+\): error TS/);
  });
}
