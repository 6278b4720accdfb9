//! Fences around text that nobody here wrote: a marker that cannot occur in what it encloses, so that
//! the text cannot end its own fence and speak as if it were the prompt.

use std::fmt::Write;

use xxhash_rust::xxh64::xxh64;

/// The fence of one prompt, as its marker: the line before and after a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fence(String);

/// How many digits are in a marker: its core.
const DIGITS: usize = 16;

impl Fence {
    /// A fence whose marker occurs in none of the texts. It depends on them alone, so a run replays
    /// alike; whoever writes a text cannot know the marker without knowing all the others.
    pub(super) fn around(texts: &[String]) -> Self {
        let seed = texts.iter().fold(0, |seed, text| xxh64(text.as_bytes(), seed));
        let mut attempt = 0_u64;
        loop {
            let mut marker = String::with_capacity("<<".len() + DIGITS + ">>".len());
            // Writing to a string cannot fail.
            _ = write!(marker, "<<{:01$x}>>", xxh64(&attempt.to_le_bytes(), seed), DIGITS);
            let fence = Self(marker);
            if !texts.iter().any(|text| fence.is_in(text)) {
                return fence;
            }
            attempt += 1;
        }
    }

    /// The line before and after a text.
    pub(super) fn marker(&self) -> &str {
        &self.0
    }

    /// The marker without its brackets, which a copy may lack.
    fn core(&self) -> &str {
        &self.0[2..2 + DIGITS]
    }

    /// Whether a text has the marker, or its core.
    pub(super) fn is_in(&self, text: &str) -> bool {
        has_digits(text.as_bytes()) && text.contains(self.core())
    }

    /// The text between two markers, in pieces.
    pub(super) fn around_text<'a>(&'a self, text: &'a str) -> [&'a str; 5] {
        [self.marker(), "\n", text, "\n", self.marker()]
    }

    /// A text without markers, whole or with brackets missing, and without the lines that held nothing
    /// else.
    pub(super) fn strip(&self, text: &str) -> String {
        let stripped = |line: &str| {
            let (first, rest) = line.split_once(self.core())?;
            let rest = rest.split(self.core()).map(|part| part.trim_start_matches('>').trim_end_matches('<'));
            Some(rest.fold(first.trim_end_matches('<').to_owned(), |line, part| line + part))
        };
        let lines = text.split('\n').filter_map(|line| match stripped(line) {
            Some(rest) => (!rest.trim().is_empty()).then_some(rest),
            None => Some(line.to_owned()),
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// Whether so many digits stand in a row that they may be a core. Hardly any text has that, and one byte in sixteen
/// tells: no row of them lies between two of those.
fn has_digits(text: &[u8]) -> bool {
    let is_digit = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    (DIGITS - 1..text.len()).step_by(DIGITS).any(|at| {
        let before = text[..at].iter().rev().take_while(is_digit).count();
        is_digit(&&text[at]) && before + text[at..].iter().take_while(is_digit).count() >= DIGITS
    })
}

impl Default for Fence {
    fn default() -> Self {
        Self::around(&[])
    }
}
