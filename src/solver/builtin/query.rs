//! A question as the solver sees it: its words, weighed by how rare they are, and its vector.

use std::collections::BTreeSet;

use crate::corpus::Corpus;
use crate::document::{Passage, Reading};

pub(super) type Terms = BTreeSet<String>;

pub(super) struct Query<'a> {
    corpus: &'a Corpus,
    terms: Vec<(String, f32)>,
    total: f32,
    vector: Option<Vec<f32>>,
    unheard_name: bool,
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
        Self { corpus, terms, total, vector: corpus.embed(question), unheard_name }
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
