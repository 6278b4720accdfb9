// Generated from src/wire.rs by `UPDATE_TYPES=1 cargo test typescript`. Do not edit.

/**
 * The answer with everything that is known about it.
 */
export type Answer = { 
/**
 * How good it is.
 */
outcome: Outcome, 
/**
 * Why it is not better; absent exactly when answered.
 */
reason?: Reason, 
/**
 * Markdown with citation marks `[n]`; for an abstention the sentence that says so.
 */
text: string, 
/**
 * What the marks stand for.
 */
citations: Array<Citation>, 
/**
 * Whether the sources support it; null: not checked or not decided.
 */
grounded: boolean | null, 
/**
 * Whether it answers the question; null: not checked or not decided.
 */
useful: boolean | null, 
/**
 * How many drafts were written.
 */
attempts: number, 
/**
 * The passages given to the generator.
 */
sources: Array<Source>, 
/**
 * How many they are.
 */
sourcesUsed: number, 
/**
 * Whether a web search brought anything.
 */
webSearchUsed: boolean, 
/**
 * The grade of each passage that was graded.
 */
verdicts: Array<PassageVerdict>, 
/**
 * What the scores of the retrieved passages amounted to; of a rule that goes by scores.
 */
decision?: Decision, 
/**
 * The draft claim by claim; of a strategy that checks each by itself.
 */
claims?: Array<Claim>, 
/**
 * What was reflected on; of a strategy that decides whether to retrieve.
 */
reflection?: Reflection, 
/**
 * What it took.
 */
usage: Usage, 
/**
 * What the reader should know besides.
 */
warnings: Array<Warning>, 
/**
 * Every step.
 */
trace: Array<Event>, 
/**
 * The strategy's name.
 */
strategy: string, 
/**
 * Who answered the tasks: `builtin` means sentences quoted from the sources, not written.
 */
solver: string, 
/**
 * The language of the answer's own sentences.
 */
language: Language, };

/**
 * Bounds of a run, cut to those of the host: 1,000 calls and ten minutes, at the edge 40 and one.
 */
export type AskLimits = { 
/**
 * The most calls for tasks, web searches and the query's vector; by default what the strategy can need
 * at the most, as `estimate` counts it.
 */
maxCalls?: number, 
/**
 * The most tokens that models read and write. A step whose texts and longest reply might exceed it is not
 * taken; where not all fits, checks are the last to go.
 */
maxTokens?: number, 
/**
 * The most that the run costs by `prices`, 0 or more. What has no price there is not used.
 */
maxCost?: number, 
/**
 * What services charge, for `max_cost`; in JavaScript the assistant's own by default.
 */
prices?: Prices, 
/**
 * The most milliseconds the run may take; 60,000 by default.
 */
deadlineMs?: number, };

/**
 * `POST /v1/ask`, and the argument of `assistant.ask`.
 */
export type AskRequest = { 
/**
 * The question, at most 8 KiB.
 */
question: string, 
/**
 * How many passages to retrieve, 1 to 50; the strategy's default is 4, of `self-rag` 3.
 */
k?: number, 
/**
 * The strategy's name; `countercheck` by default.
 */
strategy?: string, 
/**
 * How many drafts may follow the first, 0 to 4.
 */
maxRetries?: number, 
/**
 * When what was retrieved is not enough; of a strategy that grades.
 */
rule?: Rule, 
/**
 * Thresholds for the scores of passages; of a strategy whose rule goes by them.
 */
domain?: Domain, 
/**
 * Whether a model grades all passages with one call in place of one each; of a strategy that grades.
 */
batch?: boolean, 
/**
 * Whether the first draft is begun while the passages are graded, and thrown away where one is rejected:
 * faster by the time of a grade, and now and then one call dearer. Of a strategy that grades.
 */
speculate?: boolean, 
/**
 * Whether usefulness is judged with the claims, in one call, or by a call of its own that sees no passage;
 * of `countercheck`.
 */
usefulness?: ByClaim, 
/**
 * What is returned when no draft passed its checks; the best by default.
 */
onExhaustion?: OnExhaustion, 
/**
 * How `self-rag` decides, writes and judges; of that strategy alone.
 */
selfRag?: SelfRagOptions, 
/**
 * The language of the answer; that of the question by default.
 */
language?: Language, 
/**
 * Bounds of the run.
 */
limits?: AskLimits, };

