// An index of vectors: a wasm instance of its own (see module.rs), whose memory goes when the index does.
//
// The module knows names, vectors and what is wrong with them; here arguments become bytes and errors objects.

import { CountercheckError, isTrap } from "../client/error.ts";
import { scanFaster } from "./scan.ts";
import type { Scannable } from "./scan.ts";

/** How near two vectors are: higher is always nearer. */
export type Metric = "cosine" | "dot" | "euclidean";

/** A vector that was found. */
export interface VectorHit {
  id: string;
  /** The cosine, the inner product, or the distance negated. */
  score: number;
}

/** What a search may be told besides its vector. */
export interface VectorSearchOptions {
  /** Whether a vector may be found. It is asked of the likely ones, not of all. */
  filter?: (id: string) => boolean;
  /**
   * For hundreds of thousands of vectors by cosine: two to three times as fast, and in some searches one of the
   * nearest is missed. It takes another bit a component; the first such search makes them.
   */
  approximate?: boolean;
}

/** Bytes that an index takes. */
export interface VectorMemory {
  /** What a search scans: a byte a component and eight a vector. */
  scan: number;
  /** What it computes the scores of the best from: four bytes a component. */
  rescoring: number;
  /** All that the index has of the machine's memory. */
  total: number;
}

interface Exports extends Scannable {
  text(length: number): number;
  vector(length: number): number;
  result(): number;
  result_length(): number;
  create(dimension: number, metric: number): number;
  add(): number;
  set(): number;
  remove(): number;
  search(k: number, filtered: number, fast: number): number;
  name(row: number): number;
  components(): number;
  save(): number;
  forget(): void;
  load(): number;
  metric(): number;
  size(): number;
  scan_bytes(): number;
  rescoring_bytes(): number;
}

const METRICS: readonly Metric[] = ["cosine", "dot", "euclidean"];
const FAILED = 0xffff_ffff;
const NONE = 0xffff_fffe;
const ENCODER = new TextEncoder();
const DECODER = new TextDecoder();

/** Vectors under names; made by `createVectorIndex` and `loadVectorIndex`. */
export class VectorIndex {
  readonly dimension: number;
  readonly metric: Metric;
  #exports: Exports | undefined;
  #gone = "disposed";
  /** The names of rows, as far as they have been asked for. */
  readonly #ids: (string | undefined)[] = [];
  /** Whether rows of a loaded file may have names that have not been asked for. */
  #unnamed = false;
  #filter: ((id: string) => boolean) | undefined;
  #thrown: { error: unknown } | undefined;

  private constructor(exports: Exports, dimension: number, metric: Metric) {
    this.#exports = exports;
    this.dimension = dimension;
    this.metric = metric;
  }

