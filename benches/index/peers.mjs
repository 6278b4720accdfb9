// The peers, each made to do the same: build an index of a set, search it for the ten nearest, say what it takes.
//
// `files` are what a browser must download. Settings are the peers' defaults, or those that their authors compare
// themselves with. Where a peer was built for pages alone, a name that pages have is lent to it.
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const require = createRequire(import.meta.url);
const packages = new URL("./node_modules/", import.meta.url);
const load = (path) => import(new URL(path, packages));
const read = (path) => readFileSync(new URL(path, packages));
const rowsOf = (set) => Array.from({ length: set.rows }, (_, at) => set.row(at));

export const PEERS = {
  "hnswlib-wasm": {
    files: ["hnswlib-wasm/dist/hnswlib.js", /^hnswlib-wasm\/dist\/hnswlib-[0-9a-f]+\.js$/],
    async make(set) {
      globalThis.window ??= globalThis;
      const library = await (await load("hnswlib-wasm/lib/hnswlib.mjs")).default();
      const index = new library.HierarchicalNSW("ip", set.dimension, "");
      return {
        build() {
          index.initIndex(set.rows, 16, 200, 100);
          for (let row = 0; row < set.rows; row += 1) index.addPoint(set.row(row), row, false);
          index.setEfSearch(50);
        },
        search: (query) => index.searchKnn(query, 10, undefined).neighbors,
      };
    },
  },
  edgevec: {
    files: ["edgevec/edgevec_bg.wasm", "edgevec/edgevec.js"],
    async make(set) {
      const library = await load("edgevec/edgevec.js");
      library.initSync({ module: read("edgevec/edgevec_bg.wasm") });
      const config = new library.EdgeVecConfig(set.dimension);
      // Of vectors of length 1 the nearest are the same; its cosine returns the farthest (0.9.0).
      config.metric = "l2";
      const index = new library.EdgeVec(config);
      const rows = [];
      return {
        build: () => index.insertBatchFlat(set.flat, set.rows).forEach((id, row) => (rows[id] = row)),
        search: (query) => index.search(query, 10).map(({ id }) => rows[id]),
        save() {
          const stream = index.save_stream(1 << 22);
          let bytes = 0;
          for (let chunk = stream.next_chunk(); chunk !== undefined; chunk = stream.next_chunk()) bytes += chunk.length;
          return { bytes };
        },
      };
    },
  },
  "usearch (native)": {
    files: [],
    make(set) {
      const { Index, MetricKind, ScalarKind } = require("usearch");
      const options = { metric: MetricKind.Cos, connectivity: 16, dimensions: set.dimension, quantization: ScalarKind.F32, expansion_add: 128, expansion_search: 64, multi: false };
      const index = new Index(options);
      return {
        build() {
          for (let row = 0; row < set.rows; row += 1) index.add(BigInt(row), set.row(row), 1);
        },
        search: (query) => Array.from(index.search(query, 10, 1).keys, Number),
        save() {
          const folder = mkdtempSync(join(tmpdir(), "usearch-"));
          index.save(join(folder, "index"));
          const bytes = statSync(join(folder, "index")).size;
          const started = performance.now();
          new Index(options).load(join(folder, "index"));
          const loadMs = performance.now() - started;
          rmSync(folder, { recursive: true });
          return { bytes, loadMs };
        },
      };
    },
  },
  voy: {
    files: ["voy-search/voy_search_bg.wasm", "voy-search/voy_search_bg.js"],
    async make(set) {
      const glue = await load("voy-search/voy_search_bg.js");
      const { instance } = await WebAssembly.instantiate(read("voy-search/voy_search_bg.wasm"), { "./voy_search_bg.js": glue });
      glue.__wbg_set_wasm(instance.exports);
      let index;
      return {
        build() {
          const embeddings = rowsOf(set).map((row, at) => ({ id: String(at), title: "", url: "", embeddings: Array.from(row) }));
          index = new glue.Voy({ embeddings });
        },
        search: (query) => index.search(query, 10).neighbors.map(({ id }) => Number(id)),
        save() {
          const text = index.serialize();
          const started = performance.now();
          glue.Voy.deserialize(text);
          return { bytes: text.length, loadMs: performance.now() - started };
        },
      };
    },
  },
  orama: {
    files: [/^@orama\/orama\/dist\/browser\/.*\.js$/],
    async make(set) {
      const { create, insertMultiple, load: restore, save, searchVector } = await load("@orama/orama/dist/esm/index.js");
      const schema = { e: `vector[${set.dimension}]` };
      const index = create({ schema });
      return {
        build: () => insertMultiple(index, rowsOf(set).map((row, at) => ({ id: String(at), e: Array.from(row) })), 1_000),
        async search(query) {
          const { hits } = await searchVector(index, { vector: { value: query, property: "e" }, similarity: -1, limit: 10, includeVectors: false });
          return hits.map(({ id }) => Number(id));
        },
        save() {
          const text = JSON.stringify(save(index));
          const started = performance.now();
          restore(create({ schema }), JSON.parse(text));
          return { bytes: text.length, loadMs: performance.now() - started };
        },
      };
    },
  },
  ruvector: {
    files: ["@ruvector/wasm/pkg/ruvector_wasm_bg.wasm", "@ruvector/wasm/pkg/ruvector_wasm.js"],
    async make(set) {
      const library = await load("@ruvector/wasm/pkg/ruvector_wasm.js");
      library.initSync({ module: read("@ruvector/wasm/pkg/ruvector_wasm_bg.wasm") });
      const index = new library.VectorDB(set.dimension, "cosine", true);
      const idOf = (hit) => {
        const id = Number(hit.id);
        hit.free();
        return id;
      };
      return {
        build() {
          for (let row = 0; row < set.rows; row += 1) index.insert(set.row(row), String(row));
        },
        search: (query) => index.search(query, 10).map(idOf),
      };
    },
  },
  vectra: {
    files: [],
    async make(set) {
      const { LocalIndex } = require("vectra");
      const folder = mkdtempSync(join(tmpdir(), "vectra-"));
      const index = new LocalIndex(folder);
      return {
        async build() {
          await index.createIndex();
          await index.batchInsertItems(rowsOf(set).map((row, at) => ({ id: String(at), vector: Array.from(row), metadata: {} })));
        },
        search: async (query) => (await index.queryItems(Array.from(query), "", 10)).map(({ item }) => Number(item.id)),
        save() {
          const file = join(folder, "index.json");
          const bytes = statSync(file).size;
          const started = performance.now();
          JSON.parse(readFileSync(file, "utf8"));
          return { bytes, loadMs: performance.now() - started };
        },
        end: () => rmSync(folder, { recursive: true }),
      };
    },
  },
  "sqlite-vec (wasm)": {
    files: ["sqlite-vec-wasm/dist/sqlite3.wasm", "sqlite-vec-wasm/dist/sqlite3.mjs"],
    async make(set) {
      const start = (await load("sqlite-vec-wasm/dist/sqlite3.mjs")).default;
      const { process } = globalThis;
      globalThis.window ??= globalThis;
      globalThis.location ??= { href: "http://localhost/" };
      globalThis.process = undefined;
      const wasmBinary = read("sqlite-vec-wasm/dist/sqlite3.wasm");
      const library = await start({ wasmBinary, print() {}, printErr() {} }).finally(() => (globalThis.process = process));
      const database = new library.oo1.DB(":memory:");
      database.exec(`create virtual table v using vec0(e float[${set.dimension}] distance_metric=cosine)`);
      let statement;
      return {
        build() {
          database.exec("begin");
          const insert = database.prepare("insert into v(rowid, e) values (?, ?)");
          for (let row = 0; row < set.rows; row += 1) {
            insert.bind(1, BigInt(row + 1));
            insert.bindAsBlob(2, new Uint8Array(set.row(row).slice().buffer));
            insert.stepReset();
          }
          insert.finalize();
          database.exec("commit");
          statement = database.prepare("select rowid from v where e match ? and k = 10 order by distance");
        },
        search(query) {
          statement.bindAsBlob(1, new Uint8Array(query.slice().buffer));
          const found = [];
          while (statement.step()) found.push(Number(statement.get(0)) - 1);
          statement.reset();
          return found;
        },
        save: () => ({ bytes: library.capi.sqlite3_js_db_export(database).length }),
      };
    },
  },
  "client-vector-search": {
    files: ["client-vector-search/dist/index.mjs"],
    async make(set) {
      const { EmbeddingIndex } = await load("client-vector-search/dist/index.mjs");
      let index;
      return {
        build: () => (index = new EmbeddingIndex(rowsOf(set).map((row, id) => ({ id, embedding: Array.from(row) })))),
        search: async (query) => (await index.search(Array.from(query), { topK: 10 })).map(({ object }) => object.id),
      };
    },
  },
};
