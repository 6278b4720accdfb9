//! BM25 over the postings of an index, which are exact at any time.
//!
//! It scores rows by the terms of [`words`](super::words) and the frequencies of
//! [`fields`](super::fields); which rows become hits is decided elsewhere. The weight of a term in a
//! passage is that of Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond"
//! (2009), equation 3.15: `tf / (tf + k1 (1 − b + b · length / mean length))`, times an inverse document
//! frequency that cannot be negative, as in Lucene's `BM25Similarity`. The constant factor `k1 + 1` is left out: it ranks nothing and so a term gives
//! at most its idf.

use std::borrow::Cow;

use super::SnapshotError;
use super::content::Content;
use super::fields::{Counts, OCCURRENCE};
use super::postings::{List, Posting};
use crate::vectors;

const K1: f32 = 1.2;
const B: f32 = 0.75;

/// The beginning of a word stands for so many terms at the most, the most common ones.
const MOST_COMPLETIONS: usize = 64;

/// The shortest beginning of a term that stands for a word typed further than its stem.
const SHORTEST_STEM: usize = 3;

impl Content {
    /// The terms of the query that occur, in their order, and last what its unfinished word stands for.
    pub(super) fn sought(&self, query: &LexicalQuery) -> Result<Sought<'_>, SnapshotError> {
        let mut terms = Vec::new();
        for (term, count) in &query.terms {
            if let Some(list) = self.list(term) {
                let weight = *count as f32 * idf(list.len(), self.passages());
                terms.push(Term { name: term.clone(), weight, list: list.read()? });
            }
        }
        let completed = query.unfinished.as_deref().map(|word| self.completed(word));
        terms.extend(completed.transpose()?.flatten());
        let mean = self.occurrences() as f32 / self.passages().max(1) as f32;
        Ok(Sought { terms, lengths: self.lengths(), slope: K1 * B / mean })
    }

    /// What a word that is still being typed stands for: as one term, all those that begin with it. Where
    /// nothing does it may have been typed beyond its stem, which is then the longest term it begins with.
    fn completed(&self, word: &str) -> Result<Option<Term<'_>>, SnapshotError> {
        let mut lists = self.beginning_with(word);
        if lists.is_empty() {
            let stems = word.char_indices().map(|(at, _)| &word[..at]).rev().take_while(|s| s.len() >= SHORTEST_STEM);
            lists.extend(stems.into_iter().find_map(|stem| self.list(stem)));
        }
        vectors::select(&mut lists, MOST_COMPLETIONS, |a, b| a.len() > b.len());
        let mut frequencies = vec![0_u32; self.lengths().len()];
        for list in lists.into_iter().take(MOST_COMPLETIONS) {
            for posting in list.read()?.iter() {
                let frequency = &mut frequencies[posting.row as usize];
                *frequency = frequency.saturating_add(posting.frequency);
            }
        }
        let found = (0..).zip(frequencies).filter(|(_, frequency)| *frequency > 0);
        let list: Vec<Posting> = found.map(|(row, frequency)| Posting { row, frequency }).collect();
        let weight = idf(list.len(), self.passages());
        Ok((!list.is_empty()).then(|| Term { name: format!("{word}…"), weight, list: Cow::Owned(list) }))
    }
}

/// What of a query occurs in an index, and how long its rows are.
pub(super) struct Sought<'a> {
    terms: Vec<Term<'a>>,
    lengths: &'a [u32],
    /// What each unit of a row's length adds to the divisor.
    slope: f32,
}

/// A term of a query with its weight and where it occurs.
struct Term<'a> {
    name: String,
    weight: f32,
    list: Cow<'a, [Posting]>,
}

impl Sought<'_> {
    /// The BM25 score of every row up to the last with a term; 0 where no term of the query occurs.
    /// Terms are added in their own order: the order of a query's words cannot change a score.
    pub(super) fn scores(&self) -> Vec<f32> {
        let mut scores = vec![0.0; self.lengths.len()];
        for term in &self.terms {
            for posting in term.list.iter() {
                scores[posting.row as usize] += self.score(term, *posting);
            }
        }
        scores
    }

    /// What each term of the query adds to a row's score, the largest first.
    pub(super) fn explained(&self, row: u32) -> Vec<(String, f32)> {
        let of_row = |term: &Term<'_>| {
            let at = term.list.binary_search_by_key(&row, |posting| posting.row).ok()?;
            Some((term.name.clone(), self.score(term, term.list[at])))
        };
        let mut terms: Vec<(String, f32)> = self.terms.iter().filter_map(of_row).collect();
        vectors::select(&mut terms, usize::MAX, |a, b| a.1 > b.1);
        terms
    }

    fn score(&self, term: &Term<'_>, posting: Posting) -> f32 {
        let frequency = posting.frequency as f32 / OCCURRENCE as f32;
        let length = self.lengths[posting.row as usize] as f32;
        term.weight * (frequency / (frequency + (K1 * (1.0 - B) + self.slope * length)))
    }
}

/// What is sought by words.
pub(super) struct LexicalQuery {
    /// The terms, as often as the query has them.
    pub(super) terms: Counts,
    /// The word at its end that is still being typed, in lower case.
    pub(super) unfinished: Option<String>,
}

/// How common terms are in an index: what graders weigh words by.
#[derive(Debug, Clone, Copy)]
pub struct TermStatistics<'a> {
    content: &'a Content,
}

impl<'a> TermStatistics<'a> {
    pub(super) fn of(content: &'a Content) -> Self {
        Self { content }
    }
}

impl TermStatistics<'_> {
    /// The number of passages.
    pub fn passages(&self) -> usize {
        self.content.passages()
    }

    /// The number of passages that have a term, given as [`words`](super::words::words) returns it.
    pub fn document_frequency(&self, term: &str) -> usize {
        self.content.list(term).map_or(0, List::len)
    }

    /// `ln(1 + (N − df + ½) / (df + ½))`: positive, and largest for a term that does not occur.
    pub fn idf(&self, term: &str) -> f32 {
        idf(self.document_frequency(term), self.passages())
    }
}

fn idf(document_frequency: usize, passages: usize) -> f32 {
    let frequency = document_frequency as f32;
    libm::logf(1.0 + (passages as f32 - frequency + 0.5) / (frequency + 0.5))
}
