//! Drives a run: has its effects performed, everything that is open at once, and keeps its deadline.
//! The only asynchronous code that all hosts share.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::ops::ControlFlow;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use crate::corpus::Corpus;
use crate::document::Hit;
use crate::host::Host;
use crate::index::IndexError;
use crate::pipeline::answer::{Answer, RunError};
use crate::pipeline::budget::Millis;
use crate::pipeline::run::{Effect, EffectId, Order, Outcome, Reply, Run, Step};
use crate::pipeline::task::{Failure, Task, TaskReply};
use crate::pipeline::trace::Event;
use crate::problem::Problem;
use crate::solver::builtin;

/// Why a run was not driven to an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DriveError {
    /// Whoever listened to the events broke off.
    #[error("the question was cancelled")]
    Cancelled,
    /// The run itself failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The run waits although nothing is under way: a fault of this crate.
    #[error("the run waits for nothing: please report this")]
    Stuck,
}

impl From<DriveError> for Problem {
    fn from(error: DriveError) -> Self {
        match error {
            DriveError::Run(error) => error.into(),
            DriveError::Cancelled => Problem::new("aborted", 499, error.to_string()),
            DriveError::Stuck => Problem::new("internal", 500, error.to_string()),
        }
    }
}

/// Performs effects: with the index and the built-in solver ([`Offline`]), or with services as well.
pub trait Perform {
    /// Performs one. Text of a draft goes to `told` as it is written.
    fn perform(&self, order: Order, deadline: Millis, told: Told) -> impl Future<Output = Outcome>;

    /// Hears how the run ended, once.
    fn settle(&self, _answer: &Answer) -> impl Future<Output = ()> {
        std::future::ready(())
    }

    /// How many replies were known from earlier runs.
    fn remembered(&self) -> u32 {
        0
    }
}

/// Drives a run to its end, telling each event as it happens; `tell` may break it off.
///
/// Dropping the future cancels the run and everything it has under way.
pub async fn drive<H: Host, P: Perform>(
    mut run: Run,
    host: &H,
    performer: &P,
    mut tell: impl FnMut(Event) -> ControlFlow<()>,
) -> Result<Answer, DriveError> {
    let told = Told::default();
    let mut open: Vec<Performing<'_>> = Vec::new();
    let mut guess: Option<(EffectId, Told)> = None;
    // One timer for the whole run, armed at its first wait.
    let mut deadline = pin!(host.sleep(run.deadline().saturating_sub(host.now())));
    let mut over = false;
    loop {
        let step = run.next_step();
        for event in run.take_events() {
            broken(tell(event))?;
        }
        open.retain(|performing| run.is_open(performing.id));
        if let Some((_, text)) = guess.take_if(|(id, _)| !run.is_guess(*id)).filter(|(id, _)| run.is_wanted(*id)) {
            text.release();
        }
        match step {
            Step::Done(result) => return Ok((*result)?),
            Step::Perform(orders) => {
                for order in orders {
                    let id = order.id;
                    let told = if run.is_guess(id) { told.held() } else { told.clone() };
                    if run.is_guess(id) {
                        guess = Some((id, told.clone()));
                    }
                    let outcome = performer.perform(order, run.deadline(), told);
                    open.push(Performing { id, outcome: Box::pin(outcome) });
                }
            }
            Step::Wait if open.is_empty() => return Err(DriveError::Stuck),
            Step::Wait => {
                let first = poll_fn(|cx| match first_arrived(&mut open, &told, cx) {
                    Poll::Ready(arrived) => Poll::Ready(arrived),
                    Poll::Pending => {
                        over = over || deadline.as_mut().poll(cx).is_ready();
                        if over { Poll::Ready(Arrived::Late) } else { Poll::Pending }
                    }
                });
                let arrived = first.await;
                for text in told.take() {
                    broken(tell(Event::DraftDelta { text }))?;
                }
                // What is open leaves the list with its outcome, so nothing is resolved twice.
                let mut resolve = |id, outcome| _ = run.resolve(id, outcome, host.now());
                match arrived {
                    Arrived::Outcome(id, outcome) => resolve(id, outcome),
                    Arrived::Text => {}
                    // Without an outcome in time, what is open has none.
                    Arrived::Late => open.drain(..).for_each(|late| resolve(late.id, given_up())),
                }
            }
        }
    }
}

