//! Whether a service is asked at all: one that does not know the key, or whose account is spent, is not asked
//! again with every passage.

use std::cell::Cell;

use crate::pipeline::budget::Millis;
use crate::provider::error::ProviderError;

/// How long an account without money is left alone.
const SPENT: Millis = 60_000;

/// What a service was last refused for, and until when that holds.
#[derive(Debug, Default)]
pub(super) struct Circuit(Cell<Option<(ProviderError, Millis)>>);

impl Circuit {
    /// Why it is not to be asked now.
    pub(super) fn refusal(&self, now: Millis) -> Option<ProviderError> {
        self.0.get().filter(|(_, until)| now < *until).map(|(error, _)| error)
    }

    /// Takes in how a call ended. A key stays wrong until there are other settings.
    pub(super) fn note(&self, error: ProviderError, now: Millis) {
        match error {
            ProviderError::Unauthorized => self.0.set(Some((error, Millis::MAX))),
            ProviderError::QuotaExhausted => self.0.set(Some((error, now.saturating_add(SPENT)))),
            _ => (),
        }
    }
}
