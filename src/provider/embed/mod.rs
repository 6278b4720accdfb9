//! What is asked of an embedding model and what comes back, the same for every vendor.
//!
//! Each vendor's codec is a file of this folder and a line of [`VENDORS`]. A reply is used whole or not at all: a vector that belongs to another text, or to another model,
//! would be searched for ever without anybody noticing. Vectors are brought to length 1, which some
//! services do and others leave to their callers.

mod gemini;
mod openai;
mod workers_ai;

use std::fmt;
use std::ops::Range;

use serde_json::Value;

use self::gemini::Gemini;
use self::openai::OpenAi;
use self::workers_ai::WorkersAi;
use super::error::{Mismatch, ProviderError};
use super::http::{Endpoint, HttpRequest, HttpResponse};
use super::refusal;
use super::vendor::Vendor;

/// The vendors of embedding models.
pub static VENDORS: &[Vendor<dyn EmbedCodec>] = &[
    Vendor { name: "openai", base: None, codec: &OpenAi::USUAL },
    Vendor { name: "ollama", base: Some("http://127.0.0.1:11434/v1"), codec: &OpenAi::USUAL },
    Vendor { name: "llama-cpp", base: Some("http://127.0.0.1:8080/v1"), codec: &OpenAi::USUAL },
    Vendor { name: "vllm", base: Some("http://127.0.0.1:8000/v1"), codec: &OpenAi::USUAL },
    Vendor { name: "openrouter", base: Some("https://openrouter.ai/api/v1"), codec: &OpenAi::USUAL },
    Vendor { name: "mistral", base: Some("https://api.mistral.ai/v1"), codec: &OpenAi::MISTRAL },
    Vendor { name: "gemini", base: Some("https://generativelanguage.googleapis.com/v1beta"), codec: &Gemini },
    Vendor { name: "workers-ai", base: None, codec: &WorkersAi },
];

/// What is said to a vendor's embedding models, and how their replies are read.
pub trait EmbedCodec: fmt::Debug + Sync {
    /// The request to send.
    fn request(&self, to: &EmbedModel, asked: &EmbedRequest) -> HttpRequest;

    /// The vectors as they came.
    fn rows(&self, reply: &Value) -> Result<Vec<Row>, ProviderError>;

    /// What an error body means beyond what the bodies of all vendors have in common.
    fn refused(&self, _status: u16, _body: &Value) -> Option<ProviderError> {
        None
    }

    /// How much a request may hold.
    fn limits(&self) -> EmbedLimits {
        EmbedLimits { texts: MAX_TEXTS, bytes: MAX_BYTES }
    }
}

/// How much a request may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmbedLimits {
    /// Texts.
    pub texts: usize,
    /// Bytes of all of them together; a single text may be longer.
    pub bytes: usize,
}

/// An embedding model of a vendor.
#[derive(Debug, Clone)]
pub struct EmbedModel {
    /// The vendor's codec.
    pub codec: &'static dyn EmbedCodec,
    /// The base URL, its version included, and the key.
    pub endpoint: Endpoint,
    /// The model's name there.
    pub model: String,
    /// The dimensions that are asked for, of a model that lets its callers choose.
    pub dimensions: Option<usize>,
}

impl EmbedModel {
    /// The request to send.
    pub fn request(&self, asked: &EmbedRequest) -> HttpRequest {
        self.codec.request(self, asked)
    }

    /// A vector of length 1 for each text, in the order of the texts.
    pub fn reply(&self, asked: &EmbedRequest, response: &HttpResponse) -> Result<Vec<Vec<f32>>, ProviderError> {
        let value = refusal::json_of(response, |status, body| self.codec.refused(status, body))?;
        vectors(self.codec.rows(&value)?, asked)
    }
}

/// What a vector is for; some models make another of a question than of what answers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Purpose {
    /// To be found.
    #[default]
    Document,
    /// To find.
    Query,
}

/// The most texts of one request.
pub const MAX_TEXTS: usize = 64;

/// The most bytes of all texts of one request.
pub const MAX_BYTES: usize = 100_000;

/// How many bytes of a reply are read for each text: 8,192 components written in full.
const LARGEST_ROW: usize = 256 << 10;

/// The most bytes of one text. The larger models read 8,192 tokens, and code has two bytes a token.
pub const MAX_TEXT_BYTES: usize = 16_000;

/// Texts that are embedded together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbedRequest {
    texts: Vec<String>,
    dimension: Option<usize>,
    purpose: Purpose,
}

