//! Which Markdown this is: `CommonMark` with GitHub's tables, task lists, strikethrough,
//! footnotes and alerts, and heading attributes (`{#id}`).
//!
//! Front matter is not in the list: see `front_matter`.

use std::ops::Range;

use pulldown_cmark::{BrokenLink, CowStr, Event, LinkType, Options, Parser, Tag, TagEnd};

/// The events of a whole document with their byte ranges.
pub(super) fn document_events(source: &str) -> impl Iterator<Item = (Event<'_>, Range<usize>)> {
    Parser::new_ext(source, options()).into_offset_iter()
}

/// The events of a slice of a document, which may have lost the definitions of its links:
/// `[text][label]` and `[text][]` are links there without one. `[text]` alone is not, nor is the
/// second bracket of `matrix[i][j]`.
pub(super) fn slice_events(slice: &str) -> impl Iterator<Item = (Event<'_>, Range<usize>)> {
    let resolve = move |link: BrokenLink<'_>| {
        let labelled = matches!(link.link_type, LinkType::Reference | LinkType::Collapsed);
        let subscript = slice[..link.span.start].ends_with(char::is_alphanumeric);
        (labelled && !subscript).then_some((CowStr::Borrowed(""), CowStr::Borrowed("")))
    };
    Parser::new_with_broken_link_callback(slice, options(), Some(resolve)).into_offset_iter()
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

fn options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_HEADING_ATTRIBUTES
        | Options::ENABLE_GFM
}
