//! Where a quotation stands in its source.
//!
//! A model seldom copies to the byte: it straightens quotation marks, joins what a line break divides
//! and drops emphasis. What it may not do is change a word, a number or a sign, or begin inside one.

use crate::characters::{Class, class, folded};
use crate::document::Span;

/// Text as it is compared: folded letters (see [`crate::characters`]), one blank for any white space,
/// straight quotation marks, no emphasis, no soft hyphens, no words divided at a line's end.
#[derive(Debug, Default)]
struct Normalized {
    text: String,
    /// For each byte of `text` where the character it comes from begins and ends.
    origins: Vec<Span>,
}

impl Normalized {
    fn of(source: &str) -> Self {
        let mut normal = Self::default();
        let mut rest = source.char_indices().peekable();
        while let Some((at, c)) = rest.next() {
            let span = Span { start: at, end: at + c.len_utf8() };
            let (before, after) = (&source[..at], &source[span.end..]);
            if c == '-' && is_divided(before, after) {
                while rest.next_if(|(_, c)| c.is_whitespace()).is_some() {}
            } else if class(c) == Class::Mark {
                // It belongs to the letter before it.
                if let Some(last) = normal.origins.last_mut() {
                    last.end = span.end;
                }
            } else if !is_unseen(c, before, after) {
                normal.push(c, span);
            }
        }
        normal
    }

    fn push(&mut self, c: char, span: Span) {
        let before = self.text.len();
        match c {
            _ if c.is_whitespace() => {
                if !self.text.is_empty() && !self.text.ends_with(' ') {
                    self.text.push(' ');
                }
            }
            '‘' | '’' | '‚' | '‛' => self.text.push('\''),
            '“' | '”' | '„' | '‟' | '«' | '»' => self.text.push('"'),
            '‐' | '‑' | '‒' | '–' | '—' | '−' => self.text.push('-'),
            '…' => self.text.push_str("..."),
            _ => self.text.extend(folded(c)),
        }
        self.origins.resize(self.origins.len() + self.text.len() - before, span);
    }
}

/// A hyphen at the end of a line, in the middle of a word.
fn is_divided(before: &str, after: &str) -> bool {
    let next = after.trim_start_matches([' ', '\t', '\r']).strip_prefix('\n').map(str::trim_start);
    before.ends_with(char::is_alphabetic) && next.is_some_and(|next| next.starts_with(char::is_lowercase))
}

/// What a reader does not see: formatting characters, and the marks of emphasis and of code, unless
/// they stand between two words or numbers, as `2*3`.
fn is_unseen(c: char, before: &str, after: &str) -> bool {
    let joins = before.ends_with(char::is_alphanumeric) && after.starts_with(char::is_alphanumeric);
    match c {
        '*' | '`' => !joins,
        _ => class(c) == Class::Dropped && !c.is_whitespace(),
    }
}

/// Where the quotation stands in the text, first match first; `None` when it does not, when it has no
/// word, or when it begins or ends inside a word or a number.
pub fn find(quote: &str, text: &str) -> Option<Span> {
    let (quote, text) = (Normalized::of(quote), Normalized::of(text));
    let quote = quote.text.trim_end();
    if !quote.contains(char::is_alphanumeric) {
        return None;
    }
    let whole = |at: &usize| is_apart(&text.text[..*at], quote, &text.text[at + quote.len()..]);
    let at = text.text.match_indices(quote).map(|(at, _)| at).find(whole)?;
    Some(Span { start: text.origins[at].start, end: text.origins[at + quote.len() - 1].end })
}

/// Whether two texts read the same.
pub fn reads_as(one: &str, other: &str) -> bool {
    Normalized::of(one).text.trim_end() == Normalized::of(other).text.trim_end()
}

/// Whether a match takes in whole words and numbers, the sign of a number and its decimals included.
fn is_apart(before: &str, found: &str, after: &str) -> bool {
    let (first, last) = (found.chars().next(), found.chars().next_back());
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let is_digit = |c: char| c.is_numeric();
    let joins =
        |a: Option<char>, b: Option<char>, both: &dyn Fn(char) -> bool| a.is_some_and(both) && b.is_some_and(both);
    let (left, right) = (before.chars().next_back(), after.chars().next());
    // `1` in `.1`, `1.1` and `-1`; `1` in `1.1` and `1,000`.
    let signed = before.ends_with(['-', '.', ',', '+']) && first.is_some_and(is_digit);
    let mut beyond = after.chars();
    let goes_on = last.is_some_and(is_digit)
        && beyond.next().is_some_and(|c| ".,".contains(c))
        && beyond.next().is_some_and(is_digit);
    !joins(left, first, &is_word) && !joins(last, right, &is_word) && !signed && !goes_on
}
