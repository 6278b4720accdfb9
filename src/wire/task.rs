//! Tasks as they cross from a page to our Worker, and back: `POST /v1/tasks/{name}`. A task is typed:
//! there is no field for a prompt.

use serde::{Deserialize, Serialize};

use super::object;
use crate::document::{Origin, Passage, Span};
use crate::pipeline::budget::Tokens;
use crate::pipeline::segment::{GenerateSegment, Reflect};
use crate::pipeline::task::{
    Ask, CheckClaims, CheckGrounding, CheckUsefulness, ClaimsSaid, DecideRetrieval, Draft, Generate, Grade,
    GradePassages, MAX_BATCH, Quote, Rejected, Repair, RewriteQuery, Task, TaskReply,
};
use crate::pipeline::verdict::{Check, Retrieval, Scale, Support, Verdict};
use crate::problem::Problem;
use crate::prompt::Language;

/// The most passages of a task.
pub const MAX_PASSAGES: usize = MAX_BATCH;

/// The names of the tasks, in their addresses.
pub const TASKS: [&str; 8] = [
    "grade-passages",
    "rewrite-query",
    "generate",
    "check-grounding",
    "check-usefulness",
    "decide-retrieval",
    "check-claims",
    "repair",
];

/// The body of a task: the fields of all of them, of which each has its own.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskRequest {
    /// The question as asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// What is graded, answered from or checked against; at most [`MAX_PASSAGES`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passages: Vec<TaskPassage>,
    /// Queries already sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<String>,
    /// Drafts that failed a check.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<TaskRejected>,
    /// The draft that is checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft: Option<String>,
    /// The claims of the draft that are checked, or that failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<String>,
    /// The words in which a verdict is asked for: `binary` or `graded`.
    #[serde(default)]
    pub scale: Scale,
    /// The draft may assume nothing.
    #[serde(default)]
    pub strict: bool,
    /// How freely the draft may be worded, 0 to 1; 0.2 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f32>,
    /// An earlier reply could not be read.
    #[serde(default)]
    pub again: bool,
    /// The language of the prompt.
    #[serde(default)]
    pub language: Language,
}

/// A passage, as far as prompts show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskPassage {
    /// Its id.
    pub id: String,
    /// The document's title.
    #[serde(default)]
    pub title: String,
    /// The headings above it.
    #[serde(default)]
    pub headings: Vec<String>,
    /// Its text.
    pub text: String,
    /// Where it comes from.
    #[serde(default)]
    pub origin: Origin,
}

/// See [`Rejected`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskRejected {
    /// The draft's text.
    pub text: String,
    /// The check that it failed.
    pub check: Check,
    /// The claims that no passage supports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<String>,
}

impl TaskRequest {
    /// Reads a body.
    pub fn from_json(json: &[u8]) -> Result<Self, Problem> {
        object(json)
    }

    /// The body of a task.
    pub fn new(task: &Task, language: Language) -> Self {
        let own = |passages: &[Passage]| passages.iter().map(TaskPassage::from).collect();
        let base = Self { language, ..Self::default() };
        match task {
            Task::DecideRetrieval(DecideRetrieval { question }) => Self { question: Some(question.clone()), ..base },
            Task::GradePassages(GradePassages { question, passages, scale, again }) => {
                let (question, passages) = (Some(question.clone()), own(passages));
                Self { question, passages, scale: *scale, again: *again, ..base }
            }
            Task::RewriteQuery(RewriteQuery { question, tried, held }) => {
                Self { question: Some(question.clone()), tried: tried.clone(), passages: own(held), ..base }
            }
            Task::Generate(Generate { question, passages, rejected, strict, temperature }) => {
                let rejected = rejected.iter().map(TaskRejected::from).collect();
                let (question, passages) = (Some(question.clone()), own(passages));
                Self { question, passages, rejected, strict: *strict, temperature: Some(*temperature), ..base }
            }
            Task::CheckGrounding(CheckGrounding { draft, passages, scale, again }) => {
                let (draft, passages) = (Some(draft.text.clone()), own(passages));
                Self { draft, passages, scale: *scale, again: *again, ..base }
            }
            Task::CheckUsefulness(CheckUsefulness { question, draft, scale, again }) => {
                let (question, draft) = (Some(question.clone()), Some(draft.clone()));
                Self { question, draft, scale: *scale, again: *again, ..base }
            }
            Task::CheckClaims(CheckClaims { question, draft, claims, passages, again }) => {
                let (draft, claims, passages) = (Some(draft.clone()), claims.clone(), own(passages));
                Self { question: question.clone(), draft, claims, passages, again: *again, ..base }
            }
            Task::Repair(Repair { question, draft, claims, passages }) => {
                let (question, draft) = (Some(question.clone()), Some(draft.clone()));
                Self { question, draft, claims: claims.clone(), passages: own(passages), ..base }
            }
            // Segments are written where the loop runs, or with the loop in the Worker.
            Task::GenerateSegment(_) | Task::Reflect(_) => base,
        }
    }

