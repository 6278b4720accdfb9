//! Which Markdown this is: `CommonMark` with GitHub's tables, task lists, strikethrough,
//! footnotes and alerts, and heading attributes (`{#id}`).
//!
//! Front matter is not in the list: see `front_matter`. Nesting beyond any author's is not read:
//! the parser walks all open containers on every line.

use std::ops::Range;

use pulldown_cmark::{BrokenLink, CowStr, Event, LinkType, Options, Parser, Tag, TagEnd};

/// Containers on one line up to which Markdown is read as such.
const NESTING_LIMIT: usize = 256;

/// What is parsed, which decides what brackets without a definition mean.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// A document: they are brackets.
    Whole,
    /// A slice, which may have lost the definitions of its links: `[text][label]` and `[text][]`
    /// are links. `[text]` alone is not, nor is the second bracket of `matrix[i][j]`.
    Slice,
}

/// The events of Markdown with their byte ranges. One function for both parts, for the parser is
/// generic and half of what ingestion weighs in wasm.
pub(super) fn events(source: &str, part: Part) -> impl Iterator<Item = (Event<'_>, Range<usize>)> {
    let resolve = move |link: BrokenLink<'_>| {
        let labelled = matches!(link.link_type, LinkType::Reference | LinkType::Collapsed);
        let subscript = source[..link.span.start].ends_with(char::is_alphanumeric);
        let is_link = part == Part::Slice && labelled && !subscript;
        is_link.then_some((CowStr::Borrowed(""), CowStr::Borrowed("")))
    };
    Parser::new_with_broken_link_callback(source, options(), Some(resolve)).into_offset_iter()
}

/// Whether a tag stands inside a line of text; every other one is a block.
pub(super) fn is_inline(tag: &Tag<'_>) -> bool {
    is_inline_end(tag.to_end())
}

/// Whether the end of a tag stands inside a line of text.
pub(super) fn is_inline_end(tag: TagEnd) -> bool {
    matches!(
        tag,
        TagEnd::Emphasis
            | TagEnd::Strong
            | TagEnd::Strikethrough
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::Link
            | TagEnd::Image
    )
}

/// The length of the quote and list markers a line begins with, if there are too many of them.
pub(super) fn absurd_nesting(line: &str) -> Option<usize> {
    let mut depth = 0;
    let mut rest = line;
    loop {
        let text = rest.trim_start_matches([' ', '\t']);
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let marker = match text.as_bytes().get(digits) {
            Some(b'>') if digits == 0 => 1,
            Some(b'-' | b'+' | b'*') if digits == 0 && is_spaced(text, 1) => 1,
            Some(b'.' | b')') if digits > 0 && is_spaced(text, digits + 1) => digits + 1,
            _ => break,
        };
        depth += 1;
        rest = &text[marker..];
    }
    (depth > NESTING_LIMIT).then(|| line.len() - rest.len())
}

fn is_spaced(text: &str, at: usize) -> bool {
    text[at..].is_empty() || text[at..].starts_with([' ', '\t'])
}

fn options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_HEADING_ATTRIBUTES
        | Options::ENABLE_GFM
}
