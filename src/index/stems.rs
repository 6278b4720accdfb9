//! Stems that were found before: of the words of a text most are among a few thousand.
//!
//! A table of a fixed size in which a word has one place, by its hash; another word of the same place takes
//! it over. What it holds changes how long a stem takes and never what it is.

use std::cell::RefCell;

use super::words::Stemming;

/// A power of two.
const PLACES: usize = 1 << 13;

/// Longer words are rare, and identifiers.
const LONGEST: usize = 24;

struct Known {
    stemming: Stemming,
    word: Box<str>,
    /// None of a word that is no term.
    stem: Option<Box<str>>,
}

thread_local! {
    static KNOWN: RefCell<Vec<Option<Known>>> = const { RefCell::new(Vec::new()) };
}

/// What a word in lower case is as a term, by a function where it is not known: nothing, if it is none.
pub(super) fn known_or(stemming: Stemming, word: &str, term: impl FnOnce() -> Option<String>) -> Option<String> {
    if word.len() > LONGEST {
        return term();
    }
    KNOWN.with_borrow_mut(|known| {
        if known.is_empty() {
            known.resize_with(PLACES, || None);
        }
        let place = &mut known[hash(word) as usize & (PLACES - 1)];
        if let Some(known) = place
            && known.stemming == stemming
            && *known.word == *word
        {
            return known.stem.as_deref().map(str::to_owned);
        }
        let stem = term();
        *place = Some(Known { stemming, word: word.into(), stem: stem.as_deref().map(Into::into) });
        stem
    })
}

/// FNV-1a; its lowest bits are the best mixed.
fn hash(word: &str) -> u32 {
    word.bytes().fold(0x811C_9DC5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use rust_stemmers::{Algorithm, Stemmer};

    use super::*;

    #[test]
    fn a_stem_is_the_same_the_second_time_and_in_another_language() {
        let stem = |algorithm: Algorithm, word: &str| Some(Stemmer::create(algorithm).stem(word).into_owned());
        let words: Vec<String> = (0..3 * PLACES).map(|i| format!("running{i:x}ings")).collect();
        for _ in 0..2 {
            for word in words.iter().map(String::as_str).chain(["limits", "häuser", "authentication"]) {
                for (stemming, algorithm) in [(Stemming::En, Algorithm::English), (Stemming::De, Algorithm::German)] {
                    assert_eq!(known_or(stemming, word, || stem(algorithm, word)), stem(algorithm, word));
                }
                assert_eq!(known_or(Stemming::None, "the", || None), None);
            }
        }
    }
}
