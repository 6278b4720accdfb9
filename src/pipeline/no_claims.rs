//! In place of `claims` where nobody writes but the built-in solver: its drafts are quotations, no strategy
//! checks them claim by claim, and nothing of that is linked.
#![allow(clippy::unused_async, dead_code, reason = "the functions are those of the other file")]

use std::convert::Infallible;

use crate::document::Passage;
use crate::pipeline::budget::Stop;
use crate::pipeline::record::Record;
use crate::pipeline::run::Path;
use crate::pipeline::strategy::Strategy;
use crate::pipeline::task::Draft;
use crate::pipeline::verdict::{Support, Verdict};

/// There is none.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CheckedClaim {
    pub(crate) text: String,
    pub(crate) support: Support,
    never: Infallible,
}

impl CheckedClaim {
    pub(crate) fn fails(&self) -> bool {
        match self.never {}
    }
}

pub(crate) enum Mended {
    Draft(Draft),
    Trimmed,
    Not,
}

pub(crate) fn support(_: &[CheckedClaim]) -> Support {
    Support::Unknown
}

pub(crate) async fn check(
    _: &Path,
    _: Option<&str>,
    _: &str,
    _: &[Passage],
    _: &[CheckedClaim],
) -> Result<(Vec<CheckedClaim>, Verdict), Stop> {
    Ok((Vec::new(), Verdict::Unknown))
}

pub(crate) async fn mend(_: &Path, _: &str, _: &Strategy, _: &mut Record) -> Result<Mended, Stop> {
    Ok(Mended::Not)
}

pub(crate) fn cited(draft: &Draft, _: &[CheckedClaim], _: &[Passage]) -> (Draft, Vec<Option<u32>>) {
    (draft.clone(), Vec::new())
}
