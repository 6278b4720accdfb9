//! The yardstick of `npm run bench:index`: a scan of `f32` rows by WebAssembly's SIMD, and nothing else. It stays
//! as it is, so that ratios to it can be compared over the years. Also reads memory as fast as can be.
//!
//! Compiled by rustc alone: no crate, no allocator. JavaScript asks for memory and writes into it.
#![no_std]

use core::arch::wasm32::*;

const MOST: usize = 64;
static mut TOP: [(f32, u32); MOST] = [(0.0, 0); MOST];

#[panic_handler]
fn stop(_: &core::panic::PanicInfo) -> ! {
    unreachable()
}

/// The address of so many fresh bytes, or 0.
#[unsafe(no_mangle)]
extern "C" fn room(bytes: usize) -> usize {
    let page = memory_grow::<0>(bytes.div_ceil(65_536));
    if page == usize::MAX { 0 } else { page * 65_536 }
}

/// Where the best of the last scan are: score and row of each.
#[unsafe(no_mangle)]
extern "C" fn top() -> *const (f32, u32) {
    &raw const TOP as *const (f32, u32)
}

/// The inner product; `dimension` is a multiple of 16.
#[inline(always)]
unsafe fn dot(a: *const f32, b: *const f32, dimension: usize) -> f32 {
    let zero = f32x4_splat(0.0);
    let (mut w, mut x, mut y, mut z) = (zero, zero, zero, zero);
    let mut at = 0;
    while at < dimension {
        unsafe {
            let times = |at: usize| f32x4_mul(v128_load(a.add(at).cast()), v128_load(b.add(at).cast()));
            w = f32x4_add(w, times(at));
            x = f32x4_add(x, times(at + 4));
            y = f32x4_add(y, times(at + 8));
            z = f32x4_add(z, times(at + 12));
        }
        at += 16;
    }
    let sums = f32x4_add(f32x4_add(w, x), f32x4_add(y, z));
    let lower = f32x4_extract_lane::<0>(sums) + f32x4_extract_lane::<1>(sums);
    lower + f32x4_extract_lane::<2>(sums) + f32x4_extract_lane::<3>(sums)
}

/// The `k` rows of the greatest inner product with the query, best first; how many there are.
///
/// # Safety
/// There are `rows · dimension` numbers at `data` and `dimension` at `query`.
#[unsafe(no_mangle)]
unsafe extern "C" fn scan(data: *const f32, rows: usize, dimension: usize, query: *const f32, k: usize) -> usize {
    let top = &raw mut TOP as *mut (f32, u32);
    let k = if k < MOST { k } else { MOST };
    let mut found = 0;
    for row in 0..rows {
        unsafe {
            let score = dot(data.add(row * dimension), query, dimension);
            if found == k && score <= (*top.add(k - 1)).0 {
                continue;
            }
            let mut at = if found < k { found } else { k - 1 };
            found = if found < k { found + 1 } else { k };
            while at > 0 && (*top.add(at - 1)).0 < score {
                *top.add(at) = *top.add(at - 1);
                at -= 1;
            }
            *top.add(at) = (score, row as u32);
        }
    }
    found
}

/// Reads every byte, 64 at a time.
///
/// # Safety
/// There are so many bytes, a multiple of 64.
#[unsafe(no_mangle)]
unsafe extern "C" fn touch(data: *const u8, bytes: usize) -> i32 {
    let zero = i32x4_splat(0);
    let (mut w, mut x, mut y, mut z) = (zero, zero, zero, zero);
    let mut at = 0;
    while at < bytes {
        unsafe {
            let load = |at: usize| v128_load(data.add(at).cast());
            w = v128_xor(w, load(at));
            x = v128_xor(x, load(at + 16));
            y = v128_xor(y, load(at + 32));
            z = v128_xor(z, load(at + 48));
        }
        at += 64;
    }
    i32x4_extract_lane::<0>(v128_xor(v128_xor(w, x), v128_xor(y, z)))
}
