//! Documents in, hits out: ingestion, embedding and index joined, the same on every host.
//!
//! Vectors come from the embedder's table, or from an [`EmbeddingModel`] elsewhere: then whoever asks
//! that model brings them, and names it, so that they meet no others.

use crate::document::{Document, Hit, Passage, Reading};
use crate::embedding::{EmbedderError, Projection, StaticEmbedder};
use crate::index::words::Stemming;
use crate::index::{Analysis, EmbeddingIdentity, Index, IndexError, SearchQuery, SnapshotError};
use crate::ingest::{self, IngestError, SPLITTER_VERSION, SplitOptions};
use crate::problem::Problem;

/// An index with the embedder that its vectors come from.
#[derive(Default)]
pub struct Corpus {
    index: Index,
    embedder: Option<StaticEmbedder>,
}

/// A model that makes vectors elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingModel {
    /// Its name at the service, which indexes of its vectors bear.
    pub name: String,
    /// The number of components, where it was chosen; otherwise the first vector tells it.
    pub dimension: Option<usize>,
}

/// Why a corpus refuses something.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CorpusError {
    /// The document cannot be split.
    #[error(transparent)]
    Ingest(#[from] IngestError),
    /// The index refuses it.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The snapshot cannot be read.
    #[error("the index cannot be read: {0} (`countercheck index` makes one)")]
    Snapshot(#[from] SnapshotError),
    /// The embedder's table cannot be read.
    #[error(transparent)]
    Embedder(#[from] EmbedderError),
    /// Vectors of two models would be compared.
    #[error(
        "the index was built with the embedding model {index} but {given} was given: use the model it was built with, or build it again"
    )]
    ModelMismatch {
        /// The index's model.
        index: String,
        /// The embedder's.
        given: String,
    },
    /// The index has vectors, and nothing could make one for the new document.
    #[error("the index was built with the embedding model {index}: set that embedder before adding documents")]
    NoEmbedder {
        /// The index's model.
        index: String,
    },
    /// The index has passages whose words were cut in another way.
    #[error("the index has the stems of {index:?}: say `stemming` when the first document is added, or leave it out")]
    OtherStems {
        /// The index's.
        index: Stemming,
    },
    /// What should be the teacher's vector is none.
    #[error(
        "a vector for {document:?} is none of all-MiniLM-L6-v2: give 384 finite numbers for each text, their mean pooled"
    )]
    TeacherVector {
        /// The document.
        document: String,
    },
    /// The stems are of a language that this build does not know.
    #[error("the small module cuts the endings of English alone, and the index has the stems of {index:?}")]
    StemsElsewhere {
        /// The index's.
        index: Stemming,
    },
    /// The index has passages without vectors already.
    #[error("the index has {passages} passages without vectors: set the embedder before the first document")]
    TooLate {
        /// How many passages there are.
        passages: usize,
    },
}

impl Corpus {
    /// Sets the embedder, before the first document is added or after a snapshot is loaded.
    pub fn set_embedder(&mut self, embedder: StaticEmbedder) -> Result<(), CorpusError> {
        let identity = identity(&embedder);
        match self.index.identity() {
            Some(own) => matching(own, &identity)?,
            None if self.index.passages() == 0 => {
                self.index = Index::with_analysis(Some(identity), self.index.analysis());
            }
            None => return Err(CorpusError::TooLate { passages: self.index.passages() }),
        }
        self.embedder = Some(embedder);
        Ok(())
    }

    /// Sets whose word endings are cut, before the first document is added. What is loaded has its own.
    pub fn set_stemming(&mut self, stemming: Stemming) -> Result<(), CorpusError> {
        let own = self.index.analysis();
        linked(stemming)?;
        if own.stemming != stemming && self.index.passages() > 0 {
            return Err(CorpusError::OtherStems { index: own.stemming });
        }
        if own.stemming != stemming {
            self.index = Index::with_analysis(self.index.identity().cloned(), Analysis { stemming, ..own });
        }
        Ok(())
    }

    /// Replaces the index by a snapshot, which it keeps; on an error the index stays as it was.
    pub fn load(&mut self, snapshot: Vec<u8>) -> Result<(), CorpusError> {
        let index = Index::open(snapshot)?;
        if let (Some(own), Some(embedder)) = (index.identity(), &self.embedder) {
            matching(own, &identity(embedder))?;
        }
        linked(index.analysis().stemming)?;
        self.index = index;
        Ok(())
    }

    /// The index as a snapshot.
    pub fn save(&self) -> Vec<u8> {
        self.index.save(SPLITTER_VERSION)
    }

