//! The path of `self-rag` with a scripted model. SR-* are the vectors of the reference, N-* what the
//! paper says, W* and B* known weaknesses of such systems, `defect_n` the n-th defect of the published code.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a panic is how a test fails")]

#[path = "self_rag/defects.rs"]
mod defects;
#[path = "self_rag/options.rs"]
mod options;
#[path = "self_rag/paper.rs"]
mod paper;
#[path = "self_rag/plain.rs"]
mod plain;
#[path = "self_rag/stops.rs"]
mod stops;
#[path = "self_rag/vectors.rs"]
mod vectors;
#[path = "self_rag/world.rs"]
mod world;

use countercheck::pipeline::answer::Answer;
use countercheck::pipeline::self_rag::{SelfRagOptions, SelfRagWeights};
use countercheck::pipeline::strategy::Strategy;
use countercheck::pipeline::trace::Event;

fn strategy(options: SelfRagOptions) -> Strategy {
    Strategy::self_rag().unwrap().with_self_rag(options).unwrap()
}

/// Only relevance counts, at a weight that lets a share stand for a score up to 2.5.
fn by_relevance() -> SelfRagOptions {
    let weights =
        SelfRagWeights { relevance: Some(2.5), support: Some(0.0), usefulness: Some(0.0), sequence: Some(false) };
    SelfRagOptions { weights: Some(weights), ..SelfRagOptions::default() }
}

/// Level, passage, score, kept; in the order of the trace.
fn segments(answer: &Answer) -> Vec<(u32, &str, Option<f64>, bool)> {
    answer
        .trace
        .iter()
        .filter_map(|event| match event {
            Event::Segment { level, passage_id, score, kept } => Some((*level, passage_id.as_str(), *score, *kept)),
            _ => None,
        })
        .collect()
}

fn close(found: Option<f64>, expected: f64) -> bool {
    found.is_some_and(|found| (found - expected).abs() < 1e-5)
}
