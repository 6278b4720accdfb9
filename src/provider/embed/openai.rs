//! The embeddings of `OpenAI` and of the many servers that speak like it (Ollama, llama.cpp, vLLM,
//! `LocalAI`, `OpenRouter`): `POST {base}/embeddings`.
//!
//! Numbers are asked for; base64, which some relays send all the same, is read too.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Serialize;
use serde_json::Value;

use super::{EmbedCodec, EmbedLimits, EmbedModel, EmbedRequest, MAX_BYTES, MAX_TEXTS, Row, numbers};
use crate::provider::error::{Fault, ProviderError};
use crate::provider::http::HttpRequest;

/// A service that speaks like `OpenAI`.
#[derive(Debug)]
pub(super) struct OpenAi {
    /// Whether the number of dimensions is called `output_dimension`.
    output_dimension: bool,
    limits: EmbedLimits,
}

impl OpenAi {
    /// As most have it.
    pub(super) const USUAL: Self =
        Self { output_dimension: false, limits: EmbedLimits { texts: MAX_TEXTS, bytes: MAX_BYTES } };
    /// Mistral takes 16,384 tokens in one request, and code has two bytes a token.
    pub(super) const MISTRAL: Self =
        Self { output_dimension: true, limits: EmbedLimits { texts: MAX_TEXTS, bytes: 32_000 } };
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    input: &'a [String],
    encoding_format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_dimension: Option<usize>,
}

impl EmbedCodec for OpenAi {
    fn request(&self, to: &EmbedModel, asked: &EmbedRequest) -> HttpRequest {
        let EmbedModel { endpoint, model, dimensions, .. } = to;
        let chosen = |field: bool| dimensions.filter(|_| field);
        let body = Body {
            model,
            input: asked.texts(),
            encoding_format: "float",
            dimensions: chosen(!self.output_dimension),
            output_dimension: chosen(self.output_dimension),
        };
        HttpRequest::post(endpoint, "/embeddings", "application/json", &body, asked.largest_reply())
    }

    fn rows(&self, reply: &Value) -> Result<Vec<Row>, ProviderError> {
        let data = reply.get("data").and_then(Value::as_array).ok_or(Fault::Shape)?;
        Ok(data.iter().map(row).collect::<Option<Vec<Row>>>().ok_or(Fault::Shape)?)
    }

    fn limits(&self) -> EmbedLimits {
        self.limits
    }
}

fn row(item: &Value) -> Option<Row> {
    let index = match item.get("index") {
        None | Some(Value::Null) => None,
        // What is no position is that of no text.
        Some(index) => Some(index.as_u64().unwrap_or(u64::MAX)),
    };
    let (components, dimension) = match item.get("embedding")? {
        Value::Array(list) => numbers(list),
        Value::String(text) => packed(text)?,
        _ => return None,
    };
    Some(Row { index, components, dimension })
}

/// Little-endian `f32`s in base64.
fn packed(text: &str) -> Option<(Option<Vec<f32>>, usize)> {
    let bytes = BASE64_STANDARD.decode(text).ok()?;
    let (numbers, rest) = bytes.as_chunks();
    let components = numbers.iter().map(|&bytes| Some(f32::from_le_bytes(bytes)).filter(|number| number.is_finite()));
    rest.is_empty().then(|| (components.collect(), numbers.len()))
}
