//! Serper, which asks Google: `POST {base}/search`. Of its reply only the pages are read.

use serde_json::{Value, json};

use super::{LARGEST_REPLY, Raw, SearchCodec, SearchEngine, WebQuery, list, text};
use crate::provider::error::{Fault, ProviderError};
use crate::provider::http::HttpRequest;

/// Serper.
#[derive(Debug)]
pub(super) struct Serper;

impl SearchCodec for Serper {
    fn request(&self, to: &SearchEngine, asked: &WebQuery) -> HttpRequest {
        let body = json!({ "q": asked.words(), "num": asked.at_most(20) });
        HttpRequest::post(&to.endpoint, "/search", "application/json", &body, LARGEST_REPLY).keyed_by("x-api-key")
    }

    fn read<'a>(&self, reply: &'a Value) -> Result<Vec<Raw<'a>>, ProviderError> {
        let page = |page: &'a Value| Raw {
            title: text(page, "title"),
            url: text(page, "link"),
            text: text(page, "snippet").into(),
            ..Raw::default()
        };
        Ok(list(reply, "/organic").ok_or(Fault::Shape)?.iter().map(page).collect())
    }
}
