//! Mistral's web search: a model that searches, through the Conversations API (`POST {base}/conversations`).
//! Its chat completions do not search: they would answer from memory.
//!
//! What it writes is one page of the web, with the addresses of all that it refers to. Text that refers to no
//! page was not found anywhere: it is dropped.

use serde_json::{Value, json};

use super::{LARGEST_REPLY, Raw, SearchCodec, SearchEngine, WebQuery, list, text};
use crate::provider::error::{Fault, ProviderError};
use crate::provider::http::HttpRequest;

/// The model that searches, where none is chosen.
const MODEL: &str = "mistral-medium-latest";

/// What it is told to do.
const INSTRUCTIONS: &str = "Search the web and report what the pages say about the question. Be factual, keep to \
                            what was found, and refer to its source after each statement.";

/// Mistral.
#[derive(Debug)]
pub(super) struct Mistral;

impl SearchCodec for Mistral {
    fn request(&self, to: &SearchEngine, asked: &WebQuery) -> HttpRequest {
        let body = json!({
            "model": to.options.model.as_deref().unwrap_or(MODEL),
            "inputs": asked.words(),
            "instructions": INSTRUCTIONS,
            "tools": [{ "type": "web_search" }],
            "store": false,
            "stream": false,
        });
        HttpRequest::post(&to.endpoint, "/conversations", "application/json", &body, LARGEST_REPLY)
    }

    fn choices(&self) -> &'static [&'static str] {
        &["model"]
    }

    fn read<'a>(&self, reply: &'a Value) -> Result<Vec<Raw<'a>>, ProviderError> {
        let outputs = list(reply, "/outputs").ok_or(Fault::Shape)?;
        let written = outputs.iter().filter(|output| text(output, "type") == "message.output");
        let (mut said, mut found) = (String::new(), Vec::new());
        for content in written.filter_map(|output| output.get("content")) {
            said.push_str(content.as_str().unwrap_or_default());
            for chunk in content.as_array().into_iter().flatten() {
                match text(chunk, "type") {
                    "text" => said.push_str(text(chunk, "text")),
                    "tool_reference" if !text(chunk, "url").is_empty() => found.push(chunk),
                    _ => (),
                }
            }
        }
        let Some((first, others)) = found.split_first() else { return Ok(Vec::new()) };
        let also = others.iter().map(|chunk| text(chunk, "url")).collect();
        Ok(vec![Raw { title: text(first, "title"), url: text(first, "url"), text: said.into(), score: None, also }])
    }
}
