// The index of vectors as a module of its own: with both scans, what it refuses, files.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { createVectorIndex, loadVectorIndex } from "../../dist/vectors-node.js";

const NEIGHBOURS = readFileSync(new URL("../data/neighbours.txt", import.meta.url), "utf8");

const SCAN = readFileSync(new URL("../../dist/vectors/scan.module", import.meta.url));
/** The scans that this engine has. */
const SCANS = WebAssembly.validate(SCAN) ? [false, true] : [false];

/** Knuth's MMIX generator, as in tests/vectors.rs. */
function lcg(seed) {
  let state = BigInt(seed);
  return (dimension) =>
    Float32Array.from({ length: dimension }, () => {
      state = BigInt.asUintN(64, state * 6364136223846793005n + 1442695040888963407n);
      return Number(state >> 40n) / 2 ** 23 - 1;
    });
}

function bitsOf(score) {
  return new Uint32Array(Float32Array.of(score).buffer)[0].toString(16).padStart(8, "0");
}

/** The numbers of the sections of a module. */
function sections(bytes) {
  const found = [];
  for (let at = 8; at < bytes.length; ) {
    found.push(bytes[at++]);
    let length = 0;
    for (let shift = 0, byte = 128; byte & 128; shift += 7) length |= ((byte = bytes[at++]) & 127) << shift;
    at += length;
  }
  return found;
}

const code = (expected) => (error) => error.name === "CountercheckError" && error.code === expected;

test("every_engine_can_run_the_index_and_the_scan_has_no_memory_of_its_own", async () => {
  const index = await WebAssembly.compile(readFileSync(new URL("../../dist/vectors.wasm", import.meta.url)));
  assert.ok(WebAssembly.Module.exports(index).some(({ name }) => name === "scan_by"));
  // Neither a memory (5) nor data (11), nor a global that could be the end of a stack and moves.
  assert.deepEqual(sections(SCAN).filter((section) => section === 5 || section === 11), []);
  assert.ok(!SCAN.includes(Buffer.from("__stack_pointer")));
});

test("both_scans_give_the_same_scores_to_the_last_bit", { skip: SCANS.length === 1 && "no relaxed SIMD here" }, async () => {
  for (const [dimension, rows] of [[16, 3], [48, 203], [64, 1003], [256, 402], [70, 90]]) {
    const [plain, relaxed] = await Promise.all(SCANS.map((relaxed) => createVectorIndex({ dimension, relaxed })));
    const vector = lcg(dimension);
    for (let at = 0; at < rows; at += 1) {
      const row = vector(dimension);
      for (const index of [plain, relaxed]) index.add(`${at}`, row);
    }
    for (let query = 0; query < 20; query += 1) {
      const asked = vector(dimension);
      assert.deepEqual(relaxed.search(asked, 10), plain.search(asked, 10), `${dimension}, ${rows}`);
    }
  }
});

test("products_of_the_greatest_codes_do_not_overflow", { skip: SCANS.length === 1 && "no relaxed SIMD here" }, async () => {
  for (const sign of [1, -1]) {
    const [plain, relaxed] = await Promise.all(SCANS.map((relaxed) => createVectorIndex({ dimension: 64, relaxed })));
    const random = lcg(3);
    for (let at = 0; at < 400; at += 1) {
      // Nearly all components are the greatest, of either sign.
      const row = random(64).map((component) => (Math.abs(component) < 0.1 ? component : 1));
      for (const index of [plain, relaxed]) index.add(`${at}`, at % 2 === 0 ? row : row.map((component) => -component));
    }
    const asked = new Array(64).fill(sign);
    assert.deepEqual(relaxed.search(asked, 20), plain.search(asked, 20));
    assert.ok(plain.search(asked, 20)[0].score > 0.97);
  }
});

// Eight codes of a query that meet in sixteen bits: they may add up to 258, as 258 · 127 is below 2¹⁵ and 259 · 127 is not.
test("as_many_products_are_added_up_before_they_are_widened_as_fit", { skip: SCANS.length === 1 && "no relaxed SIMD here" }, async () => {
  for (const [dimension, last] of [[64, 6], [64, 7], [128, 6], [160, 7], [160, 2]]) {
    const [plain, relaxed] = await Promise.all(SCANS.map((relaxed) => createVectorIndex({ dimension, relaxed })));
    const random = lcg(dimension + last);
    for (let at = 0; at < 200; at += 1) {
      const row = random(dimension).map((component) => (Math.abs(component) < 0.02 * (at % 4) ? component : 1));
      for (const index of [plain, relaxed]) index.add(`${at}`, row);
    }
    const asked = new Float32Array(dimension);
    for (const at of [0, 1, 16, 17]) asked[at] = 1;
    asked[32] = last / 63;
    for (const query of [asked, asked.map((component) => -component), random(dimension).map((component) => component ** 3)]) {
      assert.deepEqual(relaxed.search(query, 20), plain.search(query, 20), `${dimension}, ${last}`);
    }
  }
});

