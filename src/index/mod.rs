//! The in-memory index: insert, remove, search, save, load.
//!
//! [`Index`] finds passages by words (BM25F) and by meaning (vectors that the caller computes), and
//! fuses both. It splits no documents, embeds no text and does no I/O. What a search finds depends
//! on the documents in the index alone: not on the order in which they came, on documents that
//! were there before, or on the machine (a graph of [`VectorMethod`] promises less). Equal scores are in
//! document order: by the documents' ids and, within a document, as its passages were given.

mod bm25;
mod content;
mod error;
mod fields;
mod fusion;
#[cfg_attr(not(feature = "graph"), path = "no_graph.rs")]
mod graph;
mod passages;
mod postings;
mod query;
mod saved;
mod segment;
mod snapshot;
mod stems;
mod table;
pub mod words;

use serde::{Deserialize, Serialize};

pub use bm25::TermStatistics;
pub use error::IndexError;
pub use fields::{Analysis, FieldWeights};
pub use fusion::Fusion;
pub use query::{Filter, GRAPH_FROM, SearchQuery, VectorMethod};
pub use snapshot::SnapshotError;

pub use crate::vectors::{Memory, VectorFault};

use crate::document::{Explanation, Hit, Passage, Reading};
use crate::vectors::{self, Checked, Comparison, Metric, Near, Top, Vectors};
use bm25::{LexicalQuery, Sought};
use content::{Content, Own};
use fusion::Candidate;
use graph::Graph;
use passages::Row;
use words::{Stemming, words_in};

/// What makes vectors comparable: those of different models never share an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmbeddingIdentity {
    /// The model's name, with whatever else changes its vectors (projection, quantisation).
    pub model: String,
    /// The number of components.
    pub dimension: usize,
    /// Whether its vectors have length 1; the index then refuses others.
    pub normalised: bool,
}

impl EmbeddingIdentity {
    fn comparison(&self) -> Comparison {
        Comparison { dimension: self.dimension, metric: Metric::Cosine, normalised: self.normalised }
    }
}

/// Passages that can be searched.
///
/// ```
/// use countercheck::document::{Origin, Passage, Span};
/// use countercheck::index::{Index, SearchQuery};
///
/// let text = "Tune `bodyLimit` to accept larger requests.".to_owned();
/// let passage = Passage {
///     id: "server.md#0".into(),
///     document: "server.md".into(),
///     url: String::new(),
///     title: "Server".into(),
///     headings: vec![],
///     also: vec![],
///     span: Span { start: 0, end: text.len() },
///     text,
///     origin: Origin::Local,
/// };
/// let mut index = Index::new(None);
/// index.insert("server.md", vec![passage], vec![None])?;
/// let hits = index.search(&SearchQuery { text: "body limit", ..SearchQuery::default() }, 5)?;
/// assert_eq!(hits[0].passage.id, "server.md#0");
/// # Ok::<(), countercheck::index::IndexError>(())
/// ```
#[derive(Clone, Default)]
pub struct Index {
    analysis: Analysis,
    identity: Option<EmbeddingIdentity>,
    splitter_version: Option<u32>,
    content: Content,
    vectors: Vectors,
    graph: Option<Graph>,
}

impl Index {
    /// An empty index for vectors of one model, or for words alone.
    pub fn new(identity: Option<EmbeddingIdentity>) -> Self {
        let vectors = Vectors::new(identity.as_ref().map(EmbeddingIdentity::comparison).unwrap_or_default());
        Self { identity, vectors, ..Self::default() }
    }

    /// An empty index whose texts become terms in another way than by default.
    pub fn with_analysis(identity: Option<EmbeddingIdentity>, analysis: Analysis) -> Self {
        Self { analysis, ..Self::new(identity) }
    }

    /// How its texts become terms.
    pub fn analysis(&self) -> Analysis {
        self.analysis
    }

    /// The terms of a text as this index has them.
    pub fn words(&self, text: &str) -> Vec<String> {
        words_in(text, self.analysis.stemming)
    }

