//! WebAssembly's SIMD. Four rows at a time, so that a query's codes are loaded once for four.
//!
//! The only `unsafe` of the crate outside the module for JavaScript: loads from slices whose lengths are
//! checked before, and the call of a scan that JavaScript has put in the table of functions.
#![expect(unsafe_code, reason = "WebAssembly's loads take pointers")]
#![allow(clippy::wildcard_imports, clippy::many_single_char_names, reason = "dozens of instructions, and registers")]

use std::arch::wasm32::*;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::super::codes::Query;
use super::super::signs;
use super::scalar::{one, product_of_codes};
use super::{LANES, with_rest};

/// Rows in a block, and `f32`s in a register.
const BLOCK: usize = 4;
/// Codes in a register.
const WIDTH: usize = 16;
/// Rows that are gathered for a scan at a time.
const BATCH: usize = 64;

/// A query's codes for [`with_sixteen`]: of each sixteen those of even places, and then those of odd places less 256
/// times their neighbours.
fn prepared(codes: &[i8]) -> Vec<i16> {
    let mut prepared = Vec::with_capacity(codes.len());
    for codes in codes.as_chunks::<WIDTH>().0 {
        let (pairs, _) = codes.as_chunks::<2>();
        prepared.extend(pairs.iter().map(|[even, _]| i16::from(*even)));
        prepared.extend(pairs.iter().map(|[even, odd]| i16::from(*odd) - 256 * i16::from(*even)));
    }
    prepared
}

/// Scans whole blocks by relaxed SIMD, for dimensions that are multiples of [`WIDTH`]: `www/src/vectors/scan.rs`.
type Scan = unsafe extern "C" fn(
    query: *const i8,
    dimension: usize,
    rows: *const u8,
    scales: *const u8,
    terms: *const u8,
    out: *mut f32,
    blocks: usize,
    shift: i32,
    alpha: f32,
    beta: f32,
    gamma: f32,
    delta: f32,
);

/// Where in the table of functions a [`Scan`] is; 0 is no function.
static SCAN: AtomicUsize = AtomicUsize::new(0);

/// Says where in the table of functions a [`Scan`] is.
///
/// # Safety
/// There is one.
#[allow(dead_code)] // only the module of vectors alone is given one
pub(crate) unsafe fn scan_by(at: usize) {
    SCAN.store(at, Ordering::Relaxed);
}

/// By what codes are scanned.
enum Means {
    /// The faster scan.
    Scan(Scan),
    /// This module, with the query as [`prepared`].
    Own(Vec<i16>),
}

impl Means {
    fn of(query: &Query) -> Self {
        let at = SCAN.load(Ordering::Relaxed);
        if at == 0 || !query.codes.len().is_multiple_of(WIDTH) {
            return Self::Own(prepared(&query.codes));
        }
        // SAFETY: a function's address is its place in the table, and one is there.
        Self::Scan(unsafe { std::mem::transmute::<*const (), Scan>(std::ptr::without_provenance(at)) })
    }
}

/// For each row what its score cannot exceed: see [`Query`].
pub(crate) fn bounds(query: &Query, codes: &[u8], scales: &[u8], terms: &[u8], out: &mut [f32]) {
    bounds_by(query, &Means::of(query), codes, scales, terms, out);
}

/// The same of some rows, in their order.
pub(crate) fn bounds_of(rows: &[u32], query: &Query, codes: &[u8], scales: &[u8], terms: &[u8], out: &mut [f32]) {
    let dimension = query.codes.len();
    let means = Means::of(query);
    // Side by side, as a scan takes them.
    let gathered = |plane: &[u8], rows: &[u32], width: usize| {
        let mut gathered = Vec::with_capacity(rows.len() * width);
        for &row in rows {
            gathered.extend_from_slice(&plane[row as usize * width..(row as usize + 1) * width]);
        }
        gathered
    };
    for (rows, out) in rows.chunks(BATCH).zip(out.chunks_mut(BATCH)) {
        let [scales, terms] = [scales, terms].map(|plane| gathered(plane, rows, size_of::<f32>()));
        bounds_by(query, &means, &gathered(codes, rows, dimension), &scales, &terms, out);
    }
}

