//! What crosses to JavaScript and HTTP: one definition each, from which the TypeScript is generated.
//!
//! HTTP has `snake_case`; the JavaScript client shows the same fields in `camelCase`. Absent fields
//! are absent, never `null`, but for the three-valued flags `grounded` and `useful`.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::pipeline::answer::{
    self, Citation, Claim, Outcome, PassageVerdict, Question, Reason, Reflection, Source, Warning,
};
use crate::pipeline::budget::{Calls, Limits, Prices, Tokens};
use crate::pipeline::decision::{Decision, Domain, Rule};
use crate::pipeline::self_rag::SelfRagOptions;
use crate::pipeline::strategy::{ByClaim, OnExhaustion, Options, Strategy};
use crate::pipeline::trace::Event;
use crate::problem::Problem;
use crate::prompt::{self, Language};

pub use search::{
    DocumentInput, FusionName, HitExplanation, SearchHit, SearchRequest, SearchResponse, Statistics, TermScore,
};

/// `POST /v1/ask`, and the argument of `assistant.ask`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename_all = "camelCase", optional_fields))]
pub struct AskRequest {
    /// The question, at most 8 KiB.
    pub question: String,
    /// How many passages to retrieve, 1 to 50; the strategy's default is 4, of `self-rag` 3.
    pub k: Option<usize>,
    /// The strategy's name; `countercheck` by default.
    pub strategy: Option<String>,
    /// How many drafts may follow the first, 0 to 4.
    pub max_retries: Option<u32>,
    /// When what was retrieved is not enough; of a strategy that grades.
    pub rule: Option<Rule>,
    /// Thresholds for the scores of passages; of a strategy whose rule goes by them.
    pub domain: Option<Domain>,
    /// Whether a model grades all passages with one call in place of one each; of a strategy that grades.
    pub batch: Option<bool>,
    /// Whether the first draft is begun while the passages are graded, and thrown away where one is rejected:
    /// faster by the time of a grade, and now and then one call dearer. Of a strategy that grades.
    pub speculate: Option<bool>,
    /// Whether usefulness is judged with the claims, in one call, or by a call of its own that sees no passage;
    /// of `countercheck`.
    pub usefulness: Option<ByClaim>,
    /// What is returned when no draft passed its checks; the best by default.
    pub on_exhaustion: Option<OnExhaustion>,
    /// How `self-rag` decides, writes and judges; of that strategy alone.
    pub self_rag: Option<SelfRagOptions>,
    /// The language of the answer; that of the question by default.
    pub language: Option<Language>,
    /// Bounds of the run.
    pub limits: Option<AskLimits>,
}

/// Bounds of a run, cut to those of the host: 1,000 calls and ten minutes, at the edge 40 and one.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename_all = "camelCase", optional_fields))]
pub struct AskLimits {
    /// The most calls for tasks, web searches and the query's vector; by default what the strategy can need
    /// at the most, as `estimate` counts it.
    pub max_calls: Option<u32>,
    /// The most tokens that models read and write. A step whose texts and longest reply might exceed it is not
    /// taken; where not all fits, checks are the last to go.
    #[cfg_attr(test, ts(optional, as = "Option<u32>"))]
    pub max_tokens: Option<u64>,
    /// The most that the run costs by `prices`, 0 or more. What has no price there is not used.
    pub max_cost: Option<f64>,
    /// What services charge, for `max_cost`; in JavaScript the assistant's own by default.
    pub prices: Option<Prices>,
    /// The most milliseconds the run may take; 60,000 by default.
    #[cfg_attr(test, ts(optional, as = "Option<u32>"))]
    pub deadline_ms: Option<u64>,
}

/// An [`AskRequest`] whose every value has been checked.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The question.
    pub question: Question,
    /// The strategy with its numbers.
    pub strategy: Strategy,
    /// The bounds, never above the host's.
    pub limits: Limits,
    /// The language of the answer.
    pub language: Language,
}

impl AskRequest {
    /// Reads a request from JSON.
    pub fn from_json(json: &[u8]) -> Result<Self, Problem> {
        object(json)
    }

    /// Checks every value. What the caller does not bound is bounded by [`Limits::of`] the strategy, and
    /// nothing exceeds the host's bounds.
    pub fn check(self, host: Limits) -> Result<Asked, Problem> {
        let question = Question::new(&self.question)?;
        let strategy = self.strategy.as_deref().map_or_else(|| Ok(Strategy::default()), Strategy::named)?;
        let Self { k, max_retries, rule, domain, batch, speculate, usefulness, on_exhaustion, .. } = self;
        let options = Options { k, max_retries, rule, domain, batch, speculate, usefulness, on_exhaustion };
        let strategy = strategy.with(options)?;
        let strategy = match self.self_rag {
            Some(options) => strategy.with_self_rag(options)?,
            None => strategy,
        };
        let own = self.limits.unwrap_or_default();
        let usual = Limits::of(&strategy);
        let prices = own.prices.unwrap_or_default();
        check_cost(own.max_cost, &prices)?;
        let limits = Limits {
            max_tokens: own.max_tokens,
            max_cost: own.max_cost,
            prices,
            max_calls: own.max_calls.unwrap_or(usual.max_calls).min(host.max_calls),
            deadline: own.deadline_ms.unwrap_or(usual.deadline).min(host.deadline),
            ..host
        };
        let language = self.language.unwrap_or_else(|| Language::detect(question.as_str()));
        Ok(Asked { question, strategy, limits, language })
    }
}