    /// Adds a document's passages, each with its vector or none, in place of any that the index has
    /// of it. When it refuses, nothing has changed.
    #[expect(clippy::needless_pass_by_value, reason = "an index owns what it is given, and may keep rows as they come")]
    pub fn insert(
        &mut self,
        document_id: &str,
        passages: Vec<Passage>,
        vectors: Vec<Option<Vec<f32>>>,
    ) -> Result<(), IndexError> {
        if passages.len() != vectors.len() {
            return Err(IndexError::VectorCount {
                document: document_id.to_owned(),
                passages: passages.len(),
                vectors: vectors.len(),
            });
        }
        passages::check(document_id, &passages, self.passages())?;
        let identity = self.identity.clone();
        let checked = passages
            .iter()
            .zip(&vectors)
            .map(|(passage, vector)| checked(vector.as_deref(), identity.as_ref(), &passage.id))
            .collect::<Result<Vec<_>, _>>()?;
        self.content.own()?;
        self.remove(document_id)?;
        let terms: Vec<_> = passages.iter().map(|passage| self.analysis.passage(passage)).collect();
        let row = |(ordinal, passage)| Row { passage, ordinal, reading: Box::default() };
        let rows = (0..).zip(passages).map(row).collect();
        let Own { passages, postings } = self.content.own()?;
        let rows = passages.add(document_id, rows);
        for (&row, terms) in rows.iter().zip(terms) {
            postings.add(row, terms);
        }
        for (row, vector) in rows.into_iter().zip(checked) {
            if let Some(vector) = vector {
                self.add_vector(row, vector);
            }
        }
        Ok(())
    }

    /// Keeps what a reader sees of a document's passages, in their order, beside them.
    pub fn annotate(&mut self, document_id: &str, readings: &[Reading]) -> Result<(), IndexError> {
        let rows = self.content.rows_of(document_id).unwrap_or_default();
        let Own { passages, .. } = self.content.own()?;
        for (row, reading) in rows.into_iter().zip(readings) {
            let encoded = passages.row(row).map(|row| reading.encode(&row.passage.text));
            passages.read(row, encoded.unwrap_or_default());
        }
        Ok(())
    }

    /// What a reader sees of a passage that is in the index with that very text, if it was annotated.
    pub fn reading(&self, passage: &Passage) -> Option<Reading> {
        let own = self.row_of(&passage.id).filter(|own| own.passage.text == passage.text)?;
        Reading::decode(&own.reading, &passage.text).filter(|_| !own.reading.is_empty())
    }

    fn add_vector(&mut self, row: u32, vector: Checked<'_>) {
        self.vectors.add(row, vector);
        if let Some(graph) = &mut self.graph {
            graph.add(row);
        }
    }

    /// Removes a document with its passages; says whether it was there. Of a damaged snapshot nothing can be
    /// removed.
    pub fn remove(&mut self, document_id: &str) -> Result<bool, IndexError> {
        if self.content.rows_of(document_id).is_none() {
            return Ok(false);
        }
        let Own { passages, postings } = self.content.own()?;
        let removed = passages.remove(document_id).unwrap_or_default();
        for (row, passage) in removed {
            postings.remove(row, self.analysis.passage(&passage));
            self.graph.take_if(|graph| !graph.remove(row, &self.vectors));
            self.vectors.remove(row);
        }
        Ok(true)
    }

