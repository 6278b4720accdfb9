//! The visible text of a block at the byte offsets of its source.
//!
//! The search for sentences must not see markup, yet its answer must fit the source. A mask is
//! the source of one block with everything else overwritten byte for byte: link targets and
//! emphasis by closing brackets (a sentence may end before or after them, not at them), inline
//! code by capitals (a sentence may begin with it), soft line breaks and the quote markers after
//! them by spaces. A line feed is left only where the author broke the line.

use std::ops::Range;

use pulldown_cmark::{Event, Tag};

use super::html;

const MARKUP: char = ')';
/// What stands for each byte of inline code.
pub(super) const CODE: char = 'X';

/// Up to this many bytes of emphasis are never cut; a paragraph all in bold has sentences too.
const EMPHASIS_LIMIT: usize = 300;

/// A mask that grows with the inline events of a block.
pub(super) struct Mask<'a> {
    source: &'a str,
    /// Where the block's content begins; unknown before the first event.
    start: Option<usize>,
    masked: String,
    /// Inline elements that are open, and the outermost of them.
    depth: u32,
    element: Range<usize>,
    images: u32,
    /// What the bytes up to the next event are overwritten by.
    filler: char,
    is_html: bool,
}

impl<'a> Mask<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        Mask {
            source,
            start: None,
            masked: String::new(),
            depth: 0,
            element: 0..0,
            images: 0,
            filler: MARKUP,
            is_html: false,
        }
    }

    /// Takes the next inline event of the block.
    pub(super) fn read(&mut self, event: &Event<'_>, range: Range<usize>) {
        self.start.get_or_insert(range.start);
        match event {
            Event::Start(tag) => self.open(tag, range),
            Event::End(_) => self.close(range),
            _ if self.images > 0 => {}
            Event::Text(_) => self.show(range),
            Event::Html(_) => {
                self.is_html = true;
                self.show(range);
                self.filler = ' ';
            }
            Event::Code(_) => self.hide(range, CODE),
            Event::SoftBreak => self.line_break(range, ' '),
            Event::HardBreak => self.line_break(range, '\n'),
            Event::InlineHtml(tag) if html::tag_ends_line(tag) => self.line_break(range, '\n'),
            _ => self.hide(range, MARKUP),
        }
    }

    /// The mask, and where in the source it begins.
    pub(super) fn finish(self) -> (usize, String) {
        let start = self.start.unwrap_or_default();
        if !self.is_html {
            return (start, self.masked);
        }
        let mut masked = String::with_capacity(self.masked.len());
        html::mask(&self.masked, MARKUP, &mut masked);
        (start, masked)
    }

    fn open(&mut self, tag: &Tag<'_>, range: Range<usize>) {
        self.fill(range.start);
        if self.depth == 0 {
            let whole = matches!(tag, Tag::Link { .. }) || range.len() <= EMPHASIS_LIMIT;
            self.element = if whole { range } else { range.end..range.end };
        }
        self.depth += 1;
        // Nothing in an image is text, an emphasis in its description neither.
        if self.images > 0 || matches!(tag, Tag::Image { .. }) {
            self.images += 1;
        }
    }

    fn close(&mut self, range: Range<usize>) {
        self.depth = self.depth.saturating_sub(1);
        self.images = self.images.saturating_sub(1);
        self.fill(range.end);
        if self.depth > 0 {
            return;
        }
        let inside = self.element.start.saturating_sub(self.start.unwrap_or_default());
        let element = self.masked.split_off(self.masked.floor_char_boundary(inside));
        let last = element.rfind(char::is_alphanumeric).unwrap_or(0);
        for (at, c) in element.char_indices() {
            if at < last && matches!(c, '.' | '!' | '?' | '。' | '！' | '？') {
                self.masked.extend(std::iter::repeat_n(',', c.len_utf8()));
            } else {
                self.masked.push(c);
            }
        }
    }

    fn line_break(&mut self, range: Range<usize>, end: char) {
        if range.end > self.position() {
            self.fill(range.start);
            self.masked.extend(std::iter::repeat_n(' ', (range.end - self.position()).saturating_sub(1)));
            self.masked.push(end);
        }
        self.filler = ' ';
    }

    fn show(&mut self, range: Range<usize>) {
        self.fill(range.start);
        let from = self.position();
        self.masked.push_str(self.source.get(from..range.end).unwrap_or_default());
    }

    fn hide(&mut self, range: Range<usize>, filler: char) {
        self.fill(range.start);
        self.filler = filler;
        self.fill(range.end);
    }

    /// Overwrites what no event showed, up to `end`. Space is kept, and after a line break the
    /// indentation and the quote markers are space.
    fn fill(&mut self, end: usize) {
        let gap = self.source.get(self.position()..end).unwrap_or_default();
        let markers: &[char] = if self.filler == ' ' { &[' ', '\t', '\r', '\n', '>'] } else { &[] };
        let rest = if gap.trim().is_empty() { "" } else { gap.trim_start_matches(markers) };
        let filler = if self.filler == ' ' { MARKUP } else { self.filler };
        self.masked.extend(std::iter::repeat_n(' ', gap.len() - rest.len()));
        self.masked.extend(std::iter::repeat_n(filler, rest.len()));
        self.filler = MARKUP;
    }

    fn position(&self) -> usize {
        self.start.unwrap_or_default() + self.masked.len()
    }
}
