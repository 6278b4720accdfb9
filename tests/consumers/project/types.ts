// What a strict compiler must accept, and what it must not.
import {
  CountercheckError,
  anthropic,
  cloudflareSearch,
  createAssistant,
  mistralSearch,
  ollama,
  searxng,
  workersAi,
  type Answer,
  type AnswerEvent,
} from "countercheck";
import { webLlm } from "countercheck/adapters";
import type { CountercheckAssistant } from "countercheck/element";
import embedder from "countercheck/embedder.bin";
import { createVectorIndex, type VectorHit } from "countercheck/vectors";

const assistant = await createAssistant({ index: "docs.ccx", embedder, defaults: { k: 4, limits: { deadlineMs: 1000 } } });
const answering = assistant.ask("Why?", { signal: new AbortController().signal, maxRetries: 1 });
for await (const event of answering) {
  const seen: AnswerEvent = event;
  if (seen.type === "grade") seen.passageId.at(0);
}
const answer: Answer = await answering;
const first: string | undefined = answer.citations[0]?.quote;
const grounded: boolean | null = answer.grounded;
declare const element: CountercheckAssistant;
element.ask(first ?? String(grounded));
export const isOurs = (error: unknown): string => (error instanceof CountercheckError ? error.code : "other");

const vendors = [anthropic({ model: "m", key: "k" }), ollama({ model: "m" }), workersAi({ account: "a", model: "m" })];
await createAssistant({ chat: { generate: vendors, grade: "builtin" }, search: mistralSearch({ key: "k", model: "m" }) });
cloudflareSearch({ account: "a", key: "k", engine: "exa" });
webLlm satisfies (engine: never) => unknown;
// @ts-expect-error a model has a name
anthropic({ key: "k" });
// @ts-expect-error it has no address of its own
searxng({ key: "k" });
// @ts-expect-error quotes are not one of several
await createAssistant({ chat: ["builtin"] });

const vectors = await createVectorIndex({ dimension: 2, metric: "dot" });
vectors.add("a", [1, 2]);
const nearest: VectorHit | undefined = vectors.search(new Float32Array(2), 1, { filter: (id) => id !== "b" })[0];
nearest?.score.toFixed();
// @ts-expect-error no such metric
await createVectorIndex({ dimension: 2, metric: "hamming" });

// @ts-expect-error an unknown option
await createAssistant({ indx: "docs.ccx" });
// @ts-expect-error k as text
assistant.ask("Why?", { k: "4" });
// @ts-expect-error a field in snake_case
answer.web_search_used;
