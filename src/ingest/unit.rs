//! The units of a passage: what an answer quotes and a grader weighs.
//!
//! Decides what one statement is: a sentence, a short list item, a table row, a code block, a
//! heading. Works on the passage's text alone, so the spans can be checked against it; what has
//! no words (rules, badges, link definitions) is in no unit.

use std::ops::Range;

use pulldown_cmark::{Event, Tag, TagEnd};

use super::markdown::Part;
use super::mask::{CODE, Mask};
use super::slice::Slice;
use super::{html, markdown, plain_text, sentence};
use crate::document::{Reading, Span, Unit, UnitKind};

/// A list item up to this many bytes is one unit; a longer one is cut into its sentences.
const ITEM_LIMIT: usize = 300;

/// The units of a passage's text, read as Markdown, in order and without overlap.
///
/// A line break inside a paragraph ends no sentence; a hard break does. No unit ends inside a
/// link, inline code, a code block or a table row. The text of a passage that begins inside a
/// list or a table is read as the continuation it is.
pub fn units(text: &str) -> Vec<Unit> {
    prose(text).map_or_else(|| parsed(text), |mask| sentences(text, &mask))
}

/// The mask of a line without any markup but inline code: what the parser would make of it is known.
fn prose(text: &str) -> Option<String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b" .,;:!?'\"()/%-".contains(&byte);
    let is_code = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'|';
    let line = text.trim_start_matches(' ');
    if text.len() - line.len() > 3 || !line.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let mut mask = String::with_capacity(text.len());
    let mut pieces = text.split('`').enumerate().peekable();
    while let Some((at, piece)) = pieces.next() {
        let (is_inside, is_last) = (at % 2 == 1, pieces.peek().is_none());
        // Two marks side by side are another kind of mark, and code without an end is none.
        if (piece.is_empty() && !is_last) || (is_inside && is_last) {
            return None;
        }
        if is_inside && piece.bytes().all(is_code) {
            mask.extend(std::iter::repeat_n(CODE, piece.len() + 2));
        } else if !is_inside && piece.bytes().all(is_plain) {
            mask += piece;
        } else {
            return None;
        }
    }
    Some(mask)
}

fn sentences(text: &str, mask: &str) -> Vec<Unit> {
    let has_words = |range: &Range<usize>| [mask, text].iter().all(|text| html::has_words(&text[range.clone()]));
    let ranges = sentence::sentences(mask).into_iter().filter(has_words);
    ranges.map(|range| Unit { span: Span { start: range.start, end: range.end }, kind: UnitKind::Sentence }).collect()
}

fn parsed(text: &str) -> Vec<Unit> {
    let slice = Slice::new(text);
    let mut reader = Reader { text: slice.text(), units: Vec::new(), leaf: None, items: Vec::new(), solid: None };
    for (event, range) in markdown::events(slice.text(), Part::Slice) {
        reader.read(&event, range);
    }
    reader.close();
    let given = |(range, kind): (Range<usize>, UnitKind)| {
        let range = sentence::trimmed(text, slice.given(range));
        Unit { span: Span { start: range.start, end: range.end }, kind }
    };
    reader.units.into_iter().map(given).collect()
}

/// A passage's text as a reader sees it: its [`units`], each with its [`plain_text`].
pub fn reading(text: &str) -> Reading {
    let words = |unit: Unit| (unit, plain_text(&text[unit.span.start..unit.span.end]));
    Reading { units: units(text).into_iter().map(words).collect() }
}

struct Reader<'a> {
    text: &'a str,
    units: Vec<(Range<usize>, UnitKind)>,
    /// The block whose inline events come in.
    leaf: Option<(UnitKind, Mask<'a>)>,
    /// For every open container, whether it is a list item.
    items: Vec<bool>,
    /// An open code block or row: its range, and whether it has words so far.
    solid: Option<(Range<usize>, bool)>,
}

