//! The completions that are older than chat, for models that continue a text and tell the probabilities
//! of what they wrote: `POST {base}/completions`, as vLLM and llama.cpp's server have it.
//!
//! Special tokens are asked for as text, since for models that reflect they are the point.

use serde::Serialize;
use serde_json::Value;

use super::chat::openai::{finish, model, usage};
use super::chat::{Finish, Usage};
use super::error::{Fault, ProviderError};
use super::http::{Endpoint, HttpRequest, HttpResponse};
use super::logprobs::{self, Token};
use super::refusal;

/// A model behind such an endpoint.
#[derive(Debug, Clone)]
pub struct Completions {
    /// The base URL, `/v1` or the like included, and the key.
    pub endpoint: Endpoint,
    /// The model's name at the service.
    pub model: String,
}

/// A text to continue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletionRequest {
    /// The text.
    pub prompt: String,
    /// The most tokens that are written.
    pub max_tokens: u32,
    /// Where to stop, exclusive.
    pub stop: Vec<&'static str>,
    /// How many bytes of the reply are read.
    pub largest_reply: usize,
}

/// How it goes on.
#[derive(Debug, Clone, PartialEq)]
pub struct CompletionReply {
    /// The text; empty when the model had nothing to say.
    pub text: String,
    /// Its tokens; none when the service does not tell them.
    pub tokens: Vec<Token>,
    /// Why it ends.
    pub finish: Finish,
    /// Absent when the service did not say.
    pub usage: Option<Usage>,
    /// The model that the service says it used.
    pub model: Option<String>,
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    prompt: &'a str,
    max_tokens: u32,
    temperature: f32,
    logprobs: u32,
    skip_special_tokens: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    stop: &'a [&'static str],
}

impl Completions {
    /// The request to send. Inside a segment the paper is greedy: temperature 0.
    pub fn request(&self, asked: &CompletionRequest) -> HttpRequest {
        let body = Body {
            model: &self.model,
            prompt: &asked.prompt,
            max_tokens: asked.max_tokens,
            temperature: 0.0,
            logprobs: logprobs::TOP,
            skip_special_tokens: false,
            stop: &asked.stop,
        };
        HttpRequest::post(&self.endpoint, "/completions", "application/json", &body, asked.largest_reply)
    }

    /// The reply that was read whole.
    pub fn reply(&self, response: &HttpResponse) -> Result<CompletionReply, ProviderError> {
        let value = refusal::json_of(response, |_, _| None)?;
        let choice = value.get("choices").and_then(Value::as_array).ok_or(Fault::Shape)?;
        let choice = choice.first().ok_or(Fault::Empty)?;
        let text = choice.get("text").and_then(Value::as_str).ok_or(Fault::Shape)?;
        let reason = choice.get("finish_reason").and_then(Value::as_str);
        match reason {
            Some("error") => return Err(ProviderError::Upstream { status: response.status }),
            Some("content_filter") if text.is_empty() => return Err(ProviderError::ContentFiltered),
            _ => (),
        }
        Ok(CompletionReply {
            text: text.to_owned(),
            tokens: logprobs::tokens(choice),
            finish: reason.map_or(Finish::Other, finish),
            usage: usage(&value),
            model: model(&value).map(|name| name.chars().take(128).collect()),
        })
    }
}
