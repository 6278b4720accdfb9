//! The solver that puts tasks to a chat model, without the call between: a task becomes a request, and
//! the model's words become a verdict, a query or a draft.
//!
//! A verdict is asked for by a JSON schema; the second time, after a reply that could not be read, as
//! plain text, which every model can write. What is refused, cut off or garbled is unknown.

use serde_json::json;

use crate::pipeline::task::{CheckGrounding, CheckUsefulness, Generate, Grade, GradePassages, Task, TaskReply};
use crate::pipeline::verdict::Verdict;
use crate::prompt::{self, Language, Prompt};
use crate::provider::chat::{ChatReply, ChatRequest, Finish, Message, ReplyFormat, Role};
use crate::provider::verdict::binary_in;
use crate::solver::marks;

/// The same question must get the same verdict (seeds C-04, C-05); a draft may vary a little.
const VERDICT_TEMPERATURE: f32 = 0.0;
const DRAFT_TEMPERATURE: f32 = 0.2;

/// Room for a verdict with some reasoning before it, a query, and an answer.
const VERDICT_TOKENS: u32 = 256;
const QUERY_TOKENS: u32 = 64;
const DRAFT_TOKENS: u32 = 1024;

/// How many bytes of a reply are read.
const VERDICT_BYTES: usize = 64 << 10;
const DRAFT_BYTES: usize = 2 << 20;

/// The request for a task. A [`GradePassages`] asks about its first passage: the presets put one in each.
pub fn request(task: &Task, language: Language) -> ChatRequest {
    match task {
        Task::GradePassages(GradePassages { question, passages, again }) => {
            let prompt = passages.first().map(|passage| prompt::grade(question, passage, *again, language));
            verdict(prompt.unwrap_or_default(), "score", *again)
        }
        Task::RewriteQuery(task) => chat(prompt::rewrite(&task.question, &task.tried, language), QUERY_TOKENS),
        Task::Generate(Generate { question, passages, rejected }) => {
            let rejected: Vec<&str> = rejected.iter().map(|rejected| rejected.text.as_str()).collect();
            chat(prompt::generate(question, passages, &rejected, false, language), DRAFT_TOKENS)
        }
        Task::CheckGrounding(CheckGrounding { draft, passages, again }) => {
            verdict(prompt::grounding(&draft.text, passages, *again, language), "grounded", *again)
        }
        Task::CheckUsefulness(CheckUsefulness { question, draft, again }) => {
            verdict(prompt::usefulness(question, draft, *again, language), "useful", *again)
        }
    }
}

fn chat(prompt: Prompt, max_tokens: u32) -> ChatRequest {
    let message = |role, content| Message { role, content };
    ChatRequest {
        messages: vec![message(Role::System, prompt.system), message(Role::User, prompt.user)],
        temperature: Some(DRAFT_TEMPERATURE),
        max_tokens,
        format: ReplyFormat::Text,
        stream: false,
        largest_reply: DRAFT_BYTES,
    }
}

fn verdict(prompt: Prompt, field: &str, again: bool) -> ChatRequest {
    let schema = json!({
        "type": "object",
        "properties": { field: { "type": "string", "enum": ["yes", "no"] } },
        "required": [field],
        "additionalProperties": false,
    });
    let format = if again { ReplyFormat::Text } else { ReplyFormat::Schema { name: field.to_owned(), schema } };
    ChatRequest {
        temperature: Some(VERDICT_TEMPERATURE),
        format,
        largest_reply: VERDICT_BYTES,
        ..chat(prompt, VERDICT_TOKENS)
    }
}

/// What the model's reply says on the task.
pub fn read(task: &Task, reply: &ChatReply) -> TaskReply {
    match task {
        Task::GradePassages(_) => TaskReply::Grades(vec![Grade { verdict: said(reply, "score"), score: None }]),
        Task::RewriteQuery(_) => TaskReply::Query(query(&reply.text)),
        Task::Generate(task) => TaskReply::Draft(marks::resolve(&reply.text, &task.passages, !is_whole(reply))),
        Task::CheckGrounding(_) => TaskReply::Verdict(said(reply, "grounded")),
        Task::CheckUsefulness(_) => TaskReply::Verdict(said(reply, "useful")),
    }
}

fn is_whole(reply: &ChatReply) -> bool {
    reply.finish == Finish::Stop && !reply.lossy
}

/// The verdict in a field, `binary_score` being what many prompts call it.
fn said(reply: &ChatReply, field: &str) -> Verdict {
    let fields = [field, "binary_score"];
    let yes = if is_whole(reply) { binary_in(&reply.text, &fields) } else { None };
    yes.map_or(Verdict::Unknown, Verdict::from)
}

/// The first line that is not blank, without the quotation marks that models like to add.
fn query(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    line.trim_matches(['"', '\'', '`', '“', '”', '«', '»', ' ']).to_owned()
}
