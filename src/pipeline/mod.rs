//! The core: everything that is decided between a question and its answer.
//!
//! A run is an ordinary `async fn` ([`answer`](self::answer)) that can await nothing but effects;
//! [`run`] polls it by hand. It names only [`crate::document`]: no network, no clock, no prompt, no
//! vendor, no JavaScript, and so it takes the same path on every host.

pub mod answer;
mod attempt;
pub mod beam;
pub mod bill;
pub mod budget;
#[cfg(any(not(feature = "browser"), feature = "models"))]
mod claims;
#[cfg(all(feature = "browser", not(feature = "models")))]
#[path = "no_claims.rs"]
mod claims;
mod context;
pub mod cost;
pub mod decision;
mod ledger;
mod outcome;
mod record;
pub mod reflection;
pub mod run;
pub mod segment;
#[cfg(any(not(feature = "browser"), feature = "models"))]
pub mod self_rag;
#[cfg(all(feature = "browser", not(feature = "models")))]
#[path = "no_self_rag.rs"]
pub mod self_rag;
pub mod strategy;
pub mod task;
pub mod trace;
pub mod verdict;
