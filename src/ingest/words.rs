//! The words of Markdown as a reader sees them, for embedding, search and grading.
//!
//! Decides what counts as a word of a passage: not link targets, images, HTML tags, comments,
//! front matter, footnote marks. Keeps no offsets: see `mask` for text at its place.

use pulldown_cmark::{Event, Tag, TagEnd};

use super::markdown::Part;
use super::slice::Slice;
use super::{html, markdown};

/// The rendered words of Markdown without its markup.
///
/// Inline code and code blocks are kept as their text, links as the text between their brackets
/// (so a bare URL stays). Every block, table row and line of code is a line; cells are separated
/// by a space. The text of a passage that begins inside a list or a table is read as the
/// continuation it is.
pub fn plain_text(markdown: &str) -> String {
    prose(markdown).unwrap_or_else(|| rendered(markdown))
}

/// A line of prose with no markup but inline code, which is most sentences: read without the parser.
fn prose(line: &str) -> Option<String> {
    if !line.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let bytes = line.as_bytes();
    let is_word = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphanumeric);
    let mut text = String::with_capacity(line.len());
    let (mut from, mut at) = (0, 0);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'`' => {
                let length = bytes[at + 1..].iter().position(|byte| *byte == b'`').filter(|length| *length > 0)?;
                let (code, end) = (&line[at + 1..=at + length], at + length + 2);
                if bytes.get(end) == Some(&b'`') || code.contains(['\n', '\r', '\0']) {
                    return None;
                }
                let bare = code.strip_prefix(' ').and_then(|code| code.strip_suffix(' '));
                text.push_str(&line[from..at]);
                text.push_str(bare.filter(|bare| bare.bytes().any(|byte| byte != b' ')).unwrap_or(code));
                (from, at) = (end, end);
                continue;
            }
            b'_' if at > 0 && is_word(at - 1) && is_word(at + 1) => {}
            b'\\' | b'*' | b'_' | b'[' | b']' | b'<' | b'&' | b'~' | b'|' | b'\n' | b'\r' | b'\0' => return None,
            _ => {}
        }
        at += 1;
    }
    text.push_str(&line[from..]);
    text.truncate(text.trim_end().len());
    Some(text)
}

fn rendered(markdown: &str) -> String {
    let slice = Slice::new(markdown);
    let mut words = Words { text: String::with_capacity(markdown.len()), html: None, images: 0 };
    for (event, _) in markdown::events(slice.text(), Part::Slice) {
        words.read(&event);
    }
    words.text.truncate(words.text.trim_end().len());
    words.text
}

struct Words {
    text: String,
    /// The source of an open block of HTML.
    html: Option<String>,
    images: u32,
}

impl Words {
    fn read(&mut self, event: &Event<'_>) {
        match event {
            Event::Start(Tag::Image { .. }) => self.images += 1,
            Event::End(TagEnd::Image) => self.images = self.images.saturating_sub(1),
            _ if self.images > 0 => {}
            Event::Start(Tag::HtmlBlock) => self.html = Some(String::new()),
            Event::Html(source) => self.html.get_or_insert_default().push_str(source),
            Event::End(TagEnd::HtmlBlock) => {
                let lines = html::text(&self.html.take().unwrap_or_default());
                for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
                    self.text.push_str(line);
                    self.separate('\n');
                }
            }
            Event::Text(text) | Event::Code(text) => self.text.push_str(text),
            Event::SoftBreak | Event::End(TagEnd::TableCell) => self.separate(' '),
            Event::HardBreak | Event::Rule => self.separate('\n'),
            Event::InlineHtml(tag) if html::tag_ends_line(tag) => self.separate('\n'),
            Event::Start(Tag::TableCell) => {}
            Event::Start(tag) if !markdown::is_inline(tag) => self.separate('\n'),
            Event::End(tag) if !markdown::is_inline_end(*tag) => self.separate('\n'),
            _ => {}
        }
    }

    fn separate(&mut self, by: char) {
        if by == '\n' {
            self.text.truncate(self.text.trim_end().len());
        }
        if !self.text.is_empty() && !self.text.ends_with(char::is_whitespace) {
            self.text.push(by);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{prose, rendered};

    #[test]
    fn a_sentence_with_code_in_it_needs_no_parser() {
        let sentence = "Set `bodyLimit` (or ` a b `) in snake_case, by 100 %: it's \"fine\".";
        let read = "Set bodyLimit (or a b) in snake_case, by 100 %: it's \"fine\".";
        assert_eq!(prose(sentence).as_deref(), Some(read));
        for other in
            ["Set **it**", "See [it](x)", "a &amp; b", "one\ntwo", "- item", "1. step", "half `open", "``a``", "_a_"]
        {
            assert_eq!(prose(other), None, "{other:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_read_without_the_parser_is_what_the_parser_reads(line in "[a-zA-Z]([a-zA-Z0-9 `_.,:;()!?#+=>{}$^%\"'@/é-]|\\PC){0,40}") {
            if let Some(text) = prose(&line) {
                prop_assert_eq!(text, rendered(&line));
            }
        }
    }
}