    /// The task of that name; each field must be there that it has, and none besides.
    pub fn task(self, name: &str) -> Result<Task, Problem> {
        if self.passages.len() > MAX_PASSAGES {
            let message = format!("passages has {} items: at most {MAX_PASSAGES} are taken", self.passages.len());
            return Err(Problem::new("too_large", 413, message));
        }
        if !self.temperature.is_none_or(|temperature| (0.0..=1.0).contains(&temperature)) {
            return Err(Problem::new("invalid_option", 400, "temperature must be 0 to 1"));
        }
        let has = [
            ("question", self.question.is_some()),
            ("passages", !self.passages.is_empty()),
            ("tried", !self.tried.is_empty()),
            ("rejected", !self.rejected.is_empty()),
            ("draft", self.draft.is_some()),
            ("claims", !self.claims.is_empty()),
            ("scale", self.scale != Scale::Binary),
            ("strict", self.strict),
            ("temperature", self.temperature.is_some()),
            ("again", self.again),
        ];
        let (needs, may): (&[&str], &[&str]) = match name {
            "decide-retrieval" => (&["question"], &[]),
            "grade-passages" => (&["question", "passages"], &["scale", "again"]),
            "rewrite-query" => (&["question"], &["tried", "passages"]),
            "generate" => (&["question"], &["passages", "rejected", "strict", "temperature"]),
            "check-grounding" => (&["draft", "passages"], &["scale", "again"]),
            "check-usefulness" => (&["question", "draft"], &["scale", "again"]),
            "check-claims" => (&["draft", "claims", "passages"], &["question", "again"]),
            "repair" => (&["question", "draft", "claims", "passages"], &[]),
            _ => {
                return Err(Problem::new("not_found", 404, format!("there is no such task: use {}", TASKS.join(", "))));
            }
        };
        for (field, given) in has {
            let (needed, known) = (needs.contains(&field), needs.contains(&field) || may.contains(&field));
            if needed && !given {
                return Err(Problem::new("invalid_request", 400, format!("the task {name} needs `{field}`")));
            }
            if given && !known {
                return Err(Problem::new("unknown_field", 400, format!("the task {name} has no `{field}`")));
            }
        }
        Ok(self.into_task(name))
    }

    fn into_task(self, name: &str) -> Task {
        let passages = self.passages.into_iter().map(Passage::from).collect();
        let Self { scale, strict, again, claims, .. } = self;
        let draft = self.draft.unwrap_or_default();
        if name == "check-claims" {
            return CheckClaims { question: self.question, draft, claims, passages, again }.into();
        }
        let question = self.question.unwrap_or_default();
        match name {
            "repair" => Repair { question, draft, claims, passages }.into(),
            "decide-retrieval" => DecideRetrieval { question }.into(),
            "grade-passages" => GradePassages { question, passages, scale, again }.into(),
            "rewrite-query" => RewriteQuery { question, tried: self.tried, held: passages }.into(),
            "check-usefulness" => CheckUsefulness { question, draft, scale, again }.into(),
            "check-grounding" => {
                let draft = Draft { text: draft, ..Draft::default() };
                CheckGrounding { draft, passages: passages.into(), scale, again }.into()
            }
            _ => {
                let rejected = self.rejected.into_iter().map(Rejected::from).collect();
                let temperature = self.temperature.unwrap_or(0.2);
                Generate { question, passages: passages.into(), rejected, strict, temperature }.into()
            }
        }
    }
}

/// The name of a task in its address.
pub fn name(task: &Task) -> &'static str {
    match task {
        Task::GradePassages(_) => TASKS[0],
        Task::RewriteQuery(_) => TASKS[1],
        Task::Generate(_) => TASKS[2],
        Task::CheckGrounding(_) => TASKS[3],
        Task::CheckUsefulness(_) => TASKS[4],
        Task::DecideRetrieval(_) => TASKS[5],
        Task::CheckClaims(_) => TASKS[6],
        Task::Repair(_) => TASKS[7],
        Task::GenerateSegment(_) => GenerateSegment::NAME,
        Task::Reflect(_) => Reflect::NAME,
    }
}

impl From<&Rejected> for TaskRejected {
    fn from(rejected: &Rejected) -> Self {
        let Rejected { text, check, claims } = rejected.clone();
        Self { text, check, claims }
    }
}