    /// Splits, embeds and indexes a document; one of the same id is replaced. The number of passages.
    pub fn add(&mut self, document: &Document) -> Result<usize, CorpusError> {
        let passages = ingest::passages(document, &SplitOptions::default())?;
        let vectors = match (self.index.identity(), &self.embedder) {
            (None, _) => vec![None; passages.len()],
            (Some(_), Some(embedder)) => passages.iter().map(|p| embedder.embed(&embedded_text(p)?)).collect(),
            (Some(own), None) => return Err(CorpusError::NoEmbedder { index: own.model.clone() }),
        };
        let readings: Vec<Reading> = passages.iter().map(|passage| ingest::reading(&passage.text)).collect();
        self.index.insert(&document.id, passages, vectors)?;
        self.index.annotate(&document.id, &readings)?;
        Ok(readings.len())
    }

    /// Removes a document; whether there was one of that id.
    pub fn remove(&mut self, document_id: &str) -> Result<bool, CorpusError> {
        Ok(self.index.remove(document_id)?)
    }

    /// The `k` best passages, by words and, where both have one, by vector.
    pub fn search(&self, query: &str, k: usize) -> Result<Vec<Hit>, IndexError> {
        self.search_near(query, self.embed(query).as_deref(), k)
    }

    /// The same with the query's vector, of length 1, or none: by words alone.
    pub fn search_near(&self, query: &str, vector: Option<&[f32]>, k: usize) -> Result<Vec<Hit>, IndexError> {
        self.index.search(&SearchQuery { text: query, vector, ..SearchQuery::default() }, k)
    }

    /// The `k` best passages of a search with options. Where it has no vector, its text's own is taken.
    pub fn find(&self, query: &SearchQuery<'_>, k: usize) -> Result<Vec<Hit>, IndexError> {
        let own = if query.vector.is_none() { self.embed(query.text) } else { None };
        self.index.search(&SearchQuery { vector: query.vector.or(own.as_deref()), ..*query }, k)
    }

    /// The text's vector, if the index has vectors and the embedder knows a word of it.
    pub fn embed(&self, text: &str) -> Option<Vec<f32>> {
        self.index.identity().and(self.embedder.as_ref())?.embed(text)
    }

    /// A passage as a reader sees it: as it is kept in the index, or read now. Where nothing is ever added
    /// nothing reads Markdown, and a passage that the index does not have stays as it is written.
    pub fn reading(&self, passage: &Passage) -> Reading {
        self.index.reading(passage).unwrap_or_else(|| read(&passage.text))
    }

    /// The index.
    pub fn index(&self) -> &Index {
        &self.index
    }
}

/// With the vectors of a model elsewhere.
impl Corpus {
    /// Indexes a document with the teacher's vectors of its [`Corpus::texts`]. They lie in the space of the
    /// table that was fitted to them, so an index may have both, and queries' vectors come from the table.
    pub fn add_projected(
        &mut self,
        document: &Document,
        projection: &Projection,
        vectors: &[&[f32]],
    ) -> Result<usize, CorpusError> {
        let space = EmbeddingModel { name: projection.space(), dimension: Some(projection.dimension()) };
        let projected = vectors.iter().map(|vector| projection.project(vector)).collect::<Option<Vec<_>>>();
        let document_id = || document.id.clone();
        let projected = projected.ok_or_else(|| CorpusError::TeacherVector { document: document_id() })?;
        self.add_embedded(document, &space, projected)
    }

    /// Replaces the index by a snapshot, whose vectors must be the model's; on an error the index stays
    /// as it was.
    pub fn load_of(&mut self, snapshot: Vec<u8>, model: &EmbeddingModel) -> Result<(), CorpusError> {
        let index = Index::open(snapshot)?;
        if let Some(own) = index.identity() {
            model.matching(own)?;
        }
        self.index = index;
        Ok(())
    }

    /// The texts whose vectors [`Corpus::add_embedded`] takes, in order; none for an index of words
    /// alone. A document without a word has one all the same: its vector tells the model's dimension,
    /// should this be the first document.
    pub fn texts(&self, document: &Document) -> Result<Vec<String>, CorpusError> {
        if self.index.identity().is_none() && self.index.passages() > 0 {
            return Ok(Vec::new());
        }
        let passages = ingest::passages(document, &SplitOptions::default())?;
        let texts: Vec<String> = passages.iter().filter_map(embedded_text).collect();
        let title = || passages.first().map(|passage| format!("{}.", passage.title));
        Ok(if texts.is_empty() { title().into_iter().collect() } else { texts })
    }

