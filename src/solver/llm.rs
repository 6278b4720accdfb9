//! The solver that puts tasks to a chat model, without the call between: a task becomes a request, and
//! the model's words become a verdict, a query or a draft.
//!
//! A verdict is asked for by a JSON schema; the second time, after a reply that could not be read, as
//! plain text, which every model can write. What is refused, cut off or garbled is unknown. Several passages
//! are graded by one request whose reply is paired with them by number; each verdict is read as if it
//! were a reply of its own, so what is wrong with one is not with the others.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::Value;

use crate::document::Passage;
use crate::pipeline::cost::{
    LONGEST_CLAIM, LONGEST_DRAFT, LONGEST_FURTHER, LONGEST_QUERY, LONGEST_SEGMENT, LONGEST_VERDICT,
};
use crate::pipeline::reflection::Group;
use crate::pipeline::segment::{Candidate, Evidence, Form, GenerateSegment, Reflect};
use crate::pipeline::task::{
    CheckClaims, CheckGrounding, CheckUsefulness, Generate, Grade, GradePassages, Rejected, Repair, RewriteQuery, Task,
    TaskReply,
};
use crate::pipeline::verdict::{Retrieval, Scale, Support, Verdict};
use crate::prompt::{self, Language, Prompt, Shown};
use crate::provider::chat::{ChatReply, ChatRequest, Finish, Message, ReplyFormat, Role};
use crate::provider::logprobs::{self, after_reasoning, of_answers};
use crate::provider::verdict::{binary_in, choice, confidence, is_copied, items, scale, score};
use crate::solver::{checkpoint, claims, marks, schema};

/// The same question must get the same verdict (seeds C-04, C-05); a query may vary a little. A draft
/// may vary as its strategy says.
const VERDICT_TEMPERATURE: f32 = 0.0;
const QUERY_TEMPERATURE: f32 = 0.2;

/// How many bytes of a reply are read.
const VERDICT_BYTES: usize = 64 << 10;
const DRAFT_BYTES: usize = 2 << 20;

/// A task as it is put to a model: the request, and what reading the reply takes.
pub struct Put<'a> {
    /// What the model is asked.
    pub request: ChatRequest,
    task: &'a Task,
    shown: Shown,
}

/// Puts a task into words.
pub fn put(task: &Task, language: Language) -> Put<'_> {
    let Prompt { system, user, shown } = prompt(task, language);
    Put { request: requested(task, [system, user]), task, shown }
}

/// The request for a task.
pub fn request(task: &Task, language: Language) -> ChatRequest {
    put(task, language).request
}

/// What the model's reply says on the task.
pub fn read(task: &Task, reply: &ChatReply) -> TaskReply {
    // What it was shown is the same in every language.
    put(task, Language::default()).read(reply)
}

fn requested(task: &Task, prompt: [String; 2]) -> ChatRequest {
    match task {
        Task::DecideRetrieval(_) => verdict(prompt, "retrieve", &schema::RETRIEVE, false),
        Task::GradePassages(GradePassages { passages, scale, again, .. }) => match passages.len() {
            0 | 1 => verdict(prompt, "score", schema::score(*scale), *again),
            count => verdicts(prompt, count, *scale, *again),
        },
        Task::RewriteQuery(_) => chat(prompt, LONGEST_QUERY),
        Task::Generate(Generate { temperature, .. }) => {
            ChatRequest { temperature: Some(*temperature), ..chat(prompt, LONGEST_DRAFT) }
        }
        Task::CheckGrounding(CheckGrounding { scale, again, .. }) => match scale {
            Scale::Binary => verdict(prompt, "grounded", &schema::GROUNDED, *again),
            Scale::Graded => verdict(prompt, "support", &schema::SUPPORTED, *again),
        },
        Task::CheckUsefulness(CheckUsefulness { scale, again, .. }) => match scale {
            Scale::Binary => verdict(prompt, "useful", &schema::USEFUL, *again),
            Scale::Graded => verdict(prompt, "usefulness", &schema::USEFULNESS, *again),
        },
        // Inside a segment the paper is greedy.
        Task::GenerateSegment(_) => {
            ChatRequest { temperature: Some(VERDICT_TEMPERATURE), logprobs: true, ..chat(prompt, LONGEST_SEGMENT) }
        }
        Task::Reflect(_) => ChatRequest {
            temperature: Some(VERDICT_TEMPERATURE),
            logprobs: true,
            largest_reply: DRAFT_BYTES,
            ..chat(prompt, LONGEST_VERDICT)
        },
        Task::CheckClaims(task) => listed(prompt, "claims", schema::claims(task), task.claims.len(), task.again),
        Task::Repair(task) => listed(prompt, "statements", &schema::STATEMENTS, task.claims.len(), false),
    }
}