    /// The best `k` passages, best first. A passage is found when it has a word of the query or,
    /// for a query with a vector, has a vector too.
    ///
    /// The `4k` best of either side, and at least 50, are candidates. Scores are relative to these
    /// and so cannot be compared between searches; [`Hit::lexical`] and [`Hit::dense`] can.
    pub fn search(&self, query: &SearchQuery<'_>, k: usize) -> Result<Vec<Hit>, IndexError> {
        if let Fusion::MinMax { dense_weight: weight } = query.fusion
            && !(0.0..=1.0).contains(&weight)
        {
            return Err(IndexError::Weight { weight });
        }
        let vector = checked(query.vector, self.identity.as_ref(), "query")?;
        if k == 0 || query.per_document == Some(0) {
            return Ok(Vec::new());
        }
        // Of those a cap leaves out others must be there in their place.
        let depth = if query.per_document.is_some() { 16 } else { 4 };
        let lexical = self.lexical_query(query);
        let sought = self.content.sought(&lexical)?;
        let mut candidates = self.candidates(query, &sought, vector, k.saturating_mul(depth).max(50));
        fusion::fuse(&mut candidates, query.fusion);
        let better = |a: &Candidate, b: &Candidate| {
            let position = |candidate: &Candidate| self.content.position(candidate.row);
            a.compare(b).then_with(|| position(a).cmp(&position(b))).is_lt()
        };
        if let Some(most) = query.per_document {
            candidates = self.capped(candidates, k, most, better);
        } else {
            vectors::select(&mut candidates, k, better);
            candidates.truncate(k);
        }
        let hit = |candidate| self.hit(candidate, query.explain.then_some(&sought));
        candidates.into_iter().map(hit).collect()
    }

    /// The query's terms and, where its last word is still being typed, what of it is there: of a compound
    /// the last part. The word as it stands counts as well.
    fn lexical_query(&self, query: &SearchQuery<'_>) -> LexicalQuery {
        let last = query.text.rfind(|c: char| c.is_whitespace()).map_or(query.text, |at| &query.text[at..]);
        let parts = if query.prefix { words_in(last, Stemming::None) } else { Vec::new() };
        let unfinished = parts.get(parts.len().saturating_sub(2)).cloned();
        LexicalQuery { terms: self.analysis.query(query.text), unfinished }
    }

    /// The best `k`, of each document `most` at the most.
    fn capped(
        &self,
        mut candidates: Vec<Candidate>,
        k: usize,
        most: usize,
        better: impl Fn(&Candidate, &Candidate) -> bool,
    ) -> Vec<Candidate> {
        let document = |candidate: &Candidate| self.content.document(candidate.row);
        let mut kept: Vec<Candidate> = Vec::new();
        for place in 0..candidates.len() {
            if kept.len() == k {
                break;
            }
            vectors::select(&mut candidates[place..], 1, &better);
            let next = candidates[place];
            if kept.iter().filter(|other| document(other) == document(&next)).count() < most {
                kept.push(next);
            }
        }
        kept
    }

    /// The `wanted` best of either side, each with the evidence of both.
    fn candidates(
        &self,
        query: &SearchQuery<'_>,
        sought: &Sought<'_>,
        vector: Option<Checked<'_>>,
        wanted: usize,
    ) -> Vec<Candidate> {
        let mut scores = sought.scores();
        let allowed = |row| match query.filter {
            // What cannot be read is let through: should it be among the best, it is an error.
            Some(Filter(allows)) => self.content.row(row).is_none_or(|row| allows(&row.passage)),
            None => true,
        };
        let mut matching = Top::new(wanted);
        vectors::each_above(&scores, f32::MIN_POSITIVE, &mut |row, score| {
            let row = row as u32;
            if allowed(row) {
                matching.offer(row, score, || self.content.position(row));
            }
            matching.least().max(f32::MIN_POSITIVE)
        });
        let nearest = vector.map(|vector| self.nearest(query, vector, wanted, &allowed)).unwrap_or_default();
        let candidate = |row, lexical, dense| Candidate { row, lexical, dense, words: 0.0, vectors: 0.0, score: 0.0 };
        let mut candidates = Vec::with_capacity(2 * nearest.len());
        for Near { row, score } in nearest {
            // No score is no number: what it stands for is among the candidates.
            let lexical = scores.get_mut(row as usize).map_or(0.0, |lexical| std::mem::replace(lexical, f32::NAN));
            candidates.push(candidate(row, lexical, Some(score)));
        }
        for row in matching.into_rows() {
            let lexical = scores[row as usize];
            if !lexical.is_nan() {
                candidates.push(candidate(row, lexical, vector.and_then(|query| self.vectors.score(query, row))));
            }
        }
        candidates
    }

