//! The Self-RAG paper's inference: its scores, its beam, its path. SR-* are the vectors of the
//! reference, N-* what the paper says, `defect_n` the n-th defect of the code published with it.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a panic is how a test fails")]

#[path = "reflection/beam.rs"]
mod beam;
#[path = "reflection/scores.rs"]
mod scores;
#[path = "reflection/segments.rs"]
mod segments;

use countercheck::pipeline::segment::{Alternative, Token};

/// A token with what else might have stood there, by probability; the first is the one written.
fn token(probabilities: &[(&str, f64)]) -> Token {
    let top: Vec<Alternative> = probabilities
        .iter()
        .map(|(text, p)| Alternative { text: (*text).to_owned(), logprob: libm::log(*p) })
        .collect();
    Token { text: top[0].text.clone(), logprob: Some(top[0].logprob), top }
}

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() < 1e-9
}