impl Reader<'_> {
    fn read(&mut self, event: &Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) if !markdown::is_inline(tag) => self.start(tag, range),
            Event::End(tag) if !markdown::is_inline_end(*tag) => self.end(*tag),
            Event::Rule => self.close(),
            Event::TaskListMarker(_) => {}
            _ => self.inline(event, range),
        }
    }

    fn start(&mut self, tag: &Tag<'_>, range: Range<usize>) {
        if matches!(tag, Tag::TableCell) {
            return;
        }
        self.close();
        match tag {
            Tag::CodeBlock(_) | Tag::TableHead | Tag::TableRow => self.solid = Some((range, false)),
            Tag::Heading { .. } => self.open(UnitKind::Heading),
            Tag::HtmlBlock => {
                let is_heading = html::heading(&self.text[range]).is_some_and(|heading| !heading.more);
                self.open(if is_heading { UnitKind::Heading } else { UnitKind::Sentence });
            }
            Tag::Paragraph => self.open(self.paragraph()),
            _ => self.items.push(matches!(tag, Tag::Item)),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::TableCell => {}
            TagEnd::CodeBlock => self.close_solid(UnitKind::Code),
            TagEnd::TableHead | TagEnd::TableRow => self.close_solid(UnitKind::TableRow),
            TagEnd::Heading(_) | TagEnd::HtmlBlock | TagEnd::Paragraph => self.close(),
            _ => {
                self.close();
                self.items.pop();
            }
        }
    }

    fn inline(&mut self, event: &Event<'_>, range: Range<usize>) {
        if let Some((_, words)) = &mut self.solid {
            *words |= matches!(event, Event::Text(text) | Event::Code(text) if html::has_words(text));
            return;
        }
        // A tight list item has its text without a paragraph around it.
        let (kind, text) = (self.paragraph(), self.text);
        let (_, mask) = self.leaf.get_or_insert_with(|| (kind, Mask::new(text)));
        mask.read(event, range);
    }

    /// What a paragraph is where the reader stands.
    fn paragraph(&self) -> UnitKind {
        if self.items.last() == Some(&true) { UnitKind::ListItem } else { UnitKind::Sentence }
    }

    fn open(&mut self, kind: UnitKind) {
        self.leaf = Some((kind, Mask::new(self.text)));
    }

    fn close_solid(&mut self, kind: UnitKind) {
        if let Some((range, true)) = self.solid.take() {
            self.units.push((sentence::trimmed(self.text, range), kind));
        }
    }

    fn close(&mut self) {
        let Some((kind, mask)) = self.leaf.take() else { return };
        let (start, mask) = mask.finish();
        let whole = sentence::trimmed(&mask, 0..mask.len());
        let is_one = kind == UnitKind::Heading || (kind == UnitKind::ListItem && whole.len() <= ITEM_LIMIT);
        let (kind, ranges) =
            if is_one { (kind, vec![whole]) } else { (UnitKind::Sentence, sentence::sentences(&mask)) };
        // The mask knows words from link targets, the text knows them from symbols in code.
        let has_words = |range: &Range<usize>| {
            let text = self.text.get(range.start + start..range.end + start);
            html::has_words(&mask[range.clone()]) && text.is_some_and(html::has_words)
        };
        let ranges = ranges.into_iter().filter(has_words);
        self.units.extend(ranges.map(|range| (range.start + start..range.end + start, kind)));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{parsed, prose, units};

    proptest! {
        #[test]
        fn prose_has_the_units_that_the_parser_finds(text in " {0,5}[A-Za-z][A-Za-e0-3 .,;:!?'\"()/%`-]{0,60}") {
            prop_assert_eq!(units(&text), parsed(&text));
        }

        #[test]
        fn prose_may_have_inline_code(text in "[A-Z][a-e .,-]{1,9}(`[!-_a-{}~]{1,9}`[a-e .:!]{1,9}){0,4}`?") {
            prop_assert_eq!(units(&text), parsed(&text));
            prop_assert_eq!(prose(&text).is_some(), text.matches('`').count() % 2 == 0);
        }
    }
}
