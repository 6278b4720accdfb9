//! What a run has found, and the answer that it amounts to: the best attempt with its *own* flags.

use serde::{Deserialize, Serialize};

use crate::document::Origin;
use crate::pipeline::attempt::Attempt;
use crate::pipeline::budget::{Calls, Tokens};
use crate::pipeline::claims::CheckedClaim;
use crate::pipeline::decision::Decision;
use crate::pipeline::outcome::{Outcome, Reason};
use crate::pipeline::strategy::{OnExhaustion, Strategy};
use crate::pipeline::task::{Failure, Grade};
use crate::pipeline::trace::Event;
use crate::pipeline::verdict::{Check, Retrieval, Support, Verdict};

/// An answer with everything that is known about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// How good it is.
    pub outcome: Outcome,
    /// Why it is not better; absent exactly when answered.
    pub reason: Option<Reason>,
    /// The draft in Markdown with citation marks `[n]`; empty for an abstention.
    pub text: String,
    /// What the marks stand for.
    pub citations: Vec<Citation>,
    /// The grounding check of this very draft; `None`: not checked or not decided.
    pub grounded: Option<bool>,
    /// The usefulness check of this very draft; `None`: not checked or not decided.
    pub useful: Option<bool>,
    /// How many drafts were written.
    pub attempts: u32,
    /// The passages given to the generator.
    pub sources: Vec<Source>,
    /// Whether a web search brought anything.
    pub web_search_used: bool,
    /// The grade of each passage that was graded.
    pub verdicts: Vec<PassageVerdict>,
    /// What the scores amounted to, where the rule goes by them.
    pub decision: Option<Decision>,
    /// The draft claim by claim, where the strategy checks each by itself.
    pub claims: Vec<Claim>,
    /// What was reflected on, where the strategy decides whether to retrieve.
    pub reflection: Option<Reflection>,
    /// What it took.
    pub calls: Calls,
    /// What its models took; `None`: a service did not say.
    pub tokens: Option<Tokens>,
    /// What the reader should know besides.
    pub warnings: Vec<Warning>,
    /// Every step.
    pub trace: Vec<Event>,
    /// The strategy's name.
    pub strategy: &'static str,
}

/// A quotation that supports a sentence of the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename_all = "camelCase"))]
pub struct Citation {
    /// The mark in the text, from 1.
    pub n: u32,
    /// The passage quoted.
    pub passage_id: String,
    /// Where to read it, with the section's anchor.
    pub url: String,
    /// The page's title.
    pub title: String,
    /// The headings above the passage, outermost first.
    pub headings: Vec<String>,
    /// The other pages that the passage is from, of the web.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<Vec<String>>"))]
    pub also: Vec<String>,
    /// The text at `start..end` of the document's original source, byte for byte.
    pub quote: String,
    /// UTF-8 byte offset of the quote's start in the document's original source.
    pub start: usize,
    /// UTF-8 byte offset one past the quote's end.
    pub end: usize,
    /// The caller's index or the web.
    pub origin: Origin,
}

/// A passage that the generator was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename_all = "camelCase"))]
pub struct Source {
    /// The passage.
    pub passage_id: String,
    /// Where to read it.
    pub url: String,
    /// The page's title.
    pub title: String,
    /// The other pages that it is from, of the web.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<Vec<String>>"))]
    pub also: Vec<String>,
    /// The caller's index or the web.
    pub origin: Origin,
}

/// The grade of a retrieved passage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename_all = "camelCase"))]
pub struct PassageVerdict {
    /// The passage.
    pub passage_id: String,
    /// Relevant to the question?
    pub verdict: Verdict,
    /// 0…1, where the solver has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub score: Option<f64>,
}

impl PassageVerdict {
    pub(crate) fn new(passage_id: &str, grade: Grade) -> Self {
        Self { passage_id: passage_id.to_owned(), verdict: grade.verdict, score: grade.score }
    }
}

/// The four decisions of the Self-RAG paper (seed G-09), as they were made for the draft returned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Reflection {
    /// Whether to retrieve.
    pub retrieve: Retrieval,
    /// Which passages are relevant.
    pub relevance: Vec<PassageVerdict>,
    /// How far they support the draft; absent where it was not checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub support: Option<Support>,
    /// How useful the draft is, 1 to 5; absent where it was not rated.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub usefulness: Option<u8>,
    /// The strategy goes by reflection tokens, and the model has none: it was asked their questions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(test, ts(optional, as = "Option<bool>"))]
    pub approximated: bool,
}

/// What the draft says in one sentence, list item, table row or code block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Claim {
    /// Its words, without citation marks.
    pub text: String,
    /// How far the passages support it.
    pub support: Support,
    /// The number of the citation that supports it; absent where none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub citation: Option<u32>,
}

/// Something the reader should know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Warning {
    /// Stable, for programs.
    pub code: String,
    /// For people.
    pub message: String,
}

/// Nothing at all could be produced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A service failed before there was any draft.
    #[error("no answer could be produced: {0}")]
    Failed(#[source] Failure),
}

/// What ended a path before its checks could.
#[derive(Debug)]
pub(crate) enum Ending {
    /// The budget did.
    Stopped,
    /// A provider failed.
    Failed(Failure),
    /// The generator repeated itself.
    Repeated,
    /// The generator had passages and nothing to say.
    Silent,
    /// What it said was dropped, since its passages do not support it.
    #[cfg_attr(all(feature = "browser", not(feature = "models")), allow(dead_code, reason = "of `self-rag` alone"))]
    Unsupported,
}

