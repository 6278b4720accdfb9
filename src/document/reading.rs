//! A passage as a reader sees it: its units, and the words of each without markup.
//!
//! Decides how that is kept beside a passage: not as a second copy of its text but as what to leave out
//! of the first one. A page that answers from an index reads it back and needs no parser.

use super::Span;
use super::varint::{pull, push};

/// A piece of a passage that is quoted as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unit {
    /// Where it stands in the text given, without white space at its ends.
    pub span: Span,
    /// What it is.
    pub kind: UnitKind,
}

/// What a unit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnitKind {
    /// A heading's text, without its markup.
    Heading,
    /// A sentence of a paragraph, a long list item, a quote or a block of HTML.
    Sentence,
    /// A paragraph of at most 300 bytes in a list item, without the item's marker.
    ListItem,
    /// A row of a table, the header row too.
    TableRow,
    /// A code block with its fences.
    Code,
}

impl UnitKind {
    const ALL: [UnitKind; 5] = [Self::Heading, Self::Sentence, Self::ListItem, Self::TableRow, Self::Code];
}

/// The units of a text in order, without overlap, each with its rendered words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reading {
    /// What is quoted, and what it says.
    pub units: Vec<(Unit, String)>,
}

impl Reading {
    /// A text that nobody has read: one sentence, as it is written.
    pub fn unread(text: &str) -> Self {
        let start = text.len() - text.trim_start().len();
        let span = Span { start, end: start + text.trim().len() };
        let unit = Unit { span, kind: UnitKind::Sentence };
        let units = if span.is_empty() { Vec::new() } else { vec![(unit, text.trim().to_owned())] };
        Self { units }
    }

    /// All its words: the units' one after the other.
    pub fn text(&self) -> String {
        self.units.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n")
    }

    /// The reading of `text` in few bytes, from which [`Self::decode`] makes it again.
    ///
    /// All numbers are of `varint`'s form. A unit is the bytes between it and the one before, its length
    /// times 8 with its kind, and edits until a zero: how much to copy, then twice the bytes to skip, and one
    /// more when a text to insert follows, its length first.
    pub fn encode(&self, text: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut at = 0;
        for (Unit { span, kind }, words) in &self.units {
            let Some(source) = text.get(span.start..span.end).filter(|_| span.start >= at) else { continue };
            push(&mut bytes, span.start - at);
            push(&mut bytes, source.len() << 3 | *kind as usize);
            encode_edits(&mut bytes, source.as_bytes(), words.as_bytes());
            at = span.end;
        }
        bytes
    }

    /// The reading that was encoded for this text; nothing when the bytes are of no text or of another.
    pub fn decode(bytes: &[u8], text: &str) -> Option<Self> {
        let mut bytes = bytes;
        let mut units = Vec::new();
        let mut at = 0_usize;
        while !bytes.is_empty() {
            let start = at.checked_add(pull(&mut bytes)?)?;
            let head = pull(&mut bytes)?;
            let end = start.checked_add(head >> 3)?;
            let kind = *UnitKind::ALL.get(head & 7)?;
            let words = decode_edits(&mut bytes, text.get(start..end)?.as_bytes())?;
            units.push((Unit { span: Span { start, end }, kind }, words));
            at = end;
        }
        Some(Self { units })
    }
}

/// How far ahead a difference is looked over: link targets are seldom longer.
const FAR: usize = 400;

/// So many equal bytes are no accident.
const SURE: usize = 4;

fn encode_edits(bytes: &mut Vec<u8>, mut source: &[u8], mut words: &[u8]) {
    loop {
        let same = source.iter().zip(words).take_while(|(a, b)| a == b).count();
        push(bytes, same);
        (source, words) = (&source[same..], &words[same..]);
        if words.is_empty() {
            return push(bytes, 0);
        }
        // The nearest place where both go on alike: what is left out of the source there, and what was put in.
        let goes_on = |skip: usize, insert: usize| {
            let (source, words) = (source.get(skip..).unwrap_or_default(), &words[insert..]);
            let sure = SURE.min(words.len());
            source.starts_with(&words[..sure])
        };
        let inserts = 0..words.len().min(SURE);
        let found = (0..=source.len().min(FAR)).find_map(|skip| {
            let insert = inserts.clone().find(|&insert| skip + insert > 0 && goes_on(skip, insert))?;
            Some((skip, insert))
        });
        let (skip, insert) = found.unwrap_or((source.len(), words.len()));
        push(bytes, skip << 1 | usize::from(insert > 0));
        if insert > 0 {
            push(bytes, insert);
            bytes.extend(&words[..insert]);
        }
        (source, words) = (&source[skip..], &words[insert..]);
    }
}

fn decode_edits(bytes: &mut &[u8], mut source: &[u8]) -> Option<String> {
    let mut words = Vec::with_capacity(source.len());
    loop {
        let (same, rest) = source.split_at_checked(pull(bytes)?)?;
        words.extend(same);
        let edit = pull(bytes)?;
        if edit == 0 {
            return String::from_utf8(words).ok();
        }
        source = rest.get(edit >> 1..)?;
        if edit & 1 == 1 {
            let length = pull(bytes)?;
            let (insert, rest) = bytes.split_at_checked(length)?;
            words.extend(insert);
            *bytes = rest;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn reading(units: &[(Span, &str)]) -> Reading {
        let unit = |&(span, words): &(Span, &str)| (Unit { span, kind: UnitKind::TableRow }, words.to_owned());
        Reading { units: units.iter().map(unit).collect() }
    }

    #[test]
    fn markup_costs_a_few_bytes_and_words_none() {
        let text = "- See [the guide](./docs/guide.md#limits) for `bodyLimit` &amp; more.";
        let span = Span { start: 2, end: text.len() };
        let read = reading(&[(span, "See the guide for bodyLimit & more.")]);
        let bytes = read.encode(text);
        assert!(bytes.len() < 20, "{} bytes", bytes.len());
        assert_eq!(Reading::decode(&bytes, text), Some(read));
    }

    #[test]
    fn a_reading_of_another_text_is_none() {
        let text = "One sentence. Another one.";
        let read =
            reading(&[(Span { start: 0, end: 13 }, "One sentence."), (Span { start: 14, end: 26 }, "Another one.")]);
        let bytes = read.encode(text);
        assert_eq!(Reading::decode(&bytes, "One"), None);
        assert_eq!(Reading::decode(&bytes[..bytes.len() - 1], text), None);
    }

    proptest! {
        #[test]
        fn a_reading_comes_back_whatever_its_words_are(text in "[ab*\\[\\]()é ]{0,40}", words in "[ab é&]{0,30}") {
            let read = reading(&[(Span { start: 0, end: text.len() }, &words)]);
            prop_assert_eq!(Reading::decode(&read.encode(&text), &text), Some(read));
        }

        #[test]
        fn no_bytes_bring_it_down(bytes in proptest::collection::vec(any::<u8>(), 0..60), text in "\\PC{0,30}") {
            let _ = Reading::decode(&bytes, &text);
        }
    }
}
