//! Tavily's web search: `POST {base}/search`.
//!
//! Only the snippets are read: neither raw pages nor Tavily's own answer are asked for.

use serde::Serialize;
use serde_json::Value;

use super::{Raw, WebQuery, WebResult, normalised};
use crate::provider::error::{Fault, ProviderError};
use crate::provider::http::{Endpoint, HttpRequest, HttpResponse};
use crate::provider::refusal;

/// The usual base URL.
pub const BASE: &str = "https://api.tavily.com";

/// How many bytes of a reply are read.
const LARGEST_REPLY: usize = 1 << 20;

/// The search behind an endpoint.
#[derive(Debug, Clone)]
pub struct Tavily {
    /// [`BASE`] or a relay of it, and the key.
    pub endpoint: Endpoint,
}

#[derive(Serialize)]
struct Body<'a> {
    query: &'a str,
    search_depth: &'static str,
    max_results: usize,
    include_answer: bool,
    include_raw_content: bool,
}

impl Tavily {
    /// The request to send.
    pub fn request(&self, asked: &WebQuery) -> HttpRequest {
        let query: String = asked.query.trim().chars().take(400).collect();
        let body = Body {
            query: &query,
            search_depth: "basic",
            max_results: asked.limit.clamp(1, 20),
            include_answer: false,
            include_raw_content: false,
        };
        HttpRequest::post(&self.endpoint, "/search", "application/json", &body, LARGEST_REPLY)
    }

    /// The pages found, best first; none is not an error.
    pub fn reply(&self, asked: &WebQuery, response: &HttpResponse) -> Result<Vec<WebResult>, ProviderError> {
        let value = refusal::json_of(response)?;
        let results = value.get("results").and_then(Value::as_array).ok_or(Fault::Shape)?;
        let raw = results.iter().map(|result| {
            let text = |name| result.get(name).and_then(Value::as_str).unwrap_or_default();
            let score = result.get("score").and_then(Value::as_f64);
            Raw { title: text("title"), url: text("url"), text: text("content"), score }
        });
        Ok(normalised(raw, asked))
    }
}
