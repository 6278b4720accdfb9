//! Stems that were found before: of the words of a text most are among a few thousand.
//!
//! A table of a fixed size in which a word has one place, by its hash; another word of the same place takes
//! it over. What it holds changes how long a stem takes and never what it is.

use std::cell::RefCell;

use rust_stemmers::Stemmer;

use super::words::Stemming;

/// A power of two.
const PLACES: usize = 1 << 13;

/// Longer words are rare, and identifiers.
const LONGEST: usize = 24;

struct Known {
    stemming: Stemming,
    word: Box<str>,
    stem: Box<str>,
}

thread_local! {
    static KNOWN: RefCell<Vec<Option<Known>>> = const { RefCell::new(Vec::new()) };
}

/// The stem of a word in lower case.
pub(super) fn stem(stemmer: &Stemmer, stemming: Stemming, word: &str) -> String {
    if word.len() > LONGEST {
        return stemmer.stem(word).into_owned();
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
            return known.stem.to_string();
        }
        let stem = stemmer.stem(word).into_owned();
        *place = Some(Known { stemming, word: word.into(), stem: stem.as_str().into() });
        stem
    })
}

/// FNV-1a; its lowest bits are the best mixed.
fn hash(word: &str) -> u32 {
    word.bytes().fold(0x811C_9DC5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use rust_stemmers::Algorithm;

    use super::*;

    #[test]
    fn a_stem_is_the_same_the_second_time_and_in_another_language() {
        let (english, german) = (Stemmer::create(Algorithm::English), Stemmer::create(Algorithm::German));
        let words: Vec<String> = (0..3 * PLACES).map(|i| format!("running{i:x}ings")).collect();
        for _ in 0..2 {
            for word in words.iter().map(String::as_str).chain(["limits", "häuser", "authentication"]) {
                assert_eq!(stem(&english, Stemming::En, word), english.stem(word));
                assert_eq!(stem(&german, Stemming::De, word), german.stem(word));
            }
        }
    }
}
