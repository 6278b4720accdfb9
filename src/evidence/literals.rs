//! What a draft must take from its sources as it is: numbers, versions, identifiers, addresses, code
//! and quotations. One that no source has was made up, or computed.
//!
//! Decided by letters alone, so it costs no call and may precede a model's check. It finds what is new,
//! not what is wrong: a number of the sources in the wrong place is none of its findings, and neither
//! is one that they write in words (up to twelve) or with other separators of thousands.

use std::collections::BTreeSet;

use crate::document::Span;

/// What a piece of a draft is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Literal {
    /// Digits, with at most one point among them: `42`, `1,048,576`, `2.5`, the digits of `19th`.
    Number,
    /// Digits with more points or a `v` before them. `v5.1` is in a source that has `5.1.8`.
    Version,
    /// A word that no dictionary has: `bodyLimit`, `max_age`, `E0382`. Case is ignored.
    Identifier,
    /// `http://…` or `https://…`, to the letter but for a last `/`.
    Url,
    /// A word between backticks or in a code block.
    Code,
    /// Two words or more between quotation marks; case, white space and punctuation are ignored.
    Quotation,
}

/// A piece of a draft that is in none of its sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unsourced {
    /// What it is.
    pub literal: Literal,
    /// Its bytes in the draft.
    pub span: Span,
}

/// The literals of a draft that are in none of the sources, in the draft's order. Citation marks `[n]`
/// and the numbers of list items count for nothing.
pub fn unsourced(draft: &str, sources: &[impl AsRef<str>]) -> Vec<Unsourced> {
    let sources: Vec<&str> = sources.iter().map(AsRef::as_ref).collect();
    let known = Known::new(&sources);
    let mut found = literals(draft);
    found.retain(|one| !known.has(one.literal, &draft[one.span.start..one.span.end]));
    found
}

struct Known<'a> {
    sources: &'a [&'a str],
    words: BTreeSet<String>,
    numbers: BTreeSet<String>,
    text: String,
}

impl<'a> Known<'a> {
    fn new(sources: &'a [&'a str]) -> Self {
        let mut known = Self { sources, words: BTreeSet::new(), numbers: BTreeSet::new(), text: String::new() };
        for source in sources {
            let mut rest = *source;
            while let Some(start) = rest.find(is_word) {
                let word = &rest[start..];
                let (word, after) = word.split_at(token(word));
                rest = after;
                let token = word.to_lowercase();
                known.numbers.extend(numbers(&token));
                // A twelve-bar blues has twelve bars.
                let numeral = |part| NUMERALS.iter().position(|numeral| *numeral == part);
                known.numbers.extend(token.split('-').filter_map(numeral).map(|n| n.to_string()));
                // `request.ip` and `foo-bar` are also what stands between the points and dashes.
                known.words.extend(token.split(|c: char| !is_word(c)).map(str::to_owned));
            }
            known.text += &letters(source);
        }
        known
    }

    fn has(&self, literal: Literal, text: &str) -> bool {
        match literal {
            Literal::Number => numbers(text).is_subset(&self.numbers),
            Literal::Version => {
                let version = text.trim_start_matches(['v', 'V']);
                let longer = |known: &String| known.strip_prefix(version).is_some_and(|rest| rest.starts_with('.'));
                self.numbers.contains(version) || self.numbers.iter().any(longer)
            }
            Literal::Identifier | Literal::Code => self.words.contains(&text.to_lowercase()),
            Literal::Url => {
                let ends =
                    |rest: &str| !rest.trim_start_matches('/').starts_with(|c| is_word(c) || "-#?%=&".contains(c));
                let at = |source: &&str| source.match_indices(text).any(|(at, _)| ends(&source[at + text.len()..]));
                self.sources.iter().any(at)
            }
            Literal::Quotation => self.text.contains(&letters(text)),
        }
    }
}

/// What a source may write for a number, in the order of the numbers.
const NUMERALS: [&str; 13] =
    ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Where the word at the start of a text ends, with the points, commas, dashes and apostrophes inside it.
fn token(text: &str) -> usize {
    let mut end = 0;
    for (at, c) in text.char_indices() {
        if is_word(c) {
            end = at + c.len_utf8();
        } else if at > end || !matches!(c, '.' | ',' | '-' | '\'') {
            break;
        }
    }
    end
}

/// The numbers in a token, without separators of thousands: `1,048,576` gives `1048576`, `3,5` gives
/// `3.5`, `10-20` gives both.
fn numbers(token: &str) -> BTreeSet<String> {
    let run = |run: &str| {
        let mut number = String::new();
        let mut parts = run.trim_matches(['.', ',', '_']).split_inclusive([',', '_']).peekable();
        while let Some(part) = parts.next() {
            let separator = part.ends_with([',', '_']);
            number += part.trim_end_matches([',', '_']);
            let thousands = parts.peek().is_some_and(|next| next.bytes().take_while(u8::is_ascii_digit).count() == 3);
            if separator && !thousands {
                number.push('.');
            }
        }
        number
    };
    let runs = token.split(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',' | '_')));
    runs.map(run).filter(|number| !number.is_empty()).collect()
}

