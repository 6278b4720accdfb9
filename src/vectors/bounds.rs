//! What the scores of a few rows cannot exceed, by their codes: for whoever goes from row to row rather than past all,
//! and waits for memory more than for arithmetic.

use super::codes::Query;
use super::{Checked, Vectors, kernel};

/// A query beside the codes of vectors.
pub(crate) struct Bounds<'a> {
    vectors: &'a Vectors,
    query: Query,
}

impl Vectors {
    /// To look up bounds of the query's scores.
    pub(crate) fn bounds(&self, query: Checked<'_>) -> Bounds<'_> {
        Bounds { vectors: self, query: Query::new(query, self.comparison, self.longest) }
    }
}

impl Bounds<'_> {
    /// Those of rows, in their order; any number for a row that has no vector.
    pub(crate) fn of(&self, rows: impl Iterator<Item = u32>) -> Vec<f32> {
        let Vectors { codes, scales, terms, .. } = self.vectors;
        let slots: Vec<u32> = rows.map(|row| self.vectors.slot(row).unwrap_or_default() as u32).collect();
        let mut bounds = vec![f32::NEG_INFINITY; slots.len()];
        if !self.vectors.is_empty() {
            kernel::bounds_of(&slots, &self.query, codes, scales, terms, &mut bounds);
        }
        bounds
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::vectors::{Checked, Comparison, Metric, Vectors};

    proptest! {
        #[test]
        fn no_score_exceeds_its_bound(numbers in prop::collection::vec(-9.0_f32..9.0, 5 * 20), gone in 0_u32..20) {
            let comparison = Comparison { dimension: 5, metric: Metric::Cosine, normalised: false };
            let mut vectors = Vectors::new(comparison);
            let rows: Vec<&[f32]> = numbers.chunks_exact(5).collect();
            for (row, components) in (0..).zip(&rows) {
                let Ok(vector) = Checked::new(components, comparison) else { return Ok(()) };
                vectors.add(row, vector);
            }
            vectors.remove(gone);
            let query = Checked::new(rows[0], comparison).unwrap();
            // In any order, and some twice.
            let asked: Vec<u32> = (0..40).map(|at| at * 7 % 20).filter(|&row| row != gone).collect();
            let bounds = vectors.bounds(query).of(asked.iter().copied());
            prop_assert_eq!(bounds.len(), asked.len());
            for (row, bound) in asked.into_iter().zip(bounds) {
                let score = vectors.score(query, row).unwrap();
                prop_assert!(bound >= score && bound < score + 0.5, "{bound} of {score}");
            }
        }
    }

    #[test]
    fn of_no_vectors_there_are_bounds_that_nothing_reaches() {
        let comparison = Comparison { dimension: 2, metric: Metric::Cosine, normalised: true };
        let vectors = Vectors::new(comparison);
        let query = Checked::new(&[0.6, 0.8], comparison).unwrap();
        assert_eq!(vectors.bounds(query).of([3, 4].into_iter()), [f32::NEG_INFINITY; 2]);
    }
}
