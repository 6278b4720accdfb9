//! The path from question to answer, top to bottom. [`crate::pipeline::record`] turns what it found
//! into the [`Answer`].

use std::rc::Rc;

use crate::document::Passage;
use crate::pipeline::attempt::Attempt;
use crate::pipeline::budget::Stop;
use crate::pipeline::claims::{self, Mended, mend};
use crate::pipeline::context::{extend_from_web, gather};
use crate::pipeline::record::{Ending, Record};
use crate::pipeline::run::{Guess, Path};
use crate::pipeline::self_rag;
use crate::pipeline::strategy::{ByClaim, Strategy};
use crate::pipeline::task::{
    Ask, CheckGrounding, CheckUsefulness, DecideRetrieval, Draft, Failure, Generate, Rejected,
};
use crate::pipeline::trace::Event;
use crate::pipeline::verdict::{Check, Retrieval, Support, Usefulness, Verdict};

pub use crate::pipeline::outcome::{Outcome, Reason};
pub use crate::pipeline::record::{Answer, Citation, Claim, PassageVerdict, Reflection, RunError, Source, Warning};

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
    if let Some(options) = &strategy.self_rag {
        return self_rag::answer(path, question.as_str(), strategy, options).await;
    }
    let mut record = Record::default();
    if let Err(stop) = walk(path, question.as_str(), strategy, &mut record).await {
        record.warn("budget", &stop.to_string());
        record.ending = Some(Ending::Stopped);
    }
    record.conclude(path.spent(), path.trace(), strategy)
}

async fn walk(path: &Path, question: &str, strategy: &Strategy, record: &mut Record) -> Result<(), Stop> {
    path.keep_for(strategy);
    let from_documents = !strategy.decides_retrieval || needs_documents(path, question, record).await?;
    let mut guess = None;
    let found = if from_documents { gather(path, question, strategy, record, &mut guess).await? } else { Vec::new() };
    let mut context: Rc<[Passage]> = found.into();
    if from_documents && context.is_empty() {
        return Ok(());
    }

    let (mut rejected, mut mended) = (Vec::new(), None);
    while record.attempts.len() <= strategy.max_retries as usize {
        let next = match mended.take() {
            None => generate(path, question, &mut context, guess.take(), &rejected, strategy, record).await?,
            mended => mended,
        };
        let Some(draft) = next else { break };
        record.attempts.push(Attempt::new(draft.clone(), Rc::clone(&context)));
        // There is nothing to check a draft against that was written without documents.
        if draft.truncated || !from_documents {
            break;
        }
        let Some(check) = first_failed_check(path, question, &draft, &context, strategy, record).await? else { break };
        if check == Check::Grounding && strategy.checks.by_claim.is_some() {
            match mend(path, question, strategy, record).await? {
                Mended::Draft(draft) => {
                    mended = Some(draft);
                    continue;
                }
                Mended::Trimmed => break,
                Mended::Not => {}
            }
        }
        let claims = record.attempts.last().map(Attempt::failing).unwrap_or_default();
        rejected.push(Rejected { text: draft.text, check, claims });
        // An ungrounded draft is the generator's fault: try again with the same context (seed R-12).
        // A useless one is the context's: another context, or an end (seed R-13).
        if check == Check::Grounding || strategy.checks.strict_retry {
            continue;
        }
        if record.attempts.len() > strategy.max_retries as usize {
            break;
        }
        let mut extended = context.to_vec();
        if !extend_from_web(path, question, &mut extended, strategy, record).await? {
            break;
        }
        context = extended.into();
    }
    Ok(())
}

/// Whether the question needs documents: unless somebody says no. An answer without them rests on
/// nothing that could be checked, and says so.
async fn needs_documents(path: &Path, question: &str, record: &mut Record) -> Result<bool, Stop> {
    let retrieve = match path.ask(DecideRetrieval { question: question.to_owned() }).await {
        Err(stop) if stop.is_spent() => {
            record.warn_once("budget", &format!("it was not asked whether documents are needed: {stop}"));
            Retrieval::Unknown
        }
        said => said?.unwrap_or_default(),
    };
    path.emit(Event::DecideRetrieval { retrieve });
    record.retrieval = Some(retrieve);
    if retrieve == Retrieval::No {
        record.warn_of_no_retrieval();
    }
    Ok(retrieve != Retrieval::No)
}

