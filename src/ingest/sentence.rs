//! Where sentences end.
//!
//! Unicode's sentence boundaries (UAX #29), less those that documentation puts in the middle of a
//! sentence: after `e.g.`, before `.NET`, after the number of a step. Works on a *mask*: text in
//! which markup is replaced byte for byte, so that offsets in the mask are offsets in the source;
//! a line feed in it ends a sentence.

use std::cmp::Ordering;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

/// What closes a quotation or a bracket, and the filler for inline markup.
const CLOSERS: [char; 14] = [')', ']', '}', '"', '\'', '”', '’', '»', '」', '』', '）', '】', '》', '*'];
const OPENERS: [char; 9] = ['(', '[', '{', '"', '\'', '“', '‘', '«', ')'];
/// Terminators that no space has to follow.
const FULL_WIDTH: [char; 5] = ['。', '！', '？', '｡', '．'];

/// Abbreviations that are followed by what they introduce. `etc.` is none of them: before a
/// capital it ends the sentence, and elsewhere the standard rules do not break.
const ABBREVIATIONS: [&str; 18] = [
    "vs", "cf", "fig", "approx", "resp", "incl", "excl", "esp", "ca", "viz", "sec", "ver", "dr", "mr", "mrs", "ms",
    "prof", "st",
];

/// In a longer run without a letter or a full stop the boundaries are not worth their time.
const RUN_LIMIT: usize = 128;

/// The sentences of a mask, in order, without the white space around them.
pub(super) fn sentences(mask: &str) -> Vec<Range<usize>> {
    let tamed = tame(mask);
    let mut found = Vec::new();
    let mut start = 0;
    for (at, piece) in tamed.split_sentence_bound_indices() {
        let end = at + piece.len();
        if end < mask.len() && !is_boundary(&mask[start..end]) {
            continue;
        }
        found.push(trimmed(mask, start..end));
        start = end;
    }
    found
}

/// The sentences of a paragraph without markup.
pub(super) fn plain(paragraph: &str) -> Vec<Range<usize>> {
    sentences(&paragraph.replace(['\n', '\r'], " "))
}

/// A range without the white space at its ends.
pub(super) fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let slice = &text[range.clone()];
    let start = range.start + (slice.len() - slice.trim_start().len());
    start..start + slice.trim().len()
}

/// Whether a sentence may end where `sentence`, white space included, ends.
fn is_boundary(sentence: &str) -> bool {
    if sentence.ends_with('\n') {
        return true;
    }
    let spaced = sentence.ends_with(char::is_whitespace);
    let body = sentence.trim_end().trim_end_matches(CLOSERS);
    if body.ends_with(FULL_WIDTH) {
        return true;
    }
    let Some(body) = body.strip_suffix('.').filter(|_| spaced) else { return spaced };
    let token = body.rsplit(char::is_whitespace).next().unwrap_or_default().trim_start_matches(OPENERS);
    !is_abbreviation(token) && !is_step_number(sentence)
}

/// `token` is a word without the full stop after it.
fn is_abbreviation(token: &str) -> bool {
    let initials = token.split('.');
    let dotted = token.contains('.') && initials.clone().all(|part| part.chars().count() == 1);
    let letters = initials.flat_map(str::chars).all(char::is_alphabetic);
    (dotted && letters) || ABBREVIATIONS.iter().any(|known| known.eq_ignore_ascii_case(token))
}

/// `1.` on its own is the number of the step that follows.
fn is_step_number(sentence: &str) -> bool {
    let number = sentence.trim_start_matches(|c: char| c.is_whitespace() || OPENERS.contains(&c)).trim_end();
    number.len() <= 4 && number.strip_suffix('.').is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit()))
}

/// The mask with long runs that hold no letter and no terminator overwritten: the segmenter looks
/// ahead over such a run from each of its characters, which is quadratic in the run's length. A
/// comma keeps the boundary out of the run, a capital ends the look ahead.
fn tame(mask: &str) -> String {
    let mut out = String::with_capacity(mask.len());
    let mut run = 0;
    for c in mask.chars() {
        let ends_lookahead = c.is_lowercase()
            || c.is_uppercase()
            || matches!(c, '.' | '!' | '?' | '\n')
            || (c >= '\u{2e80}' && c.is_alphabetic());
        run = if ends_lookahead { 0 } else { run + 1 };
        match run.cmp(&RUN_LIMIT) {
            Ordering::Less => out.push(c),
            Ordering::Equal => out.extend(std::iter::repeat_n(',', c.len_utf8())),
            Ordering::Greater => out.extend(std::iter::repeat_n('X', c.len_utf8())),
        }
    }
    out
}
