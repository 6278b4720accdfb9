//! What is asked of a web search and what comes back, the same for every vendor.
//!
//! Results come from strangers: their text is cleaned of markup and of characters that cannot be
//! seen, results without a public http(s) address are dropped, and so are doubles.

mod address;
mod plain;
pub mod tavily;

pub use address::canonical;
pub use plain::plain;

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
    normalised(found.iter().map(|f| Raw { title: &f.title, url: &f.url, text: &f.text, score: None }), asked)
}

/// As a service gave it.
struct Raw<'a> {
    title: &'a str,
    url: &'a str,
    text: &'a str,
    score: Option<f64>,
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
        let (Some(key), text) = (canonical(url), plain(found.text, asked.text_limit)) else { continue };
        if text.is_empty() || !seen.insert(key) {
            continue;
        }
        let title = plain(found.title, 200);
        let title = if title.is_empty() { url.chars().take(200).collect() } else { title };
        let score = found.score.map(|score| score as f32).filter(|score| score.is_finite());
        results.push(WebResult { title, url: url.to_owned(), text, score });
    }
    results
}
