//! BM25 over an inverted index that is exact at any time.
//!
//! It scores rows by the terms of [`words`](super::words::words); which rows become hits is decided
//! elsewhere. The weight of a term in a passage is that of Robertson & Zaragoza, "The Probabilistic
//! Relevance Framework: BM25 and Beyond" (2009), equation 3.15: `tf / (tf + k1 (1 − b + b · length
//! / mean length))`, times an inverse document frequency that cannot be negative, as in Lucene's
//! `BM25Similarity`. The constant factor `k1 + 1` is left out: it ranks nothing and so a term gives
//! at most its idf.

use std::collections::BTreeMap;

use super::words::words;

const K1: f32 = 1.2;
const B: f32 = 0.75;

/// A term's occurrences in one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Posting {
    pub(super) row: u32,
    /// How often the term occurs, at least 1.
    pub(super) frequency: u32,
}

/// Postings sorted by row, under their terms. A row's frequencies add up to its length.
#[derive(Debug, Clone, Default)]
pub(super) struct Postings {
    lists: BTreeMap<String, Vec<Posting>>,
    lengths: Vec<u32>,
    occurrences: u64,
}

impl Postings {
    /// Adds the terms of a row that has none.
    pub(super) fn add(&mut self, row: u32, terms: Vec<String>) {
        for (term, frequency) in counted(terms) {
            let list = self.lists.entry(term).or_default();
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
        self.lists.insert(term, list);
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
    pub(super) fn remove(&mut self, row: u32, terms: Vec<String>) {
        for term in counted(terms).into_keys() {
            self.remove_from(&term, row);
        }
        // A snapshot's postings need not be those of its texts. What is left shows in the length.
        if self.length(row) > 0 {
            let every: Vec<String> = self.lists.keys().cloned().collect();
            for term in every {
                self.remove_from(&term, row);
            }
        }
    }

    fn remove_from(&mut self, term: &str, row: u32) {
        let Some(list) = self.lists.get_mut(term) else { return };
        let Ok(at) = list.binary_search_by_key(&row, |posting| posting.row) else { return };
        let posting = list.remove(at);
        self.lengths[row as usize] -= posting.frequency;
        self.occurrences -= u64::from(posting.frequency);
        if list.is_empty() {
            self.lists.remove(term);
        }
    }

    fn length(&self, row: u32) -> u32 {
        self.lengths.get(row as usize).copied().unwrap_or(0)
    }

    /// The terms in order, each with its postings.
    pub(super) fn lists(&self) -> impl ExactSizeIterator<Item = (&str, &[Posting])> {
        self.lists.iter().map(|(term, list)| (term.as_str(), list.as_slice()))
    }

    /// How many terms all rows have together, repetitions counted.
    pub(super) fn occurrences(&self) -> u64 {
        self.occurrences
    }

    /// The BM25 score of every row up to the last with a term; 0 where no term of the query occurs.
    /// Terms are added in their own order: the order of a query's words cannot change a score.
    pub(super) fn scores(&self, query: &str, passages: usize) -> Vec<f32> {
        let statistics = self.statistics(passages);
        let mean = self.occurrences as f32 / passages.max(1) as f32;
        let mut scores = vec![0.0; self.lengths.len()];
        for (term, count) in counted(words(query)) {
            let Some(list) = self.lists.get(&term) else { continue };
            let weight = count as f32 * statistics.idf(&term);
            for &Posting { row, frequency } in list {
                let frequency = frequency as f32;
                let length = self.lengths[row as usize] as f32 / mean;
                scores[row as usize] += weight * (frequency / (frequency + K1 * (1.0 - B + B * length)));
            }
        }
        scores
    }

    pub(super) fn statistics(&self, passages: usize) -> TermStatistics<'_> {
        TermStatistics { postings: self, passages }
    }
}

fn counted(terms: Vec<String>) -> BTreeMap<String, u32> {
    let mut counts = BTreeMap::new();
    for term in terms {
        *counts.entry(term).or_insert(0) += 1;
    }
    counts
}

/// How common terms are in an index: what graders weigh words by.
#[derive(Debug, Clone, Copy)]
pub struct TermStatistics<'a> {
    postings: &'a Postings,
    passages: usize,
}

impl TermStatistics<'_> {
    /// The number of passages.
    pub fn passages(&self) -> usize {
        self.passages
    }

    /// The number of passages that have a term, given as [`words`](super::words::words) returns it.
    pub fn document_frequency(&self, term: &str) -> usize {
        self.postings.lists.get(term).map_or(0, Vec::len)
    }

    /// `ln(1 + (N − df + ½) / (df + ½))`: positive, and largest for a term that does not occur.
    pub fn idf(&self, term: &str) -> f32 {
        let frequency = self.document_frequency(term) as f32;
        libm::logf(1.0 + (self.passages as f32 - frequency + 0.5) / (frequency + 0.5))
    }
}
