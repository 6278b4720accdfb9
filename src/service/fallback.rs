//! Who is asked when a solver fails: the next of its role, within what the task may call. Each of those that
//! are still to come keeps a call, so that repetitions of the first do not use up the last one's.
//!
//! What a model declined, or a filter withheld, is not put to another model; and a request that is too long
//! is made shorter by the path. A draft of which a part was shown is a draft, whatever became of it.

use super::{Performer, Platform, Role};
use crate::driver::Told;
use crate::pipeline::budget::{Millis, Tokens};
use crate::pipeline::run::{Outcome, Reply};
use crate::pipeline::task::{Failure, Task};
use crate::provider::error::ProviderError;

impl<N: Platform> Performer<'_, N> {
    /// Puts one task to the solvers of its role, until one replies.
    pub async fn ask(&self, task: &Task, may_call: u32, deadline: Millis, told: &Told) -> Outcome {
        let solvers = self.services.all_of(Role::of(task));
        let (mut called, mut tokens) = (0, Some(Tokens::default()));
        for (at, solver) in solvers.iter().enumerate() {
            let others = (solvers.len() - 1 - at) as u32;
            let left = may_call - called;
            let own = left.saturating_sub(others).max(1);
            let outcome = self.put_to(solver, task, own, deadline, told).await;
            called += outcome.called;
            tokens = tokens.zip(outcome.tokens).map(|(so_far, more)| so_far.plus(more));
            if others == 0 || called >= may_call || !is_for_another(&outcome.reply) {
                return Outcome { called, tokens, ..outcome };
            }
        }
        // No role is without a solver.
        Outcome::without_tokens(Reply::Failed(Failure::NotConfigured { service: super::MODEL }), called)
    }
}

/// Whether another model may succeed where this one failed.
fn is_for_another(reply: &Reply) -> bool {
    let Reply::Failed(Failure::Service { code, .. }) = reply else { return false };
    ![ProviderError::Refused.code(), ProviderError::ContentFiltered.code()].contains(code)
}
