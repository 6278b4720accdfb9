//! Is a passage about the question, and does a draft speak to it?
//!
//! How much of the question the passage's best sentence covers, under its headings: the share of the
//! question's words, weighed by rarity. How close the vectors come, of that sentence, of the passage, and of
//! each of the question's words and the nearest in the passage.
//! And what of the question the whole index has never heard of: where it names an option that occurs
//! nowhere, no passage answers it, however near it comes.
//!
//! These tell whether a text is on the question's topic; they cannot tell which of several passages on
//! that topic holds the answer.

use crate::corpus::Corpus;
use crate::document::{Passage, decimal};
use crate::pipeline::task::{Grade, TaskReply};
use crate::pipeline::verdict::{Scale, Verdict};
use crate::solver::builtin::query::{Query, Terms, without_targets};

/// What speaks for or against a passage, in the order of [`WEIGHTS`].
pub type Features = [f32; 6];

/// A logistic regression: the share of the question that the best sentence covers under its headings, the
/// best sentence's cosine, the passage's, the share of the question that the index has never heard of,
/// whether it has never heard of a name in it, and how near the passage's words come to the question's, one
/// by one.
///
/// Fitted on the English questions of the tuning half of `tests/questions`, with an L2 penalty of 2 on
/// standardised features, and rounded: the best passage retrieved for each question that is answerable
/// against that for each which is not. The bias puts probability ½ where nine in ten of those unanswerable
/// questions are declined.
pub const WEIGHTS: Features = [2.6, 2.7, 0.3, -1.6, -2.1, 3.6];
/// See [`WEIGHTS`].
pub const BIAS: f32 = -4.0;

/// Stands in for a cosine where a text has no vector: neither for nor against.
const NO_COSINE: f32 = 0.4;

/// The share of the question that a draft covers, and their cosine: together so much, and it speaks to the
/// question; less than the other, and it does not. What lies between, words and vectors cannot tell. Set
/// on the tuning half of `tests/questions`.
const USEFUL: f32 = 0.6;
const USELESS: f32 = 0.4;

/// Stands in for a draft's cosine where it has no vector: a third of what makes it useful.
const NO_DRAFT_COSINE: f32 = 0.2;

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
    let score = score(&features_of(query, passage));
    Grade { verdict: (score >= 0.5).into(), score: Some(decimal(score)) }
}

/// The probability that a passage of such features is about the question.
pub fn score(features: &Features) -> f32 {
    let evidence = WEIGHTS.iter().zip(features).map(|(weight, feature)| weight * feature).sum::<f32>() + BIAS;
    1.0 / (1.0 + libm::expf(-evidence))
}

/// What speaks for and against a passage as one that a question is about.
pub fn features(question: &str, passage: &Passage, corpus: &Corpus) -> Features {
    features_of(&Query::new(question, corpus), passage)
}

fn features_of(query: &Query, passage: &Passage) -> Features {
    let headings = query.terms(&passage.breadcrumb());
    let (mut coverage, mut cosine) = (query.coverage(&headings), None::<f32>);
    let reading = query.reading(passage);
    for (_, text) in &reading.units {
        let mut terms: Terms = query.terms(text);
        terms.extend(headings.iter().cloned());
        coverage = coverage.max(query.coverage(&terms));
        cosine = query.cosine(text).map(|new| cosine.map_or(new, |old| old.max(new))).or(cosine);
    }
    let whole = query.cosine(&reading.text());
    let soft = query.soft_coverage(&(passage.breadcrumb() + " " + &reading.text()));
    let unheard_name = f32::from(u8::from(query.names_the_unheard()));
    [coverage, cosine.unwrap_or(NO_COSINE), whole.unwrap_or(NO_COSINE), query.unheard(), unheard_name, soft]
}

/// The draft is seen without its sources, as the check demands. What words and vectors cannot tell has
/// no rating either.
pub(super) fn useful(question: &str, draft: &str, scale: Scale, corpus: &Corpus) -> TaskReply {
    let query = Query::new(question, corpus);
    let coverage = query.coverage(&query.terms(&without_targets(draft)));
    let evidence = coverage + query.cosine(draft).unwrap_or(NO_DRAFT_COSINE);
    let (verdict, rating) = if evidence >= USEFUL {
        (Verdict::Yes, if coverage >= COMPLETE_COVERAGE { 5 } else { 4 })
    } else if evidence < USELESS {
        (Verdict::No, if coverage > 0.0 { 2 } else { 1 })
    } else {
        return TaskReply::Verdict(Verdict::Unknown);
    };
    match scale {
        Scale::Binary => TaskReply::Verdict(verdict),
        Scale::Graded => TaskReply::Rating(rating),
    }
}
