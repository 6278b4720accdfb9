//! The solver without a model: words and static vectors to judge by, sentences of the sources to
//! answer with. Deterministic, offline, and modest: it tells what a question is about, not what a
//! passage means. It rewrites a query to itself.

mod extract;
pub mod grounding;
mod query;
pub mod relevance;

use crate::corpus::Corpus;
use crate::index::words::words;
use crate::ingest::plain_text;
use crate::pipeline::segment::Candidate;
use crate::pipeline::strategy::HAS_MODELS;
use crate::pipeline::task::{CheckClaims, ClaimSaid, ClaimsSaid, Quote, Task, TaskReply};
use crate::pipeline::verdict::{Retrieval, Scale, Support, Verdict};
use crate::solver::marks;

/// The solver's name in answers.
pub const NAME: &str = "builtin";

/// Answers a task.
pub fn solve(task: &Task, corpus: &Corpus) -> TaskReply {
    match task {
        Task::CheckGrounding(task) if !extract::is_quoted(&task.draft, &task.passages) => {
            grounded(task.scale, grounding::assess(&task.draft.text, &task.passages).support)
        }
        Task::CheckClaims(task) => TaskReply::Claims(claims(task, corpus, |claim, nearest| {
            if reads_alike(claim, nearest) { Support::Fully } else { grounding::assess(claim, &task.passages).support }
        })),
        _ => solve_own(task, corpus),
    }
}

/// Answers a task of a run in which nobody else writes: a draft other than its own quotes, which are
/// grounded as they stand, is unknown. The check of other drafts is not linked where this alone is used.
pub fn solve_own(task: &Task, corpus: &Corpus) -> TaskReply {
    match task {
        // It knows nothing but the documents.
        Task::DecideRetrieval(_) => TaskReply::Retrieval(Retrieval::Yes),
        Task::GradePassages(task) => TaskReply::Grades(relevance::grade(&task.question, &task.passages, corpus)),
        Task::RewriteQuery(task) => TaskReply::Query(task.question.clone()),
        Task::Generate(task) => TaskReply::Draft(extract::draft(&task.question, &task.passages, corpus)),
        Task::CheckGrounding(task) => {
            let is_quoted = extract::is_quoted(&task.draft, &task.passages);
            grounded(task.scale, if is_quoted { Support::Fully } else { Support::Unknown })
        }
        Task::CheckUsefulness(task) => relevance::useful(&task.question, &task.draft, task.scale, corpus),
        Task::CheckClaims(task) if HAS_MODELS => TaskReply::Claims(claims(task, corpus, |claim, nearest| {
            if reads_alike(claim, nearest) { Support::Fully } else { Support::Unknown }
        })),
        Task::CheckClaims(_) => TaskReply::Claims(ClaimsSaid::default()),
        // It has nothing to say in place of what no passage says.
        Task::Repair(task) => TaskReply::Repairs(vec![String::new(); task.claims.len()]),
        // It writes nothing of its own and knows no probabilities: `self-rag` is refused without a model.
        Task::GenerateSegment(_) => TaskReply::Candidate(Candidate::default()),
        Task::Reflect(_) => TaskReply::Odds(None),
    }
}

fn grounded(scale: Scale, support: Support) -> TaskReply {
    match scale {
        Scale::Binary => TaskReply::Verdict(support.verdict()),
        Scale::Graded => TaskReply::Support(support),
    }
}

/// What is said of each claim, of which the nearest sentence is given and becomes its quotation.
fn claims(task: &CheckClaims, corpus: &Corpus, support: impl Fn(&str, &str) -> Support) -> ClaimsSaid {
    let text = |quote: Quote| &task.passages[quote.passage].text[quote.span.start..quote.span.end];
    let said = |claim: &String| match marks::nearest(claim, &task.passages) {
        None => ClaimSaid { support: Support::None, ..ClaimSaid::default() },
        Some(nearest) => ClaimSaid {
            support: support(claim, text(nearest)),
            passage: Some(nearest.passage),
            quote: text(nearest).to_owned(),
        },
    };
    let useful = task.question.as_ref().map(|q| relevance::useful(q, &task.draft, Scale::Binary, corpus));
    let useful = if let Some(TaskReply::Verdict(verdict)) = useful { verdict } else { Verdict::Unknown };
    ClaimsSaid { claims: task.claims.iter().map(said).collect(), useful }
}

/// Whether a claim has the words of a sentence, in their order.
fn reads_alike(claim: &str, sentence: &str) -> bool {
    words(&plain_text(claim)) == words(&plain_text(sentence))
}
