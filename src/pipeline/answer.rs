//! The path from question to answer, top to bottom. [`crate::pipeline::record`] turns what it found
//! into the [`Answer`].

use crate::document::Passage;
use crate::pipeline::budget::Stop;
use crate::pipeline::record::{Attempt, Ending, Record, WebSearch};
use crate::pipeline::run::Path;
use crate::pipeline::strategy::Strategy;
use crate::pipeline::task::{
    Ask, CheckGrounding, CheckUsefulness, Draft, Failure, Generate, Grade, GradePassages, Rejected, RewriteQuery,
};
use crate::pipeline::trace::Event;
use crate::pipeline::verdict::{Check, Verdict};

pub use crate::pipeline::record::{Answer, Citation, Outcome, PassageVerdict, Reason, RunError, Source, Warning};

/// The most bytes a question may have.
pub const MAX_QUESTION_BYTES: usize = 8 * 1024;

/// A question that can be asked: not blank, and of bounded length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question(String);

/// A question that cannot be asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QuestionError {
    /// Nothing but white space.
    #[error("the question is empty: ask something")]
    Empty,
    /// Above [`MAX_QUESTION_BYTES`].
    #[error("the question has {bytes} bytes: shorten it to {MAX_QUESTION_BYTES}")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
}

impl Question {
    /// Trims the text and checks it.
    pub fn new(text: &str) -> Result<Self, QuestionError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(QuestionError::Empty);
        }
        if text.len() > MAX_QUESTION_BYTES {
            return Err(QuestionError::TooLong { bytes: text.len() });
        }
        Ok(Self(text.to_owned()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Walks the path; whatever ends it early, the record has all that was found until then.
pub(crate) async fn answer(path: &Path, question: &Question, strategy: &Strategy) -> Result<Answer, RunError> {
    let mut record = Record::default();
    if let Err(stop) = walk(path, question.as_str(), strategy, &mut record).await {
        record.warn("budget", &stop.to_string());
        record.ending = Some(Ending::Stopped);
    }
    record.conclude(path.spent(), path.trace(), strategy)
}

async fn walk(path: &Path, question: &str, strategy: &Strategy, record: &mut Record) -> Result<(), Stop> {
    let Some(retrieved) = retrieve(path, question, strategy.k, record).await? else { return Ok(()) };

    let (mut context, need_web) =
        if strategy.grades { keep_relevant(path, question, retrieved, record).await? } else { (retrieved, false) };
    if need_web {
        extend_from_web(path, question, &mut context, strategy, record).await?;
    }

    let mut rejected = Vec::new();
    while !context.is_empty() && record.attempts.len() <= strategy.max_retries as usize {
        let Some(draft) = generate(path, question, &mut context, &rejected, record).await? else { break };
        record.attempts.push(Attempt::new(draft.clone(), context.clone()));
        if draft.truncated {
            break;
        }
        let Some(check) = first_failed_check(path, question, &draft, &context, strategy, record).await? else { break };
        rejected.push(Rejected { text: draft.text, check });
        // An ungrounded draft is the generator's fault: try again with the same context (seed R-12).
        // A useless one is the context's: another context, or an end (seed R-13).
        let last = record.attempts.len() > strategy.max_retries as usize;
        if check == Check::Usefulness
            && (last || !extend_from_web(path, question, &mut context, strategy, record).await?)
        {
            break;
        }
    }
    Ok(())
}

async fn retrieve(path: &Path, question: &str, k: usize, record: &mut Record) -> Result<Option<Vec<Passage>>, Stop> {
    let (hits, without_vector) = match path.retrieve(question, k).await? {
        Ok(found) => found,
        Err(failure) => {
            record.ending = Some(Ending::Failed(failure));
            return Ok(None);
        }
    };
    if let Some(failure) = without_vector {
        record.warn("embedding_failed", &format!("the index was searched by words alone: {failure}"));
    }
    path.emit(Event::Retrieve { query: question.to_owned(), passages: hits.len() });
    record.found_nothing = hits.is_empty();
    Ok(Some(hits.into_iter().map(|hit| hit.passage).collect()))
}

/// Grades every passage and keeps the relevant ones, then those nobody could grade. The second value
/// says whether the rule asks for the web: a passage was rejected (seed C-07), or there was none.
async fn keep_relevant(
    path: &Path,
    question: &str,
    passages: Vec<Passage>,
    record: &mut Record,
) -> Result<(Vec<Passage>, bool), Stop> {
    let grades = grade(path, question, &passages).await?;
    for (i, (passage, grade)) in passages.iter().zip(&grades).enumerate() {
        let passage_id = passage.id.clone();
        let (n, of) = (i + 1, passages.len());
        path.emit(Event::Grade { n, of, passage_id, verdict: grade.verdict, score: grade.score });
    }
    record.verdicts = passages.iter().zip(&grades).map(|(p, g)| PassageVerdict::new(&p.id, *g)).collect();

    let count = |verdict| grades.iter().filter(|g| g.verdict == verdict).count();
    let (relevant, rejected, unknown) = (count(Verdict::Yes), count(Verdict::No), count(Verdict::Unknown));
    // An outage must not buy searches: where nothing could be graded, the order of retrieval stands.
    let ungraded = unknown == passages.len() && unknown > 0;
    if ungraded {
        record.warn("ungraded", "no passage could be graded: the answer rests on the order of retrieval");
    }
    let need_web = rejected > 0 || passages.is_empty();
    path.emit(Event::Decide { relevant, rejected, unknown, need_web });

    let of = |verdict| passages.iter().zip(&grades).filter(move |(_, g)| g.verdict == verdict).map(|(p, _)| p.clone());
    Ok((of(Verdict::Yes).chain(of(Verdict::Unknown)).collect(), need_web))
}

/// One call for each passage, all at once; those without a verdict are asked again once, differently.
async fn grade(path: &Path, question: &str, passages: &[Passage]) -> Result<Vec<Grade>, Stop> {
    let task = |passage: &Passage, again| GradePassages {
        question: question.to_owned(),
        passages: vec![passage.clone()],
        again,
    };
    // A batch of one has one grade; any other number is a reply to something else.
    let only = |reply: Result<Vec<Grade>, Failure>| match reply.as_deref() {
        Ok([grade]) => *grade,
        _ => Grade::default(),
    };

    let tasks = passages.iter().map(|p| task(p, false)).collect();
    let mut grades: Vec<Grade> = path.ask_all(tasks).await?.into_iter().map(only).collect();
    let open: Vec<usize> = (0..grades.len()).filter(|&i| grades[i].verdict == Verdict::Unknown).collect();
    let tasks = open.iter().map(|&i| task(&passages[i], true)).collect();
    for (i, reply) in open.into_iter().zip(path.ask_all(tasks).await?) {
        grades[i] = only(reply);
    }
    Ok(grades)
}

/// Appends what the web has; says whether that is anything new.
async fn extend_from_web(
    path: &Path,
    question: &str,
    context: &mut Vec<Passage>,
    strategy: &Strategy,
    record: &mut Record,
) -> Result<bool, Stop> {
    let Some(query) = next_query(path, question, record).await? else { return Ok(false) };
    record.queries.push(query.clone());
    let results = match path.search_web(&query, strategy.web_results).await? {
        Ok(results) => results,
        Err(Failure::NotConfigured { .. }) => {
            record.web = WebSearch::NotConfigured;
            record.warn("web_not_configured", "no web search is configured: the answer rests on the index alone");
            return Ok(false);
        }
        Err(failure) => {
            record.web = WebSearch::Failed;
            record.warn("web_failed", &failure.to_string());
            return Ok(false);
        }
    };
    let known = |context: &[Passage], result: &Passage| context.iter().any(|p| p.text == result.text);
    let before = context.len();
    for result in results {
        if !result.text.trim().is_empty() && !known(context, &result) {
            context.push(result);
        }
    }
    let new = context.len() - before;
    path.emit(Event::WebSearch { query, results: new });
    record.web_search_used |= new > 0;
    Ok(new > 0)
}

/// The question itself, then rewrites of it; never the same query twice.
async fn next_query(path: &Path, question: &str, record: &mut Record) -> Result<Option<String>, Stop> {
    if record.web != WebSearch::Open {
        return Ok(None);
    }
    if record.queries.is_empty() {
        return Ok(Some(question.to_owned()));
    }
    let task = RewriteQuery { question: question.to_owned(), tried: record.queries.clone() };
    let query = match path.ask(task).await? {
        Ok(query) => query.trim().to_owned(),
        Err(failure) => {
            record.warn("rewrite_failed", &failure.to_string());
            return Ok(None);
        }
    };
    if query.is_empty() || record.queries.contains(&query) {
        return Ok(None);
    }
    path.emit(Event::Rewrite { query: query.clone() });
    Ok(Some(query))
}

/// A draft unlike every earlier one, or `None` when there is nothing more to say. A context longer
/// than the generator takes is cut to its better half, once.
async fn generate(
    path: &Path,
    question: &str,
    context: &mut Vec<Passage>,
    rejected: &[Rejected],
    record: &mut Record,
) -> Result<Option<Draft>, Stop> {
    path.emit(Event::DraftStart { attempt: rejected.len() as u32 + 1 });
    let task = |passages: &[Passage]| Generate {
        question: question.to_owned(),
        passages: passages.to_vec(),
        rejected: rejected.to_vec(),
    };
    let mut reply = path.ask(task(context)).await?;
    let (given, half) = (context.len(), context.len() / 2);
    if matches!(reply, Err(Failure::TooLong { .. })) && half > 0 {
        context.truncate(half);
        reply = path.ask(task(context)).await?;
        let cut = format!("the model takes less than was found: it got {half} of {given} passages");
        record.warn("context_trimmed", &cut);
    }
    let reply = reply.and_then(|draft| {
        if draft.quotes_from(context) { Ok(draft) } else { Err(Failure::Malformed { task: Generate::NAME }) }
    });
    let draft = match reply {
        Ok(draft) => draft,
        Err(failure) => {
            record.warn("provider_failed", &failure.to_string());
            record.ending = Some(Ending::Failed(failure));
            return Ok(None);
        }
    };
    if rejected.iter().any(|r| r.text == draft.text) {
        record.ending = Some(Ending::Repeated);
        return Ok(None);
    }
    if draft.text.trim().is_empty() {
        record.ending = Some(Ending::Silent);
        return Ok(None);
    }
    Ok(Some(draft))
}

/// Runs the checks in order and notes their verdicts; the first that says no, if one does. A check
/// that nobody could decide ends the checking: there is nothing to correct.
async fn first_failed_check(
    path: &Path,
    question: &str,
    draft: &Draft,
    context: &[Passage],
    strategy: &Strategy,
    record: &mut Record,
) -> Result<Option<Check>, Stop> {
    for &check in strategy.checks {
        let verdict = match check {
            Check::Grounding => {
                ask_twice(path, |again| CheckGrounding { draft: draft.clone(), passages: context.to_vec(), again })
                    .await?
            }
            Check::Usefulness => {
                let (question, draft) = (question.to_owned(), draft.text.clone());
                ask_twice(path, |again| CheckUsefulness { question: question.clone(), draft: draft.clone(), again })
                    .await?
            }
        };
        path.emit(Event::Check { check, verdict });
        record.note(check, verdict);
        match verdict {
            Verdict::Yes => {}
            Verdict::Unknown => return Ok(None),
            Verdict::No => {
                path.emit(Event::DraftReject { attempt: record.attempts.len() as u32, check });
                return Ok(Some(check));
            }
        }
    }
    Ok(None)
}

/// A verdict, asked once more and differently when the first reply says nothing.
async fn ask_twice<T>(path: &Path, task: impl Fn(bool) -> T) -> Result<Verdict, Stop>
where
    T: Ask<Reply = Verdict>,
{
    let mut verdict = Verdict::Unknown;
    for again in [false, true] {
        verdict = path.ask(task(again)).await?.unwrap_or_default();
        if verdict != Verdict::Unknown {
            break;
        }
    }
    Ok(verdict)
}
