//! The inverted index: for each term the rows that have it, and how often.
//!
//! It decides what a list of postings is, in memory and in a snapshot; what a posting is worth is
//! decided by [`bm25`](super::bm25).

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::SnapshotError;
use super::fields::Counts;
use crate::document::varint::{pull, push};

/// A term's occurrences in one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Posting {
    pub(super) row: u32,
    /// How often the term occurs, times [`OCCURRENCE`](super::fields::OCCURRENCE) and the weight of its
    /// field; at least 1.
    pub(super) frequency: u32,
}

/// A term in the order of its bytes, of which the first eight are one number: it decides nearly every comparison.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    head: Head,
    term: String,
}

#[cfg(any(not(feature = "browser"), feature = "models"))]
type Head = u64;
/// The small module answers from an index that it was given: a number would be a kilobyte for nothing.
#[cfg(all(feature = "browser", not(feature = "models")))]
type Head = [(); 0];

impl Key {
    pub(super) fn of(term: String) -> Self {
        Self { head: head(&term), term }
    }

    pub(super) fn into_term(self) -> String {
        self.term
    }
}

#[cfg(any(not(feature = "browser"), feature = "models"))]
fn head(term: &str) -> Head {
    let mut head = [0; 8];
    head.iter_mut().zip(term.bytes()).for_each(|(to, byte)| *to = byte);
    u64::from_be_bytes(head)
}

#[cfg(all(feature = "browser", not(feature = "models")))]
fn head(_: &str) -> Head {
    []
}

/// Postings sorted by row, under their terms. A row's frequencies add up to its length.
#[derive(Debug, Clone, Default)]
pub(super) struct Postings {
    lists: BTreeMap<Key, Vec<Posting>>,
    lengths: Vec<u32>,
    occurrences: u64,
}

impl Postings {
    /// Adds the terms of a row that has none.
    pub(super) fn add(&mut self, row: u32, terms: Counts) {
        for (term, frequency) in terms {
            let list = self.lists.entry(Key::of(term)).or_default();
            let at = list.partition_point(|posting| posting.row < row);
            list.insert(at, Posting { row, frequency });
            self.lengthen(row, frequency);
        }
    }

    /// Adds the postings of a term that is not there yet; `list` is sorted by row.
    pub(super) fn add_list(&mut self, term: String, list: Vec<Posting>) {
        for posting in &list {
            self.lengthen(posting.row, posting.frequency);
        }
        self.lists.insert(Key::of(term), list);
    }

    fn lengthen(&mut self, row: u32, frequency: u32) {
        let row = row as usize;
        if self.lengths.len() <= row {
            self.lengths.resize(row + 1, 0);
        }
        self.lengths[row] += frequency;
        self.occurrences += u64::from(frequency);
    }

    /// Removes all postings of a row; `terms` says where to look first.
    pub(super) fn remove(&mut self, row: u32, terms: Counts) {
        for (term, _) in terms {
            self.remove_from(&Key::of(term), row);
        }
        // A snapshot's postings need not be those of its texts. What is left shows in the length.
        if self.lengths.get(row as usize).is_some_and(|&length| length > 0) {
            let every: Vec<Key> = self.lists.keys().cloned().collect();
            for term in every {
                self.remove_from(&term, row);
            }
        }
    }

    fn remove_from(&mut self, term: &Key, row: u32) {
        let Some(list) = self.lists.get_mut(term) else { return };
        let Ok(at) = list.binary_search_by_key(&row, |posting| posting.row) else { return };
        let posting = list.remove(at);
        self.lengths[row as usize] -= posting.frequency;
        self.occurrences -= u64::from(posting.frequency);
        if list.is_empty() {
            self.lists.remove(term);
        }
    }

    /// How many terms each row has, repetitions counted, up to the last that has one.
    pub(super) fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    /// How many terms all rows have together, repetitions counted.
    pub(super) fn occurrences(&self) -> u64 {
        self.occurrences
    }

    /// The terms in order, each with its postings.
    pub(super) fn lists(&self) -> impl ExactSizeIterator<Item = (&str, &[Posting])> {
        self.lists.iter().map(|(key, list)| (key.term.as_str(), list.as_slice()))
    }

