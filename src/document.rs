//! The nouns everything shares: documents, passages, spans, citations.
//!
//! A [`Document`] is what a caller hands over; a [`Passage`] is a contiguous slice of one, small
//! enough to be retrieved, graded and cited. Passages of a document partition its source, so a
//! [`Span`] in a passage is a span in the document and a quote can always be checked.

mod reading;
pub(crate) mod varint;

pub use reading::{Reading, Unit, UnitKind};

use serde::{Deserialize, Serialize};

/// How a document's source is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Format {
    /// `CommonMark` with GitHub's tables, optionally with YAML front matter.
    #[default]
    Markdown,
    /// Text without markup; paragraphs are separated by blank lines.
    Plain,
}

/// A document as a caller hands it over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Unique in an index, for instance the path below the documentation's root.
    pub id: String,
    /// Where a reader finds it; a passage's URL is this with `#anchor`. Empty when it has none.
    pub url: String,
    /// The title; when empty, the splitter takes the first level-1 heading, else the id.
    pub title: String,
    /// How the source is written.
    pub format: Format,
    /// The original source, kept byte for byte.
    pub source: String,
}

/// A half-open range of UTF-8 byte offsets into a document's original source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The number of bytes.
    pub fn len(self) -> usize {
        self.end - self.start
    }

    /// Whether it covers nothing.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// Where a passage comes from; web passages are trusted less and labelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Origin {
    /// The caller's own index.
    #[default]
    Local,
    /// A web search.
    Web,
}

/// A contiguous slice of a document: what is retrieved, graded and cited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passage {
    /// Unique in an index: the document's id, `#` and the passage's ordinal in it, from 0.
    pub id: String,
    /// The id of its document.
    pub document: String,
    /// The document's URL with the anchor of the nearest heading, if it has one.
    pub url: String,
    /// The document's title.
    pub title: String,
    /// The headings above and at its start, outermost first, as plain text.
    pub headings: Vec<String>,
    /// The other pages that its text is from, where somebody wrote one text on several: of the web alone.
    pub also: Vec<String>,
    /// Where it stands in the document's source.
    pub span: Span,
    /// `source[span.start..span.end]`, byte for byte.
    pub text: String,
    /// The caller's index or the web.
    pub origin: Origin,
}

impl Passage {
    /// The id of a document's passage by its place, from 0.
    pub fn id_of(document: &str, ordinal: usize) -> String {
        format!("{document}#{ordinal}")
    }

    /// The breadcrumb shown to readers and given to the embedder: title, then headings, with the
    /// title not repeated when it is also the first heading.
    pub fn breadcrumb(&self) -> String {
        let skip = usize::from(self.headings.first() == Some(&self.title));
        self.headings[skip..].iter().fold(self.title.clone(), |crumbs, heading| crumbs + " › " + heading)
    }
}

/// A passage with the evidence that retrieved it.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The passage.
    pub passage: Passage,
    /// The fused score, 0…1 within one result list.
    pub score: f32,
    /// BM25, unbounded; 0 when no query word occurs.
    pub lexical: f32,
    /// Cosine of query and passage vector, −1…1; absent when either has no vector.
    pub dense: Option<f32>,
    /// What the score is made of, where the search was asked to say so.
    pub explanation: Option<Explanation>,
}

/// What a hit's score is made of.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Explanation {
    /// What the words add to the score.
    pub words: f32,
    /// What the vectors add to it.
    pub vectors: f32,
    /// What each term of the query adds to [`Hit::lexical`], the largest first. A word that is still being
    /// typed ends in `…`.
    pub terms: Vec<(String, f32)>,
}

/// Four decimals, as a number that prints the same from Rust and from JavaScript.
pub(crate) fn decimal(score: f32) -> f64 {
    (f64::from(score) * 1e4).round() / 1e4
}
