// Every string of the element, in English; `assistant.messages` overrides any of them.

import type { Check, Decision, Outcome, Reason, Retrieval, Support, Verdict } from "../client/index.ts";
import type { SettingsMessages } from "./messages-settings.ts";
import { adviceInEnglish } from "./messages-advice.ts";
import type { Advice } from "./messages-advice.ts";

/** The element's strings. Functions get what they are to mention; those of the settings come with them. */
export interface Messages extends Partial<SettingsMessages> {
  /** The input's label, and what it shows while empty. */
  label: string;
  placeholder: string;
  ask: string;
  stop: string;
  clear: string;
  askSomething: string;
  askRow: (question: string) => string;
  results: string;
  noResults: string;
  loading: string;
  hint: string;
  resultCount: (count: number) => string;

  /** The switch. */
  where: string;
  inPage: string;
  atEdge: string;
  inPageNote: string;
  /** What goes to models and to a web search, each a host or `ownService`. */
  sentTo: (models: readonly string[], web: string | undefined) => string;
  ownService: string;
  atEdgeNote: (host: string) => string;
  indexed: (documents: number, passages: number) => string;

  examples: string;
  answers: string;
  newTab: string;

  /** Stages of a run, under way and done. */
  searching: string;
  searched: (passages: number) => string;
  gradingAll: (of: number) => string;
  grading: (n: number, of: number) => string;
  graded: (relevant: number, rejected: number, unknown: number) => string;
  retrieval: (retrieve: Retrieval) => string;
  decided: (decision: Decision) => string;
  supportedInPart: string;
  rated: (rating: number) => string;
  searchingWeb: string;
  searchedWeb: (results: number) => string;
  drafting: string;
  drafted: (attempt: number) => string;
  rejected: (attempt: number, check: Check) => string;
  checking: (check: Check) => string;
  checked: (check: Check, verdict: Verdict) => string;
  unchecked: string;

  /** What the answer is. */
  outcomes: Record<Outcome, string>;
  grounded: (flag: boolean | null) => string;
  useful: (flag: boolean | null) => string;
  partial: (reason: Reason | undefined) => string;
  abstained: (reason: Reason | undefined) => string;
  closest: string;
  extractive: string;
  /** How many statements a quotation supports, of how many; and how far one is supported. */
  claims: (held: number, all: number) => string;
  claim: (support: Support) => string;
  sources: string;
  fromWeb: string;
  citation: (n: number, title: string) => string;
  copy: string;
  copied: string;

  /** The trace. */
  trace: string;
  tracePassage: (n: number, of: number, verdict: Verdict) => string;
  traceRewrite: string;
  traceSegment: (level: number, kept: boolean) => string;
  took: (milliseconds: number, where: string) => string;

  /** Announcements that are seen by nobody and read to some. */
  announceAnswer: (text: string) => string;
  announceStopped: string;
  stopped: string;

  /** Failures: what to do, and what is known besides. */
  advice: Advice;
  failed: (message: string) => string;
  retry: string;
  retryIn: (milliseconds: number) => string;
  details: string;
  settings: string;
}