/// The same of whole planes.
#[target_feature(enable = "simd128")]
fn bounds_by(query: &Query, means: &Means, codes: &[u8], scales: &[u8], terms: &[u8], out: &mut [f32]) {
    let (dimension, rows) = (query.codes.len(), out.len());
    assert!(codes.len() >= rows * dimension && scales.len() >= rows * 4 && terms.len() >= rows * 4, "a plane is short");
    let blocks = rows / BLOCK;
    let Query { shift, alpha, beta, gamma, delta, .. } = *query;
    match means {
        Means::Scan(scan) => {
            let [codes, scales, terms] = [codes, scales, terms].map(<[u8]>::as_ptr);
            let (query, out) = (query.codes.as_ptr(), out.as_mut_ptr());
            // SAFETY: the planes have as many codes and numbers.
            unsafe { scan(query, dimension, codes, scales, terms, out, blocks, shift, alpha, beta, gamma, delta) };
        }
        Means::Own(prepared) => {
            let shift = i32x4_splat(shift);
            let [alpha, beta, gamma, delta] = [alpha, beta, gamma, delta].map(|x| f32x4_splat(x));
            for (block, out) in out.as_chunks_mut::<BLOCK>().0.iter_mut().enumerate() {
                let row = block * BLOCK;
                let sums = products(&query.codes, prepared, &codes[row * dimension..(row + BLOCK) * dimension]);
                let products = f32x4_add(f32x4_mul(f32x4_convert_i32x4(i32x4_sub(sums, shift)), alpha), gamma);
                // SAFETY: the planes have a number for each row, and the block's are among them.
                let [scale, term] =
                    [scales, terms].map(|plane| unsafe { v128_load(plane.as_ptr().add(row * 4).cast()) });
                let bounds = f32x4_add(f32x4_mul(products, scale), f32x4_add(f32x4_mul(beta, term), delta));
                // SAFETY: a chunk is a register long.
                unsafe { v128_store(out.as_mut_ptr().cast(), bounds) };
            }
        }
    }
    for (row, bound) in out.iter_mut().enumerate().skip(blocks * BLOCK) {
        *bound = one(query, codes, scales, terms, row);
    }
}

/// The integer products of a query's codes and those of four rows.
#[target_feature(enable = "simd128")]
#[inline]
fn products(query: &[i8], prepared: &[i16], rows: &[u8]) -> v128 {
    let dimension = query.len();
    let whole = dimension / WIDTH * WIDTH;
    let sums = whole_products(prepared, rows, dimension, whole);
    if whole == dimension {
        return sums;
    }
    let rest = |row: usize| {
        let row = &rows[row * dimension..(row + 1) * dimension];
        product_of_codes(&query[whole..], &row[whole..])
    };
    i32x4_add(sums, i32x4(rest(0), rest(1), rest(2), rest(3)))
}

/// Their products over the first `whole` components, a multiple of [`WIDTH`].
#[target_feature(enable = "simd128")]
#[inline]
fn whole_products(query: &[i16], rows: &[u8], dimension: usize, whole: usize) -> v128 {
    let (q, row) = (query.as_ptr(), rows.as_ptr());
    let zero = i32x4_splat(0);
    let (mut a, mut b, mut c, mut d) = (zero, zero, zero, zero);
    let mut at = 0;
    // SAFETY: `rows` has four rows of `dimension` codes and the query is one; `at` ends before either.
    unsafe {
        while at + 2 * WIDTH <= whole {
            let query = [0, 8, 16, 24].map(|place| v128_load(q.add(at + place).cast()));
            let row = row.add(at);
            a = with_two(a, query, row);
            b = with_two(b, query, row.add(dimension));
            c = with_two(c, query, row.add(2 * dimension));
            d = with_two(d, query, row.add(3 * dimension));
            at += 2 * WIDTH;
        }
        if at < whole {
            let query = [0, 8].map(|place| v128_load(q.add(at + place).cast()));
            let row = row.add(at);
            a = with_sixteen(a, query, row);
            b = with_sixteen(b, query, row.add(dimension));
            c = with_sixteen(c, query, row.add(2 * dimension));
            d = with_sixteen(d, query, row.add(3 * dimension));
        }
    }
    added_up(a, b, c, d)
}

/// Adds the products of sixteen codes. Taken as eight numbers they are each an even code and 256 times the odd one
/// after it, below 2¹⁵ as codes are below 2⁷: what that is too much of each odd code, the second product takes away. Two
/// instructions less than widening them, and exact, however often it wraps around.
#[target_feature(enable = "simd128")]
#[inline]
unsafe fn with_sixteen(sums: v128, [p, q]: [v128; 2], row: *const u8) -> v128 {
    // SAFETY: the caller has sixteen codes there.
    let codes = unsafe { v128_load(row.cast()) };
    i32x4_add(sums, i32x4_add(i32x4_dot_i16x8(p, codes), i32x4_dot_i16x8(q, u16x8_shr(codes, 8))))
}

