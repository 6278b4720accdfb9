//! The index as it crosses: documents in, hits out, and how much it holds.

use serde::{Deserialize, Serialize};

use super::object;
use crate::document::{Document, Format, Hit, decimal};
use crate::pipeline::answer::{Question, Warning};
use crate::pipeline::strategy::checked_k;
use crate::problem::Problem;

/// `POST /v1/search`, and the argument of `assistant.search`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename_all = "camelCase", optional_fields))]
pub struct SearchRequest {
    /// What to look for, at most 8 KiB.
    pub query: String,
    /// How many passages, 1 to 50; 10 by default.
    pub k: Option<usize>,
}

impl SearchRequest {
    /// Reads a request from JSON.
    pub fn from_json(json: &[u8]) -> Result<Self, Problem> {
        object(json)
    }

    /// The query and the number of hits, checked.
    pub fn check(&self) -> Result<(Question, usize), Problem> {
        let k = checked_k(self.k.unwrap_or(10))?;
        Ok((Question::new(&self.query)?, k))
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