/// Refuses a bound that bounds nothing: one that is no amount, or is not told what models charge.
fn check_cost(max_cost: Option<f64>, prices: &Prices) -> Result<(), Problem> {
    let invalid = |message: &str| Err(Problem::new("invalid_request", 400, message));
    let Prices { input, output, web_search, embedding } = *prices;
    let amounts = [max_cost, input, output, web_search, embedding];
    if amounts.into_iter().flatten().any(|amount| !(amount.is_finite() && amount >= 0.0)) {
        return invalid("`limits.max_cost` and `limits.prices` must be numbers, 0 or more");
    }
    if max_cost.is_some() && (input.is_none() || output.is_none()) {
        return invalid("`limits.max_cost` needs `limits.prices` with `input` and `output`, for a million tokens each");
    }
    Ok(())
}

/// The answer with everything that is known about it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename_all = "camelCase"))]
pub struct Answer {
    /// How good it is.
    pub outcome: Outcome,
    /// Why it is not better; absent exactly when answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub reason: Option<Reason>,
    /// Markdown with citation marks `[n]`; for an abstention the sentence that says so.
    pub text: String,
    /// What the marks stand for.
    pub citations: Vec<Citation>,
    /// Whether the sources support it; null: not checked or not decided.
    pub grounded: Option<bool>,
    /// Whether it answers the question; null: not checked or not decided.
    pub useful: Option<bool>,
    /// How many drafts were written.
    pub attempts: u32,
    /// The passages given to the generator.
    pub sources: Vec<Source>,
    /// How many they are.
    pub sources_used: usize,
    /// Whether a web search brought anything.
    pub web_search_used: bool,
    /// The grade of each passage that was graded.
    pub verdicts: Vec<PassageVerdict>,
    /// What the scores of the retrieved passages amounted to; of a rule that goes by scores.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub decision: Option<Decision>,
    /// The draft claim by claim; of a strategy that checks each by itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<Vec<Claim>>"))]
    pub claims: Vec<Claim>,
    /// What was reflected on; of a strategy that decides whether to retrieve.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub reflection: Option<Reflection>,
    /// What it took.
    pub usage: Usage,
    /// What the reader should know besides.
    pub warnings: Vec<Warning>,
    /// Every step.
    pub trace: Vec<Event>,
    /// The strategy's name.
    pub strategy: String,
    /// Who answered the tasks: `builtin` means sentences quoted from the sources, not written.
    pub solver: String,
    /// The language of the answer's own sentences.
    pub language: Language,
}

/// What a run took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename_all = "camelCase"))]
pub struct Usage {
    /// Calls by kind.
    pub calls: Calls,
    /// What chat models took; absent when a service did not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub tokens: Option<Tokens>,
    /// Replies that were known from earlier questions: they cost no call. Absent where there are none.
    #[serde(skip_serializing_if = "is_none")]
    #[cfg_attr(test, ts(optional, as = "Option<u32>"))]
    pub remembered: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands fields over by reference")]
fn is_none(count: &u32) -> bool {
    *count == 0
}

impl Answer {
    /// The same, of so many replies that were known.
    #[must_use]
    pub fn with_remembered(mut self, remembered: u32) -> Self {
        self.usage.remembered = remembered;
        self
    }

    /// The answer of a run, with the abstention's sentence filled in.
    pub fn new(answer: answer::Answer, solver: &str, language: Language) -> Self {
        let text = match (answer.outcome, answer.reason) {
            (Outcome::Abstained, Some(reason)) => prompt::abstention(reason.code(), language).to_owned(),
            _ => answer.text,
        };
        Self {
            outcome: answer.outcome,
            reason: answer.reason,
            text,
            citations: answer.citations,
            grounded: answer.grounded,
            useful: answer.useful,
            attempts: answer.attempts,
            sources_used: answer.sources.len(),
            sources: answer.sources,
            web_search_used: answer.web_search_used,
            verdicts: answer.verdicts,
            decision: answer.decision,
            claims: answer.claims,
            reflection: answer.reflection,
            usage: Usage { calls: answer.calls, tokens: answer.tokens, remembered: 0 },
            warnings: answer.warnings,
            trace: answer.trace,
            strategy: answer.strategy.to_owned(),
            solver: solver.to_owned(),
            language,
        }
    }
}

/// Whether the Worker can answer: the body of `GET /healthz`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename_all = "camelCase"))]
pub struct Health {
    /// `ok` when the index is loaded.
    pub status: String,
    /// The package's version.
    pub version: String,
    /// Who answers tasks.
    pub solver: String,
    /// Documents in the index.
    pub documents: usize,
    /// Passages in the index.
    pub passages: usize,
}

/// The body of every HTTP error: `{"error": {"code", "message"}}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ErrorBody {
    /// What is wrong.
    pub error: ErrorDetail,
}

/// A code for programs and a message for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ErrorDetail {
    /// Stable.
    pub code: String,
    /// What happened and what to do.
    pub message: String,
    /// What went wrong at the service that failed, for instance `rate_limited`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub service_code: Option<String>,
    /// When it may be tried again, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional, as = "Option<u32>"))]
    pub retry_after_ms: Option<u64>,
}

impl From<&Problem> for ErrorBody {
    fn from(problem: &Problem) -> Self {
        Self {
            error: ErrorDetail {
                code: problem.code.to_owned(),
                message: problem.message.clone(),
                service_code: problem.service_code.map(str::to_owned),
                retry_after_ms: problem.retry_after,
            },
        }
    }
}

/// Reads a JSON object. An array would do for serde, which takes its items for the fields in order.
fn object<T: DeserializeOwned>(json: &[u8]) -> Result<T, Problem> {
    if !json.trim_ascii_start().starts_with(b"{") {
        return Err(Problem::new("invalid_request", 400, "the request must be a JSON object"));
    }
    serde_json::from_slice(json).map_err(|error| Problem::json(&error))
}

pub mod cost;
mod search;
pub mod task;
#[cfg(test)]
mod typescript;
pub mod web;