/// A text that cannot be embedded, by its position from 0. No text is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// Services refuse it, or give a vector that means nothing.
    #[error("text {at} is blank: leave it out")]
    Blank {
        /// Which.
        at: usize,
    },
    /// Above [`MAX_TEXT_BYTES`].
    #[error("text {at} has {bytes} bytes: cut it to {MAX_TEXT_BYTES}")]
    TooLong {
        /// Which.
        at: usize,
        /// Its length.
        bytes: usize,
    },
    /// None, or more than fit.
    #[error("{texts} texts of {bytes} bytes: give 1 to {MAX_TEXTS} of {MAX_BYTES} bytes in all")]
    Batch {
        /// How many.
        texts: usize,
        /// Their lengths together.
        bytes: usize,
    },
}

impl EmbedRequest {
    /// Checks the texts; `dimension` is what their vectors must have, if that is known.
    pub fn new(texts: Vec<String>, dimension: Option<usize>) -> Result<Self, InputError> {
        for (at, text) in texts.iter().enumerate() {
            match text.len() {
                _ if text.trim().is_empty() => return Err(InputError::Blank { at }),
                bytes if bytes > MAX_TEXT_BYTES => return Err(InputError::TooLong { at, bytes }),
                _ => (),
            }
        }
        let bytes = texts.iter().map(String::len).sum();
        if bytes > MAX_BYTES || !(1..=MAX_TEXTS).contains(&texts.len()) {
            return Err(InputError::Batch { texts: texts.len(), bytes });
        }
        Ok(Self { texts, dimension, purpose: Purpose::default() })
    }

    /// The same for that purpose.
    #[must_use]
    pub fn to(self, purpose: Purpose) -> Self {
        Self { purpose, ..self }
    }

    /// How many bytes of the reply are read.
    fn largest_reply(&self) -> usize {
        LARGEST_ROW * self.texts.len()
    }

    /// The texts, at least one.
    pub fn texts(&self) -> &[String] {
        &self.texts
    }
}

/// Which texts go together: as many, in order, as fit a request. None of them is above
/// [`MAX_TEXT_BYTES`].
pub fn batches(texts: &[String], limits: EmbedLimits) -> Vec<Range<usize>> {
    let mut batches: Vec<Range<usize>> = Vec::new();
    let mut bytes = 0;
    for (at, text) in texts.iter().enumerate() {
        match batches.last_mut() {
            Some(last) if last.len() < limits.texts && bytes + text.len() <= limits.bytes => last.end = at + 1,
            _ => {
                batches.push(at..at + 1);
                bytes = 0;
            }
        }
        bytes += text.len();
    }
    batches
}

/// A vector as a service gave it.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Which text it is for, if the service says so.
    index: Option<u64>,
    /// None where one of them is no finite number.
    components: Option<Vec<f32>>,
    /// How many there are.
    dimension: usize,
}

/// The components of a list of numbers.
fn numbers(numbers: &[Value]) -> (Option<Vec<f32>>, usize) {
    let component = |number: &Value| number.as_f64().map(|number| number as f32).filter(|number| number.is_finite());
    (numbers.iter().map(component).collect(), numbers.len())
}

/// The vectors in the order of the texts, each of length 1.
fn vectors(rows: Vec<Row>, asked: &EmbedRequest) -> Result<Vec<Vec<f32>>, ProviderError> {
    let mismatch = |fault| ProviderError::EmbeddingMismatch { fault };
    let want = asked.texts.len();
    if rows.len() != want {
        return Err(mismatch(Mismatch::Count { got: rows.len(), want }));
    }
    let rows = in_order(rows).ok_or(mismatch(Mismatch::Index))?;
    let want = asked.dimension.or(rows.first().map(|row| row.dimension)).unwrap_or_default();
    if let Some(row) = rows.iter().find(|row| row.dimension != want) {
        return Err(mismatch(Mismatch::Dimension { got: row.dimension, want }));
    }
    let unit = |(at, row): (usize, Row)| {
        let components = row.components.ok_or(mismatch(Mismatch::NonFinite { at }))?;
        unit(&components).ok_or(mismatch(Mismatch::Zero { at }))
    };
    rows.into_iter().enumerate().map(unit).collect()
}

/// The rows by their indices, which must be all of them once. Services that give none keep the order.
fn in_order(rows: Vec<Row>) -> Option<Vec<Row>> {
    if rows.iter().all(|row| row.index.is_none()) {
        return Some(rows);
    }
    let mut slots: Vec<Option<Row>> = rows.iter().map(|_| None).collect();
    for row in rows {
        let slot = slots.get_mut(usize::try_from(row.index?).ok()?)?;
        if slot.replace(row).is_some() {
            return None;
        }
    }
    slots.into_iter().collect()
}

/// The vector of length 1 in the same direction; none for one without a direction. In `f64` no square
/// of an `f32` overflows or vanishes.
fn unit(components: &[f32]) -> Option<Vec<f32>> {
    let square: f64 = components.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
    let length = square.sqrt();
    (square > 0.0).then(|| components.iter().map(|&x| (f64::from(x) / length) as f32).collect())
}
