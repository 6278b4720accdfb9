//! The passages of an index, each in a numbered row, and the documents that they belong to.
//!
//! It decides which passages a document may have, and which row each gets. Rows of removed passages are
//! used again, so numbers say nothing about order: [`Position`] does.

use std::collections::{BTreeMap, BTreeSet};

use xxhash_rust::xxh64::Xxh64;

use super::error::IndexError;
use crate::document::{Passage, Span};

/// Rows are numbered with 32 bits.
const MOST_ROWS: usize = u32::MAX as usize - 1;

/// Where a passage stands among those of its index: documents by id, the passages of one in reading order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Position<'a> {
    pub(super) document: &'a str,
    pub(super) ordinal: u32,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Passages {
    rows: Vec<Option<Row>>,
    free: BTreeSet<u32>,
    /// The rows of each document, in reading order.
    documents: BTreeMap<String, Vec<u32>>,
}

#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) passage: Passage,
    pub(super) ordinal: u32,
    /// What a reader sees of it, by `Reading::encode`; empty when nobody has read it.
    pub(super) reading: Box<[u8]>,
}

impl Passages {
    pub(super) fn documents(&self) -> usize {
        self.documents.len()
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len() - self.free.len()
    }

    /// Adds a document that is not there, by its passages in order; returns their rows.
    pub(super) fn add(&mut self, document: &str, passages: Vec<Row>) -> Vec<u32> {
        let mut taken = Vec::with_capacity(passages.len());
        for passage in passages {
            let row = self.free.pop_first().unwrap_or(self.rows.len() as u32);
            match self.rows.get_mut(row as usize) {
                Some(free) => *free = Some(passage),
                None => self.rows.push(Some(passage)),
            }
            taken.push(row);
        }
        self.documents.insert(document.to_owned(), taken.clone());
        taken
    }

    /// Removes a document; returns its passages with the rows that they had.
    pub(super) fn remove(&mut self, document: &str) -> Option<Vec<(u32, Passage)>> {
        let rows = self.documents.remove(document)?;
        let mut removed = Vec::with_capacity(rows.len());
        for row in rows {
            let Some(Row { passage, .. }) = self.rows[row as usize].take() else { continue };
            self.free.insert(row);
            removed.push((row, passage));
        }
        Some(removed)
    }

    /// Sets what is read of a row.
    pub(super) fn read(&mut self, row: u32, reading: Vec<u8>) {
        if let Some(Some(row)) = self.rows.get_mut(row as usize) {
            row.reading = reading.into();
        }
    }

    pub(super) fn row(&self, row: u32) -> Option<&Row> {
        self.rows.get(row as usize)?.as_ref()
    }

    /// A document's rows, in reading order.
    pub(super) fn rows_of(&self, document: &str) -> Option<&[u32]> {
        self.documents.get(document).map(Vec::as_slice)
    }

    pub(super) fn position(&self, row: u32) -> Position<'_> {
        let (document, ordinal) = self.row(row).map_or(("", 0), |row| (row.passage.document.as_str(), row.ordinal));
        Position { document, ordinal }
    }

    /// The rows in document order.
    pub(super) fn in_order(&self) -> impl Iterator<Item = u32> {
        self.documents.values().flatten().copied()
    }

    /// xxh64 over each document's id, its number of passages and their texts, strings preceded by their lengths.
    pub(super) fn corpus_hash(&self) -> u64 {
        let mut hash = Xxh64::new(0);
        let mut text = |text: &str| {
            hash.update(&(text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        };
        for (document, rows) in self.iter() {
            text(document);
            text(&rows.len().to_string());
            rows.iter().filter_map(|&row| self.row(row)).for_each(|row| text(&row.passage.text));
        }
        hash.digest()
    }

    /// The documents by id, each with the rows of its passages in reading order.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &[u32])> {
        self.documents.iter().map(|(id, rows)| (id.as_str(), rows.as_slice()))
    }
}

/// Checks that a document with these passages could be added to so many.
pub(super) fn check(document: &str, passages: &[Passage], there: usize) -> Result<(), IndexError> {
    for (ordinal, passage) in passages.iter().enumerate() {
        let id = || passage.id.clone();
        if passage.document != document {
            let (found, expected) = (passage.document.clone(), document.to_owned());
            return Err(IndexError::ForeignPassage { passage: id(), found, expected });
        }
        let expected = Passage::id_of(document, ordinal);
        if passage.id != expected {
            return Err(IndexError::PassageId { found: id(), expected });
        }
        let Span { start, end } = passage.span;
        let text = passage.text.len();
        if start.checked_add(text) != Some(end) {
            return Err(IndexError::Span { passage: id(), text, start, end });
        }
    }
    let passages = there.saturating_add(passages.len());
    if passages > MOST_ROWS { Err(IndexError::Full { passages, limit: MOST_ROWS }) } else { Ok(()) }
}