/// The prompt for a task.
fn prompt(task: &Task, language: Language) -> Prompt {
    match task {
        Task::DecideRetrieval(task) => prompt::decide(&task.question, language),
        Task::GradePassages(GradePassages { question, passages, scale, again }) => {
            let (one, several) = match scale {
                Scale::Binary => (prompt::grade as Grading, prompt::grade_batch as GradingAll),
                Scale::Graded => (prompt::grade_score as Grading, prompt::grade_score_batch as GradingAll),
            };
            match &passages[..] {
                [passage] => one(question, passage, *again, language),
                passages => several(question, passages, *again, language),
            }
        }
        Task::RewriteQuery(RewriteQuery { question, tried, held }) if held.is_empty() => {
            prompt::rewrite(question, tried, language)
        }
        Task::RewriteQuery(RewriteQuery { question, tried, held }) => {
            prompt::rewrite_gap(question, held, tried, language)
        }
        Task::Generate(task) if task.passages.is_empty() => prompt::direct(&task.question, language),
        Task::Generate(Generate { question, passages, rejected, strict, .. }) => {
            let rejected: Vec<String> = rejected.iter().map(what_failed).collect();
            let rejected: Vec<&str> = rejected.iter().map(String::as_str).collect();
            prompt::generate(question, passages, &rejected, *strict, language)
        }
        Task::CheckGrounding(CheckGrounding { draft, passages, scale, again }) => match scale {
            Scale::Binary => prompt::grounding(&draft.text, passages, *again, language),
            Scale::Graded => prompt::support(&draft.text, passages, *again, language),
        },
        Task::CheckUsefulness(CheckUsefulness { question, draft, scale, again }) => match scale {
            Scale::Binary => prompt::usefulness(question, draft, *again, language),
            Scale::Graded => prompt::rate(question, draft, *again, language),
        },
        Task::GenerateSegment(GenerateSegment { question, form, written, evidence }) => match (form, evidence) {
            (_, Evidence::Undecided) => Prompt::default(),
            (Form::Choice(choices), Evidence::None) => prompt::choose(question, choices, None, language),
            (Form::Choice(choices), Evidence::Passage(p)) => {
                prompt::choose(question, choices, Some(p.as_ref()), language)
            }
            (_, Evidence::None) => prompt::direct(question, language),
            (_, Evidence::Passage(passage)) => prompt::segment(question, passage, written, language),
        },
        Task::Reflect(Reflect { group, question, passage, text }) => match (group, passage) {
            (Group::Retrieve, _) if text.trim().is_empty() => prompt::decide(question, language),
            (Group::Retrieve, _) => prompt::proceed(question, text, language),
            (Group::Relevance, Some(passage)) => prompt::grade(question, passage, false, language),
            (Group::Support, Some(passage)) => prompt::support(text, std::slice::from_ref(&**passage), false, language),
            (Group::Usefulness, _) => prompt::rate(question, text, false, language),
            (_, None) => Prompt::default(),
        },
        Task::CheckClaims(CheckClaims { question, draft, claims, passages, again }) => match question {
            Some(question) => prompt::claims_useful(question, draft, claims, passages, *again, language),
            None => prompt::claims(claims, passages, *again, language),
        },
        Task::Repair(Repair { question, draft, claims, passages }) => {
            prompt::repair(question, draft, claims, passages, language)
        }
    }
}

/// What a generator is not to repeat: the claims that failed, or the whole draft where none is named.
fn what_failed(rejected: &Rejected) -> String {
    if rejected.claims.is_empty() { rejected.text.clone() } else { rejected.claims.join("\n") }
}

type Grading = fn(&str, &Passage, bool, Language) -> Prompt;
type GradingAll = fn(&str, &[Passage], bool, Language) -> Prompt;

/// What a model calls the degrees of support of a whole draft.
pub(super) const SUPPORT: [(&str, Support); 3] =
    [("fully_supported", Support::Fully), ("partially_supported", Support::Partially), ("no_support", Support::None)];

fn chat([system, user]: [String; 2], max_tokens: u32) -> ChatRequest {
    let message = |role, content| Message { role, content };
    ChatRequest {
        messages: vec![message(Role::System, system), message(Role::User, user)],
        temperature: Some(QUERY_TEMPERATURE),
        max_tokens,
        format: ReplyFormat::Text,
        stream: false,
        logprobs: false,
        largest_reply: DRAFT_BYTES,
    }
}

