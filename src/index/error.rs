//! What an index refuses, each with the passage at fault. Numbers with a fraction stay out of the messages: to
//! print them takes 8 kB of what a page downloads.
//!
//! A refused call leaves the index as it was.

use super::SnapshotError;
use crate::vectors::VectorFault;

/// Why an index refused passages or a query.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// Passages and vectors are paired by position; the caller lost or doubled one.
    #[error("document {document:?} has {passages} passages but {vectors} vectors: give one, or none, for each")]
    VectorCount {
        /// The document's id.
        document: String,
        /// Passages given.
        passages: usize,
        /// Vectors given.
        vectors: usize,
    },
    /// A passage's id says which of its document's it is.
    #[error("passage {found:?} must be called {expected:?}: its document's id, `#` and its place from 0")]
    PassageId {
        /// The id given.
        found: String,
        /// The id it must have.
        expected: String,
    },
    /// A passage was filed under a document that it does not belong to.
    #[error("passage {passage:?} belongs to document {found:?}, not to {expected:?}")]
    ForeignPassage {
        /// The passage's id.
        passage: String,
        /// The document it names.
        found: String,
        /// The document it was given for.
        expected: String,
    },
    /// A passage's span does not cover its text, so quotes from it could not be checked.
    #[error("passage {passage:?} has {text} bytes of text but the span {start}..{end}")]
    Span {
        /// The passage's id.
        passage: String,
        /// The length of its text in bytes.
        text: usize,
        /// The span's start.
        start: usize,
        /// The span's end.
        end: usize,
    },
    /// A vector that cannot be compared with the index's others.
    #[error("vector of {passage:?}: {fault}")]
    Vector {
        /// The passage's id, or `query`.
        passage: String,
        /// What is wrong with it.
        fault: VectorFault,
    },
    /// The weight of the dense side is not a share.
    #[error("the dense weight is not between 0 and 1")]
    Weight {
        /// The weight given.
        weight: f32,
    },
    /// The snapshot that the index was loaded from is damaged where it is read only now.
    #[error("what the index was loaded from cannot be read: {0} (index the documents again)")]
    Snapshot(#[from] SnapshotError),
    /// Rows are numbered with 32 bits.
    #[error("{passages} passages are more than the {limit} an index can hold")]
    Full {
        /// Passages that the index would have.
        passages: usize,
        /// The limit.
        limit: usize,
    },
}

impl IndexError {
    /// A stable name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::VectorCount { .. } => "vector_count",
            Self::PassageId { .. } => "passage_id",
            Self::ForeignPassage { .. } => "foreign_passage",
            Self::Span { .. } => "span",
            Self::Vector { .. } => "vector",
            Self::Weight { .. } => "weight",
            Self::Snapshot(error) => error.code(),
            Self::Full { .. } => "full",
        }
    }
}
