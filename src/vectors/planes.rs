//! The vectors of numbered rows: a plane of codes to scan, a plane of `f32` to score by.
//!
//! A vector's slot is its place in every plane. Removing one lets the last slot fill the gap, so that a scan
//! never skips: slots say nothing about order, and rows are in whatever order the caller says.

use aligned_vec::TryReserveError;

use super::checked::{Checked, Comparison, Metric};
use super::codes::{self, Query, Row};
use super::kernel;
use super::signs::Signs;
use super::{Bytes, Top};

pub(super) const NO_SLOT: u32 = u32::MAX;
/// Rows that are looked at for each one wanted, where signs choose.
const LIKELY: usize = 40;
/// And one of so many of all.
const LIKELY_SHARE: usize = 400;
/// Bounds in a part, at least: see [`reached`].
const LEAST_PART: usize = 32;
/// Bytes of a number.
pub(super) const NUMBER: usize = size_of::<f32>();

/// The vectors of the rows that have one.
#[derive(Debug, Clone, Default)]
pub struct Vectors {
    pub(super) comparison: Comparison,
    pub(super) codes: Bytes,
    pub(super) scales: Bytes,
    pub(super) terms: Bytes,
    pub(super) components: Bytes,
    /// From the first search that wants them.
    pub(super) signs: Option<Signs>,
    /// The length of the longest there has been; 1 where lengths do not matter.
    pub(super) longest: f32,
    pub(super) rows: Vec<u32>,
    pub(super) slots: Vec<u32>,
}

/// A row that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Near {
    /// Its number.
    pub row: u32,
    /// How near it is, by the metric: higher is nearer.
    pub score: f32,
}

/// Bytes that vectors take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// What a search scans.
    pub scan: usize,
    /// What it computes the scores of the best from.
    pub rescoring: usize,
    /// Which rows they belong to.
    pub rows: usize,
}

impl Vectors {
    /// No vectors yet.
    pub fn new(comparison: Comparison) -> Self {
        Self { comparison, longest: 1.0, ..Self::default() }
    }

    /// The number of vectors.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// What the vectors are like.
    pub fn comparison(&self) -> Comparison {
        self.comparison
    }

    /// Gives a row that has none a vector.
    pub fn add(&mut self, row: u32, vector: Checked<'_>) {
        let at = row as usize;
        if self.slots.len() <= at {
            self.slots.resize(at + 1, NO_SLOT);
        }
        self.slots[at] = self.rows.len() as u32;
        self.rows.push(row);
        let Row { scale, term } = codes::encode(vector, self.comparison.metric, self.codes.own());
        self.scales.extend(&[scale]);
        self.terms.extend(&[term]);
        self.components.extend(vector.components());
        if let Some(signs) = &mut self.signs {
            signs.add(&self.codes[self.codes.len() - self.comparison.dimension..]);
        }
        if self.comparison.metric != Metric::Cosine {
            self.longest = self.longest.max(vector.length());
        }
    }

    /// Makes room for one more vector, where there is memory for it.
    pub fn reserve(&mut self) -> Result<(), TryReserveError> {
        let dimension = self.comparison.dimension;
        self.codes.own().try_reserve(dimension)?;
        self.components.own().try_reserve(dimension * NUMBER)?;
        self.scales.own().try_reserve(NUMBER)?;
        self.terms.own().try_reserve(NUMBER)
    }

    /// Takes a row's vector away, if it has one.
    pub fn remove(&mut self, row: u32) {
        let Some(slot) = self.slot(row) else { return };
        let dimension = self.comparison.dimension;
        self.codes.swap_remove(slot, dimension);
        self.scales.swap_remove(slot, NUMBER);
        self.terms.swap_remove(slot, NUMBER);
        self.components.swap_remove(slot, dimension * NUMBER);
        self.rows.swap_remove(slot);
        if let Some(signs) = &mut self.signs {
            signs.swap_remove(slot);
        }
        if let Some(&moved) = self.rows.get(slot) {
            self.slots[moved as usize] = slot as u32;
        }
        self.slots[row as usize] = NO_SLOT;
    }