fn verdict(prompt: [String; 2], field: &'static str, schema: &'static Value, again: bool) -> ChatRequest {
    by_schema(prompt, field, Cow::Borrowed(schema), LONGEST_VERDICT, again)
}

/// A list with an entry for each of so many claims.
fn listed(prompt: [String; 2], name: &'static str, schema: &'static Value, count: usize, again: bool) -> ChatRequest {
    by_schema(prompt, name, Cow::Borrowed(schema), LONGEST_VERDICT + LONGEST_CLAIM * count as u32, again)
}

/// A reply that fits a schema; the second time one in words.
fn by_schema(
    prompt: [String; 2],
    name: &'static str,
    schema: Cow<'static, Value>,
    max_tokens: u32,
    again: bool,
) -> ChatRequest {
    let format = if again { ReplyFormat::Text } else { ReplyFormat::Schema { name: name.into(), schema } };
    ChatRequest {
        temperature: Some(VERDICT_TEMPERATURE),
        format,
        largest_reply: VERDICT_BYTES,
        ..chat(prompt, max_tokens)
    }
}

/// A verdict for each of so many texts, with its number.
fn verdicts(prompt: [String; 2], count: usize, scale: Scale, again: bool) -> ChatRequest {
    let max_tokens = LONGEST_VERDICT + LONGEST_FURTHER * count as u32;
    by_schema(prompt, "verdicts", schema::verdicts(count, scale), max_tokens, again)
}

impl Put<'_> {
    /// What the model's reply says on the task.
    pub fn read(&self, reply: &ChatReply) -> TaskReply {
        match self.task {
            Task::DecideRetrieval(_) => TaskReply::Retrieval(retrieval(self.verdict(reply))),
            Task::GradePassages(task) => TaskReply::Grades(grades(task, reply, &self.shown.material)),
            Task::RewriteQuery(_) => TaskReply::Query(query(&self.shown.without_fences(&reply.text))),
            Task::Generate(task) => {
                let text = self.shown.without_fences(&reply.text);
                TaskReply::Draft(marks::resolve(&text, &task.passages, !is_whole(reply)))
            }
            Task::CheckGrounding(task) => match task.scale {
                Scale::Binary => TaskReply::Verdict(said(self.verdict(reply), "grounded")),
                Scale::Graded => TaskReply::Support(support(self.verdict(reply))),
            },
            Task::CheckUsefulness(task) => match task.scale {
                Scale::Binary => TaskReply::Verdict(said(self.verdict(reply), "useful")),
                Scale::Graded => {
                    scale(self.verdict(reply)).map_or(TaskReply::Verdict(Verdict::Unknown), TaskReply::Rating)
                }
            },
            Task::GenerateSegment(task) => {
                TaskReply::Candidate(candidate(task, &self.shown.without_fences(&reply.text), reply))
            }
            Task::Reflect(task) => TaskReply::Odds(odds(task.group, self.verdict(reply), &reply.tokens)),
            Task::CheckClaims(task) => TaskReply::Claims(claims::read(task, listed_in(reply), &self.shown)),
            Task::Repair(task) => {
                TaskReply::Repairs(claims::read_repairs(task.claims.len(), listed_in(reply), &self.shown))
            }
        }
    }

    /// The text of a verdict: what was cut off, or copied from what the model was shown, says nothing.
    fn verdict<'a>(&self, reply: &'a ChatReply) -> &'a str {
        if is_whole(reply) && !is_copied(&reply.text, &self.shown.material) { &reply.text } else { "" }
    }
}

/// A reply with a list; of one that was cut off the entries before the cut are whole.
fn listed_in(reply: &ChatReply) -> &str {
    let is_read = is_whole(reply) || (reply.finish == Finish::Length && !reply.lossy);
    if is_read { &reply.text } else { "" }
}

/// A grade for each passage. Of a list that was cut off the verdicts before the cut are whole.
fn grades(task: &GradePassages, reply: &ChatReply, material: &[String]) -> Vec<Grade> {
    let (places, is_read) = match task.passages.len() {
        1 => (vec![Some(0..reply.text.len())], is_whole(reply)),
        count => (items(&reply.text, count), is_whole(reply) || (reply.finish == Finish::Length && !reply.lossy)),
    };
    let said = |place: &Range<usize>| is_read && !is_copied(&reply.text[place.clone()], material);
    let read = |place: Option<Range<usize>>| place.filter(said).map(|place| grade(task.scale, reply, place));
    places.into_iter().map(|place| read(place).unwrap_or_default()).collect()
}

