//! What a run may spend, and what it has spent.

use serde::{Deserialize, Serialize};

use crate::pipeline::cost::{Setting, estimate};
use crate::pipeline::strategy::Strategy;

/// Milliseconds, of a duration or since any fixed moment; the host's clock, always an argument.
pub type Millis = u64;

/// The bounds of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most calls for tasks, web searches and the query's vector, retries included. The search of
    /// the index itself is free.
    pub max_calls: u32,
    /// How long the run may take from its start.
    pub deadline: Millis,
    /// How often a driver may repeat one call that failed.
    pub retries: u32,
}

impl Limits {
    /// The bounds of a run of that strategy where nobody sets others: all the calls that it can need, a
    /// minute, and two repetitions of a call that failed.
    pub fn of(strategy: &Strategy) -> Self {
        let retries = 2;
        let most = estimate(strategy, Setting { embeds: true, web: true, scorer: false, retries }).upper.total.calls;
        Self { max_calls: most, deadline: 60_000, retries }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::of(&Strategy::default())
    }
}

/// The kinds of calls that are counted, each on its own line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// Calls for the vector of a query.
    Embed,
    /// Decisions whether to retrieve.
    Decide,
    /// Grades of passages.
    Grade,
    /// Query rewrites.
    Rewrite,
    /// Web searches.
    Web,
    /// Drafts.
    Generate,
    /// Grounding checks.
    Grounding,
    /// Usefulness checks.
    Usefulness,
    /// Segments.
    Segment,
    /// Questions on segments.
    Reflect,
}

/// How many calls of each kind were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Calls {
    /// Calls for the vector of a query.
    pub embed: u32,
    /// Searches of the index.
    pub retrieve: u32,
    /// Decisions whether to retrieve.
    pub decide: u32,
    /// Grades of passages.
    pub grade: u32,
    /// Query rewrites.
    pub rewrite: u32,
    /// Web searches.
    pub web: u32,
    /// Drafts.
    pub generate: u32,
    /// Grounding checks.
    pub grounding: u32,
    /// Usefulness checks.
    pub usefulness: u32,
    /// Segments; of `self-rag`.
    pub segment: u32,
    /// Questions put to a model that has no reflection tokens; of `self-rag`.
    pub reflect: u32,
}

/// Tokens that models read and wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Tokens {
    /// Read.
    pub input: u32,
    /// Written, reasoning included.
    pub output: u32,
}

impl Tokens {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { input: self.input.saturating_add(other.input), output: self.output.saturating_add(other.output) }
    }
}

impl Calls {
    pub(crate) fn book(&mut self, call: Call, times: u32) {
        let line = match call {
            Call::Embed => &mut self.embed,
            Call::Decide => &mut self.decide,
            Call::Grade => &mut self.grade,
            Call::Rewrite => &mut self.rewrite,
            Call::Web => &mut self.web,
            Call::Generate => &mut self.generate,
            Call::Grounding => &mut self.grounding,
            Call::Usefulness => &mut self.usefulness,
            Call::Segment => &mut self.segment,
            Call::Reflect => &mut self.reflect,
        };
        *line = line.saturating_add(times);
    }

    /// The calls that count against [`Limits::max_calls`].
    pub fn charged(&self) -> u32 {
        let tasks = [self.decide, self.grade, self.rewrite, self.generate, self.grounding, self.usefulness];
        let services = [self.embed, self.web, self.segment, self.reflect];
        tasks.into_iter().chain(services).fold(0, u32::saturating_add)
    }
}

/// Why a run ends before its path does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// The next step does not fit into [`Limits::max_calls`].
    #[error("the next step needs more calls than are left: raise max_calls")]
    Calls,
    /// [`Limits::deadline`] has passed.
    #[error("the time was up before the checks were done: raise the deadline")]
    Deadline,
}