/// The first draft from these passages.
pub(crate) fn first_draft(question: &str, passages: Rc<[Passage]>, strategy: &Strategy) -> Generate {
    Generate {
        question: question.to_owned(),
        passages,
        rejected: Vec::new(),
        strict: false,
        temperature: strategy.temperature,
    }
}

/// A draft unlike every earlier one, or `None` when there is nothing more to say. A context longer
/// than the generator takes is cut to its better half, once.
async fn generate(
    path: &Path,
    question: &str,
    context: &mut Rc<[Passage]>,
    guess: Option<Guess>,
    rejected: &[Rejected],
    strategy: &Strategy,
    record: &mut Record,
) -> Result<Option<Draft>, Stop> {
    let task = |passages: &Rc<[Passage]>| Generate {
        rejected: rejected.to_vec(),
        strict: strategy.checks.strict_retry && !rejected.is_empty(),
        ..first_draft(question, Rc::clone(passages), strategy)
    };
    let guess = guess.filter(|guess| guess.passages == *context);
    let mut posted = guess.as_ref().map_or_else(|| path.post(task(context)), |guess| Ok(path.want(guess)));
    while context.len() > 1 && posted.is_err_and(Stop::is_of_size) {
        *context = context[..context.len() - 1].into();
        record.warn_once("budget", "the draft was written from fewer passages than were found: raise the limits");
        posted = path.post(task(context));
    }
    let posted = posted?;
    path.emit(Event::DraftStart { attempt: rejected.len() as u32 + 1 });
    let mut reply = path.reply_to::<Generate>(posted).await?;
    let (given, half) = (context.len(), context.len() / 2);
    if matches!(reply, Err(Failure::TooLong { .. })) && half > 0 {
        *context = context[..half].into();
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

/// Runs the checks in order and notes what they say; the first that fails, if one does. A check that
/// nobody could decide ends the checking: there is nothing to correct.
async fn first_failed_check(
    path: &Path,
    question: &str,
    draft: &Draft,
    context: &Rc<[Passage]>,
    strategy: &Strategy,
    record: &mut Record,
) -> Result<Option<Check>, Stop> {
    let (checks, n) = (&strategy.checks, record.attempts.len() as u32);
    let before = record.known_claims();
    let Some(attempt) = record.attempts.last_mut() else { return Ok(None) };
    let scale = checks.scale;
    for &check in checks.order {
        match check {
            Check::Grounding if checks.by_claim.is_some() => {
                let asked = (checks.by_claim == Some(ByClaim::Fused)).then_some(question);
                let (claims, useful) = claims::check(path, asked, &draft.text, context, &before).await?;
                (attempt.grounding, attempt.usefulness) = (claims::support(&claims), useful.into());
                attempt.claims = claims;
            }
            // The same call said it.
            Check::Usefulness if attempt.usefulness != Usefulness::default() => {}
            Check::Grounding => {
                let task = |again| CheckGrounding { draft: draft.clone(), passages: Rc::clone(context), scale, again };
                attempt.grounding = ask_twice(path, task).await?;
            }
            Check::Usefulness => {
                let (question, draft) = (question.to_owned(), draft.text.clone());
                let task = |again| CheckUsefulness { question: question.clone(), draft: draft.clone(), scale, again };
                attempt.usefulness = ask_twice(path, task).await?;
            }
        }
        let verdict = attempt.verdict(check, checks);
        let support = attempt.support(checks).filter(|_| check == Check::Grounding);
        let rating = attempt.rating().filter(|_| check == Check::Usefulness);
        path.emit(Event::Check { check, verdict, support, rating });
        match verdict {
            Verdict::Unknown => return Ok(None),
            // A source takes what is supported in part; here it passes, but not as grounded.
            Verdict::No if support != Some(Support::Partially) || checks.by_claim.is_some() => {
                path.emit(Event::DraftReject { attempt: n, check });
                return Ok(Some(check));
            }
            _ => {}
        }
    }
    Ok(None)
}

/// What a check says, asked once more and differently when the first reply says nothing.
pub(crate) async fn ask_twice<T>(path: &Path, task: impl Fn(bool) -> T) -> Result<T::Reply, Stop>
where
    T: Ask<Reply: Default + PartialEq>,
{
    let mut said = T::Reply::default();
    for again in [false, true] {
        said = path.ask(task(again)).await?.unwrap_or_default();
        if said != T::Reply::default() {
            break;
        }
    }
    Ok(said)
}
