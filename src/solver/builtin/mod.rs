//! The solver without a model: words and static vectors to judge by, sentences of the sources to
//! answer with. Deterministic, offline, and modest: it tells what a question is about, not what a
//! passage means. It rewrites a query to itself.

mod extract;
mod grounding;
mod query;
mod relevance;

use crate::corpus::Corpus;
use crate::pipeline::task::{Task, TaskReply};

/// The solver's name in answers.
pub const NAME: &str = "builtin";

/// Answers a task.
pub fn solve(task: &Task, corpus: &Corpus) -> TaskReply {
    match task {
        Task::GradePassages(task) => TaskReply::Grades(relevance::grade(&task.question, &task.passages, corpus)),
        Task::RewriteQuery(task) => TaskReply::Query(task.question.clone()),
        Task::Generate(task) => TaskReply::Draft(extract::draft(&task.question, &task.passages, corpus)),
        Task::CheckGrounding(task) => TaskReply::Verdict(grounding::check(&task.draft.text, &task.passages, corpus)),
        Task::CheckUsefulness(task) => TaskReply::Verdict(relevance::useful(&task.question, &task.draft, corpus)),
    }
}
