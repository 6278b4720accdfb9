//! The index as it crosses: documents in, hits out, and how much it holds.

use serde::{Deserialize, Serialize};

use super::object;
use crate::document::{Document, Explanation, Format, Hit, decimal};
use crate::index::{Fusion, SearchQuery};
use crate::pipeline::answer::{Question, Warning};
use crate::pipeline::strategy::checked_k;
use crate::problem::Problem;

/// `POST /v1/search`, and the argument of `assistant.search`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename_all = "camelCase", optional_fields))]
pub struct SearchRequest {
    /// What to look for, at most 8 KiB.
    pub query: String,
    /// How many passages, 1 to 50; 10 by default.
    pub k: Option<usize>,
    /// Whether the last word is still being typed: it stands for all that begin with it.
    pub prefix: Option<bool>,
    /// How words and vectors are mixed; by default by their scores.
    pub fusion: Option<FusionName>,
    /// The share of the vectors where scores are mixed, 0 to 1; .4 by default.
    pub dense_weight: Option<f64>,
    /// At most so many passages of one document.
    pub per_document: Option<usize>,
    /// Whether each hit is to say what its score is made of.
    pub explain: Option<bool>,
}

/// How words and vectors are mixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum FusionName {
    /// By their scores, each side stretched to 0…1.
    MinMax,
    /// By their ranks alone.
    ReciprocalRank,
}

impl SearchRequest {
    /// Reads a request from JSON.
    pub fn from_json(json: &[u8]) -> Result<Self, Problem> {
        object(json)
    }

    /// The query and the number of hits, checked.
    pub fn check(&self) -> Result<(Question, usize), Problem> {
        let k = checked_k(self.k.unwrap_or(10))?;
        let by_ranks = self.fusion == Some(FusionName::ReciprocalRank);
        let problem = match (self.dense_weight, self.per_document) {
            (Some(weight), _) if !(0.0..=1.0).contains(&weight) => "dense_weight is a share: give a number from 0 to 1",
            (Some(_), _) if by_ranks => "ranks have no weight: give dense_weight or the fusion reciprocal-rank",
            (_, Some(0)) => "per_document is 0: give 1 or more",
            _ => return Ok((Question::new(&self.query)?, k)),
        };
        Err(Problem::new("invalid_option", 400, problem.to_owned()))
    }

    /// What the index is asked, of the checked query.
    pub fn query<'a>(&self, query: &'a Question) -> SearchQuery<'a> {
        let fusion = match (self.fusion, self.dense_weight) {
            (Some(FusionName::ReciprocalRank), _) => Fusion::ReciprocalRank,
            (_, Some(weight)) => Fusion::MinMax { dense_weight: weight as f32 },
            _ => Fusion::default(),
        };
        SearchQuery {
            text: query.as_str(),
            fusion,
            prefix: self.prefix == Some(true),
            per_document: self.per_document,
            explain: self.explain == Some(true),
            ..SearchQuery::default()
        }
    }
}

/// A passage that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename_all = "camelCase"))]
pub struct SearchHit {
    /// The passage.
    pub passage_id: String,
    /// Its document.
    pub document_id: String,
    /// Where to read it, with the section's anchor; empty when the document has no URL.
    pub url: String,
    /// The page's title.
    pub title: String,
    /// The headings above it, outermost first.
    pub headings: Vec<String>,
    /// The passage as it stands in the source.
    pub text: String,
    /// UTF-8 byte offset of its start in the document's original source.
    pub start: usize,
    /// UTF-8 byte offset one past its end.
    pub end: usize,
    /// The fused score, 0 to 1 within one list of results.
    pub score: f64,
    /// BM25.
    pub lexical: f64,
    /// Cosine of the vectors; absent when either has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub dense: Option<f64>,
    /// What the score is made of; absent unless it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub explanation: Option<HitExplanation>,
}

/// What a hit's score is made of.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct HitExplanation {
    /// What the words add to the score.
    pub words: f64,
    /// What the vectors add to it.
    pub vectors: f64,
    /// What each term of the query adds to `lexical`, the largest first.
    pub terms: Vec<TermScore>,
}

/// A term of a query in a passage.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TermScore {
    /// The term as the index has it: a stem, in lower case; with `…` for a word that is still being typed.
    pub term: String,
    /// Its part of BM25.
    pub score: f64,
}

impl From<Explanation> for HitExplanation {
    fn from(Explanation { words, vectors, terms }: Explanation) -> Self {
        let terms = terms.into_iter().map(|(term, score)| TermScore { term, score: decimal(score) }).collect();
        Self { words: decimal(words), vectors: decimal(vectors), terms }
    }
}

impl From<Hit> for SearchHit {
    fn from(hit: Hit) -> Self {
        let passage = hit.passage;
        Self {
            passage_id: passage.id,
            document_id: passage.document,
            url: passage.url,
            title: passage.title,
            headings: passage.headings,
            text: passage.text,
            start: passage.span.start,
            end: passage.span.end,
            score: decimal(hit.score),
            lexical: decimal(hit.lexical),
            dense: hit.dense.map(decimal),
            explanation: hit.explanation.map(HitExplanation::from),
        }
    }
}

/// The reply to a [`SearchRequest`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SearchResponse {
    /// Best first.
    pub hits: Vec<SearchHit>,
    /// What the reader should know besides; absent when there is nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<Vec<Warning>>"))]
    pub warnings: Vec<Warning>,
}

/// A document to index, the argument of `assistant.add`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename_all = "camelCase", optional_fields))]
pub struct DocumentInput {
    /// Unique in the index; a document of the same id is replaced.
    pub id: String,
    /// The source.
    pub text: String,
    /// Where a reader finds it.
    pub url: Option<String>,
    /// Its title; by default the first level-1 heading, else the id.
    pub title: Option<String>,
    /// How the text is written; Markdown by default.
    pub format: Option<Format>,
}

impl DocumentInput {
    /// Reads a document from JSON.
    pub fn from_json(json: &[u8]) -> Result<Self, Problem> {
        object(json)
    }
}

impl From<DocumentInput> for Document {
    fn from(input: DocumentInput) -> Self {
        Self {
            id: input.id,
            url: input.url.unwrap_or_default(),
            title: input.title.unwrap_or_default(),
            format: input.format.unwrap_or_default(),
            source: input.text,
        }
    }
}

/// How much an index holds: the value of `assistant.statistics()`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Statistics {
    /// Documents.
    pub documents: usize,
    /// Passages.
    pub passages: usize,
}
