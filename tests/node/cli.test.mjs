// The command line, as a process: what it writes, what it says, and how it ends.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { createAssistant } from "../../dist/node.js";
import { dist, root } from "../../scripts/lib/paths.mjs";
import { DOCUMENTS, QUESTION, createPageAssistant } from "./support.mjs";

let folder;

before(() => {
  folder = mkdtempSync(join(tmpdir(), "countercheck-cli-"));
  for (const { id, text } of DOCUMENTS) write(`service/docs/${id}`, text);
  write("service/docs/deep/näher & so.md", "# Closer\n\nThe inner harbour is for small boats.\n");
  write("service/docs/notes.txt", "Plain notes about the lighthouse keeper.\n\nShe sleeps at noon.\n");
  write("service/docs/page.mdx", "# Page\n\nThe crane lifts forty tonnes.\n");
  write("service/docs/image.png", "not text");
  write("service/docs/.hidden/secret.md", "# Hidden\n");
  write("service/docs/node_modules/x/readme.md", "# Foreign\n");
  write("other/docs/start.md", "# Start\n\nThe ferry departs at seven.\n");
  run("index", "service/docs", "--base-url", "https://docs.example/service", "-o", "service.ccx");
});

after(() => rmSync(folder, { recursive: true, force: true }));

function write(path, content) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
}

