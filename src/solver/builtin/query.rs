//! A question as the solver sees it: its words, weighed by how rare they are, and its vector.

use std::collections::BTreeSet;

use crate::characters::{Class, class, lower_case};
use crate::corpus::Corpus;
use crate::document::{Passage, Reading};
use crate::vectors::dot;

pub(super) type Terms = BTreeSet<String>;

pub(super) struct Query<'a> {
    corpus: &'a Corpus,
    terms: Vec<(String, f32)>,
    total: f32,
    words: Vec<Word>,
    vector: Option<Vec<f32>>,
    unheard_name: bool,
}

/// A word of the question as it is written: its term in the index, how rare that is, and its vector.
struct Word {
    term: String,
    weight: f32,
    vector: Option<Vec<f32>>,
}

impl<'a> Query<'a> {
    pub(super) fn new(question: &str, corpus: &'a Corpus) -> Self {
        let statistics = corpus.index().statistics();
        let words = |text: &str| corpus.index().words(text);
        let distinct: Terms = words(&without_measures(question)).into_iter().collect();
        let terms: Vec<(String, f32)> = distinct.into_iter().map(|t| (t.clone(), statistics.idf(&t))).collect();
        let total = terms.iter().map(|(_, weight)| weight).sum();
        let unheard_name = question.split_whitespace().any(|word| {
            let parts = if word.contains(['-', '\'', '’']) { Vec::new() } else { words(word) };
            // Of several parts the last is the whole.
            parts.len() > 1 && parts.last().is_some_and(|whole| statistics.document_frequency(whole) == 0)
        });
        let word = |written: &String| {
            let term = words(written).pop()?;
            Some(Word { weight: statistics.idf(&term), term, vector: corpus.embed(written) })
        };
        let words = written(question).iter().filter_map(word).collect();
        Self { corpus, terms, total, words, vector: corpus.embed(question), unheard_name }
    }

    /// A passage as a reader sees it.
    pub(super) fn reading(&self, passage: &Passage) -> Reading {
        self.corpus.reading(passage)
    }

    /// The distinct terms of a text, as the index has them.
    pub(super) fn terms(&self, text: &str) -> Terms {
        self.corpus.index().words(text).into_iter().collect()
    }

    /// The share of the question's words that occur, weighed by rarity: 0…1.
    pub(super) fn coverage(&self, text: &Terms) -> f32 {
        if self.total <= 0.0 {
            return 0.0;
        }
        let found: f32 = self.terms.iter().filter(|(term, _)| text.contains(term)).map(|(_, weight)| weight).sum();
        found / self.total
    }

    /// As [`Self::coverage`], where a word that does not occur counts as far as the nearest word that does, by
    /// their vectors: 0…1. So `kill` is half found where it says `close`.
    pub(super) fn soft_coverage(&self, text: &str) -> f32 {
        let terms = self.terms(text);
        let vectors: Vec<Vec<f32>> = written(text).iter().filter_map(|word| self.corpus.embed(word)).collect();
        let nearest = |word: &[f32]| vectors.iter().map(|other| dot(word, other)).fold(0.0, f32::max);
        let found = |word: &Word| match &word.vector {
            _ if terms.contains(&word.term) => word.weight,
            Some(vector) => word.weight * nearest(vector),
            None => 0.0,
        };
        let total: f32 = self.words.iter().map(|word| word.weight).sum();
        if total > 0.0 { self.words.iter().map(found).sum::<f32>() / total } else { 0.0 }
    }

    /// The cosine of the question's and the text's vectors, when both have one.
    pub(super) fn cosine(&self, text: &str) -> Option<f32> {
        let (query, text) = (self.vector.as_ref()?, self.corpus.embed(text)?);
        Some(query.iter().zip(&text).map(|(a, b)| a * b).sum())
    }

    /// The share of the question, by weight, that occurs nowhere in the index: 0…1.
    pub(super) fn unheard(&self) -> f32 {
        let statistics = self.corpus.index().statistics();
        let unheard = self.terms.iter().filter(|(term, _)| statistics.document_frequency(term) == 0);
        let weight: f32 = unheard.map(|(_, weight)| weight).sum();
        if self.total > 0.0 { weight / self.total } else { 0.0 }
    }

    /// Whether the question names something, such as `useGlobalPipes` or `app.param()`, that occurs
    /// nowhere in the index.
    pub(super) fn names_the_unheard(&self) -> bool {
        self.unheard_name
    }

    /// Whether the question has a word at all.
    pub(super) fn is_blank(&self) -> bool {
        self.terms.is_empty()
    }
}

/// The distinct words of a text as they are written, in lower case: what has a vector of its own.
fn written(text: &str) -> Terms {
    let words = text.split(|c| class(c) != Class::Letter).filter(|word| !word.is_empty());
    words.map(lower_case).collect()
}

/// What `how` asks for the measure of is in an answer as a number, not as the word.
const MEASURES: [&str; 8] = ["big", "far", "fast", "large", "long", "many", "much", "often"];

/// The question without the word that makes `how` a question of measure: `how long`, `how many`.
fn without_measures(question: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for word in question.split_whitespace() {
        let asked = kept.last().is_some_and(|last| last.eq_ignore_ascii_case("how"));
        if !(asked && MEASURES.iter().any(|measure| measure.eq_ignore_ascii_case(word))) {
            kept.push(word);
        }
    }
    kept.join(" ")
}

/// What a draft says. Where its links lead is no part of it.
pub(super) fn without_targets(draft: &str) -> String {
    let mut said = String::with_capacity(draft.len());
    let mut rest = draft;
    while let Some((before, after)) = rest.split_once("](") {
        said += before;
        said.push(' ');
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    said + rest
}
