//! What is asked of an embedding model and what comes back, the same for every vendor.
//!
//! A reply is used whole or not at all: a vector that belongs to another text, or to another model,
//! would be searched for ever without anybody noticing. Vectors are brought to length 1, which some
//! services do and others leave to their callers.

pub mod openai;

use std::ops::Range;

use super::error::{Mismatch, ProviderError};

/// The most texts of one request.
pub const MAX_TEXTS: usize = 64;

/// The most bytes of all texts of one request.
pub const MAX_BYTES: usize = 100_000;

/// The most bytes of one text. The larger models read 8,192 tokens, and code has two bytes a token.
pub const MAX_TEXT_BYTES: usize = 16_000;

/// Texts that are embedded together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbedRequest {
    texts: Vec<String>,
    dimension: Option<usize>,
}

/// A text that cannot be embedded, by its position from 0. No text is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// Services refuse it, or give a vector that means nothing.
    #[error("text {at} is blank: leave it out")]
    Blank {
        /// Which.
        at: usize,
    },
    /// Above [`MAX_TEXT_BYTES`].
    #[error("text {at} has {bytes} bytes: cut it to {MAX_TEXT_BYTES}")]
    TooLong {
        /// Which.
        at: usize,
        /// Its length.
        bytes: usize,
    },
    /// None, or more than fit.
    #[error("{texts} texts of {bytes} bytes: give 1 to {MAX_TEXTS} of {MAX_BYTES} bytes in all")]
    Batch {
        /// How many.
        texts: usize,
        /// Their lengths together.
        bytes: usize,
    },
}

impl EmbedRequest {
    /// Checks the texts; `dimension` is what their vectors must have, if that is known.
    pub fn new(texts: Vec<String>, dimension: Option<usize>) -> Result<Self, InputError> {
        for (at, text) in texts.iter().enumerate() {
            match text.len() {
                _ if text.trim().is_empty() => return Err(InputError::Blank { at }),
                bytes if bytes > MAX_TEXT_BYTES => return Err(InputError::TooLong { at, bytes }),
                _ => (),
            }
        }
        let bytes = texts.iter().map(String::len).sum();
        if bytes > MAX_BYTES || !(1..=MAX_TEXTS).contains(&texts.len()) {
            return Err(InputError::Batch { texts: texts.len(), bytes });
        }
        Ok(Self { texts, dimension })
    }

    /// The texts, at least one.
    pub fn texts(&self) -> &[String] {
        &self.texts
    }
}

/// Which texts go together: as many, in order, as fit a request. None of them is above
/// [`MAX_TEXT_BYTES`].
pub fn batches(texts: &[String]) -> Vec<Range<usize>> {
    let mut batches: Vec<Range<usize>> = Vec::new();
    let mut bytes = 0;
    for (at, text) in texts.iter().enumerate() {
        match batches.last_mut() {
            Some(last) if last.len() < MAX_TEXTS && bytes + text.len() <= MAX_BYTES => last.end = at + 1,
            _ => {
                batches.push(at..at + 1);
                bytes = 0;
            }
        }
        bytes += text.len();
    }
    batches
}

/// A vector as a service gave it.
struct Row {
    /// Which text it is for, if the service says so.
    index: Option<u64>,
    /// None where one of them is no finite number.
    components: Option<Vec<f32>>,
    /// How many there are.
    dimension: usize,
}

/// The vectors in the order of the texts, each of length 1.
fn vectors(rows: Vec<Row>, asked: &EmbedRequest) -> Result<Vec<Vec<f32>>, ProviderError> {
    let mismatch = |fault| ProviderError::EmbeddingMismatch { fault };
    let want = asked.texts.len();
    if rows.len() != want {
        return Err(mismatch(Mismatch::Count { got: rows.len(), want }));
    }
    let rows = in_order(rows).ok_or(mismatch(Mismatch::Index))?;
    let want = asked.dimension.or(rows.first().map(|row| row.dimension)).unwrap_or_default();
    if let Some(row) = rows.iter().find(|row| row.dimension != want) {
        return Err(mismatch(Mismatch::Dimension { got: row.dimension, want }));
    }
    let components: Option<Vec<Vec<f32>>> = rows.into_iter().map(|row| row.components).collect();
    let components = components.ok_or(mismatch(Mismatch::NonFinite))?;
    let units: Option<Vec<Vec<f32>>> = components.iter().map(|components| unit(components)).collect();
    units.ok_or(mismatch(Mismatch::Zero))
}

/// The rows by their indices, which must be all of them once. Services that give none keep the order.
fn in_order(rows: Vec<Row>) -> Option<Vec<Row>> {
    if rows.iter().all(|row| row.index.is_none()) {
        return Some(rows);
    }
    let mut slots: Vec<Option<Row>> = rows.iter().map(|_| None).collect();
    for row in rows {
        let slot = slots.get_mut(usize::try_from(row.index?).ok()?)?;
        if slot.replace(row).is_some() {
            return None;
        }
    }
    slots.into_iter().collect()
}

/// The vector of length 1 in the same direction; none for one without a direction. In `f64` no square
/// of an `f32` overflows or vanishes.
fn unit(components: &[f32]) -> Option<Vec<f32>> {
    let square: f64 = components.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
    let length = square.sqrt();
    (square > 0.0).then(|| components.iter().map(|&x| (f64::from(x) / length) as f32).collect())
}
