//! The languages answers are given in, and which of them a question is written in.
//!
//! A language is a folder of `templates/` and a line in the list below; everything else about it is read
//! from the folder. Detection counts the function words (articles, pronouns, question words,
//! prepositions) in its `words.txt`, and a few letters and endings that no other language here has. A
//! question has few words and many of them are names of code, where character statistics mislead; its
//! function words are always of its own language. Ties, and questions without any of these, count as
//! English. `tests/language.rs` measures it on labelled questions and phrases.

use std::sync::LazyLock;

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
            pub(super) fn pack(self) -> &'static Pack {
                match self { $(Self::$name => const { &pack!($code) },)+ }
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
        let mut scores = [0; Self::ALL.len()];
        for word in lower.split(|c: char| !(c.is_alphabetic() || c == '\'')).filter(|word| !word.is_empty()) {
            let of = FUNCTION_WORDS.languages_of(word);
            scores.iter_mut().zip(of).for_each(|(score, is)| *score += u32::from(is));
        }
        // `max_by_key` keeps the last of equals, so the default comes last.
        let best = Self::ALL.iter().zip(scores).rev().max_by_key(|(_, score)| *score);
        best.map(|(language, _)| *language).unwrap_or_default()
    }
}

static FUNCTION_WORDS: LazyLock<FunctionWords> = LazyLock::new(FunctionWords::new);

/// The function words of all languages by their first byte, each with its language's place in the list.
struct FunctionWords([Vec<(&'static str, usize)>; 256]);

impl FunctionWords {
    fn new() -> Self {
        let mut words = [const { Vec::new() }; 256];
        for (at, language) in Language::ALL.iter().enumerate() {
            for word in language.function_words().split_ascii_whitespace() {
                words[usize::from(word.as_bytes()[0])].push((word, at));
            }
        }
        Self(words)
    }

    /// Of which languages a word is.
    fn languages_of(&self, word: &str) -> [bool; Language::ALL.len()] {
        let mut of = [false; Language::ALL.len()];
        for (known, at) in &self.0[usize::from(word.as_bytes()[0])] {
            of[*at] |= *known == word || (known.ends_with('\'') && word.starts_with(known));
        }
        for (known, at) in &self.0[usize::from(b'*')] {
            let part = &known.as_bytes()[1..];
            of[*at] = of[*at] || word.as_bytes().windows(part.len()).any(|piece| piece == part);
        }
        of
    }
}
