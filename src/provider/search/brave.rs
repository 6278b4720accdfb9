//! Brave's web search: `GET {base}/web/search`.

use serde_json::Value;

use super::{LARGEST_REPLY, Raw, SearchCodec, SearchEngine, WebQuery, list, text};
use crate::provider::error::{Fault, ProviderError};
use crate::provider::http::HttpRequest;

/// Brave.
#[derive(Debug)]
pub(super) struct Brave;

impl SearchCodec for Brave {
    fn request(&self, to: &SearchEngine, asked: &WebQuery) -> HttpRequest {
        let (query, count) = (asked.words(), asked.at_most(20).to_string());
        HttpRequest::get(&to.endpoint, "/web/search", &[("q", &query), ("count", &count)], LARGEST_REPLY)
            .keyed_by("x-subscription-token")
    }

    /// Where nothing was found there is no list.
    fn read<'a>(&self, reply: &'a Value) -> Result<Vec<Raw<'a>>, ProviderError> {
        let page = |page: &'a Value| {
            let extra = list(page, "/extra_snippets").unwrap_or_default().iter().filter_map(Value::as_str);
            let parts: Vec<&str> = std::iter::once(text(page, "description")).chain(extra).collect();
            Raw { title: text(page, "title"), url: text(page, "url"), text: parts.join(" ").into(), ..Raw::default() }
        };
        match list(reply, "/web/results") {
            Some(pages) => Ok(pages.iter().map(page).collect()),
            None if text(reply, "type") == "search" => Ok(Vec::new()),
            None => Err(Fault::Shape.into()),
        }
    }
}
