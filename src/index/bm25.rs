//! BM25 over an inverted index that is exact at any time.
//!
//! It scores rows by the terms of [`words`](super::words) and the frequencies of
//! [`fields`](super::fields); which rows become hits is decided elsewhere. The weight of a term in a passage is that of Robertson & Zaragoza, "The Probabilistic
//! Relevance Framework: BM25 and Beyond" (2009), equation 3.15: `tf / (tf + k1 (1 − b + b · length
//! / mean length))`, times an inverse document frequency that cannot be negative, as in Lucene's
//! `BM25Similarity`. The constant factor `k1 + 1` is left out: it ranks nothing and so a term gives
//! at most its idf.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Bound;

use super::fields::{Counts, OCCURRENCE};
use crate::vectors;

const K1: f32 = 1.2;
const B: f32 = 0.75;

/// The beginning of a word stands for so many terms at the most, the most common ones.
const MOST_COMPLETIONS: usize = 64;

/// The shortest beginning of a term that stands for a word typed further than its stem.
const SHORTEST_STEM: usize = 3;

/// A term's occurrences in one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Posting {
    pub(super) row: u32,
    /// How often the term occurs, times [`OCCURRENCE`] and the weight of its field; at least 1.
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
    pub(super) fn add(&mut self, row: u32, terms: Counts) {
        for (term, frequency) in terms {
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
    pub(super) fn remove(&mut self, row: u32, terms: Counts) {
        for (term, _) in terms {
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
    pub(super) fn scores(&self, query: &LexicalQuery, passages: usize) -> Vec<f32> {
        let mut scores = vec![0.0; self.lengths.len()];
        for sought in self.sought(query, passages) {
            for posting in sought.list.iter() {
                scores[posting.row as usize] += self.score(&sought, *posting, passages);
            }
        }
        scores
    }

    /// What each term of the query adds to a row's score, the largest first.
    pub(super) fn explained(&self, query: &LexicalQuery, row: u32, passages: usize) -> Vec<(String, f32)> {
        let sought = self.sought(query, passages);
        let of_row = |sought: &Sought<'_>| {
            let at = sought.list.binary_search_by_key(&row, |posting| posting.row).ok()?;
            Some((sought.name.clone(), self.score(sought, sought.list[at], passages)))
        };
        let mut terms: Vec<(String, f32)> = sought.iter().filter_map(of_row).collect();
        vectors::select(&mut terms, usize::MAX, |a, b| a.1 > b.1);
        terms
    }

    fn score(&self, sought: &Sought<'_>, posting: Posting, passages: usize) -> f32 {
        let mean = self.occurrences as f32 / passages.max(1) as f32;
        let frequency = posting.frequency as f32 / OCCURRENCE as f32;
        let length = self.lengths[posting.row as usize] as f32 / mean;
        sought.weight * (frequency / (frequency + K1 * (1.0 - B + B * length)))
    }

    /// The terms of the query that occur, in their order, and last what its unfinished word stands for.
    fn sought(&self, query: &LexicalQuery, passages: usize) -> Vec<Sought<'_>> {
        let statistics = self.statistics(passages);
        let known = |(term, count): &(String, u32)| {
            let list = self.lists.get(term)?;
            let weight = *count as f32 * statistics.idf(term);
            Some(Sought { name: term.clone(), weight, list: Cow::Borrowed(list) })
        };
        let mut sought: Vec<Sought<'_>> = query.terms.iter().filter_map(known).collect();
        sought.extend(query.unfinished.as_deref().and_then(|word| self.completed(word, passages)));
        sought
    }

    /// What a word that is still being typed stands for: as one term, all those that begin with it. Where
    /// nothing does it may have been typed beyond its stem, which is then the longest term it begins with.
    fn completed(&self, word: &str, passages: usize) -> Option<Sought<'_>> {
        let from = |start: &str| self.lists.range::<str, _>((Bound::Included(start), Bound::Unbounded));
        let mut lists: Vec<&Vec<Posting>> =
            from(word).take_while(|(term, _)| term.starts_with(word)).map(|(_, list)| list).collect();
        if lists.is_empty() {
            let stems = word.char_indices().map(|(at, _)| &word[..at]).rev().take_while(|s| s.len() >= SHORTEST_STEM);
            lists.extend(stems.into_iter().find_map(|stem| self.lists.get(stem)));
        }
        vectors::select(&mut lists, MOST_COMPLETIONS, |a, b| a.len() > b.len());
        let mut frequencies = vec![0_u32; self.lengths.len()];
        for posting in lists.into_iter().take(MOST_COMPLETIONS).flatten() {
            let frequency = &mut frequencies[posting.row as usize];
            *frequency = frequency.saturating_add(posting.frequency);
        }
        let found = (0..).zip(frequencies).filter(|(_, frequency)| *frequency > 0);
        let list: Vec<Posting> = found.map(|(row, frequency)| Posting { row, frequency }).collect();
        let weight = idf(list.len(), passages);
        (!list.is_empty()).then(|| Sought { name: format!("{word}…"), weight, list: Cow::Owned(list) })
    }

    pub(super) fn statistics(&self, passages: usize) -> TermStatistics<'_> {
        TermStatistics { postings: self, passages }
    }
}

/// What is sought by words.
pub(super) struct LexicalQuery {
    /// The terms, as often as the query has them.
    pub(super) terms: Counts,
    /// The word at its end that is still being typed, in lower case.
    pub(super) unfinished: Option<String>,
}

/// A term of a query with its weight and where it occurs.
struct Sought<'a> {
    name: String,
    weight: f32,
    list: Cow<'a, [Posting]>,
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
        idf(self.document_frequency(term), self.passages)
    }
}

fn idf(document_frequency: usize, passages: usize) -> f32 {
    let frequency = document_frequency as f32;
    libm::logf(1.0 + (passages as f32 - frequency + 0.5) / (frequency + 0.5))
}
