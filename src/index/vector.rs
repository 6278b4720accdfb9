//! Vectors, and the exact scan for those nearest to a query.
//!
//! It decides which vectors can be compared at all. Cosines are sums in one fixed order, so native
//! and wasm agree to the last bit, whatever instructions they use.

use super::EmbeddingIdentity;
use super::error::VectorFault;
use super::top::{Position, Top};

/// Lengths that count as 1: what rounding to 16 bits a component can cost, and a little more.
const UNIT: (f32, f32) = (0.999, 1.001);
/// Lengths whose products neither overflow nor vanish in `f32`.
const COMPARABLE: (f32, f32) = (1e-15, 1e15);
const NO_SLOT: u32 = u32::MAX;
const LANES: usize = 8;

/// A vector that has been checked, with its Euclidean length: exactly 1 when the model normalises.
#[derive(Debug, Clone, Copy)]
pub(super) struct Checked<'a> {
    components: &'a [f32],
    length: f32,
}

impl<'a> Checked<'a> {
    pub(super) fn new(components: &'a [f32], identity: Option<&EmbeddingIdentity>) -> Result<Self, VectorFault> {
        let identity = identity.ok_or(VectorFault::NoModel)?;
        if components.len() != identity.dimension {
            return Err(VectorFault::Dimension { found: components.len(), expected: identity.dimension });
        }
        if let Some(component) = components.iter().position(|value| !value.is_finite()) {
            return Err(VectorFault::NotFinite { component, value: components[component] });
        }
        if components.iter().all(|&value| value == 0.0) {
            return Err(VectorFault::Zero);
        }
        let length = dot(components, components).sqrt();
        let (minimum, maximum) = if identity.normalised { UNIT } else { COMPARABLE };
        if !(minimum..=maximum).contains(&length) {
            return Err(VectorFault::Length { length, minimum, maximum });
        }
        Ok(Self { components, length: if identity.normalised { 1.0 } else { length } })
    }

    /// The cosine of the angle between two vectors, −1…1.
    pub(super) fn cosine(self, other: Self) -> f32 {
        (dot(self.components, other.components) / (self.length * other.length)).clamp(-1.0, 1.0)
    }

    pub(super) fn components(self) -> &'a [f32] {
        self.components
    }

    /// The components of the vector of length 1 in the same direction.
    pub(super) fn unit(self) -> impl Iterator<Item = f32> + 'a {
        self.components.iter().map(move |component| component / self.length)
    }
}

/// The vectors of the rows that have one, packed: a slot a vector, in no particular order.
#[derive(Debug, Clone, Default)]
pub(super) struct Vectors {
    components: Vec<f32>,
    dimension: usize,
    lengths: Vec<f32>,
    rows: Vec<u32>,
    slots: Vec<u32>,
}

impl Vectors {
    pub(super) fn new(dimension: usize) -> Self {
        Self { dimension, ..Self::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Gives a row that has none a vector.
    pub(super) fn add(&mut self, row: u32, vector: Checked<'_>) {
        let at = row as usize;
        if self.slots.len() <= at {
            self.slots.resize(at + 1, NO_SLOT);
        }
        self.slots[at] = self.rows.len() as u32;
        self.rows.push(row);
        self.lengths.push(vector.length);
        self.components.extend_from_slice(vector.components);
    }

    /// Takes a row's vector away, if it has one; the last slot fills the gap.
    pub(super) fn remove(&mut self, row: u32) {
        let Some(slot) = self.slot(row) else { return };
        let last = self.rows.len() - 1;
        self.rows.swap_remove(slot);
        self.lengths.swap_remove(slot);
        let from = last * self.dimension;
        self.components.copy_within(from..from + self.dimension, slot * self.dimension);
        self.components.truncate(from);
        if let Some(&moved) = self.rows.get(slot) {
            self.slots[moved as usize] = slot as u32;
        }
        self.slots[row as usize] = NO_SLOT;
    }

    pub(super) fn vector(&self, row: u32) -> Option<Checked<'_>> {
        self.slot(row).map(|slot| self.at(slot))
    }

    /// Every row with its vector, in no particular order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, Checked<'_>)> {
        self.rows.iter().enumerate().map(|(slot, &row)| (row, self.at(slot)))
    }

    fn slot(&self, row: u32) -> Option<usize> {
        self.slots.get(row as usize).filter(|&&slot| slot != NO_SLOT).map(|&slot| slot as usize)
    }

    fn at(&self, slot: usize) -> Checked<'_> {
        let start = slot * self.dimension;
        Checked { components: &self.components[start..start + self.dimension], length: self.lengths[slot] }
    }

    /// The `k` rows nearest to the query, nearest first, by looking at every vector.
    pub(super) fn scan<'a>(&self, query: Checked<'_>, k: usize, position: impl Fn(u32) -> Position<'a>) -> Vec<u32> {
        let mut top = Top::new(k);
        for (row, vector) in self.iter() {
            top.offer(row, query.cosine(vector), || position(row));
        }
        top.into_rows()
    }
}

/// Eight running sums, one a lane, folded by halves: an order that SIMD of 4 or 8 lanes can keep.
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; LANES];
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    for (lane, (a, b)) in a_rest.iter().zip(b_rest).enumerate() {
        sums[lane] += a * b;
    }
    let fours: [f32; 4] = std::array::from_fn(|lane| sums[lane] + sums[lane + 4]);
    (fours[0] + fours[2]) + (fours[1] + fours[3])
}
