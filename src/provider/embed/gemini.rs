//! Google's embeddings: `POST {base}/models/{model}:batchEmbedContents`. A question gets another vector than
//! the text that answers it.

use serde_json::{Value, json};

use super::{EmbedCodec, EmbedModel, EmbedRequest, Purpose, Row, numbers};
use crate::provider::error::{Fault, ProviderError};
use crate::provider::http::{HttpRequest, as_path};

/// Gemini.
#[derive(Debug)]
pub(super) struct Gemini;

impl EmbedCodec for Gemini {
    fn request(&self, to: &EmbedModel, asked: &EmbedRequest) -> HttpRequest {
        let task = match asked.purpose {
            Purpose::Document => "RETRIEVAL_DOCUMENT",
            Purpose::Query => "RETRIEVAL_QUERY",
        };
        let one = |text: &String| {
            let mut one = json!({ "model": format!("models/{}", to.model), "taskType": task });
            one["content"] = json!({ "parts": [{ "text": text }] });
            if let Some(dimensions) = to.dimensions {
                one["outputDimensionality"] = json!(dimensions);
            }
            one
        };
        let body = json!({ "requests": asked.texts().iter().map(one).collect::<Vec<_>>() });
        let path = format!("/models/{}:batchEmbedContents", as_path(&to.model));
        HttpRequest::post(&to.endpoint, &path, "application/json", &body, asked.largest_reply())
            .keyed_by("x-goog-api-key")
    }

    fn rows(&self, reply: &Value) -> Result<Vec<Row>, ProviderError> {
        let row = |embedding: &Value| {
            let (components, dimension) = numbers(embedding.get("values")?.as_array()?);
            Some(Row { index: None, components, dimension })
        };
        let embeddings = reply.get("embeddings").and_then(Value::as_array).ok_or(Fault::Shape)?;
        Ok(embeddings.iter().map(row).collect::<Option<Vec<Row>>>().ok_or(Fault::Shape)?)
    }

    fn refused(&self, _status: u16, body: &Value) -> Option<ProviderError> {
        crate::provider::chat::gemini::refused(body)
    }
}
