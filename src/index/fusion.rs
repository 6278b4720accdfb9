//! One score out of two, BM25 and cosine: each stretched to 0…1 over the candidates and then mixed, or by
//! their ranks alone.
//!
//! It decides the order of candidates. Min-max fusion is compared with its alternatives by Bruch,
//! Gai & Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval" (2023); reciprocal rank fusion is
//! Cormack, Clarke & Büttcher's (2009), whose constant is 60. `npm run bench:retrieval` compares them here.

use std::cmp::Ordering;

/// How the two sides of a hybrid search are mixed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fusion {
    /// Scores, each side stretched to 0…1.
    MinMax {
        /// The share of the dense side, 0…1; the words have the rest. .4 by default.
        dense_weight: f32,
    },
    /// The sum of `1 / (60 + rank)`, stretched so that the first of both sides has 1.
    ReciprocalRank,
}

impl Default for Fusion {
    fn default() -> Self {
        Self::MinMax { dense_weight: 0.4 }
    }
}

/// The constant of reciprocal rank fusion.
const RANK_CONSTANT: f32 = 60.0;

/// What is known of one candidate, and then its score.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    pub(super) row: u32,
    pub(super) lexical: f32,
    pub(super) dense: Option<f32>,
    /// What the words add to the score, and what the vectors do.
    pub(super) words: f32,
    pub(super) vectors: f32,
    pub(super) score: f32,
}

/// Fills in the scores. A side that found nothing has no say; a candidate without a vector gets 0
/// from the dense side.
pub(super) fn fuse(candidates: &mut [Candidate], fusion: Fusion) {
    match fusion {
        Fusion::MinMax { dense_weight } => by_scores(candidates, dense_weight),
        Fusion::ReciprocalRank => by_ranks(candidates),
    }
    for candidate in candidates {
        candidate.score = candidate.vectors + candidate.words;
    }
}

fn by_scores(candidates: &mut [Candidate], dense_weight: f32) {
    let has_words = candidates.iter().any(|candidate| candidate.lexical > 0.0);
    let has_vectors = candidates.iter().any(|candidate| candidate.dense.is_some());
    let weight = match (has_words, has_vectors) {
        (true, true) => dense_weight,
        (true, false) => 0.0,
        (false, _) => 1.0,
    };
    let lexical = Range::of(candidates.iter().map(|candidate| candidate.lexical));
    let dense = Range::of(candidates.iter().filter_map(|candidate| candidate.dense));
    for candidate in candidates {
        let words = if has_words { lexical.stretch(candidate.lexical) } else { 0.0 };
        let vector = candidate.dense.map_or(0.0, |cosine| dense.stretch(cosine));
        (candidate.vectors, candidate.words) = (weight * vector, (1.0 - weight) * words);
    }
}

fn by_ranks(candidates: &mut [Candidate]) {
    let lexical: Vec<Option<f32>> =
        candidates.iter().map(|candidate| Some(candidate.lexical).filter(|score| *score > 0.0)).collect();
    let dense: Vec<Option<f32>> = candidates.iter().map(|candidate| candidate.dense).collect();
    let sides = [&lexical, &dense].map(|side| side.iter().any(Option::is_some));
    let first = sides.into_iter().filter(|there| *there).count() as f32 / (RANK_CONSTANT + 1.0);
    for (at, candidate) in candidates.iter_mut().enumerate() {
        // Equals share a rank: which of them comes first is decided elsewhere.
        let part = |side: &[Option<f32>]| {
            let own = side[at]?;
            let before = side.iter().flatten().filter(|other| **other > own).count();
            Some(1.0 / (RANK_CONSTANT + 1.0 + before as f32) / first)
        };
        (candidate.words, candidate.vectors) = (part(&lexical).unwrap_or(0.0), part(&dense).unwrap_or(0.0));
    }
}

impl Candidate {
    /// Best first; where scores are equal the words decide, then the cosine. A stretched score can
    /// round two values to one, so with one side alone this is the order of that side.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        let dense = |candidate: &Self| candidate.dense.unwrap_or(f32::NEG_INFINITY);
        other
            .score
            .total_cmp(&self.score)
            .then_with(|| other.lexical.total_cmp(&self.lexical))
            .then_with(|| dense(other).total_cmp(&dense(self)))
    }
}

struct Range {
    low: f32,
    high: f32,
}

impl Range {
    fn of(values: impl Iterator<Item = f32>) -> Self {
        let empty = Self { low: f32::INFINITY, high: f32::NEG_INFINITY };
        values.fold(empty, |range, value| Self { low: range.low.min(value), high: range.high.max(value) })
    }

    /// 0 for the lowest and 1 for the highest; 1 for all when they are equal.
    fn stretch(&self, value: f32) -> f32 {
        if self.high > self.low { (value - self.low) / (self.high - self.low) } else { 1.0 }
    }
}
