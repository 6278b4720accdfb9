//! Where sentences end.
//!
//! After `.`, `!` or `?` with white space behind it, after a full-width terminator, and at a line feed;
//! not before a lower-case letter, and not where documentation puts a full stop in the middle of a
//! sentence: after `e.g.`, after the number of a step. These are the boundaries of UAX #29 that a
//! reader of prose would name, without its tables. Works on a *mask*: text in which markup is replaced
//! byte for byte, so that offsets in the mask are offsets in the source.

use std::ops::Range;

/// What closes a quotation or a bracket, and the filler for inline markup.
const CLOSERS: [char; 14] = [')', ']', '}', '"', '\'', '”', '’', '»', '」', '』', '）', '】', '》', '*'];
const OPENERS: [char; 9] = ['(', '[', '{', '"', '\'', '“', '‘', '«', ')'];
/// Terminators that no space has to follow.
const FULL_WIDTH: [char; 5] = ['。', '！', '？', '｡', '．'];
/// What goes on after a terminator: the sentence does.
const CONTINUED: [char; 7] = [',', ';', ':', '-', '–', '—', '、'];

/// Abbreviations that are followed by what they introduce. `etc.` is none of them: before a
/// capital it ends the sentence, and elsewhere the standard rules do not break.
const ABBREVIATIONS: [&str; 18] = [
    "vs", "cf", "fig", "approx", "resp", "incl", "excl", "esp", "ca", "viz", "sec", "ver", "dr", "mr", "mrs", "ms",
    "prof", "st",
];

/// The sentences of a mask, in order, without the white space around them.
pub(super) fn sentences(mask: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, c) in mask.char_indices() {
        let Some(end) = boundary(mask, at, c) else { continue };
        if end == mask.len() || is_boundary(&mask[start..end]) {
            found.push(trimmed(mask, start..end));
            start = end;
        }
    }
    let rest = trimmed(mask, start..mask.len());
    if !rest.is_empty() {
        found.push(rest);
    }
    found
}

/// Where the next sentence would begin if `c`, which stands at `at`, ends one.
fn boundary(mask: &str, at: usize, c: char) -> Option<usize> {
    if c == '\n' {
        return Some(at + 1);
    }
    let full_width = FULL_WIDTH.contains(&c);
    // Looking ahead from any other character would take quadratic time.
    if !full_width && !matches!(c, '.' | '!' | '?' | '…') {
        return None;
    }
    let closed = mask[at + c.len_utf8()..].trim_start_matches(CLOSERS);
    // A line feed behind it ends the sentence itself.
    let next = closed.trim_start_matches(|c: char| c.is_whitespace() && c != '\n');
    let (spaced, begins) = (next.len() < closed.len(), next.chars().next());
    let goes_on =
        begins.is_some_and(|next| next == '\n' || CONTINUED.contains(&next) || (c == '.' && next.is_lowercase()));
    ((spaced || full_width) && !goes_on).then(|| mask.len() - next.len())
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
    let token = body.rsplit(char::is_whitespace).next().unwrap_or_default();
    let before = body[..body.len() - token.len()].trim_end();
    let token = token.trim_start_matches(OPENERS);
    !is_abbreviation(token) && !is_step_number(token, before)
}

/// `token` is a word without the full stop after it.
fn is_abbreviation(token: &str) -> bool {
    let initials = token.split('.');
    let dotted = token.contains('.') && initials.clone().all(|part| part.chars().count() == 1);
    let letters = initials.flat_map(str::chars).all(char::is_alphabetic);
    (dotted && letters) || ABBREVIATIONS.iter().any(|known| known.eq_ignore_ascii_case(token))
}

/// Whether `1.` is the number of the step that follows, not the end of what stands before it.
fn is_step_number(token: &str, before: &str) -> bool {
    let is_number = (1..=2).contains(&token.len()) && token.bytes().all(|byte| byte.is_ascii_digit());
    is_number && (before.is_empty() || before.ends_with(':'))
}