/// An effect under way.
struct Performing<'a> {
    id: EffectId,
    outcome: Pin<Box<dyn Future<Output = Outcome> + 'a>>,
}

/// What a run waited for.
enum Arrived {
    Outcome(EffectId, Outcome),
    Text,
    Late,
}

/// The first outcome there is, or text to tell. A run has a handful of effects open at the most, so each is asked at
/// every wake.
fn first_arrived(open: &mut Vec<Performing<'_>>, told: &Told, cx: &mut Context<'_>) -> Poll<Arrived> {
    told.wake_at_text(cx);
    for at in 0..open.len() {
        if let Poll::Ready(outcome) = open[at].outcome.as_mut().poll(cx) {
            return Poll::Ready(Arrived::Outcome(open.swap_remove(at).id, outcome));
        }
    }
    if told.is_empty() { Poll::Pending } else { Poll::Ready(Arrived::Text) }
}

fn given_up() -> Outcome {
    Outcome::without_tokens(Reply::Failed(Failure::Deadline), 1)
}

fn broken(flow: ControlFlow<()>) -> Result<(), DriveError> {
    if flow.is_break() { Err(DriveError::Cancelled) } else { Ok(()) }
}

/// The text of the draft that is being written; clones share it.
#[derive(Debug, Clone, Default)]
pub struct Told {
    text: Rc<RefCell<Text>>,
    /// Text that may turn out not to be wanted, until that is known.
    held: Option<Rc<RefCell<Option<Vec<String>>>>>,
}

#[derive(Debug, Default)]
struct Text {
    pieces: Vec<String>,
    waker: Option<Waker>,
}

impl Told {
    /// Adds to it.
    pub fn push(&self, text: String) {
        if let Some(held) = &self.held
            && let Some(pieces) = held.borrow_mut().as_mut()
        {
            pieces.push(text);
            return;
        }
        let mut shared = self.text.borrow_mut();
        shared.pieces.push(text);
        if let Some(waker) = shared.waker.take() {
            drop(shared);
            waker.wake();
        }
    }

    /// The same, but for text that is held back.
    fn held(&self) -> Self {
        Self { text: Rc::clone(&self.text), held: Some(Rc::new(RefCell::new(Some(Vec::new())))) }
    }

    /// Tells what was held back; from now on nothing is.
    fn release(&self) {
        let pieces = self.held.as_ref().and_then(|held| held.take());
        self.text.borrow_mut().pieces.extend(pieces.into_iter().flatten());
    }

    /// Wakes whoever drives at the next text.
    pub(crate) fn wake_at_text(&self, cx: &mut Context<'_>) {
        self.text.borrow_mut().waker = Some(cx.waker().clone());
    }

    fn is_empty(&self) -> bool {
        self.text.borrow().pieces.is_empty()
    }

    /// The text since the last call.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.text.borrow_mut().pieces)
    }
}

/// Performs with the index and the built-in solver alone.
pub struct Offline<'a> {
    /// The index.
    pub corpus: &'a RefCell<Corpus>,
}

impl Perform for Offline<'_> {
    async fn perform(&self, order: Order, _deadline: Millis, told: Told) -> Outcome {
        match order.effect {
            Effect::Retrieve { query, k } => {
                Outcome::without_tokens(searched(self.corpus.borrow().search(&query, k)), 0)
            }
            Effect::SearchWeb { .. } => {
                Outcome::without_tokens(Reply::Failed(Failure::NotConfigured { service: "web search" }), 0)
            }
            Effect::Ask(task) => outcome(builtin::solve_own(&task, &self.corpus.borrow()), &told),
        }
    }
}

impl Offline<'_> {
    /// Puts a task to the built-in solver, of a run in which others may write.
    pub(crate) fn solve(&self, task: &Task, told: &Told) -> Outcome {
        outcome(builtin::solve(task, &self.corpus.borrow()), told)
    }
}

fn outcome(reply: TaskReply, told: &Told) -> Outcome {
    if let TaskReply::Draft(draft) = &reply {
        told.push(draft.text.clone());
    }
    Outcome::without_tokens(Reply::Task(reply), 1)
}

/// What a search of the index brought.
pub(crate) fn searched(found: Result<Vec<Hit>, IndexError>) -> Reply {
    let failed = |error: IndexError| Failure::Service {
        service: "index",
        code: "index",
        detail: error.to_string(),
        retry_after: None,
    };
    found.map_or_else(|e| Reply::Failed(failed(e)), Reply::Hits)
}
