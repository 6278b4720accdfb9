//! Plain arithmetic, which compilers vectorise where they can.

use super::super::codes::Query;
use super::super::signs::{BLOCK, GROUP};
use super::{LANES, with_rest};

/// For each row what its score cannot exceed: see [`Query`].
pub(crate) fn bounds(query: &Query, codes: &[u8], scales: &[u8], terms: &[u8], out: &mut [f32]) {
    for (row, bound) in out.iter_mut().enumerate() {
        *bound = one(query, codes, scales, terms, row);
    }
}

/// The same of some rows, in their order.
pub(crate) fn bounds_of(rows: &[u32], query: &Query, codes: &[u8], scales: &[u8], terms: &[u8], out: &mut [f32]) {
    for (bound, &row) in out.iter_mut().zip(rows) {
        *bound = one(query, codes, scales, terms, row as usize);
    }
}

/// For each row of blocks what its nibbles choose of the table, added up: see [`Signs`](super::super::signs::Signs).
pub(crate) fn sums(blocks: &[u8], table: &[u8], groups: usize, out: &mut [u16]) {
    out.fill(0);
    for (block, out) in blocks.chunks_exact(groups * GROUP).zip(out.chunks_exact_mut(BLOCK)) {
        for (bytes, table) in block.chunks_exact(GROUP).zip(table.chunks_exact(16)) {
            for (lane, byte) in bytes.iter().enumerate() {
                out[lane] += u16::from(table[usize::from(byte & 0x0F)]);
                out[lane + GROUP] += u16::from(table[usize::from(byte >> 4)]);
            }
        }
    }
}

/// Where from `from` on a sum of `least` or more is first.
pub(crate) fn next_sum(sums: &[u16], from: usize, least: u16) -> Option<usize> {
    let found = sums.get(from..)?.iter().position(|&sum| sum >= least);
    found.map(|at| from + at)
}

/// The bound of one row.
pub(super) fn one(query: &Query, codes: &[u8], scales: &[u8], terms: &[u8], row: usize) -> f32 {
    let dimension = query.codes.len();
    let product = product_of_codes(&query.codes, &codes[row * dimension..(row + 1) * dimension]);
    let number = |bytes: &[u8]| f32::from_le_bytes(bytes.as_chunks().0[row]);
    ((product - query.shift) as f32 * query.alpha + query.gamma) * number(scales)
        + (query.beta * number(terms) + query.delta)
}

/// The integer product of a query's codes and a row's.
pub(super) fn product_of_codes(query: &[i8], row: &[u8]) -> i32 {
    query.iter().zip(row).map(|(&q, &code)| i32::from(q) * i32::from(code)).sum()
}

/// Where from `from` on a score of `least` or more is first.
pub(crate) fn next(scores: &[f32], from: usize, least: f32) -> Option<usize> {
    let found = scores.get(from..)?.iter().position(|&score| score >= least);
    found.map(|at| from + at)
}

/// The greatest score; those that are no numbers do not count.
pub(crate) fn greatest(scores: &[f32]) -> f32 {
    scores.iter().copied().fold(f32::NEG_INFINITY, f32::max)
}

/// The inner product with a stored vector.
pub(crate) fn product(query: &[f32], stored: &[u8]) -> f32 {
    summed(query, stored, |q, x| q * x)
}

/// The inner product with a stored vector, and that vector's with itself.
pub(crate) fn product_and_square(query: &[f32], stored: &[u8]) -> (f32, f32) {
    (product(query, stored), summed(query, stored, |_, x| x * x))
}

/// Whether all are codes of components.
pub(crate) fn are_codes(bytes: &[u8]) -> bool {
    bytes.is_ascii()
}

/// The square of the distance from a stored vector.
pub(crate) fn distance(query: &[f32], stored: &[u8]) -> f32 {
    summed(query, stored, |q, x| (q - x) * (q - x))
}

fn summed(query: &[f32], stored: &[u8], term: impl Fn(f32, f32) -> f32) -> f32 {
    let mut sums = [0.0_f32; LANES];
    let (query, query_rest) = query.as_chunks::<LANES>();
    let (stored, stored_rest) = stored.as_chunks::<{ LANES * 4 }>();
    for (q, x) in query.iter().zip(stored) {
        let (x, _) = x.as_chunks();
        for lane in 0..LANES {
            sums[lane] += term(q[lane], f32::from_le_bytes(x[lane]));
        }
    }
    with_rest(sums, query_rest, stored_rest, term)
}