/// Whether there is a point in searching the web, once more or at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum WebSearch {
    /// Nothing speaks against it.
    #[default]
    Open,
    /// The host has none.
    NotConfigured,
    /// There is no other query to search for.
    NoQuery,
    /// It failed.
    Failed,
}

/// Everything found so far; it survives whatever ends the path.
#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) found_nothing: bool,
    pub(crate) retrieval: Option<Retrieval>,
    pub(crate) verdicts: Vec<PassageVerdict>,
    pub(crate) decision: Option<Decision>,
    pub(crate) queries: Vec<String>,
    pub(crate) web_search_used: bool,
    pub(crate) web: WebSearch,
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) ending: Option<Ending>,
    pub(crate) approximated: bool,
    warnings: Vec<Warning>,
}

impl Record {
    /// The claims of the attempt before the last, as far as the last was written from the same passages.
    pub(crate) fn known_claims(&self) -> Vec<CheckedClaim> {
        let [.., before, last] = &self.attempts[..] else { return Vec::new() };
        if last.context.starts_with(&before.context) { before.claims.clone() } else { Vec::new() }
    }

    pub(crate) fn warn(&mut self, code: &str, message: &str) {
        self.warnings.push(Warning { code: code.to_owned(), message: message.to_owned() });
    }

    /// Warns unless that was said before.
    pub(crate) fn warn_once(&mut self, code: &str, message: &str) {
        if !self.warnings.iter().any(|warning| warning.code == code && warning.message == message) {
            self.warn(code, message);
        }
    }

    /// An answer without documents rests on nothing that could be checked, and says so.
    pub(crate) fn warn_of_no_retrieval(&mut self) {
        let rests_on_nothing = "the question was taken for one that needs no documents: nothing supports the answer";
        self.warn("no_retrieval", rests_on_nothing);
    }

    /// The best attempt, of equals the earlier one; or the last where that is asked for.
    fn best(&self, strategy: &Strategy) -> Option<&Attempt> {
        if strategy.on_exhaustion == OnExhaustion::Last {
            return self.attempts.last();
        }
        self.attempts.iter().reduce(|best, next| if next.worth() > best.worth() { next } else { best })
    }

    pub(crate) fn conclude(
        self,
        (calls, tokens): (Calls, Option<Tokens>),
        trace: Vec<Event>,
        strategy: &Strategy,
    ) -> Result<Answer, RunError> {
        let best = self.best(strategy);
        let reason = match best {
            Some(attempt) => self.shortcoming(attempt, strategy),
            None => match &self.ending {
                Some(Ending::Stopped) => Some(Reason::Budget),
                Some(Ending::Failed(failure)) => return Err(RunError::Failed(failure.clone())),
                Some(Ending::Silent) => Some(Reason::Irrelevant),
                Some(Ending::Unsupported) => Some(Reason::Ungrounded),
                _ if self.web == WebSearch::Failed => Some(Reason::WebFailed),
                _ if self.found_nothing => Some(Reason::NoDocuments),
                _ => Some(Reason::Irrelevant),
            },
        };
        let shown = best.filter(|_| reason.is_none() || strategy.on_exhaustion != OnExhaustion::Abstain);
        let outcome = match (&shown, reason) {
            (None, _) => Outcome::Abstained,
            (Some(_), None) => Outcome::Answered,
            (Some(_), Some(_)) => Outcome::Partial,
        };
        let [grounded, useful] = [Check::Grounding, Check::Usefulness]
            .map(|check| shown.and_then(|attempt| attempt.verdict(check, &strategy.checks).flag()));
        let reflection = self.retrieval.map(|retrieve| Reflection {
            retrieve,
            relevance: self.verdicts.clone(),
            support: shown.and_then(|attempt| attempt.support(&strategy.checks)),
            usefulness: shown.and_then(Attempt::rating),
            approximated: self.approximated,
        });
        let sources = shown.map(Attempt::sources).unwrap_or_default();
        let (text, citations, claims) = shown.map(Attempt::shown).unwrap_or_default();
        Ok(Answer {
            outcome,
            reason,
            grounded,
            useful,
            citations,
            sources,
            text,
            attempts: self.attempts.iter().filter(|attempt| !attempt.is_trimmed).count() as u32,
            web_search_used: self.web_search_used,
            verdicts: self.verdicts,
            decision: self.decision,
            claims,
            reflection,
            calls,
            tokens,
            warnings: self.warnings,
            trace,
            strategy: strategy.name,
        })
    }

    /// What keeps an attempt from being an answer: first what cut the run short, then its checks.
    fn shortcoming(&self, attempt: &Attempt, strategy: &Strategy) -> Option<Reason> {
        let Strategy { checks, .. } = strategy;
        let failed = |verdict| checks.order.iter().find(|&&check| attempt.verdict(check, checks) == verdict);
        match (failed(Verdict::No), failed(Verdict::Unknown), &self.ending) {
            _ if attempt.draft.truncated => Some(Reason::Truncated),
            (None, None, _) => None,
            (_, _, Some(Ending::Stopped)) => Some(Reason::Budget),
            (_, _, Some(Ending::Failed(_))) => Some(Reason::ProviderFailed),
            (_, _, Some(Ending::Repeated)) => Some(Reason::NoProgress),
            (Some(Check::Grounding), ..) => Some(Reason::Ungrounded),
            (Some(Check::Usefulness), ..) => Some(Reason::NotUseful),
            (None, Some(_), None | Some(Ending::Silent | Ending::Unsupported)) => Some(Reason::Unchecked),
        }
    }
}
