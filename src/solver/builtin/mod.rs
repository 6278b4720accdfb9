//! The solver without a model: words and static vectors to judge by, sentences of the sources to
//! answer with. Deterministic, offline, and modest: it tells what a question is about, not what a
//! passage means. It rewrites a query to itself.

mod extract;
pub mod grounding;
mod query;
pub mod relevance;

use crate::corpus::Corpus;
use crate::pipeline::segment::Candidate;
use crate::pipeline::task::{Task, TaskReply};
use crate::pipeline::verdict::{Retrieval, Scale, Support};

/// The solver's name in answers.
pub const NAME: &str = "builtin";

/// Answers a task.
pub fn solve(task: &Task, corpus: &Corpus) -> TaskReply {
    match task {
        Task::CheckGrounding(task) if !extract::is_quoted(&task.draft, &task.passages) => {
            grounded(task.scale, grounding::assess(&task.draft.text, &task.passages).support)
        }
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