test("a_file_that_cannot_be_read_is_named", async () => {
  for (const file of ["no/such.ccv", new URL("file:///no/such.ccv"), "file:///no/such.ccv"]) {
    await assert.rejects(loadVectorIndex(file), ({ code, message }) => code === "load_failed" && /^the vectors could not be read: .*such\.ccv/.test(message));
  }
  await assert.rejects(createVectorIndex({ dimension: 2, wasm: "no/such.wasm" }), code("load_failed"));
});

test("an_index_is_given_the_scan_unless_its_maker_says_no", { skip: SCANS.length === 1 && "no relaxed SIMD here" }, async (t) => {
  const { Instance } = WebAssembly;
  let made = 0;
  t.after(() => (WebAssembly.Instance = Instance));
  WebAssembly.Instance = new Proxy(Instance, { construct: (target, given) => ((made += 1), new target(...given)) });
  await createVectorIndex({ dimension: 16, relaxed: false });
  assert.equal(made, 0);
  const index = await createVectorIndex({ dimension: 16 });
  assert.equal(made, 1);
  await loadVectorIndex(index.save());
  assert.equal(made, 2);
});

for (const relaxed of SCANS) {
  describe(relaxed ? "with relaxed SIMD" : "without relaxed SIMD", () => {
    const made = (options) => createVectorIndex({ relaxed, ...options });

    test("known_vectors_have_the_neighbours_that_native_code_finds_to_the_last_bit", async () => {
      const vector = lcg(7);
      const index = await made({ dimension: 70 });
      for (let at = 0; at < 1003; at += 1) index.add(String(at).padStart(5, "0"), vector(70));
      let hits = "";
      for (let query = 0; query < 4; query += 1) {
        for (const { id, score } of index.search(vector(70), 10)) hits += `${id} ${bitsOf(score)}\n`;
      }
      assert.equal(hits, NEIGHBOURS);
    });

    test("metrics_rank_as_they_say", async () => {
      const vectors = { far: [3, 4], near: [1, 0.1], small: [0.1, 0] };
      const ranked = {};
      for (const metric of ["cosine", "dot", "euclidean"]) {
        const index = await made({ dimension: 2, metric });
        for (const [id, vector] of Object.entries(vectors)) index.add(id, vector);
        ranked[metric] = index.search([1, 0]).map(({ id, score }) => [id, Number(score.toFixed(3))]);
      }
      assert.deepEqual(ranked.cosine, [["small", 1], ["near", 0.995], ["far", 0.6]]);
      assert.deepEqual(ranked.dot, [["far", 3], ["near", 1], ["small", 0.1]]);
      assert.deepEqual(ranked.euclidean, [["near", -0.1], ["small", -0.9], ["far", -4.472]]);
    });

    test("what_cannot_be_compared_is_refused_and_the_index_lives_on", async () => {
      const index = await made({ dimension: 2 });
      assert.deepEqual(index.search([1, 0]), []);
      index.add("a", [1, 0]);
      for (const bad of [[NaN, 1], [1, Infinity], [0, 0], [1], [1, 2, 3], [], ["x", 1], [undefined, 1]]) {
        assert.throws(() => index.add("b", bad), code("invalid_vector"));
        assert.throws(() => index.set("a", bad), code("invalid_vector"));
        assert.throws(() => index.search(bad), code("invalid_vector"));
      }
      assert.throws(() => index.add("a", [0, 1]), code("duplicate_id"));
      for (const bad of [-1, 1.5, NaN, "3", Infinity]) assert.throws(() => index.search([1, 0], bad), code("invalid_option"));
      for (const bad of [null, undefined, 3]) assert.throws(() => index.add("b", bad), code("invalid_option"));
      for (const bad of [null, undefined, 3]) assert.throws(() => index.add(bad, [1, 0]), code("invalid_option"));
      for (const dimension of [0, -1, 1.5, 65_537, 2 ** 40, NaN]) {
        await assert.rejects(made({ dimension }), code("invalid_dimension"));
      }
      await assert.rejects(made({ dimension: 2, metric: "hamming" }), code("invalid_option"));
      assert.deepEqual(index.search([2, 0], 0), []);
      assert.deepEqual(index.search([2, 0], 2 ** 40), [{ id: "a", score: 1 }]);
      assert.equal(index.size, 1);
    });

    test("vectors_are_replaced_removed_and_given_back", async () => {
      const index = await made({ dimension: 2 });
      index.add("a", [1, 0]);
      index.add("ü", Float32Array.of(0, 1));
      index.set("a", [0.5, 0.5]);
      assert.deepEqual([...index.get("a")], [0.5, 0.5]);
      assert.equal(index.get("b"), undefined);
      assert.equal(index.remove("a"), true);
      assert.equal(index.remove("a"), false);
      index.add("c", [0, -1]);
      assert.deepEqual(index.search([0, 1]), [{ id: "ü", score: 1 }, { id: "c", score: -1 }]);
      assert.deepEqual({ ...index.memory, total: 0 }, { scan: 2 * (2 + 8), rescoring: 2 * 8, total: 0 });
    });

    test("a_filter_sees_names_may_throw_and_may_not_come_back", async () => {
      const vector = lcg(1);
      const index = await made({ dimension: 8 });
      for (let at = 0; at < 50; at += 1) index.add(`${at}`, vector(8));
      const query = vector(8);
      const even = ({ id }) => Number(id) % 2 === 0;
      const expected = index.search(query, 50).filter(even).slice(0, 5);
      const filter = (id) => even({ id });
      assert.deepEqual(index.search(query, 5, { filter }), expected);
      const loaded = await loadVectorIndex(index.save(), { relaxed });
      assert.deepEqual(loaded.search(query, 5, { filter }), expected);
      const mistake = new Error("a mistake of the filter");
      assert.throws(() => index.search(query, 5, { filter: () => { throw mistake; } }), mistake);
      assert.throws(() => index.search(query, 5, { filter: () => index.add("x", query) }), code("busy"));
      assert.deepEqual(index.search(query, 5, { filter }), expected);
    });

    test("what_is_saved_is_loaded_and_damage_is_refused", async () => {
      const vector = lcg(2);
      const index = await made({ dimension: 5, metric: "dot" });
      for (let at = 0; at < 20; at += 1) index.add(`${at}`, vector(5));
      const file = index.save();
      const loaded = await loadVectorIndex(file, { relaxed });
      assert.deepEqual([loaded.metric, loaded.dimension, loaded.size], ["dot", 5, 20]);
      assert.deepEqual(loaded.save(), file);
      const query = vector(5);
      assert.deepEqual(loaded.search(query), index.search(query));
      loaded.remove("3");
      loaded.add("new", query);
      assert.equal(loaded.search(query, 20).length, 20);
      assert.deepEqual(index.save(), file);
      for (const damaged of [file.slice(0, -1), file.with(40, file[40] ^ 1), new Uint8Array(0), new Uint8Array(99)]) {
        await assert.rejects(loadVectorIndex(damaged, { relaxed }), code("invalid_snapshot"));
      }
    });

    test("options_that_nobody_would_look_at_are_refused", async () => {
      await assert.rejects(made({ dimension: 3, metrik: "dot" }), code("unknown_field"));
      await assert.rejects(made({ dimension: 3, approximate: true }), code("unknown_field"));
      for (const dimension of ["3", undefined]) await assert.rejects(made({ dimension }), code("invalid_dimension"), String(dimension));
      const index = await made({ dimension: 2 });
      assert.throws(() => index.search([1, 0], 1, { fliter: () => true }), code("unknown_field"));
      await assert.rejects(loadVectorIndex(index.save(), { dimension: 2 }), code("unknown_field"));
    });

    test("a_disposed_index_says_so", async () => {
      const index = await made({ dimension: 2 });
      index.dispose();
      assert.throws(() => index.size, code("disposed"));
      assert.throws(() => index.search([1, 0]), code("disposed"));
    });
  });
}

test("without_a_word_the_module_beside_the_package_is_taken", async () => {
  const index = await createVectorIndex({ dimension: 2 });
  index.add("a", [1, 0]);
  assert.equal(index.search([1, 1])[0].id, "a");
});
