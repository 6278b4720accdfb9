//! A retriever of the host's own in place of the index (seeds G-10, G-20): what it finds takes the same path.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::{Performer, Platform, failure};
use crate::document::{Hit, Origin, Passage, Span};
use crate::pipeline::run::Reply;

const SERVICE: &str = "the retriever";

/// A passage as such a retriever gives it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct OwnPassage {
    /// Unique among all that it can find.
    pub id: String,
    /// Its text.
    pub text: String,
    /// Where to read it.
    #[serde(default)]
    pub url: String,
    /// The page's title; by default the id.
    #[serde(default)]
    pub title: String,
    /// The headings above it, outermost first.
    #[serde(default)]
    pub headings: Vec<String>,
    /// How well it fits, for whoever searches; it decides nothing.
    #[serde(default)]
    pub score: Option<f32>,
}

impl<N: Platform> Performer<'_, N> {
    /// The first `k` that it finds, in its order; what has no id, no text, or an id that was there is left out.
    pub(super) async fn found_by(&self, retriever: u32, query: &str, k: usize) -> Reply {
        let found = match self.network.own_passages(retriever, query, k).await {
            Ok(found) => found,
            Err(error) => return Reply::Failed(failure(SERVICE, error, None)),
        };
        let mut seen = BTreeSet::new();
        let is_new =
            |own: &OwnPassage| !own.text.trim().is_empty() && !own.id.is_empty() && seen.insert(own.id.clone());
        Reply::Hits(found.into_iter().filter(is_new).take(k).map(hit).collect())
    }
}

/// It is its own document: a citation's offsets are those of its text.
fn hit(own: OwnPassage) -> Hit {
    let OwnPassage { id, text, url, title, headings, score } = own;
    let score = score.filter(|score| score.is_finite()).unwrap_or_default();
    let title = if title.trim().is_empty() { id.clone() } else { title };
    let span = Span { start: 0, end: text.len() };
    let passage =
        Passage { document: id.clone(), id, url, title, headings, also: Vec::new(), span, text, origin: Origin::Local };
    Hit { passage, score, lexical: 0.0, dense: None, explanation: None }
}
