//! Is a passage about the question, and does a draft speak to it?
//!
//! Three signals. How much of the question the passage's best sentence covers, under its headings:
//! the share of the question's words, weighed by rarity. How close the vectors come. And how much of
//! the question the whole index has never heard of: where the question names an option that occurs
//! nowhere, no passage answers it, however near it comes.
//!
//! They tell whether a text is on the question's topic; they cannot tell which of several passages on
//! that topic holds the answer.

use crate::corpus::Corpus;
use crate::document::{Passage, decimal};
use crate::index::words::words;
use crate::ingest;
use crate::pipeline::task::{Grade, TaskReply};
use crate::pipeline::verdict::{Scale, Verdict};
use crate::solver::builtin::query::{Query, Terms, terms};

/// A logistic regression fitted on the English questions of the tuning half of `tests/questions`:
/// passages of the labelled sections against everything retrieved for unanswerable questions. Its
/// bias puts probability ½ where nine in ten of those unanswerable questions are declined.
const COVERAGE: f32 = 7.14;
const COSINE: f32 = 3.72;
const UNHEARD: f32 = -3.68;
const BIAS: f32 = -3.63;

/// Stands in for the cosine where a text has no vector: neither for nor against.
const NO_COSINE: f32 = 0.4;

/// A draft that covers half of the question speaks to it; one that stays below both of the others does
/// not. What lies between, words and vectors cannot tell. Set on the tuning half of `tests/questions`.
const USEFUL_COVERAGE: f32 = 0.5;
const USELESS_COVERAGE: f32 = 0.2;
const USELESS_COSINE: f32 = 0.3;

/// Of the useful drafts, those that cover so much are rated as complete. Chosen, not measured.
const COMPLETE_COVERAGE: f32 = 0.9;

pub(super) fn grade(question: &str, passages: &[Passage], corpus: &Corpus) -> Vec<Grade> {
    let query = Query::new(question, corpus);
    passages.iter().map(|passage| grade_one(&query, passage)).collect()
}

fn grade_one(query: &Query, passage: &Passage) -> Grade {
    // A question without a word is about nothing.
    if query.is_blank() {
        return Grade { verdict: Verdict::No, score: Some(0.0) };
    }
    let headings: Terms = words(&passage.breadcrumb()).into_iter().collect();
    let (mut coverage, mut cosine) = (query.coverage(&headings), None::<f32>);
    for unit in ingest::units(&passage.text) {
        let text = ingest::plain_text(&passage.text[unit.span.start..unit.span.end]);
        let mut terms: Terms = words(&text).into_iter().collect();
        terms.extend(headings.iter().cloned());
        coverage = coverage.max(query.coverage(&terms));
        cosine = query.cosine(&text).map(|new| cosine.map_or(new, |old| old.max(new))).or(cosine);
    }
    let evidence = COVERAGE * coverage + COSINE * cosine.unwrap_or(NO_COSINE) + UNHEARD * query.unheard() + BIAS;
    let score = 1.0 / (1.0 + libm::expf(-evidence));
    Grade { verdict: (score >= 0.5).into(), score: Some(decimal(score)) }
}

/// The draft is seen without its sources, as the check demands. What words and vectors cannot tell has
/// no rating either.
pub(super) fn useful(question: &str, draft: &str, scale: Scale, corpus: &Corpus) -> TaskReply {
    let query = Query::new(question, corpus);
    let (coverage, cosine) = (query.coverage(&terms(draft)), query.cosine(draft));
    let (verdict, rating) = if coverage >= USEFUL_COVERAGE {
        (Verdict::Yes, if coverage >= COMPLETE_COVERAGE { 5 } else { 4 })
    } else if coverage < USELESS_COVERAGE && cosine.is_none_or(|cosine| cosine < USELESS_COSINE) {
        (Verdict::No, if coverage > 0.0 { 2 } else { 1 })
    } else {
        return TaskReply::Verdict(Verdict::Unknown);
    };
    match scale {
        Scale::Binary => TaskReply::Verdict(verdict),
        Scale::Graded => TaskReply::Rating(rating),
    }
}
