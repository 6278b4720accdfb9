//! What an index can be asked.

use super::Fusion;
use crate::document::Passage;

/// What to search for.
#[derive(Debug, Clone, Copy, Default)]
pub struct SearchQuery<'a> {
    /// The question or keywords.
    pub text: &'a str,
    /// The vector of the text, from the index's model; without one, words alone count.
    pub vector: Option<&'a [f32]>,
    /// How words and vectors are mixed.
    pub fusion: Fusion,
    /// How the nearest vectors are found.
    pub method: VectorMethod,
    /// Whether the last word is still being typed: it stands for all that begin with it.
    pub prefix: bool,
    /// At most so many passages of one document.
    pub per_document: Option<usize>,
    /// Whether each hit is to say what its score is made of.
    pub explain: bool,
    /// Which passages may be found; all by default.
    pub filter: Option<Filter<'a>>,
}

/// Which passages may be found. It is asked of those that words or vectors make likely, not of all.
#[derive(Clone, Copy)]
pub struct Filter<'a>(pub &'a dyn Fn(&Passage) -> bool);

impl std::fmt::Debug for Filter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Filter")
    }
}

/// So many vectors take clearly longer to scan than their graph to search: measured by `benches/index/graph.rs`.
pub const GRAPH_FROM: usize = 150_000;

/// How the nearest vectors are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VectorMethod {
    /// By the faster of the two: the graph, if there is one, from [`GRAPH_FROM`] vectors on.
    #[default]
    Measured,
    /// By looking at every one: exact.
    Scan,
    /// By the graph that was saved with the index or built by `Index::build_graph`, and a scan of what came after
    /// it: approximate. An exact scan where there is no graph, in builds without the feature `graph`, and where `k`
    /// or what has changed since ask too much of it.
    Graph,
}

impl VectorMethod {
    /// Whether the graph of so many vectors is asked, if there is one.
    pub(super) fn asks_graph(self, vectors: usize) -> bool {
        match self {
            Self::Measured => vectors >= GRAPH_FROM,
            Self::Scan => false,
            Self::Graph => true,
        }
    }
}
