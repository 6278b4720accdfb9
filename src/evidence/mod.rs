//! What a draft's words rest on, found out without a model: which claims it makes, whether a quotation
//! stands in a source, and which numbers, names and quoted words no source has.

mod claim;
mod literals;
mod quote;
mod strip;

pub use claim::{Claim, claims, without_marks};
pub use literals::{Literal, Unsourced, unsourced};
pub use quote::{find, reads_as};
pub use strip::{refined, strips};
