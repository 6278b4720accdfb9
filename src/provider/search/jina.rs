//! Jina's search: `GET {base}/?q=`. It reads the pages it finds, so its replies are long.

use serde_json::Value;

use super::{Raw, SearchCodec, SearchEngine, WebQuery, list, text};
use crate::provider::error::{Fault, ProviderError};
use crate::provider::http::HttpRequest;

/// How many bytes of a reply are read: whole pages.
const LARGEST_REPLY: usize = 8 << 20;

/// Jina.
#[derive(Debug)]
pub(super) struct Jina;

impl SearchCodec for Jina {
    fn request(&self, to: &SearchEngine, asked: &WebQuery) -> HttpRequest {
        HttpRequest::get(&to.endpoint, "/", &[("q", &asked.words())], LARGEST_REPLY)
    }

    /// Of a page that it could not read there is only the description.
    fn read<'a>(&self, reply: &'a Value) -> Result<Vec<Raw<'a>>, ProviderError> {
        let page = |page: &'a Value| {
            let content = text(page, "content");
            let text_of = if content.trim().is_empty() { text(page, "description") } else { content };
            Raw { title: text(page, "title"), url: text(page, "url"), text: text_of.into(), ..Raw::default() }
        };
        Ok(list(reply, "/data").ok_or(Fault::Shape)?.iter().map(page).collect())
    }
}
