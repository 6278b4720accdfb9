// An assistant whose vectors come from a model elsewhere, or whose passages from a retriever of the page's
// own: searches wait for them, and with a model new documents do.
//
// What is asked of the model is asked once: the journal keeps the vectors with their document.

import type { Engine } from "../../../dist/wasm-models/countercheck_models.js";
import type { DocumentInput, SearchHit, SearchRequest } from "../generated/wire.ts";
import type { Cancellation } from "./cancellation.ts";
import type { Kit } from "./kit.ts";
import type { Change, EngineFiles, LocalBackend } from "./local.ts";
import type { Runtime } from "./runtime.ts";

/** The backend of such an assistant: the local one, which the page has already, with other vectors or passages. */
export function waitingBackend(
  { LocalBackend, shown, snakeKeys }: Kit,
  runtime: Runtime<Engine>,
  files: EngineFiles,
  prepare: (engine: Engine) => void,
  hasModel: boolean,
): LocalBackend<Engine> {
  class WaitingBackend extends LocalBackend<Engine> {
    override async search(request: SearchRequest, cancellation: Cancellation): Promise<SearchHit[]> {
      const asked = snakeKeys(request);
      const found = shown<{ hits: SearchHit[] }>;
      return (await this.run((engine, caller) => engine.searchEmbedded(asked, caller), found, cancellation)).hits;
    }

    override async add(document: DocumentInput, cancellation: Cancellation): Promise<number> {
      if (!hasModel) return super.add(document, cancellation);
      const add = snakeKeys(document);
      const components = (result: unknown) => result as Float32Array;
      const vectors = await this.run((engine, caller) => engine.vectors(add, caller), components, cancellation);
      return (this.change({ add, vectors }) as { passages: number }).passages;
    }

    protected override apply(engine: Engine, change: Change): unknown {
      return "add" in change && change.vectors !== undefined
        ? engine.addEmbedded(change.add, change.vectors)
        : super.apply(engine, change);
    }
  }
  return new WaitingBackend(runtime, files, prepare);
}