/**
 * How usefulness is judged where grounding is checked claim by claim.
 */
export type ByClaim = "fused" | "isolated";

/**
 * How many calls of each kind were made.
 */
export type Calls = { 
/**
 * Calls for the vector of a query.
 */
embed: number, 
/**
 * Searches of the index.
 */
retrieve: number, 
/**
 * Decisions whether to retrieve.
 */
decide: number, 
/**
 * Grades of passages.
 */
grade: number, 
/**
 * Query rewrites.
 */
rewrite: number, 
/**
 * Web searches.
 */
web: number, 
/**
 * Drafts.
 */
generate: number, 
/**
 * Grounding checks.
 */
grounding: number, 
/**
 * Usefulness checks.
 */
usefulness: number, 
/**
 * Segments; of `self-rag`.
 */
segment: number, 
/**
 * Questions put to a model that has no reflection tokens; of `self-rag`.
 */
reflect: number, };

/**
 * The checks a draft goes through.
 */
export type Check = "grounding" | "usefulness";

/**
 * A quotation that supports a sentence of the answer.
 */
export type Citation = { 
/**
 * The mark in the text, from 1.
 */
n: number, 
/**
 * The passage quoted.
 */
passageId: string, 
/**
 * Where to read it, with the section's anchor.
 */
url: string, 
/**
 * The page's title.
 */
title: string, 
/**
 * The headings above the passage, outermost first.
 */
headings: Array<string>, 
/**
 * The other pages that the passage is from, of the web.
 */
also?: Array<string>, 
/**
 * The text at `start..end` of the document's original source, byte for byte.
 */
quote: string, 
/**
 * UTF-8 byte offset of the quote's start in the document's original source.
 */
start: number, 
/**
 * UTF-8 byte offset one past the quote's end.
 */
end: number, 
/**
 * The caller's index or the web.
 */
origin: Origin, };

/**
 * What the draft says in one sentence, list item, table row or code block.
 */
export type Claim = { 
/**
 * Its words, without citation marks.
 */
text: string, 
/**
 * How far the passages support it.
 */
support: Support, 
/**
 * The number of the citation that supports it; absent where none does.
 */
citation?: number, };

/**
 * How the scores of an answer's segments are put together.
 */
export type Combine = "sum" | "product";

/**
 * Which tokens of a group count.
 */
export type CritiqueRule = "ideal" | "appendix";

/**
 * What is done with what was retrieved.
 */
export type Decision = "correct" | "ambiguous" | "incorrect";

/**
 * A document to index, the argument of `assistant.add`.
 */
export type DocumentInput = { 
/**
 * Unique in the index; a document of the same id is replaced.
 */
id: string, 
/**
 * The source.
 */
text: string, 
/**
 * Where a reader finds it.
 */
url?: string, 
/**
 * Its title; by default the first level-1 heading, else the id.
 */
title?: string, 
/**
 * How the text is written; Markdown by default.
 */
format?: Format, };

/**
 * A field whose questions have thresholds of their own (seed G-19).
 */
export type Domain = "medical" | "legal" | "general" | "ecommerce";

/**
 * The body of every HTTP error: `{"error": {"code", "message"}}`.
 */
export type ErrorBody = { 
/**
 * What is wrong.
 */
error: ErrorDetail, };

/**
 * A code for programs and a message for people.
 */
export type ErrorDetail = { 
/**
 * Stable.
 */
code: string, 
/**
 * What happened and what to do.
 */
message: string, 
/**
 * What went wrong at the service that failed, for instance `rate_limited`.
 */
service_code?: string, 
/**
 * When it may be tried again, in milliseconds.
 */
retry_after_ms?: number, };

/**
 * What a run will cost.
 */
export type Estimate = { 
/**
 * Of a run without faults whose drafts, but for the last, all fail their last check.
 */
path: Steps, 
/**
 * Of no run more than that.
 */
upper: Steps, };

/**
 * The argument of `estimate`: a strategy's options, and who is asked.
 */
