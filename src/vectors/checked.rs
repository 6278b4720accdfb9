//! Which vectors can be compared, and how.

use super::VectorFault;
use super::kernel::dot;

/// Lengths that count as 1: what rounding to 16 bits a component can cost, and a little more.
const UNIT: (f32, f32) = (0.999, 1.001);
/// Lengths whose products neither overflow nor vanish in `f32`.
const COMPARABLE: (f32, f32) = (1e-15, 1e15);

/// How near two vectors are. Higher is nearer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Metric {
    /// The cosine of the angle between them, −1…1.
    #[default]
    Cosine,
    /// Their inner product.
    Dot,
    /// The square of their distance, negated.
    Euclidean,
}

/// What vectors must be like to be compared with each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Comparison {
    /// The number of components.
    pub dimension: usize,
    /// How near two are.
    pub metric: Metric,
    /// Whether all have length 1; others are refused then.
    pub normalised: bool,
}

/// A vector that has been checked, with its Euclidean length: exactly 1 when all are normalised.
#[derive(Debug, Clone, Copy)]
pub struct Checked<'a> {
    components: &'a [f32],
    length: f32,
}

impl<'a> Checked<'a> {
    /// Checks a vector.
    pub fn new(components: &'a [f32], comparison: Comparison) -> Result<Self, VectorFault> {
        if components.len() != comparison.dimension {
            return Err(VectorFault::Dimension { found: components.len(), expected: comparison.dimension });
        }
        if let Some(component) = components.iter().position(|value| !value.is_finite()) {
            return Err(VectorFault::NotFinite { component, value: components[component] });
        }
        let zero = components.iter().all(|&value| value == 0.0);
        if zero && comparison.metric != Metric::Euclidean {
            return Err(VectorFault::Zero);
        }
        let length = dot(components, components).sqrt();
        comparison
            .allows(length)
            .map(|()| Self { components, length: if comparison.normalised { 1.0 } else { length } })
    }

    /// The components.
    pub fn components(self) -> &'a [f32] {
        self.components
    }

    pub(super) fn length(self) -> f32 {
        self.length
    }
}

impl Comparison {
    /// Whether a vector of that length can be compared; NaN and infinities cannot.
    pub(super) fn allows(self, length: f32) -> Result<(), VectorFault> {
        let (minimum, maximum) = match self.metric {
            _ if self.normalised => UNIT,
            Metric::Euclidean => (0.0, COMPARABLE.1),
            Metric::Cosine | Metric::Dot => COMPARABLE,
        };
        if (minimum..=maximum).contains(&length) {
            Ok(())
        } else {
            Err(VectorFault::Length { length, minimum, maximum })
        }
    }
}
