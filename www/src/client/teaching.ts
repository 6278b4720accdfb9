// An assistant whose documents get their vectors from the model that the embedder's table was fitted to.
//
// Whoever runs that model is asked once for each document: the journal keeps the vectors with it.

import type { Engine } from "../../../dist/wasm-models/countercheck_models.js";
import type { DocumentInput } from "../generated/wire.ts";
import type { Cancellation } from "./cancellation.ts";
import type { Kit } from "./kit.ts";
import type { Change, EngineFiles, LocalBackend } from "./local.ts";
import type { Runtime } from "./runtime.ts";
import type { Teacher } from "./services.ts";

/** What the teacher reads at a time. */
const BATCH = 32;

/** Components of a vector of the teacher. */
const DIMENSION = 384;

/** The local backend, which the page has already, with the teacher's vectors for documents. */
export function teachingBackend(
  { CountercheckError, LocalBackend, snakeKeys }: Kit,
  runtime: Runtime<Engine>,
  files: EngineFiles,
  prepare: (engine: Engine) => void,
  { encode }: Teacher,
): LocalBackend<Engine> {
  class TeachingBackend extends LocalBackend<Engine> {
    override async add(document: DocumentInput, { signal }: Cancellation): Promise<number> {
      const add = snakeKeys(document);
      const texts = this.call((engine) => engine.texts(add));
      const vectors = new Float32Array(texts.length * DIMENSION);
      for (let from = 0; from < texts.length; from += BATCH) {
        const batch = texts.slice(from, from + BATCH);
        const encoded = await encode(batch, { signal });
        const fits = encoded.length === batch.length && encoded.every((vector) => vector.length === DIMENSION);
        if (!fits) {
          throw new CountercheckError(
            "invalid_vector",
            `\`teacher.encode\` must give one vector of ${DIMENSION} numbers for each of the ${batch.length} texts`,
          );
        }
        encoded.forEach((vector, i) => vectors.set(vector, (from + i) * DIMENSION));
      }
      return (this.change({ add, vectors }) as { passages: number }).passages;
    }

    protected override apply(engine: Engine, change: Change): unknown {
      return "add" in change && change.vectors !== undefined
        ? engine.addProjected(change.add, change.vectors)
        : super.apply(engine, change);
    }
  }
  return new TeachingBackend(runtime, files, prepare);
}
