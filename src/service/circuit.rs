//! Whether a service is asked at all: one that does not know the key, or whose account is spent, is not asked
//! again with every passage.

use std::cell::Cell;

use crate::pipeline::budget::Millis;
use crate::provider::error::ProviderError;

/// How long a service is left alone that does not take the key, or the account: either can be mended there.
const LEFT_ALONE: Millis = 60_000;

/// What a service was last refused for, and until when that holds.
#[derive(Debug, Default)]
pub(super) struct Circuit(Cell<Option<(ProviderError, Millis)>>);

impl Circuit {
    /// Why it is not to be asked now.
    pub(super) fn refusal(&self, now: Millis) -> Option<ProviderError> {
        self.0.get().filter(|(_, until)| now < *until).map(|(error, _)| error)
    }

    /// Takes in how a call ended.
    pub(super) fn note(&self, error: ProviderError, now: Millis) {
        if matches!(error, ProviderError::Unauthorized | ProviderError::QuotaExhausted) {
            self.0.set(Some((error, now.saturating_add(LEFT_ALONE))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_is_not_taken_is_spared_for_a_minute_and_then_tried_again() {
        for error in [ProviderError::Unauthorized, ProviderError::QuotaExhausted] {
            let circuit = Circuit::default();
            circuit.note(ProviderError::Overloaded, 0);
            assert_eq!(circuit.refusal(0), None, "what passes is no reason");
            circuit.note(error, 1_000);
            assert_eq!([60_999, 61_000].map(|now| circuit.refusal(now)), [Some(error), None]);
        }
    }
}
