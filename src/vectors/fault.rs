//! What is wrong with a vector. Numbers with a fraction stay out of the messages: to print them takes 8 kB of
//! what a page downloads.

/// What is wrong with a vector.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum VectorFault {
    /// The index was made for words alone.
    #[error("the index has no embedding model; make it with an embedding identity")]
    NoModel,
    /// It comes from another model.
    #[error("{found} dimensions, but the index's vectors have {expected}")]
    Dimension {
        /// Components given.
        found: usize,
        /// The model's.
        expected: usize,
    },
    /// A NaN or an infinity.
    #[error("component {component} is not a finite number")]
    NotFinite {
        /// Which component, from 0.
        component: usize,
        /// Its value.
        value: f32,
    },
    /// It has no direction; a text without vector is inserted with `None` instead.
    #[error("all components are zero; give no vector for a text that has none")]
    Zero,
    /// Its length cannot be divided by, or is not 1 though the model says it is.
    #[error("its length is not 1, as that model's vectors have, or too small or too large to divide by")]
    Length {
        /// The Euclidean length.
        length: f32,
        /// The smallest allowed.
        minimum: f32,
        /// The largest allowed.
        maximum: f32,
    },
}