    /// The components of a row's vector, if it has one.
    pub fn components(&self, row: u32) -> Option<impl ExactSizeIterator<Item = f32> + Clone> {
        let (numbers, _) = self.stored(self.slot(row)?).as_chunks();
        Some(numbers.iter().map(|&bytes| f32::from_le_bytes(bytes)))
    }

    /// How near a row's vector is to the query, if it has one that can be compared.
    pub fn score(&self, query: Checked<'_>, row: u32) -> Option<f32> {
        self.slot(row).and_then(|slot| self.score_at(query, slot))
    }

    /// The `k` rows nearest to the query of those that are allowed, nearest first; of equally near ones the
    /// first by position. They are the same as if every score were computed.
    pub fn nearest<P: Ord>(
        &self,
        query: Checked<'_>,
        k: usize,
        allowed: &dyn Fn(u32) -> bool,
        position: impl Fn(u32) -> P,
    ) -> Vec<Near> {
        self.search(query, k, false, allowed, position)
    }

    /// Mostly the same rows in less time, where there are very many: signs choose which are looked at. All rows
    /// are looked at all the same where signs say little ([`Vectors::sketch`] has not been called, another metric
    /// than the cosine) and where less than `k` of those chosen are allowed.
    pub fn nearly_nearest<P: Ord>(
        &self,
        query: Checked<'_>,
        k: usize,
        allowed: &dyn Fn(u32) -> bool,
        position: impl Fn(u32) -> P,
    ) -> Vec<Near> {
        self.search(query, k, true, allowed, position)
    }

    /// Makes what [`Vectors::nearly_nearest`] chooses by, unless it is there; it is kept from then on.
    pub fn sketch(&mut self) {
        if self.signs.is_none() && self.comparison.metric == Metric::Cosine {
            self.signs = Some(Signs::of(&self.codes, self.comparison.dimension));
        }
    }

    fn search<P: Ord>(
        &self,
        query: Checked<'_>,
        k: usize,
        fast: bool,
        allowed: &dyn Fn(u32) -> bool,
        position: impl Fn(u32) -> P,
    ) -> Vec<Near> {
        if k == 0 || self.is_empty() {
            return Vec::new();
        }
        let coded = Query::new(query, self.comparison, self.longest);
        let wanted = k.saturating_mul(LIKELY).saturating_add(self.len() / LIKELY_SHARE);
        let mut likely = match &self.signs {
            Some(signs) if fast && wanted < self.len() / 4 => Some(signs.likely(query, wanted)),
            _ => None,
        };
        loop {
            let mut bounds = vec![0.0; likely.as_ref().map_or(self.len(), Vec::len)];
            match &likely {
                Some(rows) => kernel::bounds_of(rows, &coded, &self.codes, &self.scales, &self.terms, &mut bounds),
                None => kernel::bounds(&coded, &self.codes, &self.scales, &self.terms, &mut bounds),
            }
            let found = self.best(query, k, &mut bounds, likely.as_deref(), allowed, &position);
            if found.len() >= k || likely.take().is_none() {
                return found;
            }
        }
    }

