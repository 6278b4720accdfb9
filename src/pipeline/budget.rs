//! What a run may spend, and what it has spent.

use serde::{Deserialize, Serialize};

use crate::pipeline::cost::{Setting, estimate};
use crate::pipeline::strategy::Strategy;

/// Milliseconds, of a duration or since any fixed moment; the host's clock, always an argument.
pub type Millis = u64;

/// The bounds of one run. Before each step the most that it can take is held against them.
///
/// What a draft and its checks take is kept for them from the start. So where not all fits, steps are given
/// up in this order: repetitions of calls that failed, single grades (one call grades all), second questions
/// to unsure graders, searches of the web, grades at all, later drafts, then the checks of the only draft,
/// usefulness first, then the last of its passages. What was given up is a warning `budget`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// The most calls for tasks, web searches and the query's vector, retries included. The search of
    /// the index itself is free.
    pub max_calls: u32,
    /// The most tokens that models read and write, reckoned before a call from the length of its texts and
    /// the longest reply, and counted after it as the service says.
    pub max_tokens: Option<u64>,
    /// The most that the run costs by [`Self::prices`], in their currency.
    pub max_cost: Option<f64>,
    /// What services charge; what has no price is not used where a cost is bounded.
    pub prices: Prices,
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
        Self::within(most, 60_000, retries)
    }

    /// Bounds of calls and time, and none of tokens or money.
    pub const fn within(max_calls: u32, deadline: Millis, retries: u32) -> Self {
        let prices = Prices { input: None, output: None, web_search: None, embedding: None };
        Self { max_calls, max_tokens: None, max_cost: None, prices, deadline, retries }
    }
}

/// What services charge, in any one currency. What has no price here is not taken for free.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename_all = "camelCase", optional_fields))]
pub struct Prices {
    /// For a million tokens that chat models read.
    pub input: Option<f64>,
    /// For a million tokens that they write.
    pub output: Option<f64>,
    /// For a search of the web.
    pub web_search: Option<f64>,
    /// For the vector of a query.
    pub embedding: Option<f64>,
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
    /// Nor into [`Limits::max_tokens`].
    #[error("the next step can take more tokens than are left: raise max_tokens")]
    Tokens,
    /// Nor into [`Limits::max_cost`].
    #[error("the next step can cost more than is left: raise max_cost")]
    Cost,
    /// [`Limits::deadline`] has passed.
    #[error("the time was up before the checks were done: raise the deadline")]
    Deadline,
}

impl Stop {
    /// Whether something smaller might still be done: not after the deadline.
    pub(crate) fn is_spent(self) -> bool {
        self != Self::Deadline
    }

    /// Whether a smaller request might still be made.
    pub(crate) fn is_of_size(self) -> bool {
        matches!(self, Self::Tokens | Self::Cost)
    }
}
