//! The languages answers are given in, and which of them a question is written in.
//!
//! A language is a folder of `templates/` and a line in the list below; everything else about it is read
//! from the folder. Detection counts the function words (articles, pronouns, question words,
//! prepositions) in its `words.txt`, and a few letters and endings that no other language here has. A
//! question has few words and many of them are names of code, where character statistics mislead; its
//! function words are always of its own language. Ties, and questions without any of these, count as
//! English. `tests/language.rs` measures it on labelled questions and phrases.

use serde::{Deserialize, Serialize};

use crate::characters::lower_case;
use crate::prompt::pack::{Pack, pack};

macro_rules! languages {
    ($($(#[$attribute:meta])+ $name:ident = $code:literal,)+) => {
        /// A language with a prompt pack.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[cfg_attr(test, derive(ts_rs::TS))]
        pub enum Language {
            $($(#[$attribute])+ $name,)+
        }

        impl Language {
            /// Every language; the first is the default.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// The ISO 639-1 code.
            pub fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)+ }
            }

            /// Its prompts.
            pub(super) fn pack(self) -> Pack {
                match self { $(Self::$name => pack!($code),)+ }
            }

            /// Why there is no answer: lines of a reason's code and its sentence.
            pub(super) fn abstentions(self) -> &'static str {
                match self { $(Self::$name => include_str!(concat!("templates/", $code, "/abstained.txt")),)+ }
            }

            /// What a model that only continues text is told when it is to choose an answer.
            pub(super) fn choosing(self) -> &'static str {
                match self { $(Self::$name => include_str!(concat!("templates/", $code, "/choose.txt")),)+ }
            }

            /// Words that tell it from the others. One that ends in an apostrophe stands for all that
            /// begin so, one that begins with an asterisk for all that hold the rest.
            fn function_words(self) -> &'static str {
                match self { $(Self::$name => include_str!(concat!("templates/", $code, "/words.txt")),)+ }
            }
        }
    };
}

languages! {
    /// English.
    #[default]
    En = "en",
    /// French.
    Fr = "fr",
    /// German.
    De = "de",
    /// Spanish.
    Es = "es",
}

impl Language {
    /// The language that most of the text's function words are of.
    pub fn detect(text: &str) -> Self {
        let lower = lower_case(text).replace('’', "'");
        let words = lower.split(|c: char| !(c.is_alphabetic() || c == '\'')).filter(|word| !word.is_empty());
        let words: Vec<&str> = words.collect();
        // Most known words begin like no word of the text, and are not compared with any.
        let mut begins = [false; 256];
        for first in words.iter().map(|word| word.as_bytes()[0]).chain([b'*']) {
            begins[usize::from(first)] = true;
        }
        let score = |language: &Self| {
            let mut is_known = vec![false; words.len()];
            let known = language.function_words().split_ascii_whitespace();
            for known in known.filter(|known| begins[usize::from(known.as_bytes()[0])]) {
                let matches: &dyn Fn(&str) -> bool = match known.as_bytes() {
                    [b'*', ..] => &|word| word.contains(&known[1..]),
                    [.., b'\''] => &|word| word.starts_with(known),
                    _ => &|word| word == known,
                };
                words.iter().zip(&mut is_known).for_each(|(word, is)| *is = *is || matches(word));
            }
            is_known.into_iter().filter(|&is| is).count()
        };
        // `max_by_key` keeps the last of equals, so the default comes last.
        Self::ALL.iter().rev().copied().max_by_key(score).unwrap_or_default()
    }
}