    pub(super) fn list(&self, term: &str) -> Option<&[Posting]> {
        self.lists.get(&Key::of(term.to_owned())).map(Vec::as_slice)
    }

    /// The lists of all terms that begin with a word.
    pub(super) fn beginning_with(&self, word: &str) -> impl Iterator<Item = &[Posting]> {
        let from = self.lists.range(Key::of(word.to_owned())..);
        from.take_while(move |(key, _)| key.term.starts_with(word)).map(|(_, list)| list.as_slice())
    }
}

/// The postings of a term, to be read.
#[derive(Debug, Clone, Copy)]
pub(super) enum List<'a> {
    Own(&'a [Posting]),
    /// As [`encode`] wrote them, of so many rows.
    Saved(&'a [u8], usize),
}

impl<'a> List<'a> {
    /// How many there are.
    pub(super) fn len(self) -> usize {
        match self {
            Self::Own(list) => list.len(),
            Self::Saved(mut bytes, rows) => pull(&mut bytes).unwrap_or(0).min(rows),
        }
    }

    /// The postings, or an error when their bytes are of none.
    pub(super) fn read(self) -> Result<Cow<'a, [Posting]>, SnapshotError> {
        match self {
            Self::Own(list) => Ok(Cow::Borrowed(list)),
            Self::Saved(bytes, rows) => {
                decode(bytes, rows).map(Cow::Owned).ok_or(SnapshotError::Corrupt { what: "postings" })
            }
        }
    }
}

/// Their number, then for each how many rows are between it and the last one, and its frequency.
pub(super) fn encode(list: &[Posting]) -> Vec<u8> {
    let mut bytes = Vec::new();
    push(&mut bytes, list.len());
    let mut next = 0;
    for &Posting { row, frequency } in list {
        push(&mut bytes, (row - next) as usize);
        push(&mut bytes, frequency as usize);
        next = row + 1;
    }
    bytes
}

fn decode(mut bytes: &[u8], rows: usize) -> Option<Vec<Posting>> {
    let count = pull(&mut bytes)?;
    // Each takes two bytes or more: a greater number is a lie, and nothing is allocated for it.
    if count == 0 || count > bytes.len() / 2 {
        return None;
    }
    let mut list = vec![Posting { row: 0, frequency: 0 }; count];
    let mut next = 0_usize;
    for posting in &mut list {
        // Most are of two bytes, and read without a call.
        let (gap, frequency) = if let [gap @ ..128, frequency @ ..128, rest @ ..] = bytes {
            bytes = rest;
            (usize::from(*gap), usize::from(*frequency))
        } else {
            (pull(&mut bytes)?, pull(&mut bytes)?)
        };
        let row = next.checked_add(gap).filter(|&row| row < rows)?;
        let frequency = u32::try_from(frequency).ok().filter(|&frequency| frequency > 0)?;
        *posting = Posting { row: row as u32, frequency };
        next = row + 1;
    }
    bytes.is_empty().then_some(list)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn posting((row, frequency): (u32, u32)) -> Posting {
        Posting { row, frequency }
    }

    proptest! {
        #[test]
        fn a_list_comes_back(list in prop::collection::btree_map(0_u32..5_000, 1_u32.., 1..60)) {
            let list: Vec<Posting> = list.into_iter().map(posting).collect();
            let bytes = encode(&list);
            prop_assert_eq!(List::Saved(&bytes, 5_000).len(), list.len());
            prop_assert_eq!(List::Saved(&bytes, 5_000).read().unwrap().into_owned(), list.clone());
            let last = list[list.len() - 1].row as usize;
            prop_assert!(List::Saved(&bytes, last).read().is_err(), "a row that is not there");
            prop_assert!(List::Saved(&bytes[..bytes.len() - 1], 5_000).read().is_err(), "an end that is not there");
        }

        #[test]
        fn bytes_are_refused_or_those_of_a_list(bytes in prop::collection::vec(any::<u8>(), 0..40), rows in 0_usize..300) {
            if let Ok(list) = (List::Saved(&bytes, rows)).read() {
                prop_assert!(!list.is_empty() && list.is_sorted_by(|a, b| a.row < b.row));
                prop_assert!(list.iter().all(|posting| (posting.row as usize) < rows && posting.frequency > 0));
            }
        }
    }
}
