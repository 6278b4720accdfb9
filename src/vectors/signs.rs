//! A bit a component, for a look at many vectors that is cheaper than their codes.
//!
//! A row's bits are the signs of its components; what a query's components add up to under those signs orders
//! rows almost as cosines do (the estimator of `RaBitQ`, Gao & Long 2024, without its rotation and factor, which
//! changed nothing measurable). Four bits choose one of sixteen sums of four components, so that one instruction
//! looks up sixteen rows: rows are stored in blocks of 32, a nibble a row, four components after the other
//! ("fast scan", André et al. 2015).

use super::checked::Checked;
use super::kernel;

/// Rows in a block: two nibbles a byte, sixteen bytes a register.
pub(super) const BLOCK: usize = 32;
/// Bytes of a block for each group of four components.
pub(super) const GROUP: usize = BLOCK / 2;
/// Components that share a nibble.
const COMPONENTS: usize = 4;
/// What is looked up is at most this: four of them add up in a byte.
const MOST: f32 = 63.0;
/// Rows whose sums say what the sums of all are like: every so many.
const SAMPLED: usize = 16;

#[derive(Debug, Clone)]
pub(super) struct Signs {
    blocks: Vec<u8>,
    groups: usize,
    rows: usize,
}

impl Signs {
    /// Those of all rows of a plane of codes.
    pub(super) fn of(codes: &[u8], dimension: usize) -> Self {
        let mut signs = Self { blocks: Vec::new(), groups: dimension.div_ceil(COMPONENTS), rows: 0 };
        codes.chunks_exact(dimension).for_each(|row| signs.add(row));
        signs
    }

    /// Appends a row.
    pub(super) fn add(&mut self, codes: &[u8]) {
        let row = self.rows;
        self.rows += 1;
        if row.is_multiple_of(BLOCK) {
            self.blocks.resize(self.blocks.len() + self.groups * GROUP, 0);
        }
        for (group, codes) in codes.chunks(COMPONENTS).enumerate() {
            let nibble = codes.iter().rev().fold(0, |bits, &code| bits << 1 | u8::from(code > super::codes::ZERO));
            self.put(row, group, nibble);
        }
    }

    /// Lets the last row take the place of another.
    pub(super) fn swap_remove(&mut self, row: usize) {
        self.rows -= 1;
        for group in 0..self.groups {
            let last = self.nibble(self.rows, group);
            self.put(row, group, last);
            self.put(self.rows, group, 0);
        }
        self.blocks.truncate(self.rows.div_ceil(BLOCK) * self.groups * GROUP);
    }

    /// The bytes that they take.
    pub(super) fn bytes(&self) -> usize {
        self.blocks.len()
    }

    /// Some `wanted` rows that are likely to have the greatest cosines with a query, in their order. How many
    /// exactly depends on a sample.
    pub(super) fn likely(&self, query: Checked<'_>, wanted: usize) -> Vec<u32> {
        let (table, most) = self.table(query.components());
        let mut sums = vec![0; self.rows.div_ceil(BLOCK) * BLOCK];
        kernel::sums(&self.blocks, &table, self.groups, &mut sums);
        sums.truncate(self.rows);
        let least = least(&sums, wanted, most);
        let mut likely = Vec::with_capacity(2 * wanted);
        let mut at = 0;
        while let Some(found) = kernel::next_sum(&sums, at, least) {
            likely.push(found as u32);
            at = found + 1;
        }
        likely
    }

    /// For each group what each of sixteen nibbles adds to a sum, and the greatest sum there can be.
    fn table(&self, query: &[f32]) -> (Vec<u8>, usize) {
        let range = |group: &[f32]| group.iter().map(|component| component.abs()).sum::<f32>();
        let widest = query.chunks(COMPONENTS).map(range).fold(0.0, f32::max);
        // Sums have sixteen bits.
        let most = MOST.min((65_535 / self.groups) as f32).floor();
        let inverse = most / widest;
        let mut table = Vec::with_capacity(self.groups * 16);
        for group in query.chunks(COMPONENTS) {
            for nibble in 0..16_u8 {
                // Of what every nibble could add at the least, nothing is counted.
                let chosen = |(at, component): (usize, &f32)| match nibble >> at & 1 {
                    1 => component.max(0.0),
                    _ => (-component).max(0.0),
                };
                let sum: f32 = group.iter().enumerate().map(chosen).sum();
                table.push((sum * inverse + 0.5) as u8);
            }
        }
        (table, self.groups * most as usize)
    }

    fn place(&self, row: usize, group: usize) -> (usize, usize) {
        let lane = row % BLOCK;
        let at = (row / BLOCK * self.groups + group) * GROUP + lane % GROUP;
        (at, if lane < GROUP { 0 } else { 4 })
    }

    fn nibble(&self, row: usize, group: usize) -> u8 {
        let (at, shift) = self.place(row, group);
        self.blocks[at] >> shift & 0x0F
    }

    fn put(&mut self, row: usize, group: usize, nibble: u8) {
        let (at, shift) = self.place(row, group);
        self.blocks[at] = self.blocks[at] & !(0x0F << shift) | nibble << shift;
    }
}

/// What some `wanted` of the sums reach, by a sample of them.
fn least(sums: &[u16], wanted: usize, most: usize) -> u16 {
    let mut counts = vec![0_u32; most + 1];
    for &sum in sums.iter().step_by(SAMPLED) {
        counts[usize::from(sum).min(most)] += 1;
    }
    let wanted = wanted.div_ceil(SAMPLED);
    let mut reached = 0;
    for (sum, &count) in counts.iter().enumerate().rev() {
        reached += count as usize;
        if reached >= wanted {
            return sum as u16;
        }
    }
    0
}
