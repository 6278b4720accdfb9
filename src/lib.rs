//! Answers from documentation that check themselves.
//!
//! The path of a question:
//!
//! ```text
//! question ─▶ retrieve ─▶ grade ─▶ [web search] ─▶ generate ─▶ grounded? useful? ─▶ answer
//!                                                     ▲               │
//!                                                     └── [correct] ◀─┘
//! ```

pub mod document;
pub mod embedding;
pub mod index;
pub mod ingest;
pub mod pipeline;
pub mod problem;
pub mod prompt;
pub mod wire;