/// Adds the products of 32 codes.
#[target_feature(enable = "simd128")]
#[inline]
unsafe fn with_two(sums: v128, [p, q, r, s]: [v128; 4], row: *const u8) -> v128 {
    // SAFETY: the caller has 32 codes there.
    unsafe { with_sixteen(with_sixteen(sums, [p, q], row), [r, s], row.add(WIDTH)) }
}

/// For each row of blocks what its nibbles choose of the table, added up: see [`Signs`](signs::Signs).
#[target_feature(enable = "simd128")]
pub(crate) fn sums(blocks: &[u8], table: &[u8], groups: usize, out: &mut [u16]) {
    let size = groups * signs::GROUP;
    assert!(table.len() >= groups * 16, "the table is short");
    let nibble = u8x16_splat(0x0F);
    for (block, out) in blocks.chunks_exact(size).zip(out.chunks_exact_mut(signs::BLOCK)) {
        let zero = u16x8_splat(0);
        let (mut a, mut b, mut c, mut d) = (zero, zero, zero, zero);
        let mut group = 0;
        while group < groups {
            let (mut low, mut high) = (zero, zero);
            // What is looked up is at most 63, so four fit a byte.
            let end = if groups - group > 4 { group + 4 } else { groups };
            while group < end {
                // SAFETY: both have sixteen bytes for each group.
                let (bytes, table) = unsafe {
                    let at = group * 16;
                    (v128_load(block.as_ptr().add(at).cast()), v128_load(table.as_ptr().add(at).cast()))
                };
                low = u8x16_add(low, i8x16_swizzle(table, v128_and(bytes, nibble)));
                high = u8x16_add(high, i8x16_swizzle(table, u8x16_shr(bytes, 4)));
                group += 1;
            }
            a = u16x8_add(a, u16x8_extend_low_u8x16(low));
            b = u16x8_add(b, u16x8_extend_high_u8x16(low));
            c = u16x8_add(c, u16x8_extend_low_u8x16(high));
            d = u16x8_add(d, u16x8_extend_high_u8x16(high));
        }
        let out = out.as_mut_ptr();
        // SAFETY: a chunk of `out` has 32 numbers.
        unsafe {
            v128_store(out.cast(), a);
            v128_store(out.add(8).cast(), b);
            v128_store(out.add(16).cast(), c);
            v128_store(out.add(24).cast(), d);
        }
    }
}

/// Where from `from` on a sum of `least` or more is first.
#[target_feature(enable = "simd128")]
pub(crate) fn next_sum(sums: &[u16], from: usize, least: u16) -> Option<usize> {
    let limit = u16x8_splat(least);
    let mut at = from;
    while at + 8 <= sums.len() {
        // SAFETY: eight sums follow.
        let reaches = unsafe { u16x8_ge(v128_load(sums.as_ptr().add(at).cast()), limit) };
        if v128_any_true(reaches) {
            return Some(at + i16x8_bitmask(reaches).trailing_zeros() as usize);
        }
        at += 8;
    }
    super::scalar::next_sum(sums, at, least)
}

/// The sums of the lanes of each.
#[target_feature(enable = "simd128")]
#[inline]
fn added_up(a: v128, b: v128, c: v128, d: v128) -> v128 {
    let pairs = |x: v128, y: v128| i32x4_add(i32x4_shuffle::<0, 4, 1, 5>(x, y), i32x4_shuffle::<2, 6, 3, 7>(x, y));
    let (ab, cd) = (pairs(a, b), pairs(c, d));
    i32x4_add(i32x4_shuffle::<0, 1, 4, 5>(ab, cd), i32x4_shuffle::<2, 3, 6, 7>(ab, cd))
}

/// Where from `from` on a score of `least` or more is first.
#[target_feature(enable = "simd128")]
pub(crate) fn next(scores: &[f32], from: usize, least: f32) -> Option<usize> {
    let limit = f32x4_splat(least);
    let mut at = from;
    while at + WIDTH <= scores.len() {
        // SAFETY: sixteen scores follow.
        let reach = |place: usize| unsafe { f32x4_ge(v128_load(scores.as_ptr().add(at + place).cast()), limit) };
        if v128_any_true(v128_or(v128_or(reach(0), reach(4)), v128_or(reach(8), reach(12)))) {
            break;
        }
        at += WIDTH;
    }
    super::scalar::next(scores, at, least)
}

