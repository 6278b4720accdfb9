//! The solver without a model: words and static vectors to judge by, sentences of the sources to
//! answer with. Deterministic, offline, and modest: it tells what a question is about, not what a
//! passage means. It rewrites a query to itself.

mod extract;
mod grounding;
mod query;
mod relevance;

use crate::corpus::Corpus;
use crate::pipeline::segment::Candidate;
use crate::pipeline::task::{Task, TaskReply};
use crate::pipeline::verdict::{Retrieval, Scale};

/// The solver's name in answers.
pub const NAME: &str = "builtin";

/// Answers a task.
pub fn solve(task: &Task, corpus: &Corpus) -> TaskReply {
    match task {
        // It knows nothing but the documents.
        Task::DecideRetrieval(_) => TaskReply::Retrieval(Retrieval::Yes),
        Task::GradePassages(task) => TaskReply::Grades(relevance::grade(&task.question, &task.passages, corpus)),
        Task::RewriteQuery(task) => TaskReply::Query(task.question.clone()),
        Task::Generate(task) => TaskReply::Draft(extract::draft(&task.question, &task.passages, corpus)),
        Task::CheckGrounding(task) => {
            let support = grounding::check(&task.draft.text, &task.passages, corpus);
            match task.scale {
                Scale::Binary => TaskReply::Verdict(support.verdict()),
                Scale::Graded => TaskReply::Support(support),
            }
        }
        Task::CheckUsefulness(task) => relevance::useful(&task.question, &task.draft, task.scale, corpus),
        // It writes nothing of its own and knows no probabilities: `self-rag` is refused without a model.
        Task::GenerateSegment(_) => TaskReply::Candidate(Candidate::default()),
        Task::Reflect(_) => TaskReply::Odds(None),
    }
}
