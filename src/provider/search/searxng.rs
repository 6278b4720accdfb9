//! A `SearXNG` server: `GET {base}/search?format=json`. Most public ones do not give JSON.

use serde_json::Value;

use super::{LARGEST_REPLY, Raw, SearchCodec, SearchEngine, WebQuery, list, text};
use crate::provider::error::{Fault, ProviderError};
use crate::provider::http::HttpRequest;

/// `SearXNG`.
#[derive(Debug)]
pub(super) struct SearXng;

impl SearchCodec for SearXng {
    fn request(&self, to: &SearchEngine, asked: &WebQuery) -> HttpRequest {
        let query = asked.words();
        HttpRequest::get(&to.endpoint, "/search", &[("q", &query), ("format", "json")], LARGEST_REPLY)
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

    fn refused(&self, status: u16, _body: &Value) -> Option<ProviderError> {
        (status == 403).then_some(ProviderError::NoJson)
    }
}
