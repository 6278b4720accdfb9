//! What of raw HTML in Markdown is text, and which of it is a heading.
//!
//! A scanner for the HTML that documentation embeds (`<h1 align=center>`, `<details>`, comments,
//! badges), not a parser: it builds no tree, checks no nesting and never fails. Linear in the
//! input whatever the input is.

use std::ops::Range;

/// Elements that stand inside a line of text. Every other tag, `<br>` too, ends the line.
const INLINE: [&str; 36] = [
    "a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "del", "dfn", "em", "font", "i", "img", "input", "ins",
    "kbd", "label", "mark", "picture", "q", "s", "samp", "small", "source", "span", "strike", "strong", "sub", "sup",
    "time", "tt", "u", "var", "wbr", "path",
];

/// Elements whose content no reader sees.
const UNSEEN: [&str; 4] = ["script", "style", "template", "title"];

/// The references that documentation writes by hand; others stay as they are.
const REFERENCES: [(&str, &str); 7] =
    [("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&apos;", "'"), ("&nbsp;", " ")];

/// How far a quoted attribute is followed before a `>` in it ends the tag after all.
const QUOTED_LIMIT: usize = 4096;

/// A heading element in a block of HTML.
pub(super) struct HtmlHeading {
    /// 1…6.
    pub(super) level: u8,
    /// Its text, trimmed; never empty.
    pub(super) text: String,
    /// Whether the block has words beside it.
    pub(super) more: bool,
}

enum Token<'a> {
    Text(Range<usize>),
    /// A tag, comment, declaration or unseen content.
    Markup {
        range: Range<usize>,
        /// Empty for comments and declarations.
        name: &'a str,
        closing: bool,
    },
}

/// The text a reader sees, with a line break for every tag that ends a line.
pub(super) fn text(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    for token in Tokens::new(html) {
        match token {
            Token::Text(range) => push_decoded(&mut out, &html[range]),
            Token::Markup { name, .. } if ends_line(name) => out.push('\n'),
            Token::Markup { .. } => {}
        }
    }
    out
}

/// The same text at the same byte offsets: tags inside a line become `filler`, all else spaces,
/// and where a tag ends the line its last byte a line feed.
pub(super) fn mask(html: &str, filler: char, out: &mut String) {
    for token in Tokens::new(html) {
        match token {
            Token::Text(range) => out.push_str(&html[range].replace(['\n', '\r'], " ")),
            Token::Markup { range, name, .. } => {
                let last = usize::from(ends_line(name));
                let filler = if last == 1 || name.is_empty() { ' ' } else { filler };
                out.extend(std::iter::repeat_n(filler, range.len() - last));
                out.extend((last == 1).then_some('\n'));
            }
        }
    }
}

/// Whether a tag of this source ends the line of text it stands in.
pub(super) fn tag_ends_line(tag: &str) -> bool {
    matches!(Tokens::new(tag).next(), Some(Token::Markup { name, .. }) if ends_line(name))
}

/// The first heading element that has words.
pub(super) fn heading(html: &str) -> Option<HtmlHeading> {
    let mut headings: Vec<(u8, String)> = Vec::new();
    let mut inside = false;
    let mut beside = false;
    for token in Tokens::new(html) {
        match token {
            Token::Text(range) => match headings.last_mut() {
                Some((_, text)) if inside => push_decoded(text, &html[range]),
                _ => beside |= has_words(&html[range]),
            },
            Token::Markup { name, closing, .. } => {
                if let Some(level) = heading_level(name) {
                    inside = !closing;
                    headings.extend(inside.then(|| (level, String::new())));
                }
            }
        }
    }
    let mut worded = headings.into_iter().filter(|(_, text)| has_words(text));
    let (level, text) = worded.next()?;
    Some(HtmlHeading { level, text: text.trim().to_owned(), more: beside || worded.next().is_some() })
}

/// Whether there is anything to read in it.
pub(super) fn has_words(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

fn push_decoded(out: &mut String, text: &str) {
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let known = REFERENCES.iter().find(|(name, _)| rest.starts_with(name));
        let (name, character) = known.unwrap_or(&("&", "&"));
        out.push_str(character);
        rest = &rest[name.len()..];
    }
    out.push_str(rest);
}

fn ends_line(name: &str) -> bool {
    !name.is_empty() && !INLINE.iter().any(|inline| inline.eq_ignore_ascii_case(name))
}

fn heading_level(name: &str) -> Option<u8> {
    match name.as_bytes() {
        [b'h' | b'H', digit @ b'1'..=b'6'] => Some(digit - b'0'),
        _ => None,
    }
}

struct Tokens<'a> {
    html: &'a str,
    at: usize,
    /// No `>` is left: whatever follows is text. Asked once, or `<a <a <a` would be quadratic.
    exhausted: bool,
}

impl<'a> Tokens<'a> {
    fn new(html: &'a str) -> Self {
        Tokens { html, at: 0, exhausted: false }
    }

    /// The markup that starts at the cursor, which stands on a `<`.
    fn markup(&mut self) -> Option<Token<'a>> {
        let (start, rest) = (self.at, &self.html[self.at..]);
        if let Some(comment) = rest.strip_prefix("<!--") {
            let end = comment.find("-->").map_or(self.html.len(), |at| start + 4 + at + 3);
            return Some(Token::Markup { range: start..end, name: "", closing: false });
        }
        let closing = rest.starts_with("</");
        let name = &rest[1 + usize::from(closing)..];
        let declaration = name.starts_with(['!', '?']);
        if !declaration && !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return None;
        }
        let name_end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        let name = if declaration { "" } else { &name[..name_end.unwrap_or(name.len())] };
        let Some(length) = tag_length(rest) else {
            self.exhausted = true;
            return None;
        };
        let mut end = start + length;
        if !closing && UNSEEN.iter().any(|unseen| unseen.eq_ignore_ascii_case(name)) {
            end = self.html[end..].find("</").map_or(self.html.len(), |at| end + at);
        }
        Some(Token::Markup { range: start..end, name, closing })
    }
}

/// The length of the tag at the start of `rest`, with its `>`.
fn tag_length(rest: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in rest.bytes().enumerate().take(QUOTED_LIMIT) {
        match (quote, byte) {
            (None, b'>') => return Some(at + 1),
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
    }
    rest.find('>').map(|at| at + 1)
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let start = self.at;
        while self.at < self.html.len() {
            let candidate = if self.exhausted { None } else { self.html[self.at..].find('<') };
            let Some(found) = candidate else {
                self.at = self.html.len();
                break;
            };
            self.at += found;
            let before = self.at;
            match self.markup() {
                Some(_) if before > start => return Some(Token::Text(start..before)),
                Some(Token::Markup { range, name, closing }) => {
                    self.at = range.end;
                    return Some(Token::Markup { range, name, closing });
                }
                _ => self.at += 1,
            }
        }
        (start < self.at).then_some(Token::Text(start..self.at))
    }
}