impl From<TaskRejected> for Rejected {
    fn from(TaskRejected { text, check, claims }: TaskRejected) -> Self {
        Self { text, check, claims }
    }
}

impl From<&Passage> for TaskPassage {
    fn from(passage: &Passage) -> Self {
        Self {
            id: passage.id.clone(),
            title: passage.title.clone(),
            headings: passage.headings.clone(),
            text: passage.text.clone(),
            origin: passage.origin,
        }
    }
}

impl From<TaskPassage> for Passage {
    fn from(passage: TaskPassage) -> Self {
        Self {
            document: passage.id.clone(),
            id: passage.id,
            url: String::new(),
            title: passage.title,
            headings: passage.headings,
            also: Vec::new(),
            span: Span { start: 0, end: passage.text.len() },
            text: passage.text,
            origin: passage.origin,
        }
    }
}

/// What came of a task; each has its own field.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TaskResponse {
    /// Whether to retrieve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retrieval: Option<Retrieval>,
    /// A grade for each passage, in their order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grades: Option<Vec<TaskGrade>>,
    /// The query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// The draft.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft: Option<TaskDraft>,
    /// The verdict of a check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// How far a draft is supported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub support: Option<Support>,
    /// How useful a draft is, 1 to 5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rating: Option<u8>,
    /// What was said of the claims of a draft, in their order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claims: Option<ClaimsSaid>,
    /// A text in place of each claim that failed, in their order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repairs: Option<Vec<String>>,
    /// How often the model was called for it.
    pub called: u32,
    /// What it took; absent when the service did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
}

/// See [`Grade`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TaskGrade {
    /// Relevant, not relevant, or unknown.
    pub verdict: Verdict,
    /// 0…1, where the solver has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
}

/// See [`Draft`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskDraft {
    /// Markdown with marks `[n]`.
    pub text: String,
    /// What the marks stand for.
    pub quotes: Vec<TaskQuote>,
    /// Cut off before its end.
    pub truncated: bool,
}

/// See [`Quote`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskQuote {
    /// The index of the passage.
    pub passage: usize,
    /// UTF-8 byte offset in its text.
    pub start: usize,
    /// One past the end.
    pub end: usize,
}

impl TaskResponse {
    /// The response that says a reply.
    pub fn new(reply: TaskReply, called: u32, tokens: Option<Tokens>) -> Self {
        let base = Self { called, tokens, ..Self::default() };
        match reply {
            TaskReply::Retrieval(retrieval) => Self { retrieval: Some(retrieval), ..base },
            TaskReply::Support(support) => Self { support: Some(support), ..base },
            TaskReply::Rating(rating) => Self { rating: Some(rating), ..base },
            TaskReply::Grades(grades) => {
                let own = |g: Grade| TaskGrade { verdict: g.verdict, score: g.score };
                Self { grades: Some(grades.into_iter().map(own).collect()), ..base }
            }
            TaskReply::Query(query) => Self { query: Some(query), ..base },
            TaskReply::Verdict(verdict) => Self { verdict: Some(verdict), ..base },
            TaskReply::Claims(claims) => Self { claims: Some(claims), ..base },
            TaskReply::Repairs(repairs) => Self { repairs: Some(repairs), ..base },
            TaskReply::Candidate(_) | TaskReply::Odds(_) => base,
            TaskReply::Draft(draft) => {
                let quote = |q: Quote| TaskQuote { passage: q.passage, start: q.span.start, end: q.span.end };
                let quotes = draft.quotes.into_iter().map(quote).collect();
                Self { draft: Some(TaskDraft { text: draft.text, quotes, truncated: draft.truncated }), ..base }
            }
        }
    }

    /// The reply that it says, if it says one and no more.
    pub fn reply(self) -> Option<TaskReply> {
        let grade = |g: TaskGrade| Grade { verdict: g.verdict, score: g.score };
        let quote = |q: TaskQuote| Quote { passage: q.passage, span: Span { start: q.start, end: q.end } };
        let draft = |draft: TaskDraft| {
            let quotes = draft.quotes.into_iter().map(quote).collect();
            TaskReply::Draft(Draft { text: draft.text, quotes, truncated: draft.truncated })
        };
        let said = [
            self.retrieval.map(TaskReply::Retrieval),
            self.grades.map(|grades| TaskReply::Grades(grades.into_iter().map(grade).collect())),
            self.query.map(TaskReply::Query),
            self.draft.map(draft),
            self.verdict.map(TaskReply::Verdict),
            self.support.map(TaskReply::Support),
            self.rating.map(TaskReply::Rating),
            self.claims.map(TaskReply::Claims),
            self.repairs.map(TaskReply::Repairs),
        ];
        let mut said = said.into_iter().flatten();
        said.next().filter(|_| said.next().is_none())
    }
}