export type EstimateRequest = { 
/**
 * The strategy's name; `countercheck` by default.
 */
strategy?: string, 
/**
 * How many passages to retrieve, 1 to 50; the strategy's default is 4.
 */
k?: number, 
/**
 * How many drafts may follow the first, 0 to 4.
 */
maxRetries?: number, 
/**
 * Whether a model elsewhere makes the vector of the query; by default not.
 */
embed?: boolean, 
/**
 * Whether the web can be searched; by default it can, where the strategy does.
 */
web?: boolean, 
/**
 * Whether a scorer grades all passages with one call.
 */
scorer?: boolean, 
/**
 * Whether a model grades all passages with one call in place of one each.
 */
batch?: boolean, };

/**
 * One step of a run.
 */
export type Event = { "type": "decide-retrieval", 
/**
 * What was said.
 */
retrieve: Retrieval, } | { "type": "retrieve", 
/**
 * The query, the question itself.
 */
query: string, 
/**
 * How many passages came back.
 */
passages: number, } | { "type": "grade", 
/**
 * Which one, from 1.
 */
n: number, 
/**
 * Of how many.
 */
of: number, 
/**
 * The passage.
 */
passageId: string, 
/**
 * Relevant to the question?
 */
verdict: Verdict, 
/**
 * 0…1, where the solver has one.
 */
score?: number, } | { "type": "decide", 
/**
 * Passages graded yes.
 */
relevant: number, 
/**
 * Passages graded no.
 */
rejected: number, 
/**
 * Passages nobody could grade.
 */
unknown: number, 
/**
 * The seeds' `need_web`: whether the rule asks for a web search.
 */
needWeb: boolean, 
/**
 * Where the rule goes by scores.
 */
decision?: Decision, } | { "type": "rewrite", 
/**
 * The query.
 */
query: string, } | { "type": "web-search", 
/**
 * The query.
 */
query: string, 
/**
 * How many new results came back.
 */
results: number, } | { "type": "segment", 
/**
 * Which segment of its answer, from 1.
 */
level: number, 
/**
 * The passage that it was written from.
 */
passageId: string, 
/**
 * Its score, where the model tells its probabilities.
 */
score?: number, 
/**
 * Whether the beam kept it.
 */
kept: boolean, } | { "type": "draft-start", 
/**
 * Which attempt, from 1.
 */
attempt: number, } | { "type": "draft-delta", 
/**
 * The piece.
 */
text: string, } | { "type": "draft-reject", 
/**
 * Which attempt, from 1.
 */
attempt: number, 
/**
 * The check that it failed.
 */
check: Check, } | { "type": "repair", 
/**
 * How many.
 */
claims: number, } | { "type": "check", 
/**
 * Which check.
 */
check: Check, 
/**
 * What it said.
 */
verdict: Verdict, 
/**
 * How far the draft is supported, where that was asked.
 */
support?: Support, 
/**
 * How useful it is, 1 to 5, where that was asked.
 */
rating?: number, };

/**
 * How a document's source is written.
 */
export type Format = "markdown" | "plain";

/**
 * How words and vectors are mixed.
 */
export type FusionName = "min-max" | "reciprocal-rank";

/**
 * Whether the Worker can answer: the body of `GET /healthz`.
 */
export type Health = { 
/**
 * `ok` when the index is loaded.
 */
status: string, 
/**
 * The package's version.
 */
version: string, 
/**
 * Who answers tasks.
 */
solver: string, 
/**
 * Documents in the index.
 */
documents: number, 
/**
 * Passages in the index.
 */
passages: number, };

/**
 * What a hit's score is made of.
 */
export type HitExplanation = { 
/**
 * What the words add to the score.
 */
words: number, 
/**
 * What the vectors add to it.
 */
vectors: number, 
/**
 * What each term of the query adds to `lexical`, the largest first.
 */
terms: Array<TermScore>, };

/**
 * A language with a prompt pack.
 */
export type Language = "en" | "fr" | "de" | "es";

/**
 * What is returned when no draft passed its checks.
 */
export type OnExhaustion = "best" | "last" | "abstain";

/**
 * Where a passage comes from; web passages are trusted less and labelled.
 */
export type Origin = "local" | "web";

/**
 * How good an answer is.
 */
export type Outcome = "answered" | "partial" | "abstained";

/**
 * The grade of a retrieved passage.
 */
