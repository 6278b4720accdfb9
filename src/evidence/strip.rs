//! What of a passage is about a question: its strips, the knowledge strips of the CRAG paper, as places
//! in the source instead of rewritten text.
//!
//! A strip is a sentence, a whole list, a whole table, or a code block with the sentence that announces
//! it; a heading belongs to what follows. Strips in order give the text back byte for byte.

use std::collections::BTreeSet;

use crate::document::{Passage, Span};
use crate::index::words::words;
use crate::ingest::{self, Unit, UnitKind, plain_text};

/// The strips of a passage's text, in order: a partition of it.
pub fn strips(text: &str) -> Vec<Span> {
    let mut starts: Vec<usize> = Vec::new();
    let mut last: Option<Unit> = None;
    for unit in ingest::units(text) {
        if !last.is_some_and(|last| belongs(last, unit, text)) {
            starts.push(line_start(text, unit.span.start, last));
        }
        last = Some(unit);
    }
    let Some(first) = starts.first_mut() else { return Vec::new() };
    *first = 0;
    let ends = starts[1..].iter().copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(&start, end)| Span { start, end }).collect()
}

/// Whether a unit goes with the one before it.
fn belongs(before: Unit, unit: Unit, text: &str) -> bool {
    let announced = text[before.span.start..before.span.end].ends_with(':');
    match (before.kind, unit.kind) {
        (UnitKind::Heading, _)
        | (UnitKind::ListItem, UnitKind::ListItem)
        | (UnitKind::TableRow, UnitKind::TableRow) => true,
        (_, UnitKind::Heading | UnitKind::Sentence) => false,
        _ => announced,
    }
}

/// Where a unit begins with its list marker or quote mark: nothing of its line stands in the unit before.
fn line_start(text: &str, start: usize, before: Option<Unit>) -> usize {
    let line = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    if before.is_none_or(|before| before.span.end <= line) { line } else { start }
}

/// The passages without the strips that have nothing to do with the question, in source order where
/// several are of one document. What stays of a passage is one passage or more, each a contiguous slice
/// that is cited as before. A strip stays with its neighbours; a passage in which no strip has a word of
/// the question stays whole, since then words cannot tell.
pub fn refined(question: &str, passages: &[Passage]) -> Vec<Passage> {
    let asked: BTreeSet<String> = words(question).into_iter().collect();
    let mut ordered: Vec<&Passage> = Vec::with_capacity(passages.len());
    for passage in passages {
        let later = |other: &&Passage| other.document == passage.document && other.span.start > passage.span.start;
        let at = ordered.iter().position(later).unwrap_or(ordered.len());
        // Behind the best of its document, and before what follows it in the source.
        let behind = ordered.iter().rposition(|other| other.document == passage.document).map_or(at, |last| last + 1);
        ordered.insert(at.min(behind), passage);
    }
    ordered.into_iter().flat_map(|passage| kept(&asked, passage)).collect()
}

fn kept(asked: &BTreeSet<String>, passage: &Passage) -> Vec<Passage> {
    let strips = strips(&passage.text);
    let speaks = |strip: &Span| {
        words(&plain_text(&passage.text[strip.start..strip.end])).iter().any(|word| asked.contains(word))
    };
    let hits: Vec<bool> = strips.iter().map(speaks).collect();
    if !hits.contains(&true) {
        return vec![passage.clone()];
    }
    let near = |i: usize| hits[i.saturating_sub(1)..hits.len().min(i + 2)].contains(&true);
    let mut runs: Vec<Span> = Vec::new();
    for (i, strip) in strips.iter().enumerate().filter(|(i, _)| near(*i)) {
        match runs.last_mut().filter(|run| run.end == strip.start && i > 0) {
            Some(run) => run.end = strip.end,
            None => runs.push(*strip),
        }
    }
    runs.into_iter().map(|run| slice(passage, run)).collect()
}

/// A part of a passage as a passage.
fn slice(passage: &Passage, part: Span) -> Passage {
    let span = Span { start: passage.span.start + part.start, end: passage.span.start + part.end };
    Passage { text: passage.text[part.start..part.end].to_owned(), span, ..passage.clone() }
}