/// The greatest score; those that are no numbers do not count.
#[target_feature(enable = "simd128")]
pub(crate) fn greatest(scores: &[f32]) -> f32 {
    let (registers, rest) = scores.as_chunks::<BLOCK>();
    let mut most = f32x4_splat(f32::NEG_INFINITY);
    for register in registers {
        // SAFETY: a chunk is a register long. The first is kept where the second is no number.
        most = f32x4_pmax(most, unsafe { v128_load(register.as_ptr().cast()) });
    }
    let mut scores = [0.0; BLOCK];
    // SAFETY: the array is a register long.
    unsafe { v128_store(scores.as_mut_ptr().cast(), most) };
    super::scalar::greatest(&scores).max(super::scalar::greatest(rest))
}

/// The inner product with a stored vector.
#[target_feature(enable = "simd128")]
pub(crate) fn product(query: &[f32], stored: &[u8]) -> f32 {
    let [sums] = eights(query, stored, |q, x| [f32x4_mul(q, x)]);
    let whole = query.len() / LANES * LANES;
    with_rest(sums, &query[whole..], &stored[whole * 4..], |q, x| q * x)
}

/// The inner product with a stored vector, and that vector's with itself.
#[target_feature(enable = "simd128")]
pub(crate) fn product_and_square(query: &[f32], stored: &[u8]) -> (f32, f32) {
    let [products, squares] = eights(query, stored, |q, x| [f32x4_mul(q, x), f32x4_mul(x, x)]);
    let whole = query.len() / LANES * LANES;
    let (query, stored) = (&query[whole..], &stored[whole * 4..]);
    (with_rest(products, query, stored, |q, x| q * x), with_rest(squares, query, stored, |_, x| x * x))
}

/// Whether all are codes of components.
#[target_feature(enable = "simd128")]
pub(crate) fn are_codes(bytes: &[u8]) -> bool {
    let (registers, rest) = bytes.as_chunks::<WIDTH>();
    let mut all = u8x16_splat(0);
    for register in registers {
        // SAFETY: a chunk is a register long.
        all = v128_or(all, unsafe { v128_load(register.as_ptr().cast()) });
    }
    i8x16_bitmask(all) == 0 && super::scalar::are_codes(rest)
}

/// The square of the distance from a stored vector.
#[target_feature(enable = "simd128")]
pub(crate) fn distance(query: &[f32], stored: &[u8]) -> f32 {
    let [sums] = eights(query, stored, |q, x| {
        let apart = f32x4_sub(q, x);
        [f32x4_mul(apart, apart)]
    });
    let whole = query.len() / LANES * LANES;
    with_rest(sums, &query[whole..], &stored[whole * 4..], |q, x| (q - x) * (q - x))
}

/// Eight running sums of each term over all whole eights of components.
#[target_feature(enable = "simd128")]
#[inline]
fn eights<const N: usize>(query: &[f32], stored: &[u8], terms: impl Fn(v128, v128) -> [v128; N]) -> [[f32; LANES]; N] {
    assert!(stored.len() >= query.len() * 4, "a vector is short");
    let (mut low, mut high) = ([f32x4_splat(0.0); N], [f32x4_splat(0.0); N]);
    let (q, x) = (query.as_ptr(), stored.as_ptr());
    let mut at = 0;
    while at + LANES <= query.len() {
        // SAFETY: eight components follow in both.
        let (lower, higher) = unsafe {
            (
                terms(v128_load(q.add(at).cast()), v128_load(x.add(at * 4).cast())),
                terms(v128_load(q.add(at + 4).cast()), v128_load(x.add(at * 4 + 16).cast())),
            )
        };
        for term in 0..N {
            low[term] = f32x4_add(low[term], lower[term]);
            high[term] = f32x4_add(high[term], higher[term]);
        }
        at += LANES;
    }
    std::array::from_fn(|term| lanes(low[term], high[term]))
}

#[target_feature(enable = "simd128")]
#[inline]
fn lanes(low: v128, high: v128) -> [f32; LANES] {
    let mut sums = [0.0; LANES];
    // SAFETY: the array is two registers long.
    unsafe {
        v128_store(sums.as_mut_ptr().cast(), low);
        v128_store(sums.as_mut_ptr().add(4).cast(), high);
    }
    sums
}
