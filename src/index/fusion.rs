//! One score out of two: BM25 and cosine, each stretched to 0…1 over the candidates, then mixed.
//!
//! It decides the order of candidates. Min-max fusion is compared with its alternatives by Bruch,
//! Gai & Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval" (2023).

use std::cmp::Ordering;

/// How the two sides of a hybrid search are mixed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fusion {
    /// The share of the dense side, 0…1; the words have the rest. .4 by default.
    pub dense_weight: f32,
}

impl Default for Fusion {
    fn default() -> Self {
        Self { dense_weight: 0.4 }
    }
}

/// What is known of one candidate, and then its score.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    pub(super) row: u32,
    pub(super) lexical: f32,
    pub(super) dense: Option<f32>,
    pub(super) score: f32,
}

/// Fills in the scores. A side that found nothing has no say; a candidate without a vector gets 0
/// from the dense side.
pub(super) fn fuse(candidates: &mut [Candidate], fusion: Fusion) {
    let has_words = candidates.iter().any(|candidate| candidate.lexical > 0.0);
    let has_vectors = candidates.iter().any(|candidate| candidate.dense.is_some());
    let weight = match (has_words, has_vectors) {
        (true, true) => fusion.dense_weight,
        (true, false) => 0.0,
        (false, _) => 1.0,
    };
    let lexical = Range::of(candidates.iter().map(|candidate| candidate.lexical));
    let dense = Range::of(candidates.iter().filter_map(|candidate| candidate.dense));
    for candidate in candidates {
        let words = if has_words { lexical.stretch(candidate.lexical) } else { 0.0 };
        let vector = candidate.dense.map_or(0.0, |cosine| dense.stretch(cosine));
        candidate.score = weight * vector + (1.0 - weight) * words;
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
