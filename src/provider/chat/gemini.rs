//! Google's Gemini: `POST {base}/models/{model}:generateContent`, and `:streamGenerateContent?alt=sse` for
//! what is read while it is written. A stream has no mark of its end but the reason why the model stopped.

use serde::Serialize;
use serde_json::{Value, json};

use super::writing::{Trouble, Writing};
use super::{ChatCodec, ChatModel, ChatRequest, Finish, ReplyFormat, Role, Usage, accepted, tokens};
use crate::provider::error::{Fault, ProviderError};
use crate::provider::http::{HttpRequest, as_path};
use crate::provider::logprobs::{self, Token};
use crate::provider::refusal::is_daily;

/// Gemini.
#[derive(Debug)]
pub(super) struct Gemini;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Value>,
    contents: Vec<Content<'a>>,
    generation_config: Config<'a>,
}

#[derive(Serialize)]
struct Content<'a> {
    role: &'static str,
    parts: [Part<'a>; 1],
}

#[derive(Serialize)]
struct Part<'a> {
    text: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Config<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    max_output_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_json_schema: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_logprobs: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logprobs: Option<u32>,
}

impl ChatCodec for Gemini {
    fn request(&self, to: &ChatModel, chat: &ChatRequest) -> HttpRequest {
        let system = chat.instructions();
        let said = chat.messages.iter().filter(|message| message.role != Role::System);
        let role = |role| if role == Role::Assistant { "model" } else { "user" };
        let (json, schema) = match &chat.format {
            ReplyFormat::Text => (false, None),
            ReplyFormat::Json => (true, None),
            ReplyFormat::Schema { schema, .. } => (true, Some(&**schema)),
        };
        let body = Body {
            system_instruction: (!system.is_empty()).then(|| json!({ "parts": [{ "text": system }] })),
            contents: said.map(|m| Content { role: role(m.role), parts: [Part { text: &m.content }] }).collect(),
            generation_config: Config {
                temperature: chat.finite_temperature(),
                max_output_tokens: chat.max_tokens,
                response_mime_type: json.then_some("application/json"),
                response_json_schema: schema,
                response_logprobs: chat.logprobs.then_some(true),
                logprobs: chat.logprobs.then_some(logprobs::TOP),
            },
        };
        let method = if chat.stream { "streamGenerateContent?alt=sse" } else { "generateContent" };
        let path = format!("/models/{}:{method}", as_path(&to.model));
        HttpRequest::post(&to.endpoint, &path, accepted(chat), &body, chat.largest_reply).keyed_by("x-goog-api-key")
    }

    fn read(&self, reply: &Value, writing: &mut Writing) -> Result<(), ProviderError> {
        if reply.get("candidates").is_none() && reply.get("promptFeedback").is_none() {
            return Err(Fault::Shape.into());
        }
        take(reply, writing);
        Ok(())
    }

    fn event(&self, event: &Value, writing: &mut Writing) -> Result<(), ProviderError> {
        take(event, writing);
        Ok(())
    }

    fn refused(&self, _status: u16, body: &Value) -> Option<ProviderError> {
        refused(body)
    }

    fn tells_logprobs(&self) -> bool {
        true
    }
}

/// The reason for an error is a name; a key that is wrong is said to be a wrong argument.
pub(in crate::provider) fn refused(body: &Value) -> Option<ProviderError> {
    let details = body.pointer("/error/details").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut reasons = details.iter().filter_map(|detail| detail.get("reason")?.as_str());
    if reasons.any(|reason| reason.starts_with("API_KEY_")) {
        return Some(ProviderError::Unauthorized);
    }
    match body.pointer("/error/status").and_then(Value::as_str)? {
        "UNAUTHENTICATED" => Some(ProviderError::Unauthorized),
        "PERMISSION_DENIED" => Some(ProviderError::Forbidden),
        "NOT_FOUND" => Some(ProviderError::NotFound),
        "RESOURCE_EXHAUSTED" if is_daily(details) => Some(ProviderError::QuotaExhausted),
        "RESOURCE_EXHAUSTED" => Some(ProviderError::RateLimited),
        "UNAVAILABLE" => Some(ProviderError::Overloaded),
        "DEADLINE_EXCEEDED" => Some(ProviderError::Upstream { status: 504 }),
        _ => None,
    }
}

/// Takes in a reply or a piece of one: they have the same form.
fn take(reply: &Value, writing: &mut Writing) {
    writing.name(reply.get("modelVersion").and_then(Value::as_str));
    writing.count(usage(reply));
    if reply.pointer("/promptFeedback/blockReason").is_some_and(|reason| !reason.is_null()) {
        writing.stop(Finish::ContentFilter);
    }
    let Some(candidate) = reply.pointer("/candidates/0") else { return };
    let parts = candidate.pointer("/content/parts").and_then(Value::as_array);
    for part in parts.into_iter().flatten() {
        if part.get("functionCall").is_some() {
            writing.suffer(Trouble::Calls);
        }
        if part.get("thought") != Some(&Value::Bool(true)) {
            writing.say(part.get("text").and_then(Value::as_str).unwrap_or_default());
        }
    }
    if let Some(told) = candidate.get("logprobsResult") {
        writing.tell(probabilities(told));
    }
    if let Some(reason) = candidate.get("finishReason").and_then(Value::as_str) {
        writing.stop(finish(reason));
    }
}

fn finish(reason: &str) -> Finish {
    match reason {
        "STOP" => Finish::Stop,
        // What goes on elsewhere is not all of it either.
        "MAX_TOKENS" | "CONTINUATION" => Finish::Length,
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" => Finish::ContentFilter,
        _ => Finish::Other,
    }
}

fn usage(reply: &Value) -> Option<Usage> {
    let usage = reply.get("usageMetadata")?;
    // Nothing is said of what is none.
    let output = |name| tokens(usage, name).unwrap_or(0);
    let output_tokens = output("candidatesTokenCount") + output("thoughtsTokenCount");
    Some(Usage { input_tokens: tokens(usage, "promptTokenCount")?, output_tokens })
}

/// Two lists, a place in them for each token.
fn probabilities(told: &Value) -> Vec<Token> {
    let list = |value: &Value, name: &str| value.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let entry = |value: &Value| {
        let logprob = value.get("logProbability").and_then(Value::as_f64).map(|logprob| logprob.min(0.0));
        (value.get("token").and_then(Value::as_str).unwrap_or_default().to_owned(), logprob)
    };
    let top = list(told, "topCandidates");
    let token = |(at, chosen): (usize, &Value)| {
        let others = top.get(at).map(|step| list(step, "candidates")).unwrap_or_default();
        let (text, logprob) = entry(chosen);
        let others = others.iter().map(entry).filter_map(|(text, logprob)| Some((text, logprob?)));
        Token { text, logprob, top: others.collect() }
    };
    list(told, "chosenCandidates").iter().enumerate().map(token).collect()
}