export type PassageVerdict = { 
/**
 * The passage.
 */
passageId: string, 
/**
 * Relevant to the question?
 */
verdict: Verdict, 
/**
 * 0…1, where the solver has one.
 */
score?: number, };

/**
 * What services charge, in any one currency. What has no price here is not taken for free.
 */
export type Prices = { 
/**
 * For a million tokens that chat models read.
 */
input?: number, 
/**
 * For a million tokens that they write.
 */
output?: number, 
/**
 * For a search of the web.
 */
webSearch?: number, 
/**
 * For the vector of a query.
 */
embedding?: number, };

/**
 * Why an answer is not [`Outcome::Answered`].
 */
export type Reason = "no_documents" | "irrelevant" | "web_failed" | "ungrounded" | "not_useful" | "unchecked" | "no_progress" | "provider_failed" | "budget" | "truncated";

/**
 * The four decisions of the Self-RAG paper (seed G-09), as they were made for the draft returned.
 */
export type Reflection = { 
/**
 * Whether to retrieve.
 */
retrieve: Retrieval, 
/**
 * Which passages are relevant.
 */
relevance: Array<PassageVerdict>, 
/**
 * How far they support the draft; absent where it was not checked.
 */
support?: Support, 
/**
 * How useful the draft is, 1 to 5; absent where it was not rated.
 */
usefulness?: number, 
/**
 * The strategy goes by reflection tokens, and the model has none: it was asked their questions.
 */
approximated?: boolean, };

/**
 * Whether a question needs documents (seeds G-09, G-11).
 */
export type Retrieval = "yes" | "no" | "continue" | "unknown";

/**
 * When what was retrieved is not enough.
 */
export type Rule = "any_irrelevant" | "average" | "max" | "too_few";

/**
 * A passage that was found.
 */
export type SearchHit = { 
/**
 * The passage.
 */
passageId: string, 
/**
 * Its document.
 */
documentId: string, 
/**
 * Where to read it, with the section's anchor; empty when the document has no URL.
 */
url: string, 
/**
 * The page's title.
 */
title: string, 
/**
 * The headings above it, outermost first.
 */
headings: Array<string>, 
/**
 * The passage as it stands in the source.
 */
text: string, 
/**
 * UTF-8 byte offset of its start in the document's original source.
 */
start: number, 
/**
 * UTF-8 byte offset one past its end.
 */
end: number, 
/**
 * The fused score, 0 to 1 within one list of results.
 */
score: number, 
/**
 * BM25.
 */
lexical: number, 
/**
 * Cosine of the vectors; absent when either has none.
 */
dense?: number, 
/**
 * What the score is made of; absent unless it was asked for.
 */
explanation?: HitExplanation, };

/**
 * `POST /v1/search`, and the argument of `assistant.search`.
 */
export type SearchRequest = { 
/**
 * What to look for, at most 8 KiB.
 */
query: string, 
/**
 * How many passages, 1 to 50; 10 by default.
 */
k?: number, 
/**
 * Whether the last word is still being typed: it stands for all that begin with it.
 */
prefix?: boolean, 
/**
 * How words and vectors are mixed; by default by their scores.
 */
fusion?: FusionName, 
/**
 * The share of the vectors where scores are mixed, 0 to 1; .4 by default.
 */
denseWeight?: number, 
/**
 * At most so many passages of one document.
 */
perDocument?: number, 
/**
 * Whether each hit is to say what its score is made of.
 */
explain?: boolean, };

/**
 * The reply to a [`SearchRequest`].
 */
export type SearchResponse = { 
/**
 * Best first.
 */
hits: Array<SearchHit>, 
/**
 * What the reader should know besides; absent when there is nothing.
 */
warnings?: Array<Warning>, };

/**
 * How an answer is written.
 */
export type SelfRagMode = "long" | "short";

/**
 * What a caller may set of it; what is absent stays as the strategy has it.
 */
