//! Text in, passages out, no I/O.
//!
//! Decides what a passage is: a run of whole blocks of one section, small enough to be embedded
//! and graded, cut where a reader would cut. The passages of a document partition its source, so
//! a quote found in one can be checked against the original byte for byte. Does not clean or
//! rewrite the source, and does not decide which documents are worth indexing.
//!
//! ```
//! use countercheck::document::{Document, Format};
//! use countercheck::ingest::{SplitOptions, passages};
//!
//! let document = Document {
//!     id: "guide.md".into(),
//!     url: "https://example.org/guide".into(),
//!     title: String::new(),
//!     format: Format::Markdown,
//!     source: "# Guide\n\n## Rotate a key\n\nRun `keys rotate`.\n".into(),
//! };
//! let passages = passages(&document, &SplitOptions::default())?;
//! assert_eq!(passages[0].headings, ["Guide", "Rotate a key"]);
//! assert_eq!(passages[0].url, "https://example.org/guide#rotate-a-key");
//! # Ok::<(), countercheck::ingest::IngestError>(())
//! ```

mod anchor;
mod front_matter;
mod html;
mod markdown;
mod mask;
mod outline;
mod sentence;
mod slice;
mod split;
mod unit;
mod words;

pub use unit::{reading, units};
pub use words::plain_text;

use crate::document::{Document, Format, Origin, Passage, Span};
pub use crate::document::{Unit, UnitKind};
use outline::Outline;

/// Changes whenever the boundaries of passages would: an index built by another one is stale.
pub const SPLITTER_VERSION: u32 = 1;

/// The largest source that is split, in bytes.
pub const DOCUMENT_LIMIT: usize = 16 << 20;

/// The smallest [`SplitOptions::max_bytes`].
pub const MIN_MAX_BYTES: usize = 64;

/// Some editors begin a file with it.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// How documents are split.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitOptions {
    /// The most bytes a passage has. Only a passage with a single code block or table row in it,
    /// which is never cut, may have more: the block with up to half this much before it that
    /// introduces it.
    ///
    /// Default 1200, some 300 tokens of English: small enough for an embedding to be about one
    /// thing and far from the 512 tokens at which common embedding models truncate, large enough
    /// to hold a heading, its paragraph and an example. At least 64.
    pub max_bytes: usize,
}

impl Default for SplitOptions {
    fn default() -> Self {
        SplitOptions { max_bytes: 1200 }
    }
}

/// Why a document is not split.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IngestError {
    /// Passages are named after their document, so it needs a name.
    #[error("a document without an id (title {title:?}): give it one that is unique in the index")]
    EmptyId {
        /// The document's title, to find it by.
        title: String,
    },
    /// A source this long is generated data or several documents in one file.
    #[error("document {id:?} has {bytes} bytes, more than the limit of {limit}: split it into several documents")]
    DocumentTooLarge {
        /// The document.
        id: String,
        /// Its source's length.
        bytes: usize,
        /// [`DOCUMENT_LIMIT`].
        limit: usize,
    },
    /// Passages this small could not hold a sentence.
    #[error("max_bytes is {value}, less than the minimum of {minimum}")]
    MaxBytesTooSmall {
        /// The option's value.
        value: usize,
        /// [`MIN_MAX_BYTES`].
        minimum: usize,
    },
}

/// Splits a document into its passages, in order.
///
/// Their spans are contiguous from 0 to the source's length and lie on character boundaries; a
/// source of nothing but white space has none. A passage starts at every heading outside lists
/// and quotes, unless the section above the heading has no text of its own: then the two are one
/// section, under the deeper heading. The URL's anchor is the deepest heading's, by GitHub's rule
/// or explicit (`{#id}`).
///
/// A passage of nothing but badges or link definitions has no words ([`plain_text`] is empty). It
/// is there for the partition and need not be indexed.
///
/// The title of a document without one is the front matter's, else its first level-1 heading, else
/// the heading it opens with, else its id.
pub fn passages(document: &Document, options: &SplitOptions) -> Result<Vec<Passage>, IngestError> {
    check(document, options)?;
    let source = document.source.as_str();
    if source.chars().all(|c| c.is_whitespace() || c == BYTE_ORDER_MARK) {
        return Ok(Vec::new());
    }
    let outline = match document.format {
        Format::Markdown => outline::markdown(source),
        Format::Plain => outline::plain(source),
    };
    let title = title(document, &outline);
    let mut passages = Vec::new();
    for section in split::sections(&outline, source) {
        let anchor = section.headings.last().map_or("", |heading| heading.anchor.as_str());
        let headings = section.headings.iter().filter(|heading| !heading.text.is_empty());
        let headings: Vec<String> = headings.map(|heading| heading.text.clone()).collect();
        for range in split::pack(&section, source, document.format, options.max_bytes) {
            passages.push(Passage {
                id: Passage::id_of(&document.id, passages.len()),
                document: document.id.clone(),
                url: with_anchor(&document.url, anchor),
                title: title.clone(),
                headings: headings.clone(),
                also: Vec::new(),
                span: Span { start: range.start, end: range.end },
                text: source[range].to_owned(),
                origin: Origin::Local,
            });
        }
    }
    Ok(passages)
}

fn check(document: &Document, options: &SplitOptions) -> Result<(), IngestError> {
    let bytes = document.source.len();
    if document.id.trim().is_empty() {
        Err(IngestError::EmptyId { title: document.title.clone() })
    } else if bytes > DOCUMENT_LIMIT {
        Err(IngestError::DocumentTooLarge { id: document.id.clone(), bytes, limit: DOCUMENT_LIMIT })
    } else if options.max_bytes < MIN_MAX_BYTES {
        Err(IngestError::MaxBytesTooSmall { value: options.max_bytes, minimum: MIN_MAX_BYTES })
    } else {
        Ok(())
    }
}

fn title(document: &Document, outline: &Outline) -> String {
    let mut named = outline.headings.iter().skip(split::first_heading(outline)).filter(|own| !own.text.is_empty());
    let opening = named.clone().next().filter(|_| split::opens_with_heading(outline));
    let heading = named.find(|heading| heading.level == 1).or(opening);
    let given = Some(document.title.trim()).filter(|title| !title.is_empty());
    let found = given.or(outline.title.as_deref()).or(heading.map(|heading| heading.text.as_str()));
    found.unwrap_or(&document.id).to_owned()
}

fn with_anchor(url: &str, anchor: &str) -> String {
    if url.is_empty() || anchor.is_empty() { url.to_owned() } else { format!("{url}#{anchor}") }
}
