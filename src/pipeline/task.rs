//! The typed tasks that the core puts to a solver, and the replies it understands.
//!
//! A task says *what* is asked; how it is asked (a prompt, a formula, a person) is the solver's.

use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::document::{Passage, Span};
use crate::pipeline::budget::{Call, Millis};
use crate::pipeline::segment::{Candidate, GenerateSegment, Reflect};
use crate::pipeline::verdict::{Check, Retrieval, Scale, Support, Usefulness, Verdict};

/// Does the question need documents? (Seed G-11.)
#[derive(Debug, Clone, PartialEq)]
pub struct DecideRetrieval {
    /// The question as asked.
    pub question: String,
}

/// The most passages of one [`GradePassages`].
pub const MAX_BATCH: usize = 20;

/// Does each passage contain information relevant to the question? (Seeds C-03, C-07; by degrees G-04.)
#[derive(Debug, Clone, PartialEq)]
pub struct GradePassages {
    /// The question as asked.
    pub question: String,
    /// The passages; the reply has one grade for each, in this order.
    pub passages: Vec<Passage>,
    /// By degrees: each grade has a score.
    pub scale: Scale,
    /// True when an earlier reply could not be read: ask differently.
    pub again: bool,
}

/// A better query for a search engine, not one of those tried.
#[derive(Debug, Clone, PartialEq)]
pub struct RewriteQuery {
    /// The question as asked.
    pub question: String,
    /// The queries already sent.
    pub tried: Vec<String>,
    /// What there is, where the query is to ask for what is missing in it.
    pub held: Vec<Passage>,
}

/// An answer to the question from the passages alone; where there are none, without any.
#[derive(Debug, Clone, PartialEq)]
pub struct Generate {
    /// The question as asked.
    pub question: String,
    /// What it may be answered from; citation `[n]` means the n-th, from 1.
    pub passages: Rc<[Passage]>,
    /// Earlier drafts and what was wrong with them, so that a retry cannot repeat itself.
    pub rejected: Vec<Rejected>,
    /// Nothing may be assumed, and what is missing must be said (seed G-15).
    pub strict: bool,
    /// How freely it may be worded, 0…1.
    pub temperature: f32,
}

/// A draft that failed a check.
#[derive(Debug, Clone, PartialEq)]
pub struct Rejected {
    /// The draft's text.
    pub text: String,
    /// The check that it failed.
    pub check: Check,
    /// The claims that no passage supports, where they were checked one by one.
    pub claims: Vec<String>,
}

/// Is the draft entirely grounded in the passages? (Seed R-03: in the passages, not in the world; by
/// degrees G-13.)
#[derive(Debug, Clone, PartialEq)]
pub struct CheckGrounding {
    /// The draft.
    pub draft: Draft,
    /// What it was written from.
    pub passages: Rc<[Passage]>,
    /// By degrees: the reply is a [`Support`].
    pub scale: Scale,
    /// True when an earlier reply could not be read: ask differently.
    pub again: bool,
}

/// Does the draft answer the question usefully and completely? (Seed R-05: it sees no passages; by
/// degrees G-14.)
#[derive(Debug, Clone, PartialEq)]
pub struct CheckUsefulness {
    /// The question as asked.
    pub question: String,
    /// The draft's text.
    pub draft: String,
    /// By degrees: the reply is 1 to 5.
    pub scale: Scale,
    /// True when an earlier reply could not be read: ask differently.
    pub again: bool,
}

/// Which claims of a draft do the passages support, and by which words? With a question: does the draft
/// answer it, too?
#[derive(Debug, Clone, PartialEq)]
pub struct CheckClaims {
    /// The question as asked, where the same call is to rate the draft.
    pub question: Option<String>,
    /// The draft's text.
    pub draft: String,
    /// The claims, without citation marks; the reply has one of each, in this order.
    pub claims: Vec<String>,
    /// What the draft was written from.
    pub passages: Vec<Passage>,
    /// True when an earlier reply could not be read: ask differently.
    pub again: bool,
}

/// What the passages do say where a draft says what they do not.
#[derive(Debug, Clone, PartialEq)]
pub struct Repair {
    /// The question as asked.
    pub question: String,
    /// The draft's text.
    pub draft: String,
    /// The claims that failed; the reply has a text for each, in this order, empty where nothing can be
    /// said in its place.
    pub claims: Vec<String>,
    /// What the draft was written from.
    pub passages: Vec<Passage>,
}

/// The reply to [`CheckClaims`].
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ClaimsSaid {
    /// One for each claim, by slot.
    pub claims: Vec<ClaimSaid>,
    /// Whether the draft answers the question; unknown where that was not asked.
    pub useful: Verdict,
}

/// What a solver says of a claim. It is believed only as far as the quotation is found.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ClaimSaid {
    /// How far the passages support it.
    pub support: Support,
    /// The index of the passage that does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passage: Option<usize>,
    /// The passage's words.
    pub quote: String,
}

/// A grade of one passage.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Grade {
    /// Relevant, not relevant, or unknown.
    pub verdict: Verdict,
    /// A relevance score 0…1, where the solver has one.
    pub score: Option<f64>,
}

impl Grade {
    /// The grade of a score: relevant above one half (seed G-17), unknown where there is none in 0…1.
    pub fn scored(score: Option<f64>) -> Self {
        let score = score.filter(|score| (0.0..=1.0).contains(score));
        Self { verdict: score.map_or(Verdict::Unknown, |score| (score > 0.5).into()), score }
    }
}

/// A generated answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Draft {
    /// Markdown, with `[n]` after what the n-th citation supports.
    pub text: String,
    /// What the numbers stand for, in the order of `n` from 1.
    pub quotes: Vec<Quote>,
    /// Cut off before its end; its flags stay unknown.
    pub truncated: bool,
}