  /** @internal */
  static async make(
    module: WebAssembly.Module,
    from: { dimension: number; metric: Metric } | Uint8Array,
    relaxed: boolean,
  ): Promise<VectorIndex> {
    let index: VectorIndex | undefined;
    const allowed = (row: number) => Number(index !== undefined && index.#allows(row >>> 0));
    const { exports } = await WebAssembly.instantiate(module, { host: { allowed } });
    const made = exports as unknown as Exports;
    if (relaxed) scanFaster(made);
    let dimension: number;
    if (from instanceof Uint8Array) {
      write(made, from);
      dimension = checked(made, made.load());
    } else {
      const metric = METRICS.indexOf(from.metric);
      if (metric < 0) throw invalid(`metric is one of ${METRICS.join(", ")}`);
      dimension = from.dimension;
      if (!Number.isInteger(dimension)) {
        throw new CountercheckError("invalid_dimension", "`dimension` is the number of components of each vector: a whole number");
      }
      // Other numbers would be cut to 32 bits: 0 is refused in words.
      checked(made, made.create(dimension < 2 ** 31 ? Math.max(dimension, 0) : 0, metric));
    }
    index = new VectorIndex(made, dimension, METRICS[made.metric()] ?? "cosine");
    index.#unnamed = from instanceof Uint8Array;
    return index;
  }

  /** The number of vectors. */
  get size(): number {
    return this.#call((exports) => exports.size());
  }

  /** What the vectors take. */
  get memory(): VectorMemory {
    return this.#call((exports) => ({
      scan: exports.scan_bytes(),
      rescoring: exports.rescoring_bytes(),
      total: exports.memory.buffer.byteLength,
    }));
  }

  /** Adds a vector under an id that is not there yet. */
  add(id: string, vector: ArrayLike<number>): void {
    this.#call((exports) => {
      give(exports, id, vector);
      this.#ids[checked(exports, exports.add())] = id;
    });
  }

  /** Adds a vector, or replaces the one of that id. */
  set(id: string, vector: ArrayLike<number>): void {
    this.#call((exports) => {
      give(exports, id, vector);
      this.#ids[checked(exports, exports.set())] = id;
    });
  }

  /** Removes the vector of an id; whether there was one. */
  remove(id: string): boolean {
    return this.#call((exports) => {
      write(exports, encoded(id));
      const row = exports.remove() >>> 0;
      if (row !== NONE) this.#ids[row] = undefined;
      return row !== NONE;
    });
  }

  /** The vector of an id. */
  get(id: string): Float32Array | undefined {
    return this.#call((exports) => {
      write(exports, encoded(id));
      return exports.components() >>> 0 === NONE ? undefined : new Float32Array(read(exports).buffer);
    });
  }

  /**
   * The `k` nearest vectors, nearest first, equally near ones by id; all of them when there are fewer.
   * They are the same as if every score were computed, unless they are to be approximate.
   */
  search(vector: ArrayLike<number>, k = 10, options: VectorSearchOptions = {}): VectorHit[] {
    checkNames("search", options, ["filter", "approximate"]);
    const { filter, approximate = false } = options;
    if (!Number.isInteger(k) || k < 0) throw invalid("k is a number of vectors: 0, 1, 2, …");
    return this.#call((exports) => {
      // The module cannot be asked for names while it searches.
      if (filter !== undefined && this.#unnamed) this.#nameAll(exports);
      putVector(exports, vector);
      this.#filter = filter;
      this.#thrown = undefined;
      let count: number;
      try {
        count = checked(exports, exports.search(Math.min(k, 2 ** 31), Number(filter !== undefined), Number(approximate)));
      } finally {
        this.#filter = undefined;
      }
      if (this.#thrown !== undefined) throw (this.#thrown as { error: unknown }).error;
      const found = new DataView(exports.memory.buffer, exports.result(), count * 8);
      const hits = Array.from({ length: count }, (_, at) => {
        const score = found.getFloat32(at * 8 + 4, true);
        return { row: found.getUint32(at * 8, true), score: this.metric === "euclidean" ? -Math.sqrt(-score) : score };
      });
      return hits.map(({ row, score }) => ({ id: this.#id(exports, row), score }));
    });
  }

  /** The index as bytes, the same for the same vectors and ids. */
  save(): Uint8Array {
    return this.#call((exports) => {
      exports.save();
      const file = read(exports);
      exports.forget();
      return file;
    });
  }

  /** Lets go of the memory. The index cannot be used afterwards. */
  dispose(): void {
    this.#exports = undefined;
  }

  #id(exports: Exports, row: number): string {
    const known = this.#ids[row];
    if (known !== undefined) return known;
    exports.name(row);
    return (this.#ids[row] = DECODER.decode(read(exports)));
  }

  /** Rows of a loaded file are numbered from 0. */
  #nameAll(exports: Exports): void {
    for (let row = 0; exports.name(row) >>> 0 !== NONE; row += 1) this.#ids[row] ??= DECODER.decode(read(exports));
    this.#unnamed = false;
  }

  /** Called by the module in the middle of a search, which must not be left by an exception. */
  #allows(row: number): boolean {
    const exports = this.#exports;
    const filter = this.#filter;
    if (exports === undefined || filter === undefined || this.#thrown !== undefined) return false;
    try {
      return filter(this.#ids[row] ?? "");
    } catch (error) {
      this.#thrown = { error };
      return false;
    }
  }

  #call<T>(call: (exports: Exports) => T): T {
    const exports = this.#exports;
    if (exports === undefined) throw new CountercheckError(this.#gone, `the index was ${this.#gone}`);
    if (this.#filter !== undefined) throw new CountercheckError("busy", "a filter cannot use the index that it filters");
    try {
      return call(exports);
    } catch (error) {
      if (!isTrap(error)) throw error;
      this.#exports = undefined;
      this.#gone = "panicked";
      throw new CountercheckError("panicked", "the index stopped unexpectedly: load it again", { cause: error });
    }
  }
}

/** Refuses options that nobody would look at. */
export function checkNames(of: string, options: object, known: string[]): void {
  const unknown = Object.keys(options ?? {}).find((name) => !known.includes(name));
  if (unknown !== undefined) throw new CountercheckError("unknown_field", `${of} has no option \`${unknown}\`: there are ${known.join(", ")}`);
}

function give(exports: Exports, id: string, vector: ArrayLike<number>): void {
  write(exports, encoded(id));
  putVector(exports, vector);
}

function encoded(id: string): Uint8Array {
  if (typeof id !== "string") throw invalid("an id is a string");
  return ENCODER.encode(id);
}

function putVector(exports: Exports, vector: ArrayLike<number>): void {
  const length = vector?.length;
  if (!Number.isInteger(length)) throw invalid("a vector is an array of numbers");
  // The call may move the memory, so the buffer is asked for after it.
  const at = room(exports.vector(length));
  new Float32Array(exports.memory.buffer, at, length).set(vector);
}

function write(exports: Exports, bytes: Uint8Array): void {
  const at = room(exports.text(bytes.length));
  new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes);
}

function read(exports: Exports): Uint8Array {
  const at = exports.result() >>> 0;
  return new Uint8Array(exports.memory.buffer.slice(at, at + exports.result_length()));
}

/** An address that the module gave. */
function room(address: number): number {
  if (address === 0) throw new CountercheckError("out_of_memory", "no memory is left for that many bytes");
  return address >>> 0;
}

function checked(exports: Exports, outcome: number): number {
  if (outcome >>> 0 !== FAILED) return outcome >>> 0;
  const [code = "internal", ...message] = DECODER.decode(read(exports)).split("\n");
  throw new CountercheckError(code, message.join("\n"));
}

function invalid(message: string): CountercheckError {
  return new CountercheckError("invalid_option", message);
}