    fn nearest(
        &self,
        query: &SearchQuery<'_>,
        vector: Checked<'_>,
        wanted: usize,
        allowed: &dyn Fn(u32) -> bool,
    ) -> Vec<Near> {
        let position = |row| self.content.position(row);
        // The graph finds a number of rows, whoever may be found.
        let asked = query.method.asks_graph(self.vectors.len()) && query.filter.is_none();
        let graph = self.graph.as_ref().filter(|_| asked);
        graph
            .and_then(|graph| graph.search(&self.vectors, vector, wanted, position))
            .unwrap_or_else(|| self.vectors.nearest(vector, wanted, allowed, position))
    }

    fn hit(&self, candidate: Candidate, explained: Option<&Sought<'_>>) -> Result<Hit, IndexError> {
        let Candidate { row, lexical, dense, words, vectors, score } = candidate;
        let explanation = explained.map(|sought| Explanation { words, vectors, terms: sought.explained(row) });
        let row = self.content.row(row).ok_or(SnapshotError::Corrupt { what: "texts" })?;
        Ok(Hit { passage: row.passage.clone(), score, lexical, dense, explanation })
    }

    /// Builds the graph of [`VectorMethod::Graph`] in place of any older one. It stays usable while documents come and
    /// go, and is saved as long as it has the index's very vectors: build it again before saving what has changed. The
    /// same documents and seed give the same graph on machines of the same word size, so on all that run wasm.
    #[cfg(feature = "build-graph")]
    pub fn build_graph(&mut self, seed: u64) {
        let rows = self.content.rows().into_iter();
        self.graph = Graph::build(&self.vectors, rows, seed);
    }

    /// Whether it has a graph with its very vectors, which a snapshot of it will have too.
    pub fn has_whole_graph(&self) -> bool {
        self.graph.as_ref().is_some_and(Graph::is_whole)
    }

    /// The number of documents.
    pub fn documents(&self) -> usize {
        self.content.documents()
    }

    /// The number of passages.
    pub fn passages(&self) -> usize {
        self.content.passages()
    }

    /// The model whose vectors it takes, unless it is for words alone.
    pub fn identity(&self) -> Option<&EmbeddingIdentity> {
        self.identity.as_ref()
    }

    /// The splitter version that the snapshot it was loaded from was saved with.
    pub fn splitter_version(&self) -> Option<u32> {
        self.splitter_version
    }

    /// The memory that its vectors take, without its graph.
    pub fn vector_memory(&self) -> Memory {
        self.vectors.memory()
    }

    /// A passage by its id.
    pub fn passage(&self, id: &str) -> Option<&Passage> {
        self.row_of(id).map(|row| &row.passage)
    }

    fn row_of(&self, id: &str) -> Option<&Row> {
        let (document, ordinal) = id.rsplit_once('#')?;
        let row = *self.content.rows_of(document)?.get(ordinal.parse::<usize>().ok()?)?;
        self.content.row(row).filter(|row| row.passage.id == id)
    }

    /// All passages in document order, but for those of a snapshot that are damaged.
    pub fn iter(&self) -> impl Iterator<Item = &Passage> {
        self.content.rows().into_iter().filter_map(|row| self.content.row(row)).map(|row| &row.passage)
    }

    /// How common terms are among the passages.
    pub fn statistics(&self) -> TermStatistics<'_> {
        TermStatistics::of(&self.content)
    }
}

fn checked<'a>(
    vector: Option<&'a [f32]>,
    identity: Option<&EmbeddingIdentity>,
    passage: &str,
) -> Result<Option<Checked<'a>>, IndexError> {
    let compared = |vector| {
        let identity = identity.ok_or(VectorFault::NoModel)?;
        Checked::new(vector, identity.comparison())
    };
    vector.map(compared).transpose().map_err(|fault| IndexError::Vector { passage: passage.to_owned(), fault })
}