    /// The best of those slots whose scores the bounds are for: of all, unless they are named.
    fn best<P: Ord>(
        &self,
        query: Checked<'_>,
        k: usize,
        bounds: &mut [f32],
        slots: Option<&[u32]>,
        allowed: &dyn Fn(u32) -> bool,
        position: impl Fn(u32) -> P,
    ) -> Vec<Near> {
        let slot_of = |at: usize| slots.map_or(at, |slots| slots[at] as usize);
        let is_allowed = |at: usize| allowed(self.rows[slot_of(at)]);
        // Any k rows tell a score that the k-th best reaches: those of the greatest bounds a high one.
        let likely = likeliest::<P>(bounds, k, &is_allowed);
        let mut top = Top::new(k);
        let mut offer = |at: usize| {
            let slot = slot_of(at);
            let row = self.rows[slot];
            if let Some(score) = self.score_at(query, slot) {
                top.offer(row, score, || Some(position(row)));
            }
            top.least()
        };
        let (mut all, mut least) = (0, f32::NEG_INFINITY);
        for at in likely {
            (all, least) = (all + 1, offer(at as usize));
            // No number reaches it: the second pass leaves it out.
            bounds[at as usize] = f32::NAN;
        }
        // Fewer are all that are allowed.
        if all == k {
            each_above(bounds, least, &mut |at, _| {
                if is_allowed(at) {
                    least = offer(at);
                }
                least
            });
        }
        top.into_ranked().map(|(row, score)| Near { row, score }).collect()
    }

    /// How much memory they take.
    pub fn memory(&self) -> Memory {
        let rows = (self.rows.len() + self.slots.len()) * size_of::<u32>();
        let signs = self.signs.as_ref().map_or(0, Signs::bytes);
        let scan = self.codes.len() + self.scales.len() + self.terms.len() + signs;
        Memory { scan, rescoring: self.components.len(), rows }
    }

    /// A loaded row that is no vector has no score, as loading does not look at each: see `saved`.
    fn score_at(&self, query: Checked<'_>, slot: usize) -> Option<f32> {
        let stored = self.stored(slot);
        let score = match self.comparison.metric {
            Metric::Cosine if !self.comparison.normalised => {
                let (product, square) = kernel::product_and_square(query.components(), stored);
                product / (query.length() * square.sqrt())
            }
            Metric::Cosine | Metric::Dot => kernel::product(query.components(), stored),
            Metric::Euclidean => -kernel::distance(query.components(), stored),
        };
        let exceeds = self.comparison.metric == Metric::Cosine && score.abs() > 1.0;
        score.is_finite().then_some(if exceeds { score.signum() } else { score })
    }

    pub(super) fn slot(&self, row: u32) -> Option<usize> {
        self.slots.get(row as usize).filter(|&&slot| slot != NO_SLOT).map(|&slot| slot as usize)
    }

    fn stored(&self, slot: usize) -> &[u8] {
        let width = self.comparison.dimension * NUMBER;
        &self.components[slot * width..(slot + 1) * width]
    }
}

/// The places of the `k` greatest bounds of those that are allowed, in no order; of all allowed ones where they are fewer.
fn likeliest<P: Ord>(
    bounds: &[f32],
    k: usize,
    is_allowed: &dyn Fn(usize) -> bool,
) -> impl Iterator<Item = u32> + use<P> {
    let mut floor = reached(bounds, k);
    loop {
        // Which of equal ones does not matter; a position like that of those found makes one type of both heaps.
        let mut likely: Top<Option<P>> = Top::new(k);
        each_above(bounds, floor, &mut |at, bound| {
            if is_allowed(at) {
                likely.offer(at as u32, bound, || None);
            }
            likely.least().max(floor)
        });
        if likely.is_full() || floor == f32::NEG_INFINITY {
            return likely.into_rows();
        }
        // Not all that reach it are allowed.
        floor = f32::NEG_INFINITY;
    }
}

/// What at least `k` bounds reach: the least of what so many parts have as their greatest. So a heap of the best need not
/// be offered all that exceed those before them.
fn reached(bounds: &[f32], k: usize) -> f32 {
    let part = bounds.len() / k;
    if part < LEAST_PART {
        return f32::NEG_INFINITY;
    }
    bounds.chunks_exact(part).fold(f32::INFINITY, |least, part| least.min(kernel::greatest(part)))
}

/// Calls for each score that reaches `least`, which is what the last call returned.
pub(crate) fn each_above(scores: &[f32], mut least: f32, call: &mut dyn FnMut(usize, f32) -> f32) {
    let mut at = 0;
    while let Some(found) = kernel::next(scores, at, least) {
        least = call(found, scores[found]);
        at = found + 1;
    }
}