/// Lower-case words, one blank between them and around them all.
fn letters(text: &str) -> String {
    let mut letters = String::from(" ");
    for word in text.split(|c: char| !is_word(c)).filter(|word| !word.is_empty()) {
        letters += &word.to_lowercase();
        letters.push(' ');
    }
    letters
}

/// All literals of a text.
fn literals(text: &str) -> Vec<Unsourced> {
    let mut found = Vec::new();
    let mut push = |literal, start, end| found.push(Unsourced { literal, span: Span { start, end } });
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        if rest.starts_with("http://") || rest.starts_with("https://") {
            let end = rest.find(|c: char| c.is_whitespace() || "<>\"`)]".contains(c)).unwrap_or(rest.len());
            let address = rest[..end].trim_end_matches(['.', ',', ';', ':', '!', '?', '*', '/']);
            push(Literal::Url, at, at + address.len());
            at += end;
        } else if c == '`' {
            let inside = rest.trim_start_matches('`');
            let fence = &rest[..rest.len() - inside.len()];
            at += fence.len();
            let Some(end) = inside.find(fence).or((fence.len() > 2).then_some(inside.len())) else { continue };
            // After a fence of three stands the language's name.
            let start = if fence.len() > 2 { inside[..end].find('\n').unwrap_or(0) } else { 0 };
            for (s, e) in pieces(&inside[start..end]) {
                push(Literal::Code, at + start + s, at + start + e);
            }
            at = (at + end + fence.len()).min(text.len());
        } else if let Some((opening, end)) = quotation(rest) {
            push(Literal::Quotation, at + opening, at + end);
            at += end + rest[end..].chars().next().map_or(0, char::len_utf8);
        } else if is_word(c) {
            let end = at + token(rest);
            if !is_mark(text, at, end) {
                word(&text[at..end], at, &mut push);
            }
            at = end;
        } else {
            at += c.len_utf8();
        }
    }
    found
}

/// The words of a piece of code.
fn pieces(code: &str) -> Vec<(usize, usize)> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for piece in code.split(|c: char| !is_word(c)) {
        if !piece.is_empty() {
            pieces.push((start, start + piece.len()));
        }
        start += piece.len() + code[start + piece.len()..].chars().next().map_or(0, char::len_utf8);
    }
    pieces
}

/// The number of a citation `[n]` or of a list item at the start of its line.
fn is_mark(text: &str, start: usize, end: usize) -> bool {
    let (before, after) = (&text[..start], &text[end..]);
    let item = before.trim_end_matches([' ', '\t']);
    text[start..end].bytes().all(|b| b.is_ascii_digit())
        && ((before.ends_with('[') && after.starts_with(']'))
            || ((item.is_empty() || item.ends_with('\n')) && after.starts_with(['.', ')'])))
}

/// The inside of a quotation of two words or more at the start of a text.
fn quotation(text: &str) -> Option<(usize, usize)> {
    let opening = text.chars().next()?;
    let closing: &[char] = match opening {
        '"' => &['"'],
        '“' => &['”'],
        '„' => &['“', '”'],
        '«' => &['»'],
        _ => return None,
    };
    let start = opening.len_utf8();
    let length = text[start..].find(closing)?;
    let inside = &text[start..start + length];
    let opens = !inside.starts_with(char::is_whitespace) && !inside.contains('\n');
    (opens && pieces(inside).len() > 1).then_some((start, start + length))
}

/// What of a word is a literal, itself or the parts between its dashes.
fn word(token: &str, at: usize, push: &mut impl FnMut(Literal, usize, usize)) {
    let mut start = at;
    for part in token.split(['-', '\'']) {
        let digits = part.trim_start_matches(['v', 'V']);
        let bytes = part.as_bytes();
        let has_digit = part.bytes().any(|b| b.is_ascii_digit());
        let hump = bytes.windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
        let numeric = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        let literal = if numeric && (digits.len() < part.len() || digits.matches('.').count() > 1) {
            Some(Literal::Version)
        } else if part.starts_with(|c: char| c.is_ascii_digit()) {
            Some(Literal::Number)
        } else if (has_digit || hump || part.contains('_')) && part.chars().all(is_word) {
            Some(Literal::Identifier)
        } else {
            None
        };
        if let Some(literal) = literal {
            push(literal, start, start + part.len());
        }
        start += part.len() + 1;
    }
}