/** Runs the command line in the folder. */
function run(...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(dist, "cli.js"), ...args], {
    cwd: folder,
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

test("index_writes_what_search_and_ask_read", async () => {
  const indexed = run("index", "service/docs", "--base-url", "https://docs.example/service", "-o", "again.ccx");
  assert.equal(indexed.stderr, "");
  assert.equal(indexed.status, 0);
  assert.match(indexed.stdout, /^6 pages, \d+ passages, [\d.]+ kB of text: again\.ccx \([\d.]+ [kM]B\) in [\d.]+ s\n$/);
  assert.deepEqual(
    readFileSync(join(folder, "again.ccx")),
    readFileSync(join(folder, "service.ccx")),
    "the same files give the same bytes",
  );
  assert.ok(!readdirSync(folder).some((name) => name.endsWith(".part")));

  const assistant = await createAssistant({ index: join(folder, "service.ccx") });
  assert.equal((await assistant.statistics()).documents, 6);
  const [harbour] = await assistant.search("inner harbour", 1);
  assert.equal(harbour.documentId, "deep/näher & so.md");
  assert.equal(harbour.url, "https://docs.example/service/deep/n%C3%A4her%20%26%20so.md#closer");
  const [keeper] = await assistant.search("lighthouse keeper", 1);
  assert.equal(keeper.documentId, "notes.txt");
  for (const absent of ["Hidden", "Foreign"]) {
    assert.ok((await assistant.search(absent, 50)).every(({ title }) => title !== absent));
  }
  assistant.dispose();
});

test("an_index_with_a_graph_is_the_same_index_and_has_links_besides", async () => {
  const indexing = ["index", "service/docs", "--base-url", "https://docs.example/service", "--graph"];
  for (const name of ["linked.ccx", "relinked.ccx"]) {
    const { status, stderr } = run(...indexing, "-o", name);
    assert.deepEqual({ status, stderr }, { status: 0, stderr: "" });
  }
  const [plain, linked, relinked] = ["service", "linked", "relinked"].map((name) => readFileSync(join(folder, `${name}.ccx`)));
  assert.deepEqual(linked, relinked, "the same files give the same links");
  // What is before the graph is as it was, but for the graph's length.
  const [unlinked, ...sections] = [plain, linked].map((file) => file.subarray(80));
  assert.deepEqual(sections[0].subarray(0, unlinked.length - 8), unlinked.subarray(0, -8));
  assert.equal(linked.length - plain.length, Number(linked.readBigUint64LE(72)));
  assert.equal(plain.readBigUint64LE(72), 0n);
  for (const query of ["inner harbour", "lighthouse keeper"]) {
    assert.equal(run("search", "linked.ccx", query).stdout, run("search", "service.ccx", query).stdout);
  }
});

// Of the page's modules one has no graphs.
test("an_index_with_a_graph_is_searched_where_graphs_are_or_else_scanned", async () => {
  run("index", "service/docs", "--graph", "-o", "links.ccx");
  const found = { linked: 0, plain: 0 };
  for (const [name, file] of [["linked", "links.ccx"], ["plain", "service.ccx"]]) {
    const ingestWasm = () => {
      found[name] += 1;
      throw new Error("not served");
    };
    const assistant = await createPageAssistant({ index: readFileSync(join(folder, file)), ingestWasm });
    assert.equal((await assistant.search("inner harbour", 1))[0].documentId, "deep/näher & so.md");
    await assert.rejects(assistant.add({ id: "x", text: "x" }), { code: "load_failed" });
    assistant.dispose();
  }
  assert.deepEqual(found, { linked: 2, plain: 1 });
});

// The libraries that run the model are the project's own: here in their place what only counts letters.
test("an_index_by_the_teacher_has_its_means_for_vectors_of_documents", async (t) => {
  const LIBRARIES = {
    "onnxruntime-node": `
      exports.Tensor = class { constructor(type, data, dims) { Object.assign(this, { type, data, dims }); } };
      exports.InferenceSession = { create: async () => ({
        inputNames: ["input_ids", "attention_mask"],
        outputNames: ["last_hidden_state"],
        async run({ input_ids: { data, dims }, attention_mask }) {
          const out = new Float32Array(data.length * 384);
          data.forEach((id, at) => { if (attention_mask.data[at]) out[at * 384 + Number(id) % 384] = 1 + Number(id) / 1000; else out.fill(9, at * 384, at * 384 + 384); });
          return { last_hidden_state: { data: out, dims: [...dims, 384] } };
        },
      }) };`,
    "@huggingface/tokenizers": `
      exports.Tokenizer = class { constructor(tokenizer, config) { Object.assign(this, { tokenizer, config }); }
        encode(text) { return { ids: [this.tokenizer.first, ...Array.from(text, (c) => c.codePointAt(0)), this.config.last] }; } };`,
  };
  for (const [name, source] of Object.entries(LIBRARIES)) write(`node_modules/${name}/index.js`, source);
  t.after(() => rmSync(join(folder, "node_modules"), { recursive: true }));
  const long = Array.from({ length: 80 }, (_, i) => `Sentence ${i} has words.`).join(" ");
  write("taught/long.md", `# Long\n\n${long}\n`);
  write("taught/short.md", "# Short\n\nThe crane lifts forty tonnes.\n");
  const missing = run("index", "taught", "--teacher", "model", "-o", "taught.ccx");
  assert.equal(missing.status, 1);
  assert.match(missing.stderr, /model has no model\.onnx/);
  write("model/onnx/model.onnx", "");
  write("model/tokenizer.json", '{"first": 101}');
  write("model/tokenizer_config.json", '{"last": 102}');
  const { status, stderr } = run("index", "taught", "--teacher", "model", "-o", "taught.ccx");
  assert.deepEqual({ status, stderr }, { status: 0, stderr: "" });

  // A text is its first 255 tokens and the last; its vector their mean.
  const encode = (texts) =>
    texts.map((text) => {
      const ids = [101, ...Array.from(text, (c) => c.codePointAt(0)), 102];
      const read = ids.length <= 256 ? ids : [...ids.slice(0, 255), 102];
      const mean = new Float32Array(384);
      for (const id of read) mean[id % 384] += (1 + id / 1000) / read.length;
      return mean;
    });
  const wanted = await createAssistant({ teacher: { encode } });
  for (const id of ["long.md", "short.md"]) await wanted.add({ id, text: readFileSync(join(folder, "taught", id), "utf8") });
  const taught = await createAssistant({ index: join(folder, "taught.ccx") });
  t.after(() => [wanted, taught].forEach((assistant) => assistant.dispose()));
  assert.ok((await taught.statistics()).passages > 2);
  const [found, expected] = await Promise.all([taught, wanted].map((assistant) => assistant.search("lifting a crane", 9, { denseWeight: 1 })));
  assert.deepEqual(found.map(({ passageId }) => passageId), expected.map(({ passageId }) => passageId));
  found.forEach(({ dense }, i) => assert.ok(Math.abs(dense - expected[i].dense) < 1e-5, `${dense} is ${expected[i].dense}`));
});

test("several_directories_have_ids_below_their_common_ancestor_and_a_base_url_each", async () => {
  const bases = ["--base-url", "https://docs.example/a/", "--base-url", "/b"];
  assert.equal(run("index", "service/docs", "other/docs", ...bases, "-o", "both.ccx").status, 0);
  const assistant = await createAssistant({ index: join(folder, "both.ccx") });
  const [ferry] = await assistant.search("ferry departs", 1);
  assert.equal(ferry.documentId, "other/docs/start.md");
  assert.equal(ferry.url, "/b/start.md#start");
  const [rotating] = await assistant.search("rotating a key", 1);
  assert.equal(rotating.documentId, "service/docs/keys.md");
  assert.equal(rotating.url, "https://docs.example/a/keys.md#rotating-a-key");
  assistant.dispose();
});

test("search_prints_hits_for_people_and_for_programs", () => {
  const { status, stdout } = run("search", "service.ccx", "rotate", "a", "key", "-k", "2");
  assert.equal(status, 0);
  assert.match(
    stdout,
    /^1\. Keys › Rotating a key \(1\.00\)\n {3}https:\/\/docs\.example\/service\/keys\.md#rotating-a-key\n/,
  );
  assert.match(stdout, /\n\n2\. /);
  assert.doesNotMatch(stdout, /\x1b/, "no colours outside a terminal");
  const hits = JSON.parse(run("search", "service.ccx", "rotate a key", "--json").stdout);
  assert.equal(hits[0].documentId, "keys.md");
});

test("ask_prints_the_answer_with_its_labels_and_sources", () => {
  const { status, stdout, stderr } = run("ask", "service.ccx", QUESTION);
  assert.equal(stderr, "");
  assert.equal(status, 0);
  assert.match(
    stdout,
    /^Answered · supported by the sources · answers the question\nQuoted from the sources, not written by a model\.\n/,
  );
  assert.match(stdout, /bodyLimit/);
  assert.match(stdout, /\n\[1\] Limits\n {4}https:\/\/docs\.example\/service\/limits\.md#request-body\n/);
  const answer = JSON.parse(run("ask", "service.ccx", QUESTION, "--json").stdout);
  assert.equal(answer.outcome, "answered");
  assert.equal(answer.usage.calls.grade, 1, "countercheck grades what was found with one call");
  const each = ["ask", "service.ccx", QUESTION, "--strategy", "self-reflective", "--json"];
  const [single, batch] = [each, [...each, "--batch"]].map((args) => JSON.parse(run(...args).stdout));
  assert.deepEqual([single.usage.calls.grade, batch.usage.calls.grade], [4, 1]);
  assert.deepEqual([batch.verdicts, batch.text], [single.verdicts, single.text]);
});

test("ask_ends_with_3_when_there_is_no_answer", () => {
  const { status, stdout } = run("ask", "service.ccx", "What is the boiling point of mercury?");
  assert.equal(status, 3);
  assert.match(stdout, /^No answer · reason: /);
  assert.doesNotMatch(stdout, /Quoted from/);
});

test("a_file_that_is_not_utf_8_is_reported_and_skipped", () => {
  write("mixed/good.md", "# Good\n\nA good page.\n");
  write("mixed/bad.md", Buffer.from([0x23, 0x20, 0xff, 0xfe, 0x0a]));
  const strict = run("index", "mixed", "-o", "mixed.ccx");
  assert.equal(strict.status, 1);
  assert.equal(strict.stderr, "skipped bad.md: it is not UTF-8\n");
  assert.match(strict.stdout, /^1 page, 1 passage, .*, 1 skipped: mixed\.ccx/);
  assert.equal(run("index", "mixed", "-o", "mixed.ccx", "--lenient").status, 0);
});

test("links_out_of_the_directory_are_not_followed", () => {
  write("linked/page.md", "# Page\n\nOne page.\n");
  symlinkSync(join(folder, "other"), join(folder, "linked", "other"));
  symlinkSync(join(folder, "other/docs/start.md"), join(folder, "linked", "start.md"));
  assert.match(run("index", "linked", "-o", "linked.ccx").stdout, /^1 page,/);
});

test("control_characters_of_documents_do_not_reach_the_terminal", () => {
  write("evil/page.md", "# Evil\u001b]0;owned\u0007\n\nThe walrus \u001b[31msings\u001b[0m at dawn.\n");
  run("index", "evil", "-o", "evil.ccx");
  for (const command of ["search", "ask"])
    assert.doesNotMatch(run(command, "evil.ccx", "When does the walrus sing?").stdout, /[\u001b\u0007]/);
});

const FAILURES = [
  ["nothing to index", ["index", "empty", "-o", "x.ccx"], 1, /nothing to index/],
  ["a directory that is not there", ["index", "nowhere", "-o", "x.ccx"], 1, /nowhere does not exist/],
  ["a file for a directory", ["index", "service/docs/keys.md", "-o", "x.ccx"], 1, /is not a directory/],
  ["an output that cannot be written", ["index", "other", "-o", "nowhere/x.ccx"], 1, /cannot write nowhere\/x\.ccx/],
  ["only bad files", ["index", "bad", "-o", "x.ccx"], 1, /nothing was indexed/],
  ["no directory", ["index", "-o", "x.ccx"], 2, /at least one directory/],
  ["no output", ["index", "other"], 2, /-o docs\.ccx/],
  [
    "base URLs for some directories",
    ["index", "other", "service", "--base-url", "https://a.example", "-o", "x"],
    2,
    /one --base-url for each directory: there are 1 for 2/,
  ],
  ["a base URL that is none", ["index", "other", "--base-url", "docs", "-o", "x"], 2, /neither a URL/],
  ["an index that is not there", ["ask", "nowhere.ccx", "why?"], 1, /the index could not be read/],
  ["an index that is none", ["ask", "service/docs/notes.txt", "why?"], 1, /./],
  ["no question", ["ask", "service.ccx"], 2, /a question/],
  ["an empty question", ["ask", "service.ccx", ""], 1, /./],
  ["no index", ["search"], 2, /index file/],
  ["k that is no number", ["search", "service.ccx", "key", "-k", "many"], 2, /not a whole number/],
  ["k out of range", ["search", "service.ccx", "key", "-k", "0"], 1, /k is 0/],
  ["an unknown option", ["ask", "service.ccx", "why?", "--loud"], 2, /--loud/],
  ["an option of another command", ["ask", "service.ccx", "why?", "--lenient"], 2, /ask has no option --lenient/],
  ["an unknown command", ["frobnicate"], 2, /no command frobnicate/],
  ["no command", [], 2, /name a command/],
];

for (const [name, args, status, message] of FAILURES) {
  test(`${name} is one sentence and exit code ${status}`, () => {
    mkdirSync(join(folder, "empty"), { recursive: true });
    write("bad/bad.md", Buffer.from([0xff]));
    const result = run(...args);
    assert.equal(result.status, status);
    assert.equal(result.stdout, "");
    const sentence = result.stderr.trimEnd().split("\n").at(-1);
    assert.match(sentence, /^countercheck: /);
    assert.match(sentence, message);
    assert.doesNotMatch(result.stderr, /\n\s+at /, "no stack");
  });
}

test("help_and_version_are_there", () => {
  const help = run("--help");
  assert.equal(help.status, 0);
  for (const command of ["index", "search", "ask"]) assert.ok(help.stdout.includes(`countercheck ${command} `));
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  assert.equal(run("--version").stdout, `${version}\n`);
});
