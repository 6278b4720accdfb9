//! In place of `self_rag` where there is no model to ask: the strategy is refused, and nothing of its
//! path is linked.
#![allow(clippy::needless_pass_by_value, clippy::unused_self, reason = "the functions are those of the other file")]

use std::convert::Infallible;

use serde::de::{Deserialize, Deserializer, Error};

use crate::pipeline::answer::{Answer, RunError};
use crate::pipeline::run::Path;
use crate::pipeline::strategy::{Strategy, StrategyError};

/// There is none.
#[derive(Debug, Clone, PartialEq)]
pub struct SelfRag(Infallible);

/// There are none.
#[derive(Debug, Clone, PartialEq)]
pub struct SelfRagOptions(Infallible);

impl<'de> Deserialize<'de> for SelfRagOptions {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(D::Error::custom(StrategyError::NeedsModel))
    }
}

impl SelfRag {
    /// What a preset would ask for.
    pub const K: usize = 3;

    pub(crate) fn preset() -> Result<Self, StrategyError> {
        Err(StrategyError::NeedsModel)
    }

    pub(crate) fn most_calls(&self, _: usize) -> MostCalls {
        match self.0 {}
    }

    pub(crate) fn with(self, options: SelfRagOptions) -> Result<Self, StrategyError> {
        match options.0 {}
    }
}

/// There is no call to count.
pub struct MostCalls {
    pub(crate) searches: usize,
    pub(crate) segments: usize,
    pub(crate) reflections_of_a_chat_model: usize,
}

#[allow(clippy::unused_async, reason = "the path of the same name waits")]
pub(crate) async fn answer(_: &Path, _: &str, _: &Strategy, options: &SelfRag) -> Result<Answer, RunError> {
    match options.0 {}
}