    /// Indexes a document with the vectors of its [`Corpus::texts`], each of length 1; one of the same id
    /// is replaced. The number of passages. When it refuses, nothing has changed.
    pub fn add_embedded(
        &mut self,
        document: &Document,
        model: &EmbeddingModel,
        vectors: Vec<Vec<f32>>,
    ) -> Result<usize, CorpusError> {
        let passages = ingest::passages(document, &SplitOptions::default())?;
        let texts = self.texts(document)?.len();
        if vectors.len() != texts {
            let (document, vectors) = (document.id.clone(), vectors.len());
            return Err(IndexError::VectorCount { document, passages: texts, vectors }.into());
        }
        let first = vectors.first().filter(|_| self.index.identity().is_none());
        let first = first.map(|first| (model.name.clone(), first.len()));
        let first = first.map(|(model, dimension)| EmbeddingIdentity { model, dimension, normalised: true });
        if let Some(identity) = first.as_ref().or(self.index.identity()) {
            model.matching(identity)?;
        }
        let readings: Vec<Reading> = passages.iter().map(|passage| ingest::reading(&passage.text)).collect();
        let mut vectors = vectors.into_iter();
        let own = passages.iter().map(|passage| embedded_text(passage).and_then(|_| vectors.next())).collect();
        let mut fresh = first.map(|identity| Index::with_analysis(Some(identity), self.index.analysis()));
        fresh.as_mut().unwrap_or(&mut self.index).insert(&document.id, passages, own)?;
        if let Some(fresh) = fresh {
            self.index = fresh;
        }
        self.index.annotate(&document.id, &readings)?;
        Ok(readings.len())
    }
}

impl EmbeddingModel {
    fn matching(&self, index: &EmbeddingIdentity) -> Result<(), CorpusError> {
        if self.name == index.model && self.dimension.is_none_or(|dimension| dimension == index.dimension) {
            return Ok(());
        }
        let dimensions = |dimension| format!(" with {dimension} dimensions");
        Err(CorpusError::ModelMismatch {
            index: index.model.clone() + &dimensions(index.dimension),
            given: self.name.clone() + &self.dimension.map(dimensions).unwrap_or_default(),
        })
    }
}

#[cfg(any(not(feature = "browser"), feature = "models"))]
fn read(text: &str) -> Reading {
    ingest::reading(text)
}

/// The small module of a page links no parser.
#[cfg(all(feature = "browser", not(feature = "models")))]
fn read(text: &str) -> Reading {
    Reading::unread(text)
}

/// What a passage's vector is made of; nothing when it has no words, only badges or link definitions:
/// its headings alone would pass for content.
fn embedded_text(passage: &Passage) -> Option<String> {
    let text = ingest::plain_text(&passage.text);
    (!text.trim().is_empty()).then(|| format!("{}. {text}", passage.breadcrumb()))
}

fn linked(index: Stemming) -> Result<(), CorpusError> {
    if index.is_linked() { Ok(()) } else { Err(CorpusError::StemsElsewhere { index }) }
}

fn identity(embedder: &StaticEmbedder) -> EmbeddingIdentity {
    EmbeddingIdentity { model: embedder.space(), dimension: embedder.dimension(), normalised: true }
}

fn matching(index: &EmbeddingIdentity, given: &EmbeddingIdentity) -> Result<(), CorpusError> {
    if index == given {
        return Ok(());
    }
    Err(CorpusError::ModelMismatch { index: index.model.clone(), given: given.model.clone() })
}

impl From<CorpusError> for Problem {
    fn from(error: CorpusError) -> Self {
        let (code, status) = match &error {
            CorpusError::Ingest(_) => ("invalid_document", 400),
            CorpusError::Snapshot(_) | CorpusError::Index(IndexError::Snapshot(_)) => ("invalid_snapshot", 400),
            CorpusError::Index(_) => ("invalid_index_operation", 400),
            CorpusError::OtherStems { .. } => ("invalid_option", 400),
            CorpusError::StemsElsewhere { .. } => ("stems_elsewhere", 400),
            CorpusError::TeacherVector { .. } => ("invalid_vector", 400),
            CorpusError::Embedder(_) => ("invalid_embedder", 400),
            CorpusError::ModelMismatch { .. } => ("model_mismatch", 409),
            CorpusError::NoEmbedder { .. } | CorpusError::TooLate { .. } => ("no_embedder", 409),
        };
        Problem::new(code, status, error.to_string())
    }
}