/// The grade in a part of a reply; of a yes or a no its score is how probable yes was, if the service tells.
fn grade(scale: Scale, reply: &ChatReply, place: Range<usize>) -> Grade {
    let text = &reply.text[place.clone()];
    if scale == Scale::Graded {
        return Grade::scored(score(text));
    }
    let verdict = said(text, "score");
    let sure = || confidence(&reply.text, &reply.tokens, place, &["score", ALIAS]);
    Grade { verdict, score: verdict.flag().and_then(|_| sure()) }
}

/// The reply to a task that need not be put to a chat model: it has no token that asks for passages.
pub fn known(task: &Task) -> Option<TaskReply> {
    match task {
        Task::GenerateSegment(GenerateSegment { evidence: Evidence::Undecided, .. }) => {
            Some(TaskReply::Candidate(Candidate { plain: true, ..Candidate::default() }))
        }
        _ => None,
    }
}

fn candidate(task: &GenerateSegment, text: &str, reply: &ChatReply) -> Candidate {
    // Whoever asks numbers the places; a mark of the model's own would be taken for one of these.
    let text = marks::resolve(text, &[], false).text;
    let quote = match &task.evidence {
        Evidence::Passage(passage) => Some(marks::support(&text, passage)),
        Evidence::None | Evidence::Undecided => None,
    };
    let tokens = checkpoint::tokens(after_reasoning(&reply.tokens).unwrap_or_default());
    Candidate { text, tokens, truncated: !is_whole(reply), plain: true, quote }
}

/// How probable each token of the group is, read where the reply says which of them holds; a reply that
/// cannot be read says nothing, however probable its words are.
fn odds(group: Group, text: &str, tokens: &[logprobs::Token]) -> Option<Vec<f64>> {
    let (is_said, answers): (bool, &[logprobs::Answer<'_>]) = match group {
        Group::Retrieve => (retrieval(text) != Retrieval::Unknown, &[YES, NO, CONTINUE]),
        Group::Relevance => (said(text, "score") != Verdict::Unknown, &[YES, NO]),
        Group::Support => (support(text) != Support::Unknown, &[FULLY, PARTIALLY, NO_SUPPORT]),
        Group::Usefulness => (scale(text).is_some(), &[&["5"], &["4"], &["3"], &["2"], &["1"]]),
    };
    of_answers(tokens, answers).filter(|_| is_said)
}

/// What an answer may be called in each language, the first as it is asked for.
const YES: logprobs::Answer<'_> = &["yes", "oui", "ja", "sí"];
const NO: logprobs::Answer<'_> = &["no", "non", "nein"];
const CONTINUE: logprobs::Answer<'_> = &["continue", "continuer", "weiter", "fortsetzen", "continuar"];
const FULLY: logprobs::Answer<'_> = &["fully_supported", "entièrement", "vollständig", "totalmente"];
const PARTIALLY: logprobs::Answer<'_> = &["partially_supported", "partiellement", "teilweise", "parcialmente"];
const NO_SUPPORT: logprobs::Answer<'_> = &["no_support", "aucun", "nicht", "ningún"];

fn is_whole(reply: &ChatReply) -> bool {
    reply.finish == Finish::Stop && !reply.lossy
}

/// What many prompts call the field of a yes or a no.
const ALIAS: &str = "binary_score";

fn said(text: &str, field: &str) -> Verdict {
    binary_in(text, &[field, ALIAS]).map_or(Verdict::Unknown, Verdict::from)
}

fn retrieval(text: &str) -> Retrieval {
    match (binary_in(text, &["retrieve"]), choice(text, "retrieve", &["continue"])) {
        (Some(true), _) => Retrieval::Yes,
        (Some(false), _) => Retrieval::No,
        (None, Some(_)) => Retrieval::Continue,
        (None, None) => Retrieval::Unknown,
    }
}

fn support(text: &str) -> Support {
    let chosen = choice(text, "support", &SUPPORT.map(|(name, _)| name));
    chosen.map_or(Support::Unknown, |at| SUPPORT[at].1)
}

/// The first line that is not blank, without the quotation marks that models like to add.
fn query(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    line.trim_matches(['"', '\'', '`', '“', '”', '«', '»', ' ']).to_owned()
}
