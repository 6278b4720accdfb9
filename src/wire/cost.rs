//! What a run will cost, asked before it begins: the argument of `estimate`.

use serde::Deserialize;

use crate::pipeline::budget::Limits;
use crate::pipeline::cost::{Estimate, Setting, estimate};
use crate::pipeline::strategy::{Options, Strategy};
use crate::problem::Problem;

/// The argument of `estimate`: a strategy's options, and who is asked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename_all = "camelCase", optional_fields))]
pub struct EstimateRequest {
    /// The strategy's name; `countercheck` by default.
    pub strategy: Option<String>,
    /// How many passages to retrieve, 1 to 50; the strategy's default is 4.
    pub k: Option<usize>,
    /// How many drafts may follow the first, 0 to 4.
    pub max_retries: Option<u32>,
    /// Whether a model elsewhere makes the vector of the query; by default not.
    pub embed: Option<bool>,
    /// Whether the web can be searched; by default it can, where the strategy does.
    pub web: Option<bool>,
    /// Whether a scorer grades all passages with one call.
    pub scorer: Option<bool>,
    /// Whether a model grades all passages with one call in place of one each.
    pub batch: Option<bool>,
}

impl EstimateRequest {
    /// Checks every value, and counts.
    pub fn check(self) -> Result<Estimate, Problem> {
        let Self { strategy, k, max_retries, embed, web, scorer, batch } = self;
        let strategy = strategy.as_deref().map_or_else(|| Ok(Strategy::default()), Strategy::named)?;
        let mut strategy = strategy.with(Options { k, max_retries, batch, ..Options::default() })?;
        let scorer = scorer.unwrap_or(false);
        if scorer {
            strategy = strategy.in_batches();
        }
        let retries = Limits::of(&strategy).retries;
        let setting = Setting { embeds: embed.unwrap_or(false), web: web.unwrap_or(true), scorer, retries };
        Ok(estimate(&strategy, setting))
    }
}