export type SelfRagOptions = { 
/**
 * `long`, segment by segment, or `short`, in one go from one passage; `long` by default.
 */
mode?: SelfRagMode, 
/**
 * When passages are retrieved; `threshold` by default.
 */
retrieval?: SelfRagRetrieval, 
/**
 * What the share of those who ask for passages must be above, 0 to 1; 0.2 by default.
 */
delta?: number, 
/**
 * The weights of a segment's score.
 */
weights?: SelfRagWeights, 
/**
 * `ideal` counts the best token of each group alone, `appendix` each by its worth; the default.
 */
rule?: CritiqueRule, 
/**
 * Whether the scores of segments are added, the default, or multiplied.
 */
combine?: Combine, 
/**
 * How many answers are continued, 1 to 8; 2 by default.
 */
beamWidth?: number, 
/**
 * How many segments an answer has at the most, 1 to 7; 2 by default.
 */
maxDepth?: number, 
/**
 * Whether what its passage does not support is dropped; not by default.
 */
hardConstraint?: boolean, 
/**
 * The possible answers, 2 to 26: one of them is chosen.
 */
choices?: Array<string>, };

/**
 * When passages are retrieved (seed N-11).
 */
export type SelfRagRetrieval = "threshold" | "token" | "always" | "never";

/**
 * The weights of a segment's score, 0 to 100.
 */
export type SelfRagWeights = { 
/**
 * Of the passage's relevance; 1 by default.
 */
relevance?: number, 
/**
 * Of the passage's support; 1 by default.
 */
support?: number, 
/**
 * Of the answer's usefulness; 0.5 by default.
 */
usefulness?: number, 
/**
 * Whether the segment's own probability counts besides; it does by default.
 */
sequence?: boolean, };

/**
 * A passage that the generator was given.
 */
export type Source = { 
/**
 * The passage.
 */
passageId: string, 
/**
 * Where to read it.
 */
url: string, 
/**
 * The page's title.
 */
title: string, 
/**
 * The other pages that it is from, of the web.
 */
also?: Array<string>, 
/**
 * The caller's index or the web.
 */
origin: Origin, };

/**
 * How much an index holds: the value of `assistant.statistics()`.
 */
export type Statistics = { 
/**
 * Documents.
 */
documents: number, 
/**
 * Passages.
 */
passages: number, };

/**
 * Whose word endings are cut.
 */
export type Stemming = "en" | "fr" | "de" | "es" | "none";

/**
 * Calls of one kind, and the tokens that chat models take for them.
 */
export type Step = { 
/**
 * How often it is called.
 */
calls: number, 
/**
 * Tokens read.
 */
input: number, 
/**
 * Tokens written.
 */
output: number, };

/**
 * A cost by the kinds of calls.
 */
export type Steps = { 
/**
 * Calls for the vector of the query.
 */
embed: Step, 
/**
 * Decisions whether to retrieve.
 */
decide: Step, 
/**
 * Grades of passages.
 */
grade: Step, 
/**
 * Query rewrites.
 */
rewrite: Step, 
/**
 * Web searches.
 */
web: Step, 
/**
 * Drafts.
 */
generate: Step, 
/**
 * Grounding checks.
 */
grounding: Step, 
/**
 * Usefulness checks.
 */
usefulness: Step, 
/**
 * Segments.
 */
segment: Step, 
/**
 * Questions on segments.
 */
reflect: Step, 
/**
 * All of them.
 */
total: Step, };

/**
 * How far the passages support a draft (seeds G-09, G-13).
 */
export type Support = "fully_supported" | "partially_supported" | "no_support" | "unknown";

/**
 * A term of a query in a passage.
 */
export type TermScore = { 
/**
 * The term as the index has it: a stem, in lower case; with `…` for a word that is still being typed.
 */
term: string, 
/**
 * Its part of BM25.
 */
score: number, };

/**
 * Tokens that models read and wrote.
 */
export type Tokens = { 
/**
 * Read.
 */
input: number, 
/**
 * Written, reasoning included.
 */
output: number, };

/**
 * What a run took.
 */
export type Usage = { 
/**
 * Calls by kind.
 */
calls: Calls, 
/**
 * What chat models took; absent when a service did not say.
 */
tokens?: Tokens, 
/**
 * Replies that were known from earlier questions: they cost no call. Absent where there are none.
 */
remembered?: number, };

/**
 * What a grader or a check says.
 */
export type Verdict = "yes" | "no" | "unknown";

/**
 * Something the reader should know.
 */
export type Warning = { 
/**
 * Stable, for programs.
 */
code: string, 
/**
 * For people.
 */
message: string, };