/// A place in one of the passages given to the generator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quote {
    /// The index of the passage in [`Generate::passages`].
    pub passage: usize,
    /// The bytes of that passage's text.
    pub span: Span,
}

/// Everything that a solver can be asked.
#[derive(Debug, Clone, PartialEq)]
pub enum Task {
    /// See [`DecideRetrieval`].
    DecideRetrieval(DecideRetrieval),
    /// See [`GradePassages`].
    GradePassages(GradePassages),
    /// See [`RewriteQuery`].
    RewriteQuery(RewriteQuery),
    /// See [`Generate`].
    Generate(Generate),
    /// See [`CheckGrounding`].
    CheckGrounding(CheckGrounding),
    /// See [`CheckUsefulness`].
    CheckUsefulness(CheckUsefulness),
    /// See [`GenerateSegment`].
    GenerateSegment(GenerateSegment),
    /// See [`Reflect`].
    Reflect(Reflect),
    /// See [`CheckClaims`].
    CheckClaims(CheckClaims),
    /// See [`Repair`].
    Repair(Repair),
}

impl Task {
    /// The line of the budget that it is booked on.
    pub fn call(&self) -> Call {
        match self {
            Self::DecideRetrieval(_) => Call::Decide,
            Self::GradePassages(_) => Call::Grade,
            Self::RewriteQuery(_) => Call::Rewrite,
            Self::Generate(_) | Self::Repair(_) => Call::Generate,
            Self::CheckGrounding(_) | Self::CheckClaims(_) => Call::Grounding,
            Self::CheckUsefulness(_) => Call::Usefulness,
            Self::GenerateSegment(_) => Call::Segment,
            Self::Reflect(_) => Call::Reflect,
        }
    }
}

/// A solver's reply to a [`Task`].
#[derive(Debug, Clone, PartialEq)]
pub enum TaskReply {
    /// To [`DecideRetrieval`].
    Retrieval(Retrieval),
    /// To [`GradePassages`]: one for each passage, by slot.
    Grades(Vec<Grade>),
    /// To [`RewriteQuery`].
    Query(String),
    /// To [`Generate`].
    Draft(Draft),
    /// To [`CheckGrounding`] and [`CheckUsefulness`]; of any scale, when it is unknown.
    Verdict(Verdict),
    /// To [`CheckGrounding`] by degrees.
    Support(Support),
    /// To [`CheckUsefulness`] by degrees: 1 to 5.
    Rating(u8),
    /// To [`GenerateSegment`].
    Candidate(Candidate),
    /// To [`Reflect`]: how probable each of the group's tokens is; `None` where the model does not tell.
    Odds(Option<Vec<f64>>),
    /// To [`CheckClaims`].
    Claims(ClaimsSaid),
    /// To [`Repair`].
    Repairs(Vec<String>),
}

/// Why an effect has no reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The host has no such service: configure one.
    #[error("{service} is not configured")]
    NotConfigured {
        /// The service, for instance `web search`.
        service: &'static str,
    },
    /// The service answered with an error, or not at all.
    #[error("{service} failed: {detail}")]
    Service {
        /// The service.
        service: &'static str,
        /// A stable name of what went wrong.
        code: &'static str,
        /// What happened, without text from upstream.
        detail: String,
        /// How long the service asks to be left alone, if it does.
        retry_after: Option<Millis>,
    },
    /// The request is longer than the service takes.
    #[error("the request is longer than {service} takes: ask for fewer passages")]
    TooLong {
        /// The service.
        service: &'static str,
    },
    /// The reply has not the form that the task asks for.
    #[error("the reply to {task} has the wrong form")]
    Malformed {
        /// The task.
        task: &'static str,
    },
    /// The run's deadline passed while it was under way.
    #[error("the run's deadline passed")]
    Deadline,
}

/// A task with the type of its reply.
pub trait Ask: Into<Task> {
    /// What the core gets back.
    type Reply;
    /// The task's name, for messages.
    const NAME: &'static str;

    /// Reads the reply; `None` when it is of another task.
    fn read(reply: TaskReply) -> Option<Self::Reply>;
}

macro_rules! ask {
    ($task:ident -> $reply:ty, $($variant:ident)|+) => {
        impl From<$task> for Task {
            fn from(task: $task) -> Self {
                Self::$task(task)
            }
        }

        impl Ask for $task {
            type Reply = $reply;
            const NAME: &'static str = stringify!($task);

            fn read(reply: TaskReply) -> Option<$reply> {
                match reply {
                    $(TaskReply::$variant(value) => Some(value.into()),)+
                    _ => None,
                }
            }
        }
    };
}

ask!(DecideRetrieval -> Retrieval, Retrieval);
ask!(GradePassages -> Vec<Grade>, Grades);
ask!(RewriteQuery -> String, Query);
ask!(Generate -> Draft, Draft);
ask!(CheckGrounding -> Support, Verdict | Support);
ask!(CheckUsefulness -> Usefulness, Verdict | Rating);
ask!(GenerateSegment -> Candidate, Candidate);
ask!(Reflect -> Option<Vec<f64>>, Odds);
ask!(CheckClaims -> ClaimsSaid, Claims);
ask!(Repair -> Vec<String>, Repairs);

impl Draft {
    /// Whether every quote lies, on character boundaries, in one of the passages that were given.
    pub fn quotes_from(&self, passages: &[Passage]) -> bool {
        let text = |quote: &Quote| passages.get(quote.passage)?.text.get(quote.span.start..quote.span.end);
        self.quotes.iter().all(|quote| text(quote).is_some_and(|text| !text.is_empty()))
    }
}
