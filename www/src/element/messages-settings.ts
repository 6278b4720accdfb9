// The strings of the settings, in English; `assistant.messages` overrides these as well.

import type { Answering, Searching } from "./settings.ts";

/** What a choice is called, and what it does and costs. */
export interface Choice {
  name: string;
  text: string;
}

/** The strings of the settings. */
export interface SettingsMessages {
  strategy: string;
  /** By the strategy's name. */
  strategies: Record<string, Choice>;
  passages: Choice;
  passagesRange: (least: number, most: number) => string;
  answering: string;
  answerings: Record<Answering | "edge", Choice>;
  webSearch: string;
  webSearches: Record<Searching, Choice>;
  baseUrl: string;
  /** For a service that has a usual address. */
  baseUrlIfOther: string;
  model: string;
  key: string;
  keyNote: string;
  keyKept: string;
  keyMissing: string;
  forgetKey: string;
  tryModel: string;
  trying: string;
  modelAnswers: string;
  apply: string;
  applying: string;
  cancel: string;
}

/** The English strings. */
export const ENGLISH_SETTINGS: SettingsMessages = {
  strategy: "How answers are made",
  strategies: {
    naive: {
      name: "Naive",
      text: "Searches once and writes from what it finds; nothing is checked. One call.",
    },
    corrective: {
      name: "Corrective",
      text: "Grades each passage and sets aside what does not bear on the question; if need be, it searches the web. One call more for each passage.",
    },
    "self-reflective": {
      name: "Self-reflective",
      text: "Also checks the draft against its sources and the question, and writes another when it fails. Two calls more for each draft, three drafts at most.",
    },
    "corrective-scored": {
      name: "Corrective, by scores",
      text: "Scores each passage; the average decides whether they are used, completed or replaced by the web, whose pages are scored too. One call more for each passage and page.",
    },
    countercheck: {
      name: "Countercheck",
      text: "Grades all passages with one call, holds each statement of the draft against a quotation, and mends what fails. Three calls for a good draft.",
    },
    "self-rag-prompted": {
      name: "Self-RAG, by prompts",
      text: "Asks first whether the documentation is needed, then grades passages, support and usefulness; one strict draft after a bad one. No web search.",
    },
  },
  passages: { name: "Passages", text: "How many are looked up for a question. More of them find more and cost more." },
  passagesRange: (least, most) => `Give a number from ${least} to ${most}.`,
  answering: "Who answers",
  answerings: {
    site: { name: "As this page was set up", text: "The model that its author chose." },
    builtin: { name: "Built in", text: "Quotes sentences from the documentation. No model, no key, and nothing leaves this page." },
    openai: {
      name: "A model at an OpenAI-compatible address",
      text: "The loop runs in this page and asks OpenAI, Ollama, llama.cpp, vLLM, OpenRouter or the like.",
    },
    worker: {
      name: "This site’s Worker, loop in this page",
      text: "The Worker has the model and its key and does each step; this page decides what comes next.",
    },
    edge: { name: "At the edge", text: "The Worker does everything and sends the answer." },
  },
  webSearch: "Web search, where the documentation falls short",
  webSearches: {
    site: { name: "As this page was set up", text: "The search that its author chose." },
    none: { name: "None", text: "Answers come from the documentation alone." },
    tavily: { name: "Tavily", text: "With a key of yours." },
    worker: { name: "This site’s Worker", text: "It has the key, if its owner has given it one." },
  },
  baseUrl: "Base URL",
  baseUrlIfOther: "Base URL, if not Tavily’s own",
  model: "Model",
  key: "Key",
  keyNote: "The key stays in this page’s memory until you leave it, and goes to that address alone.",
  keyKept: "A key is kept in memory. Leave this empty to go on using it.",
  keyMissing: "Give your key.",
  forgetKey: "Forget the key",
  tryModel: "Try it",
  trying: "Asking the model…",
  modelAnswers: "The model answers.",
  apply: "Use these settings",
  applying: "Loading…",
  cancel: "Cancel",
};
