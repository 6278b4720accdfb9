// What a question costs, as types: of estimates before it is asked, and of answers.

import type {
  Answer as RunAnswer,
  AskRequest,
  Estimate as Counted,
  EstimateRequest,
  Prices,
  Step,
  Steps,
  Usage as RunUsage,
} from "../generated/wire.ts";
import type { Source } from "./types.ts";

/** What a run took, and by the assistant's `prices` what it cost. */
export type Usage = RunUsage & {
  /** In the currency of the prices; null where tokens or a price are unknown, absent without prices. */
  cost?: number | null;
};

/** An answer with everything that is known about it. */
export type Answer = Omit<RunAnswer, "usage"> & { usage: Usage };

/** What an assistant does with its prices. */
export interface Pricing {
  /** Adds them to a question whose cost is bounded. */
  request(request: AskRequest): AskRequest;
  /** Adds the cost to an answer. */
  answer(answer: RunAnswer): Answer;
}

/** What to estimate, and with what. */
export interface EstimateOptions extends EstimateRequest {
  /** Adds `cost` to each step. */
  prices?: Prices;
  /** Another address of countercheck_models_bg.wasm, in Node of countercheck_node_bg.wasm, as for `createAssistant`. */
  wasm?: Source | WebAssembly.Module;
}

/** Calls of one kind, their tokens, and with prices what they cost. */
export type EstimatedStep = Step & { cost?: number | null };

/** A cost by the kinds of calls, and in total. */
export type EstimatedSteps = { [step in keyof Steps]: EstimatedStep };

/** What a run will cost: on its path, and at the most. */
export type Estimate = { [bound in keyof Counted]: EstimatedSteps };
