//! Web searches as they cross from a page to our Worker, and back: `POST /v1/web-search`.

use serde::{Deserialize, Serialize};

use super::object;
use crate::document::Passage;
use crate::problem::Problem;
use crate::provider::search::WebResult;

/// The most results of a web search.
pub const MAX_RESULTS: usize = 20;

/// `POST /v1/web-search`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebSearchRequest {
    /// What to look for.
    pub query: String,
    /// How many results, 1 to 20; 5 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

impl WebSearchRequest {
    /// Reads a body and checks it: the query, and how many results.
    pub fn from_json(json: &[u8]) -> Result<(String, usize), Problem> {
        let Self { query, limit } = object(json)?;
        let query = query.trim().to_owned();
        let limit = limit.unwrap_or(5);
        if query.is_empty() {
            return Err(Problem::new("empty_question", 400, "the query is empty: ask for something"));
        }
        if !(1..=MAX_RESULTS).contains(&limit) {
            let message = format!("limit is {limit}: it must be 1 to {MAX_RESULTS}");
            return Err(Problem::new("invalid_option", 400, message));
        }
        Ok((query, limit))
    }
}

/// The reply to a [`WebSearchRequest`].
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct WebSearchResponse {
    /// Best first.
    pub results: Vec<WebSearchResult>,
    /// How often the search was called for it.
    pub called: u32,
}

/// See [`WebResult`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebSearchResult {
    /// Plain text.
    pub title: String,
    /// http or https.
    pub url: String,
    /// Plain text.
    pub text: String,
    /// The other pages that it is from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
}

impl From<Passage> for WebSearchResult {
    fn from(passage: Passage) -> Self {
        Self { title: passage.title, url: passage.url, text: passage.text, also: passage.also }
    }
}

impl From<WebSearchResult> for WebResult {
    fn from(result: WebSearchResult) -> Self {
        Self { title: result.title, url: result.url, text: result.text, score: None, also: result.also }
    }
}
