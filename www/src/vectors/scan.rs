//! The scan of codes by relaxed SIMD: `bounds` of `src/vectors/kernel/simd.rs`, for engines that have it.
//!
//! A module of its own, of one function and without a memory: it works in that of the index, through whose table of
//! functions it is called. So the index itself is one module that every engine takes. Compiled by rustc alone;
//! nothing here may need a stack or constants in memory.
#![no_std]

use core::arch::wasm32::*;

#[panic_handler]
fn stop(_: &core::panic::PanicInfo) -> ! {
    unreachable()
}

/// What four rows' scores cannot exceed, for whole blocks of four: `((product − shift) · alpha + gamma) · scale + beta ·
/// term + delta` of each row.
///
/// # Safety
/// There are `dimension` codes of −63…63 at `query`, `blocks · 4 · dimension` at `rows` and `blocks · 4` numbers at `scales`,
/// `terms` and `out`; `dimension` is a multiple of 16.
#[unsafe(no_mangle)]
unsafe extern "C" fn bounds(
    query: *const i8,
    dimension: usize,
    rows: *const u8,
    scales: *const v128,
    terms: *const v128,
    out: *mut v128,
    blocks: usize,
    shift: i32,
    alpha: f32,
    beta: f32,
    gamma: f32,
    delta: f32,
) {
    let shift = i32x4_splat(shift);
    let [alpha, beta, gamma, delta] = [f32x4_splat(alpha), f32x4_splat(beta), f32x4_splat(gamma), f32x4_splat(delta)];
    // Numbers are added up in pairs by multiplying them by ones: V8's instruction for it loads them each time. Compilers
    // that know that there is a dimension, or of the constant, would take that.
    let ones = i16x8_splat((dimension > 0) as i16);
    // As many of a row's codes as are taken 64 at a time.
    let fours = if unsafe { four_fit(query, dimension) } { dimension / 64 * 64 } else { 0 };
    let mut block = 0;
    while block < blocks {
        unsafe {
            let sums = i32x4_sub(products(query, dimension, fours, ones, rows.add(block * 4 * dimension)), shift);
            let products = f32x4_add(f32x4_mul(f32x4_convert_i32x4(sums), alpha), gamma);
            let scaled = f32x4_mul(products, v128_load(scales.add(block)));
            let bound = f32x4_add(scaled, f32x4_add(f32x4_mul(beta, v128_load(terms.add(block))), delta));
            v128_store(out.add(block), bound);
        }
        block += 1;
    }
}

/// The integer products of the query's codes and those of four rows.
#[inline(always)]
unsafe fn products(query: *const i8, dimension: usize, fours: usize, ones: v128, rows: *const u8) -> v128 {
    let zero = i32x4_splat(0);
    let (mut a, mut b, mut c, mut d) = (zero, zero, zero, zero);
    let mut at = 0;
    unsafe {
        while at < fours {
            let (query, row) = (query.add(at), rows.add(at));
            let four = [
                v128_load(query.cast()),
                v128_load(query.add(16).cast()),
                v128_load(query.add(32).cast()),
                v128_load(query.add(48).cast()),
            ];
            a = with_four(ones, a, four, row);
            b = with_four(ones, b, four, row.add(dimension));
            c = with_four(ones, c, four, row.add(2 * dimension));
            d = with_four(ones, d, four, row.add(3 * dimension));
            at += 64;
        }
        while at + 32 <= dimension {
            let (p, q, row) = (v128_load(query.add(at).cast()), v128_load(query.add(at + 16).cast()), rows.add(at));
            a = with_two(ones, a, p, q, row);
            b = with_two(ones, b, p, q, row.add(dimension));
            c = with_two(ones, c, p, q, row.add(2 * dimension));
            d = with_two(ones, d, p, q, row.add(3 * dimension));
            at += 32;
        }
        if at < dimension {
            let (q, row) = (v128_load(query.add(at).cast()), rows.add(at));
            a = i32x4_relaxed_dot_i8x16_i7x16_add(q, v128_load(row.cast()), a);
            b = i32x4_relaxed_dot_i8x16_i7x16_add(q, v128_load(row.add(dimension).cast()), b);
            c = i32x4_relaxed_dot_i8x16_i7x16_add(q, v128_load(row.add(2 * dimension).cast()), c);
            d = i32x4_relaxed_dot_i8x16_i7x16_add(q, v128_load(row.add(3 * dimension).cast()), d);
        }
    }
    let (ab, cd) = (pairs(a, b), pairs(c, d));
    i32x4_add(i32x4_shuffle::<0, 1, 4, 5>(ab, cd), i32x4_shuffle::<2, 3, 6, 7>(ab, cd))
}

/// Adds the products of 32 codes. Sixteen bits hold four of them: 4 · 63 · 127.
#[inline(always)]
unsafe fn with_two(ones: v128, sums: v128, p: v128, q: v128, row: *const u8) -> v128 {
    i32x4_add(sums, i32x4_dot_i16x8(unsafe { two(p, q, row) }, ones))
}

/// Adds the products of 64 codes, of a query of which eight fit sixteen bits.
#[inline(always)]
unsafe fn with_four(ones: v128, sums: v128, [p, q, r, s]: [v128; 4], row: *const u8) -> v128 {
    let all = unsafe { i16x8_add(two(p, q, row), two(r, s, row.add(32))) };
    i32x4_add(sums, i32x4_dot_i16x8(all, ones))
}

/// In each sixteen bits the products of four codes of 32.
#[inline(always)]
unsafe fn two(p: v128, q: v128, row: *const u8) -> v128 {
    // The second operand must be 0…127, as rows' codes are: engines differ beyond.
    let first = i16x8_relaxed_dot_i8x16_i7x16(p, unsafe { v128_load(row.cast()) });
    let second = i16x8_relaxed_dot_i8x16_i7x16(q, unsafe { v128_load(row.add(16).cast()) });
    i16x8_add(first, second)
}

/// Whether sixteen bits hold what is added up of a query's codes in [`with_four`], whatever the row: 258 · 127. Rows' codes
/// are not negative, so those of one sign count apart; they do of all but queries of a very few great components.
#[inline(always)]
unsafe fn four_fit(query: *const i8, dimension: usize) -> bool {
    let zero = i16x8_splat(0);
    let mut most = zero;
    let mut at = 0;
    while at + 64 <= dimension {
        let (mut above, mut below) = (zero, zero);
        let mut part = at;
        while part < at + 64 {
            let codes = unsafe { v128_load(query.add(part).cast()) };
            above = i16x8_add(above, i16x8_extadd_pairwise_i8x16(i8x16_max(codes, zero)));
            below = i16x8_sub(below, i16x8_extadd_pairwise_i8x16(i8x16_min(codes, zero)));
            part += 16;
        }
        most = i16x8_max(most, i16x8_max(above, below));
        at += 64;
    }
    !v128_any_true(i16x8_gt(most, i16x8_splat(258)))
}

#[inline(always)]
fn pairs(x: v128, y: v128) -> v128 {
    i32x4_add(i32x4_shuffle::<0, 4, 1, 5>(x, y), i32x4_shuffle::<2, 6, 3, 7>(x, y))
}
