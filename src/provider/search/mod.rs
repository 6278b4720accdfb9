//! What is asked of a web search and what comes back, the same for every vendor.
//!
//! Each vendor's codec is a file of this folder and a line of [`VENDORS`]. Results come from strangers:
//! their text is cleaned of markup and of characters that cannot be seen, results without a public http(s)
//! address are dropped, and so are doubles.

mod address;
mod brave;
mod cloudflare;
mod exa;
mod jina;
mod mistral;
mod plain;
mod searxng;
mod serper;
mod tavily;

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

pub use address::canonical;
pub use plain::plain;

use super::error::ProviderError;
use super::http::{Endpoint, HttpRequest, HttpResponse};
use super::refusal;
use super::vendor::Vendor;

/// The vendors of web searches.
pub static VENDORS: &[Vendor<dyn SearchCodec>] = &[
    Vendor { name: "tavily", base: Some("https://api.tavily.com"), codec: &tavily::Tavily },
    Vendor { name: "brave", base: Some("https://api.search.brave.com/res/v1"), codec: &brave::Brave },
    Vendor { name: "searxng", base: None, codec: &searxng::SearXng },
    Vendor { name: "exa", base: Some("https://api.exa.ai"), codec: &exa::Exa },
    Vendor { name: "serper", base: Some("https://google.serper.dev"), codec: &serper::Serper },
    Vendor { name: "jina", base: Some("https://s.jina.ai"), codec: &jina::Jina },
    Vendor { name: "mistral", base: Some("https://api.mistral.ai/v1"), codec: &mistral::Mistral },
    Vendor { name: "cloudflare", base: None, codec: &cloudflare::Cloudflare },
];

/// What is said to a vendor's search, and how its replies are read.
pub trait SearchCodec: fmt::Debug + Sync {
    /// The request to send.
    fn request(&self, to: &SearchEngine, asked: &WebQuery) -> HttpRequest;

    /// The pages found, best first; none is not an error.
    fn read<'a>(&self, reply: &'a Value) -> Result<Vec<Raw<'a>>, ProviderError>;

    /// Which of [`SearchOptions`] its callers have.
    fn choices(&self) -> &'static [&'static str] {
        &[]
    }

    /// What an error body means beyond what the bodies of all vendors have in common.
    fn refused(&self, _status: u16, _body: &Value) -> Option<ProviderError> {
        None
    }
}

/// A web search of a vendor.
#[derive(Debug, Clone)]
pub struct SearchEngine {
    /// The vendor's codec.
    pub codec: &'static dyn SearchCodec,
    /// The base URL and the key.
    pub endpoint: Endpoint,
    /// What some vendors let their callers choose.
    pub options: SearchOptions,
}

/// Choices that some vendors have.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SearchOptions {
    /// The model that searches, where it is one.
    pub model: Option<String>,
    /// The search behind a gateway to several.
    pub engine: Option<String>,
    /// The gateway.
    pub gateway: Option<String>,
}

impl SearchOptions {
    /// The names of those that are set.
    pub fn given(&self) -> impl Iterator<Item = &'static str> {
        let all = [("model", &self.model), ("engine", &self.engine), ("gateway", &self.gateway)];
        all.into_iter().filter(|(_, value)| value.is_some()).map(|(name, _)| name)
    }
}

impl SearchEngine {
    /// The request to send.
    pub fn request(&self, asked: &WebQuery) -> HttpRequest {
        self.codec.request(self, asked)
    }

    /// The pages found, best first; none is not an error.
    pub fn reply(&self, asked: &WebQuery, response: &HttpResponse) -> Result<Vec<WebResult>, ProviderError> {
        let value = refusal::json_of(response, |status, body| self.codec.refused(status, body))?;
        Ok(normalised(self.codec.read(&value)?.into_iter(), asked))
    }
}

/// One page found, safe to show as text.
#[derive(Debug, Clone, PartialEq)]
pub struct WebResult {
    /// Plain text, at most 200 characters; the address when the service gave none.
    pub title: String,
    /// http or https, of a public host.
    pub url: String,
    /// Plain text, never empty.
    pub text: String,
    /// The service's own measure of relevance, if it is a finite number.
    pub score: Option<f32>,
    /// The other pages that the text is from, where a service wrote one text on several.
    pub also: Vec<String>,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebQuery {
    /// Cut at 400 characters, which is what services take.
    pub query: String,
    /// The most results, at most 20. Default of callers: 5.
    pub limit: usize,
    /// The most characters of a result's text. Default of callers: 2,000.
    pub text_limit: usize,
}

impl WebQuery {
    /// The query as services take it.
    fn words(&self) -> String {
        self.query.trim().chars().take(400).collect()
    }

    /// The most results, of a service that gives so many.
    fn at_most(&self, most: usize) -> usize {
        self.limit.clamp(1, most)
    }
}

/// A page as somebody else found it.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Deserialize)]
pub struct Found {
    /// Its title.
    #[serde(default)]
    pub title: String,
    /// Its address.
    pub url: String,
    /// Its text or a part of it.
    pub text: String,
}

/// Pages as [`WebResult`]s: those that can be shown, cleaned and cut.
pub fn cleaned(found: &[Found], asked: &WebQuery) -> Vec<WebResult> {
    normalised(
        found.iter().map(|f| Raw { title: &f.title, url: &f.url, text: (&f.text).into(), ..Raw::default() }),
        asked,
    )
}

/// A page as a service gave it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Raw<'a> {
    /// Its title.
    pub title: &'a str,
    /// Its address.
    pub url: &'a str,
    /// Its text or a part of it.
    pub text: Cow<'a, str>,
    /// How well it fits.
    pub score: Option<f64>,
    /// The other pages that the text is from.
    pub also: Vec<&'a str>,
}

/// How many bytes of a reply are read.
const LARGEST_REPLY: usize = 1 << 20;

/// The list of results at a place in a reply.
fn list<'a>(reply: &'a Value, place: &str) -> Option<&'a [Value]> {
    reply.pointer(place)?.as_array().map(Vec::as_slice)
}

/// A field that is text.
fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// Cleans results, keeps their order, drops what has no address or no text, and doubles.
fn normalised<'a>(raw: impl Iterator<Item = Raw<'a>>, asked: &WebQuery) -> Vec<WebResult> {
    let mut seen = std::collections::BTreeSet::new();
    let mut results = Vec::new();
    for found in raw {
        if results.len() == asked.limit {
            break;
        }
        let url = found.url.trim();
        let (Some(key), text) = (canonical(url), plain(&found.text, asked.text_limit)) else { continue };
        if text.is_empty() || !seen.insert(key) {
            continue;
        }
        let title = plain(found.title, 200);
        let title = if title.is_empty() { url.chars().take(200).collect() } else { title };
        let score = found.score.map(|score| score as f32).filter(|score| score.is_finite());
        let mut other = |address: &str| canonical(address).is_some_and(|key| seen.insert(key));
        let also = found.also.into_iter().map(str::trim).filter(|address| other(address)).map(str::to_owned).collect();
        results.push(WebResult { title, url: url.to_owned(), text, score, also });
    }
    results
}
