//! The passages of an index, each in a numbered row, and the documents that they belong to.
//!
//! It decides which passages may be in one index together, and which row each gets. Rows of removed
//! passages are used again, so numbers say nothing about order: [`Position`] does.

use std::collections::{BTreeMap, BTreeSet};

use super::error::IndexError;
use crate::document::Passage;

/// Rows are numbered with 32 bits, and the last number is kept for "none".
const MAX_ROWS: usize = u32::MAX as usize - 1;

/// Where a passage stands: documents by id, the passages of one in reading order.
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
    ids: BTreeMap<String, u32>,
}

#[derive(Debug, Clone)]
struct Row {
    passage: Passage,
    ordinal: u32,
    /// What a reader sees of it, by `Reading::encode`; empty when nobody has read it.
    reading: Box<[u8]>,
}

impl Passages {
    pub(super) fn documents(&self) -> usize {
        self.documents.len()
    }

    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Checks that a document with these passages could be added once its old version is gone.
    pub(super) fn check(&self, document: &str, passages: &[Passage]) -> Result<(), IndexError> {
        let mut new = BTreeSet::new();
        for passage in passages {
            if passage.document != document {
                return Err(IndexError::ForeignPassage {
                    passage: passage.id.clone(),
                    found: passage.document.clone(),
                    expected: document.to_owned(),
                });
            }
            if passage.span.start.checked_add(passage.text.len()) != Some(passage.span.end) {
                return Err(IndexError::Span {
                    passage: passage.id.clone(),
                    text: passage.text.len(),
                    start: passage.span.start,
                    end: passage.span.end,
                });
            }
            let elsewhere = self.by_id(&passage.id).is_some_and(|other| other.document != document);
            if elsewhere || !new.insert(passage.id.as_str()) {
                return Err(IndexError::DuplicatePassage {
                    passage: passage.id.clone(),
                    document: document.to_owned(),
                });
            }
        }
        let total = self.len().saturating_add(passages.len());
        if total > MAX_ROWS {
            return Err(IndexError::Full { passages: total, limit: MAX_ROWS });
        }
        Ok(())
    }

    /// Adds a document that is not there and has been checked; returns the rows of its passages.
    pub(super) fn add(&mut self, document: &str, passages: Vec<Passage>) -> Vec<u32> {
        let mut taken = Vec::with_capacity(passages.len());
        for (ordinal, passage) in passages.into_iter().enumerate() {
            let row = self.free.pop_first().unwrap_or(self.rows.len() as u32);
            self.ids.insert(passage.id.clone(), row);
            let filled = Some(Row { passage, ordinal: ordinal as u32, reading: Box::default() });
            match self.rows.get_mut(row as usize) {
                Some(free) => *free = filled,
                None => self.rows.push(filled),
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
            self.ids.remove(&passage.id);
            self.free.insert(row);
            removed.push((row, passage));
        }
        Some(removed)
    }

    pub(super) fn passage(&self, row: u32) -> Option<&Passage> {
        self.row(row).map(|row| &row.passage)
    }

    /// Sets what is read of a row.
    pub(super) fn read(&mut self, row: u32, reading: Vec<u8>) {
        if let Some(Some(row)) = self.rows.get_mut(row as usize) {
            row.reading = reading.into();
        }
    }

    /// What is read of a row, encoded.
    pub(super) fn reading(&self, row: u32) -> &[u8] {
        self.row(row).map_or(&[], |row| &row.reading)
    }

    /// The row of a passage, if it is here with that very text.
    pub(super) fn row_of(&self, passage: &Passage) -> Option<u32> {
        let row = *self.ids.get(&passage.id)?;
        self.passage(row).filter(|own| own.text == passage.text).map(|_| row)
    }

    /// A document's rows, in reading order.
    pub(super) fn rows(&self, document: &str) -> &[u32] {
        self.documents.get(document).map_or(&[], Vec::as_slice)
    }

    pub(super) fn by_id(&self, id: &str) -> Option<&Passage> {
        self.ids.get(id).and_then(|&row| self.passage(row))
    }

    pub(super) fn position(&self, row: u32) -> Position<'_> {
        let (document, ordinal) = self.row(row).map_or(("", 0), |row| (row.passage.document.as_str(), row.ordinal));
        Position { document, ordinal }
    }

    /// The documents by id, each with the rows of its passages in reading order.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &[u32])> {
        self.documents.iter().map(|(id, rows)| (id.as_str(), rows.as_slice()))
    }

    fn row(&self, row: u32) -> Option<&Row> {
        self.rows.get(row as usize)?.as_ref()
    }
}
