//! Vectors as small integers, and what they say of a score: a number that it cannot exceed.
//!
//! A row x is stored as one byte a component, `x ≈ scale · (code − 64)` with codes 1…127; a query q as signed
//! bytes with a scale of its own. The integer product of the two, times the scales, misses q · x by at most
//! `‖q‖ ‖x − x̂‖ + ‖q − q̂‖ ‖x‖` (Cauchy and Schwarz, twice), of which each row stores its part. Codes have seven
//! bits because the fastest instruction there is takes no more, and none is negative because it takes no
//! sign; that shifts every product of a query by the same number. A query's have one bit less, so that products can be
//! added up before they are widened.

use aligned_vec::AVec;

use super::checked::{Checked, Comparison, Metric};
use super::kernel::dot;

/// Half the range of a code: the codes of 0 and of the greatest component are this far apart.
const STEPS: f32 = 63.0;
pub(super) const ZERO: u8 = 64;
/// Components of this size and less are stored as 0: to divide by them would overflow.
const NOTHING: f32 = 1e-30;
/// The steps of a query's codes, which may be signed: four products of such a code and a row's fit sixteen bits.
const QUERY_STEPS: f32 = 63.0;
/// What bounds are widened by: lengths that count as 1 may be a thousandth longer.
const LENIENCE: f32 = 1.002;

/// What the scan needs to know of a row besides its codes.
pub(super) struct Row {
    pub(super) scale: f32,
    /// By the metric: the length of what the codes miss (cosine, dot) or the square of the row's length.
    pub(super) term: f32,
}

/// A query as the kernel wants it. A row's bound is `((product − shift) · alpha + gamma) · scale + beta ·
/// term + delta`.
pub(super) struct Query {
    /// The codes, signed.
    pub(super) codes: Vec<i8>,
    pub(super) shift: i32,
    pub(super) alpha: f32,
    pub(super) beta: f32,
    pub(super) gamma: f32,
    pub(super) delta: f32,
}

/// Appends a row's codes.
pub(super) fn encode(vector: Checked<'_>, metric: Metric, codes: &mut AVec<u8>) -> Row {
    let components = vector.components();
    let scale = step(components, STEPS);
    let inverse = inverse(scale);
    // Adding a half and cutting off rounds, as nothing here is negative.
    let code = |component: f32| (component * inverse + (f32::from(ZERO) + 0.5)) as u8;
    let from = codes.len();
    codes.resize(from + components.len(), 0);
    for (to, &component) in codes[from..].iter_mut().zip(components) {
        *to = code(component);
    }
    let signed = codes[from..].iter().map(|&code| code.wrapping_sub(ZERO).cast_signed());
    match metric {
        Metric::Cosine => {
            Row { scale: scale / vector.length(), term: missed(components, scale, signed) / vector.length() }
        }
        Metric::Dot => Row { scale, term: missed(components, scale, signed) },
        Metric::Euclidean => Row { scale, term: dot(components, components) },
    }
}

impl Query {
    /// `longest` is the length of the longest row.
    pub(super) fn new(vector: Checked<'_>, comparison: Comparison, longest: f32) -> Self {
        let components = vector.components();
        let step = step(components, QUERY_STEPS);
        let inverse = inverse(step);
        let code = |component: f32| {
            let shifted = (component * inverse + (QUERY_STEPS + 1.5)) as u8;
            (i16::from(shifted) - (QUERY_STEPS as i16 + 1)) as i8
        };
        let codes: Vec<i8> = components.iter().map(|&component| code(component)).collect();
        let shift = codes.iter().map(|&code| i32::from(code)).sum::<i32>() * i32::from(ZERO);
        let length = dot(components, components).sqrt();
        let missed = missed(components, step, codes.iter().copied());
        let dimension = comparison.dimension as f32;
        // What adding up so many rounded products can be off by, here and in the score itself.
        let rounding = (dimension + 64.0) * f32::EPSILON;
        let (alpha, beta, gamma, delta) = match comparison.metric {
            Metric::Cosine => (step / vector.length(), LENIENCE, 0.0, (missed / vector.length() + rounding) * LENIENCE),
            Metric::Dot => (step, length * LENIENCE, 0.0, (missed + rounding * length) * longest * LENIENCE),
            Metric::Euclidean => {
                // No component is missed by more than half a step.
                let gamma = length * dimension.sqrt() * LENIENCE;
                let farthest = (length + longest) * (length + longest);
                let delta = 2.0 * missed * longest * LENIENCE - length * length + 2.0 * rounding * farthest;
                (2.0 * step, -1.0, gamma, delta)
            }
        };
        Self { codes, shift, alpha, beta, gamma, delta }
    }
}

fn step(components: &[f32], steps: f32) -> f32 {
    let largest = components.iter().fold(0.0_f32, |largest, component| largest.max(component.abs()));
    if largest > NOTHING { largest / steps } else { 0.0 }
}

fn inverse(step: f32) -> f32 {
    if step > 0.0 { 1.0 / step } else { 0.0 }
}

/// The length of what codes miss of the components.
fn missed(components: &[f32], scale: f32, codes: impl Iterator<Item = i8>) -> f32 {
    let missed: Vec<f32> =
        components.iter().zip(codes).map(|(&component, code)| component - scale * f32::from(code)).collect();
    dot(&missed, &missed).sqrt()
}
