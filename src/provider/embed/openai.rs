//! The embeddings of `OpenAI` and of the many servers that speak like it (Ollama, llama.cpp, vLLM,
//! `LocalAI`, `OpenRouter`): `POST {base}/embeddings`.
//!
//! Numbers are asked for; base64, which some relays send all the same, is read too.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Serialize;
use serde_json::Value;

use super::{EmbedRequest, Row, vectors};
use crate::provider::error::{Fault, ProviderError};
use crate::provider::http::{Endpoint, HttpRequest, HttpResponse};
use crate::provider::refusal;

/// How many bytes of a reply are read for each text: 8,192 components written in full.
const LARGEST_ROW: usize = 256 << 10;

/// A model behind an OpenAI-compatible endpoint.
#[derive(Debug, Clone)]
pub struct OpenAiEmbed {
    /// The base URL, `/v1` or the like included, and the key.
    pub endpoint: Endpoint,
    /// The model's name at the service.
    pub model: String,
    /// The dimensions that are asked for, of a model that lets its callers choose.
    pub dimensions: Option<usize>,
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    input: &'a [String],
    encoding_format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<usize>,
}

impl OpenAiEmbed {
    /// The request to send.
    pub fn request(&self, asked: &EmbedRequest) -> HttpRequest {
        let Self { endpoint, model, dimensions } = self;
        let body = Body { model, input: asked.texts(), encoding_format: "float", dimensions: *dimensions };
        HttpRequest::post(endpoint, "/embeddings", "application/json", &body, LARGEST_ROW * asked.texts().len())
    }

    /// A vector of length 1 for each text, in the order of the texts.
    pub fn reply(&self, asked: &EmbedRequest, response: &HttpResponse) -> Result<Vec<Vec<f32>>, ProviderError> {
        let value = refusal::json_of(response)?;
        let data = value.get("data").and_then(Value::as_array).ok_or(Fault::Shape)?;
        let rows = data.iter().map(row).collect::<Option<Vec<Row>>>().ok_or(Fault::Shape)?;
        vectors(rows, asked)
    }
}

fn row(item: &Value) -> Option<Row> {
    let index = match item.get("index") {
        None | Some(Value::Null) => None,
        // What is no position is that of no text.
        Some(index) => Some(index.as_u64().unwrap_or(u64::MAX)),
    };
    let (components, dimension) = match item.get("embedding")? {
        Value::Array(numbers) => (numbers.iter().map(component).collect(), numbers.len()),
        Value::String(text) => packed(text)?,
        _ => return None,
    };
    Some(Row { index, components, dimension })
}

fn component(number: &Value) -> Option<f32> {
    number.as_f64().map(|number| number as f32).filter(|number| number.is_finite())
}

/// Little-endian `f32`s in base64.
fn packed(text: &str) -> Option<(Option<Vec<f32>>, usize)> {
    let bytes = BASE64_STANDARD.decode(text).ok()?;
    let (numbers, rest) = bytes.as_chunks();
    let components = numbers.iter().map(|&bytes| Some(f32::from_le_bytes(bytes)).filter(|number| number.is_finite()));
    rest.is_empty().then(|| (components.collect(), numbers.len()))
}
