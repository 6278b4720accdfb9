//! Performs the effects of a run over a [`Host`]: everything that is open at once, deadlines,
//! cancellation. The only asynchronous code that all hosts share.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::pin::pin;

use futures_util::future::{Either, select};
use futures_util::stream::{FuturesUnordered, StreamExt};

use crate::corpus::Corpus;
use crate::host::Host;
use crate::pipeline::answer::{Answer, RunError};
use crate::pipeline::run::{Effect, EffectId, Order, Outcome, Reply, Run, Step};
use crate::pipeline::task::{Failure, TaskReply};
use crate::pipeline::trace::Event;
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
    let mut performing = FuturesUnordered::new();
    loop {
        let step = run.next_step();
        for event in run.take_events() {
            broken(tell(event))?;
        }
        match step {
            Step::Done(result) => return Ok((*result)?),
            Step::Perform(orders) => {
                for order in orders {
                    open.push(order.id);
                    performing.push(perform(corpus, order));
                }
            }
            Step::Wait => {
                let left = run.deadline().saturating_sub(host.now());
                let deadline = pin!(host.sleep(left));
                let arrived = match select(performing.next(), deadline).await {
                    Either::Left((Some(arrived), _)) => vec![arrived],
                    // Nothing under way, or no time left for it: what is open has no reply.
                    Either::Left((None, _)) | Either::Right(_) => give_up(&open),
                };
                for (id, outcome) in arrived {
                    let Some(at) = open.iter().position(|&other| other == id) else { continue };
                    open.swap_remove(at);
                    if let Reply::Task(TaskReply::Draft(draft)) = &outcome.reply {
                        broken(tell(Event::DraftDelta { text: draft.text.clone() }))?;
                    }
                    // Each id leaves `open` once, so it cannot be resolved twice.
                    let _ = run.resolve(id, outcome, host.now());
                }
            }
        }
    }
}

fn broken(flow: ControlFlow<()>) -> Result<(), DriveError> {
    if flow.is_break() { Err(DriveError::Cancelled) } else { Ok(()) }
}

fn give_up(open: &[EffectId]) -> Vec<(EffectId, Outcome)> {
    open.iter().map(|&id| (id, Outcome { reply: Reply::Failed(Failure::Deadline), called: 1 })).collect()
}

async fn perform(corpus: &RefCell<Corpus>, order: Order) -> (EffectId, Outcome) {
    let (reply, called) = match order.effect {
        Effect::Retrieve { query, k } => match corpus.borrow().search(&query, k) {
            Ok(hits) => (Reply::Hits(hits), 1),
            Err(error) => (Reply::Failed(Failure::Service { service: "index", detail: error.to_string() }), 1),
        },
        Effect::SearchWeb { .. } => (Reply::Failed(Failure::NotConfigured { service: "web search" }), 0),
        Effect::Ask(task) => (Reply::Task(builtin::solve(&task, &corpus.borrow())), 1),
    };
    (order.id, Outcome { reply, called })
}