const plural = (count: number, noun: string) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
const duration = (milliseconds: number) =>
  milliseconds < 1000 ? `${Math.max(1, Math.round(milliseconds))} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
const VERDICTS: Record<Verdict, string> = { yes: "relevant", no: "not relevant", unknown: "could not be judged" };
const CHECKED: Record<Check, Record<Verdict, string>> = {
  grounding: {
    yes: "The sources support it",
    no: "The sources do not support it",
    unknown: "Its support could not be decided",
  },
  usefulness: {
    yes: "It answers the question",
    no: "It does not answer the question",
    unknown: "Whether it answers could not be decided",
  },
};

const WITHDRAWN: Record<Check, string> = {
  grounding: "the sources do not support it",
  usefulness: "it does not answer the question",
};

const CLAIM: Record<Support, string> = {
  fully_supported: "Supported",
  partially_supported: "Supported in part",
  no_support: "Not supported",
  unknown: "Not decided",
};

const RETRIEVAL: Record<Retrieval, string> = {
  yes: "It needs the documentation",
  no: "It needs no documentation",
  continue: "Looked up all the same",
  unknown: "Looked up to be sure",
};
const DECIDED: Record<Decision, string> = {
  correct: "Enough to answer from",
  ambiguous: "To be completed by the web",
  incorrect: "To be replaced by the web",
};

const PARTIAL: Partial<Record<Reason, string>> = {
  ungrounded: "Parts of this are not supported by the sources. Read the quotes before you rely on it.",
  not_useful: "This is the closest the documentation comes, but it may not answer your question.",
  unchecked: "Not everything about this answer could be checked. Read the quotes before you rely on it.",
  no_progress: "Further attempts brought nothing better: this is the best one, and it did not pass every check.",
  provider_failed: "The answering service failed on the way: this is the best answer until then.",
  budget: "The time or the calls for this question ran out: this is the best answer until then.",
  truncated: "The answer was cut off before it could be checked.",
};

/** The English strings. */
export const ENGLISH: Messages = {
  label: "Ask or search the documentation",
  placeholder: "Ask or search the documentation…",
  ask: "Ask",
  stop: "Stop",
  clear: "Clear",
  askSomething: "Type a question first.",
  askRow: (question) => `Ask “${question}”`,
  results: "Search results",
  noResults: "No passage has these words. You can still ask.",
  loading: "Loading the documentation…",
  hint: "↑↓ choose   ↵ open or ask   Esc close",
  resultCount: (count) =>
    count === 0
      ? "No results. Press Enter to ask."
      : `${plural(count, "result")}. Use the arrow keys, or press Enter to ask.`,

  where: "Where answers are made",
  inPage: "In this page",
  atEdge: "At the edge",
  inPageNote: "Nothing you type leaves this page.",
  sentTo: (models, web) =>
    [
      ...(models.length > 0 ? [`Questions and passages go to ${models.join(" and ")}.`] : []),
      ...(web === undefined ? [] : [`To search the web, questions go to ${web}.`]),
    ].join(" "),
  ownService: "a service of this site",
  atEdgeNote: (host) => `Questions go to the Worker at ${host}.`,
  indexed: (documents, passages) => `${plural(documents, "page")}, ${plural(passages, "passage")}`,

  examples: "For example",
  answers: "Answer",
  newTab: "(opens in a new tab)",

  searching: "Searching the documentation",
  searched: (passages) => `Found ${plural(passages, "passage")}`,
  gradingAll: (of) => `Reading ${plural(of, "passage")}`,
  grading: (n, of) => `Reading passage ${n} of ${of}`,
  graded: (relevant, rejected, unknown) =>
    [
      `${relevant} relevant`,
      ...(rejected > 0 ? [`${rejected} set aside`] : []),
      ...(unknown > 0 ? [`${unknown} undecided`] : []),
    ].join(", "),
  retrieval: (retrieve) => RETRIEVAL[retrieve],
  decided: (decision) => DECIDED[decision],
  supportedInPart: "Supported in part",
  rated: (rating) => `Rated ${rating} of 5`,
  searchingWeb: "Searching the web",
  searchedWeb: (results) => `Found ${plural(results, "web page")}`,
  drafting: "Drafting an answer",
  drafted: (attempt) => (attempt === 1 ? "Drafted an answer" : `Drafted answer ${attempt}`),
  rejected: (attempt, check) => `Draft ${attempt} withdrawn: ${WITHDRAWN[check]}`,
  checking: (check) =>
    check === "grounding" ? "Checking it against the sources" : "Checking that it answers the question",
  checked: (check, verdict) => CHECKED[check][verdict],
  unchecked: "Draft, being checked",

  outcomes: { answered: "Answered", partial: "Partial answer", abstained: "No answer" },
  grounded: (flag) =>
    flag === null ? "Support not checked" : flag ? "Supported by the sources" : "Not supported by the sources",
  useful: (flag) =>
    flag === null ? "Usefulness not checked" : flag ? "Answers the question" : "May not answer the question",
  partial: (reason) => (reason && PARTIAL[reason]) ?? "This is the best answer there is; it did not pass every check.",
  abstained: (reason) =>
    reason === "budget"
      ? "Try again. Fewer passages or a simpler strategy take less time."
      : "Rather than guess, the assistant stops here.",
  closest: "These sections come closest",
  extractive: "Quoted from the sources, not written by a model.",
  claims: (held, all) => `${held} of ${plural(all, "statement")} supported by a quotation`,
  claim: (support) => `${CLAIM[support]}: `,
  sources: "Sources",
  fromWeb: "from the web",
  citation: (n, title) => `Source ${n}: ${title}`,
  copy: "Copy",
  copied: "Copied",

  trace: "How this came about",
  tracePassage: (n, of, verdict) => `Passage ${n} of ${of}: ${VERDICTS[verdict]}`,
  traceRewrite: "Reworded for the web",
  traceSegment: (level, kept) => `Segment ${level} ${kept ? "kept" : "left out"}`,
  took: (milliseconds, where) => `${duration(milliseconds)}, ${where.toLowerCase()}`,

  announceAnswer: (text) => `Answer ready. ${text}`,
  announceStopped: "Stopped",
  stopped: "Stopped before there was an answer.",

  advice: adviceInEnglish,
  failed: (message) => `That did not work: ${message}`,
  retry: "Try again",
  retryIn: (milliseconds) =>
    milliseconds > 120_000
      ? `Try again in ${Math.ceil(milliseconds / 60_000)} min`
      : `Try again in ${Math.ceil(milliseconds / 1000)} s`,
  details: "Details",
  settings: "Settings",
};
