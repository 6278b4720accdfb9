//! What an index holds besides vectors: passages and postings, in memory or as a snapshot has them.
//!
//! A loaded snapshot is searched where it lies, and read as a whole only when something changes.

use super::SnapshotError;
use super::passages::{Passages, Position, Row};
use super::postings::{List, Postings};
use super::saved::Saved;

#[derive(Debug, Clone)]
pub(super) enum Content {
    Own(Own),
    Saved(Box<Saved>),
}

/// What can be changed.
#[derive(Debug, Clone, Default)]
pub(super) struct Own {
    pub(super) passages: Passages,
    pub(super) postings: Postings,
}

impl Default for Content {
    fn default() -> Self {
        Self::Own(Own::default())
    }
}

impl Content {
    /// To change: of a snapshot all is read, once.
    pub(super) fn own(&mut self) -> Result<&mut Own, SnapshotError> {
        if let Self::Saved(saved) = self {
            *self = Self::Own(saved.read()?);
        }
        match self {
            Self::Own(own) => Ok(own),
            Self::Saved(_) => unreachable!("made its own just now"),
        }
    }

    pub(super) fn documents(&self) -> usize {
        match self {
            Self::Own(own) => own.passages.documents(),
            Self::Saved(saved) => saved.documents(),
        }
    }

    pub(super) fn passages(&self) -> usize {
        match self {
            Self::Own(own) => own.passages.len(),
            Self::Saved(saved) => saved.passages(),
        }
    }

    /// What is in a row; nothing also where a snapshot cannot be read.
    pub(super) fn row(&self, row: u32) -> Option<&Row> {
        match self {
            Self::Own(own) => own.passages.row(row),
            Self::Saved(saved) => saved.row(row),
        }
    }

    /// A document's rows, in reading order, if it is there.
    pub(super) fn rows_of(&self, document: &str) -> Option<Vec<u32>> {
        match self {
            Self::Own(own) => own.passages.rows_of(document).map(<[u32]>::to_vec),
            Self::Saved(saved) => saved.rows_of(document).map(Iterator::collect),
        }
    }

    /// All rows in document order.
    pub(super) fn rows(&self) -> Vec<u32> {
        match self {
            Self::Own(own) => own.passages.in_order().collect(),
            Self::Saved(saved) => (0..saved.passages() as u32).collect(),
        }
    }

    /// Where a row stands among the others. A snapshot's are in order: their numbers say it, and no document is looked up.
    pub(super) fn position(&self, row: u32) -> Position<'_> {
        match self {
            Self::Own(own) => own.passages.position(row),
            Self::Saved(_) => Position { document: "", ordinal: row },
        }
    }

    /// The document that a row belongs to.
    pub(super) fn document(&self, row: u32) -> &str {
        match self {
            Self::Own(own) => own.passages.position(row).document,
            Self::Saved(saved) => saved.position(row).document,
        }
    }

    /// How many terms each row has, repetitions counted, at least up to the last that has one.
    pub(super) fn lengths(&self) -> &[u32] {
        match self {
            Self::Own(own) => own.postings.lengths(),
            Self::Saved(saved) => saved.lengths(),
        }
    }

    /// How many terms all rows have together, repetitions counted.
    pub(super) fn occurrences(&self) -> u64 {
        match self {
            Self::Own(own) => own.postings.occurrences(),
            Self::Saved(saved) => saved.occurrences(),
        }
    }

    /// How many terms there are.
    pub(super) fn terms(&self) -> usize {
        match self {
            Self::Own(own) => own.postings.lists().len(),
            Self::Saved(saved) => saved.terms(),
        }
    }

    pub(super) fn list(&self, term: &str) -> Option<List<'_>> {
        match self {
            Self::Own(own) => own.postings.list(term).map(List::Own),
            Self::Saved(saved) => saved.list(term),
        }
    }

    /// The lists of all terms that begin with a word, in the terms' order.
    pub(super) fn beginning_with(&self, word: &str) -> Vec<List<'_>> {
        match self {
            Self::Own(own) => own.postings.beginning_with(word).map(List::Own).collect(),
            Self::Saved(saved) => saved.beginning_with(word).collect(),
        }
    }
}
