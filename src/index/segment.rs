//! Where the words of a text are, by Unicode's UAX #29.
//!
//! Lines of ASCII, which is most of any documentation, are cut by the few of its rules that concern them, at a
//! fraction of the time; no word goes beyond a line's end. The result is the same by a test.

use unicode_segmentation::UnicodeSegmentation;

/// The words of a text, each with its place, in order.
pub(super) fn word_indices(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    text.split_inclusive('\n').flat_map(move |line| {
        let at = start;
        start += line.len();
        let (ascii, other) = if line.is_ascii() {
            (Some(Ascii { line, at: 0 }), None)
        } else {
            (None, Some(line.unicode_word_indices()))
        };
        let words = ascii.into_iter().flatten().chain(other.into_iter().flatten());
        words.map(move |(offset, word)| (at + offset, word))
    })
}

struct Ascii<'a> {
    line: &'a str,
    at: usize,
}

impl<'a> Iterator for Ascii<'a> {
    type Item = (usize, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.line.as_bytes();
        let is_letter = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphabetic);
        let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        let is_word = |at: usize| bytes.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        while self.at < bytes.len() {
            let start = self.at;
            let mut end = start;
            while is_word(end) {
                end += 1;
                let goes_on = match bytes.get(end) {
                    Some(b':') => is_letter(end - 1) && is_letter(end + 1),
                    Some(b'.' | b'\'') => {
                        is_letter(end - 1) && is_letter(end + 1) || is_digit(end - 1) && is_digit(end + 1)
                    }
                    Some(b',' | b';') => is_digit(end - 1) && is_digit(end + 1),
                    _ => false,
                };
                end += usize::from(goes_on);
            }
            self.at = end.max(start + 1);
            let word = &self.line[start..end];
            if word.bytes().any(|byte| byte.is_ascii_alphanumeric()) {
                return Some((start, word));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn words_are_those_of_the_standard(text in "([a-zA-Z0-9_.:;,'\"\\-/ \n]|\\PC|[ -~]){0,60}") {
            let found: Vec<_> = word_indices(&text).collect();
            let expected: Vec<_> = text.unicode_word_indices().collect();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn words_of_ascii_are_those_of_the_standard(text in "[\\x00-\\x7f]{0,60}") {
            let found: Vec<_> = word_indices(&text).collect();
            let expected: Vec<_> = text.unicode_word_indices().collect();
            prop_assert_eq!(found, expected);
        }
    }
}
