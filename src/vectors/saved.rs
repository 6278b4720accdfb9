//! The planes of vectors in a file: numbers as they are in memory, so that loading copies nothing.
//!
//! For n vectors of d components, in the caller's order: n scales, n terms (both `f32`), n · d codes, n · d
//! components (`f32`), all little-endian. That codes are those of their components, and that cosines can be
//! computed, is left to the file's checksum: others cost accuracy and nothing else, as what has no score is not found.

use std::ops::Range;
use std::sync::Arc;

use super::checked::{Comparison, Metric};
use super::planes::NUMBER;
use super::{Bytes, Vectors, kernel};

impl Vectors {
    /// Appends the vectors of these rows, of which each has one.
    pub(crate) fn save(&self, rows: &[u32], file: &mut Vec<u8>) {
        let dimension = self.comparison.dimension;
        file.reserve_exact(Self::saved_length(self.comparison, rows.len()).unwrap_or_default());
        let planes = [(&self.scales, NUMBER), (&self.terms, NUMBER), (&self.codes, dimension)];
        for (plane, width) in planes.into_iter().chain([(&self.components, dimension * NUMBER)]) {
            let slots = rows.iter().filter_map(|&row| self.slot(row));
            slots.for_each(|slot| file.extend(&plane[slot * width..(slot + 1) * width]));
        }
    }

    /// How long the planes of `vectors` vectors are; nothing when that overflows.
    pub(crate) fn saved_length(comparison: Comparison, vectors: usize) -> Option<usize> {
        let row = comparison.dimension.checked_mul(1 + NUMBER)?.checked_add(2 * NUMBER)?;
        row.checked_mul(vectors)
    }

    /// The vectors of these rows, from that part of a file; nothing when it does not hold them.
    pub(crate) fn load(
        comparison: Comparison,
        rows: Vec<u32>,
        file: &Arc<Vec<u8>>,
        part: Range<usize>,
    ) -> Option<Self> {
        let (vectors, dimension) = (rows.len(), comparison.dimension);
        let length = part.end.checked_sub(part.start)?;
        if Self::saved_length(comparison, vectors) != Some(length) {
            return None;
        }
        let mut at = part.start;
        let mut plane = |width: usize| {
            let start = at;
            at += vectors * width;
            Bytes::part(file, start..at)
        };
        let (scales, terms) = (plane(NUMBER)?, plane(NUMBER)?);
        let (codes, components) = (plane(dimension)?, plane(dimension * NUMBER)?);
        let mut loaded = Self { comparison, codes, scales, terms, components, ..Self::new(comparison) };
        loaded.longest = loaded.longest_length()?;
        let slots = rows.iter().max().map_or(0, |&last| last as usize + 1);
        loaded.slots = vec![super::planes::NO_SLOT; slots];
        for (slot, &row) in (0..).zip(&rows) {
            loaded.slots[row as usize] = slot;
        }
        loaded.rows = rows;
        Some(loaded)
    }

    /// The length of the longest vector, where lengths matter; nothing when one could not have been added. Where they do
    /// not matter the vectors are not looked at, which would be a seventh of what loading takes.
    fn longest_length(&self) -> Option<f32> {
        let numbers_hold =
            |plane: &Bytes| plane.as_chunks().0.iter().all(|&bytes| f32::from_le_bytes(bytes).is_finite());
        if !numbers_hold(&self.scales) || !numbers_hold(&self.terms) || !kernel::are_codes(&self.codes) {
            return None;
        }
        if self.comparison.metric == Metric::Cosine {
            return Some(1.0);
        }
        let (mut longest, origin) = (1.0_f32, vec![0.0; self.comparison.dimension]);
        for vector in self.components.chunks_exact((self.comparison.dimension * NUMBER).max(1)) {
            let length = kernel::distance(&origin, vector).sqrt();
            self.comparison.allows(length).ok()?;
            longest = longest.max(length);
        }
        Some(longest)
    }
}
