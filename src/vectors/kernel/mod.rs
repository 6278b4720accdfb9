//! The arithmetic of vectors: the same numbers by whatever instructions there are.
//!
//! Integer products are exact, so their order is free. Sums of `f32` have one order, that of eight running
//! sums folded by halves, which SIMD of 4 or 8 lanes can keep; nothing is fused. `simd` is WebAssembly's, with
//! a faster scan where JavaScript gives it one; `scalar` is every other machine's and defines
//! what `simd` must give.

#[cfg_attr(target_arch = "wasm32", allow(dead_code))] // what only the tails need there
mod scalar;
#[cfg(target_arch = "wasm32")]
mod simd;

#[cfg(not(target_arch = "wasm32"))]
pub(super) use scalar::{
    are_codes, bounds, bounds_of, distance, greatest, next, next_sum, product, product_and_square, sums,
};
#[cfg(target_arch = "wasm32")]
#[allow(unused_imports)] // only the module of vectors alone is given a scan
pub(crate) use simd::scan_by;
#[cfg(target_arch = "wasm32")]
pub(super) use simd::{
    are_codes, bounds, bounds_of, distance, greatest, next, next_sum, product, product_and_square, sums,
};

/// How many running sums a sum has.
const LANES: usize = 8;

/// The inner product of two vectors.
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
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
    folded(sums)
}

fn folded(sums: [f32; LANES]) -> f32 {
    let fours: [f32; 4] = std::array::from_fn(|lane| sums[lane] + sums[lane + 4]);
    (fours[0] + fours[2]) + (fours[1] + fours[3])
}

/// Adds what is left after the last eight components to the sums of the first lanes.
fn with_rest(mut sums: [f32; LANES], query: &[f32], stored: &[u8], term: impl Fn(f32, f32) -> f32) -> f32 {
    let (stored, _) = stored.as_chunks();
    for (lane, (q, &bytes)) in query.iter().zip(stored).enumerate() {
        sums[lane] += term(*q, f32::from_le_bytes(bytes));
    }
    folded(sums)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_stored_vector_gives_the_product_of_its_numbers(pairs in prop::collection::vec((-9.0_f32..9.0, -9.0_f32..9.0), 1..40)) {
            let (a, b): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
            let stored: Vec<u8> = b.iter().flat_map(|number| number.to_le_bytes()).collect();
            prop_assert_eq!(product(&a, &stored).to_bits(), dot(&a, &b).to_bits());
            let both = product_and_square(&a, &stored);
            prop_assert_eq!((both.0.to_bits(), both.1.to_bits()), (dot(&a, &b).to_bits(), dot(&b, &b).to_bits()));
            let apart: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
            prop_assert_eq!(distance(&a, &stored).to_bits(), dot(&apart, &apart).to_bits());
        }
    }
}
