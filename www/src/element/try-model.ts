// Whether a model can be reached: one question over one sentence, to be written in a single call.

import { CountercheckError, createAssistant } from "../client/index.ts";
import type { Places, Services } from "./assistants.ts";
import { engineFor } from "./engine.ts";

const LIMITS = { maxCalls: 1, deadlineMs: 30_000 };

/** Asks a model; rejects with what is wrong if it does not answer. */
export async function tryModel(services: Services, places: Places, signal: AbortSignal): Promise<void> {
  const assistant = await createAssistant({ embedder: false, ...engineFor(places, services) });
  try {
    await assistant.add({ id: "kettle", text: "The kettle boils water." });
    const { reason } = await assistant.ask("What does the kettle boil?", { strategy: "naive", limits: LIMITS, signal });
    if (reason === "budget") throw new CountercheckError("provider_failed", "no reply", { serviceCode: "timeout" });
  } finally {
    assistant.dispose();
  }
}
