//! Performs the effects of a run over a [`Host`]: everything that is open at once, deadlines,
//! cancellation. The only asynchronous code that all hosts share.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::ops::ControlFlow;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use crate::corpus::Corpus;
use crate::host::Host;
use crate::index::IndexError;
use crate::pipeline::answer::{Answer, RunError};
use crate::pipeline::run::{Effect, EffectId, Order, Outcome, Reply, Run, Step};
use crate::pipeline::task::{Failure, TaskReply};
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

/// Drives a run to its end, telling each event as it happens; `tell` may break it off.
///
/// Dropping the future cancels the run and everything it has under way.
pub async fn drive<H: Host>(
    mut run: Run,
    host: &H,
    corpus: &RefCell<Corpus>,
    mut tell: impl FnMut(Event) -> ControlFlow<()>,
) -> Result<Answer, DriveError> {
    let mut open = Vec::new();
    loop {
        let step = run.next_step();
        for event in run.take_events() {
            broken(tell(event))?;
        }
        match step {
            Step::Done(result) => return Ok((*result)?),
            Step::Perform(orders) => open.extend(orders.into_iter().map(|order| Performing::new(corpus, order))),
            Step::Wait if open.is_empty() => return Err(DriveError::Stuck),
            Step::Wait => {
                let left = run.deadline().saturating_sub(host.now());
                let mut deadline = pin!(host.sleep(left));
                let first = poll_fn(|cx| match first_outcome(&mut open, cx) {
                    Poll::Ready(arrived) => Poll::Ready(Some(arrived)),
                    Poll::Pending => deadline.as_mut().poll(cx).map(|()| None),
                });
                // Without an outcome in time, what is open has none.
                let arrived = match first.await {
                    Some(arrived) => vec![arrived],
                    None => open.drain(..).map(|performing| (performing.id, given_up())).collect(),
                };
                for (id, outcome) in arrived {
                    if let Reply::Task(TaskReply::Draft(draft)) = &outcome.reply {
                        broken(tell(Event::DraftDelta { text: draft.text.clone() }))?;
                    }
                    // What is open leaves the list with its outcome, so nothing is resolved twice.
                    let _ = run.resolve(id, outcome, host.now());
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

impl<'a> Performing<'a> {
    fn new(corpus: &'a RefCell<Corpus>, order: Order) -> Self {
        Self { id: order.id, outcome: Box::pin(async move { perform(corpus, order.effect) }) }
    }
}

/// The first outcome there is. A run has a handful of effects open at the most, so each is asked at
/// every wake.
fn first_outcome(open: &mut Vec<Performing<'_>>, cx: &mut Context<'_>) -> Poll<(EffectId, Outcome)> {
    for at in 0..open.len() {
        if let Poll::Ready(outcome) = open[at].outcome.as_mut().poll(cx) {
            return Poll::Ready((open.swap_remove(at).id, outcome));
        }
    }
    Poll::Pending
}

fn broken(flow: ControlFlow<()>) -> Result<(), DriveError> {
    if flow.is_break() { Err(DriveError::Cancelled) } else { Ok(()) }
}

fn given_up() -> Outcome {
    Outcome { reply: Reply::Failed(Failure::Deadline), called: 1 }
}

fn perform(corpus: &RefCell<Corpus>, effect: Effect) -> Outcome {
    match effect {
        Effect::Retrieve { query, k } => {
            let failed = |error: IndexError| Failure::Service {
                service: "index",
                code: "index",
                detail: error.to_string(),
                retry_after: None,
            };
            let reply = corpus.borrow().search(&query, k).map_or_else(|e| Reply::Failed(failed(e)), Reply::Hits);
            Outcome { reply, called: 1 }
        }
        Effect::SearchWeb { .. } => {
            Outcome { reply: Reply::Failed(Failure::NotConfigured { service: "web search" }), called: 0 }
        }
        Effect::Ask(task) => Outcome { reply: Reply::Task(builtin::solve(&task, &corpus.borrow())), called: 1 },
    }
}
