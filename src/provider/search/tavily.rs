//! Tavily's web search: `POST {base}/search`.
//!
//! Only the snippets are read: neither raw pages nor Tavily's own answer are asked for.

use serde::Serialize;
use serde_json::Value;

use super::{LARGEST_REPLY, Raw, SearchCodec, SearchEngine, WebQuery, list, text};
use crate::provider::error::{Fault, ProviderError};
use crate::provider::http::HttpRequest;

/// Tavily, or a relay of it.
#[derive(Debug)]
pub(super) struct Tavily;

#[derive(Serialize)]
struct Body<'a> {
    query: &'a str,
    search_depth: &'static str,
    max_results: usize,
    include_answer: bool,
    include_raw_content: bool,
}

impl SearchCodec for Tavily {
    fn request(&self, to: &SearchEngine, asked: &WebQuery) -> HttpRequest {
        let body = Body {
            query: &asked.words(),
            search_depth: "basic",
            max_results: asked.at_most(20),
            include_answer: false,
            include_raw_content: false,
        };
        HttpRequest::post(&to.endpoint, "/search", "application/json", &body, LARGEST_REPLY)
    }

    fn read<'a>(&self, reply: &'a Value) -> Result<Vec<Raw<'a>>, ProviderError> {
        let page = |page: &'a Value| Raw {
            title: text(page, "title"),
            url: text(page, "url"),
            text: text(page, "content").into(),
            score: page.get("score").and_then(Value::as_f64),
            ..Raw::default()
        };
        Ok(list(reply, "/results").ok_or(Fault::Shape)?.iter().map(page).collect())
    }
}
