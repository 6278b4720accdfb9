//! Exa's search: `POST {base}/search`, with a part of each page's text.

use serde_json::{Value, json};

use super::{LARGEST_REPLY, Raw, SearchCodec, SearchEngine, WebQuery, list, text};
use crate::provider::error::{Fault, ProviderError};
use crate::provider::http::HttpRequest;

/// Exa.
#[derive(Debug)]
pub(super) struct Exa;

impl SearchCodec for Exa {
    fn request(&self, to: &SearchEngine, asked: &WebQuery) -> HttpRequest {
        let body = json!({
            "query": asked.words(),
            "type": "auto",
            "numResults": asked.at_most(20),
            "contents": { "text": { "maxCharacters": asked.text_limit } },
        });
        HttpRequest::post(&to.endpoint, "/search", "application/json", &body, LARGEST_REPLY).keyed_by("x-api-key")
    }

    fn read<'a>(&self, reply: &'a Value) -> Result<Vec<Raw<'a>>, ProviderError> {
        let page = |page: &'a Value| Raw {
            title: text(page, "title"),
            url: text(page, "url"),
            text: text(page, "text").into(),
            score: page.get("score").and_then(Value::as_f64),
            ..Raw::default()
        };
        Ok(list(reply, "/results").ok_or(Fault::Shape)?.iter().map(page).collect())
    }
}
