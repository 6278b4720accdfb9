//! Bytes that are owned, or part of a file that was loaded as one.
//!
//! A snapshot's planes stay where loading put them until one is written to; then it becomes a copy.

use std::ops::{Deref, Range};
use std::sync::Arc;

#[derive(Debug, Clone)]
pub(crate) enum Bytes {
    Own(Vec<u8>),
    Part(Arc<Vec<u8>>, Range<usize>),
}

impl Bytes {
    /// A part of a file, where it has one there.
    pub(crate) fn part(file: &Arc<Vec<u8>>, range: Range<usize>) -> Option<Self> {
        file.get(range.clone()).map(|_| Self::Part(Arc::clone(file), range))
    }

    /// To write to.
    pub(crate) fn own(&mut self) -> &mut Vec<u8> {
        if let Self::Part(..) = self {
            *self = Self::Own(self.to_vec());
        }
        match self {
            Self::Own(bytes) => bytes,
            Self::Part(..) => unreachable!("made its own just now"),
        }
    }

    /// Appends numbers, as little-endian bytes.
    pub(crate) fn extend(&mut self, numbers: &[f32]) {
        self.own().extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    }

    /// Lets the last `width` bytes take the place of those at `at` times `width`.
    pub(crate) fn swap_remove(&mut self, at: usize, width: usize) {
        let bytes = self.own();
        let last = bytes.len() - width;
        bytes.copy_within(last.., at * width);
        bytes.truncate(last);
    }
}

impl Default for Bytes {
    fn default() -> Self {
        Self::Own(Vec::new())
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Own(bytes) => bytes,
            Self::Part(file, range) => &file[range.clone()],
        }
    }
}
