//! The chat completions of `OpenAI` and of the many services that speak like it: `POST
//! {base}/chat/completions`. Where they differ in what they take is a setting.
//!
//! Fields that are not needed are ignored, whatever they hold. Reasoning and tool calls are never text.

use serde::Serialize;
use serde_json::{Value, json};

use super::writing::{Trouble, Writing};
use super::{ChatCodec, ChatModel, ChatRequest, Finish, ReplyFormat, Role, Usage, accepted, tokens};
use crate::provider::error::{Fault, ProviderError};
use crate::provider::http::HttpRequest;
use crate::provider::logprobs;

/// The field that limits the length of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LengthField {
    /// `max_completion_tokens`; reasoning models refuse the other.
    MaxCompletionTokens,
    /// `max_tokens`, which older servers expect.
    MaxTokens,
}

/// Where a JSON schema stands in `response_format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SchemaField {
    /// In `json_schema.schema`.
    Nested,
    /// There and in `schema`, for llama.cpp's server as its manual has it.
    NestedAndTop,
}

/// A service that speaks like `OpenAI`.
#[derive(Debug, Clone, Copy)]
pub struct OpenAi {
    length: LengthField,
    schema: SchemaField,
    /// Whether the tokens of a stream are told only where they are asked for.
    asks_usage: bool,
    logprobs: bool,
}

impl OpenAi {
    /// As `OpenAI` has it now.
    pub const LATEST: Self = Self {
        length: LengthField::MaxCompletionTokens,
        schema: SchemaField::Nested,
        asks_usage: true,
        logprobs: true,
    };
    /// As it was before.
    pub const OLDER: Self = Self { length: LengthField::MaxTokens, ..Self::LATEST };
    /// The server of llama.cpp.
    pub const LLAMA_CPP: Self = Self { schema: SchemaField::NestedAndTop, ..Self::OLDER };
    /// Mistral counts tokens unasked, and tells no probabilities.
    pub const MISTRAL: Self = Self { asks_usage: false, logprobs: false, ..Self::OLDER };
    /// Groq tells no probabilities.
    pub const GROQ: Self = Self { logprobs: false, ..Self::LATEST };
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Spoken<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Format<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logprobs: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_logprobs: Option<u32>,
}

/// The form of the reply. Its schema is written from where it is: a copy would be a tree of its own.
#[derive(Serialize)]
struct Format<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    json_schema: Option<Named<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<&'a Value>,
    r#type: &'static str,
}

#[derive(Serialize)]
struct Named<'a> {
    name: String,
    schema: &'a Value,
    strict: bool,
}

#[derive(Serialize)]
pub(super) struct Spoken<'a> {
    role: &'static str,
    content: &'a str,
}

impl ChatCodec for OpenAi {
    fn request(&self, to: &ChatModel, chat: &ChatRequest) -> HttpRequest {
        let limit = |field| (self.length == field).then_some(chat.max_tokens);
        let told = chat.logprobs && self.logprobs;
        let body = Body {
            model: &to.model,
            messages: spoken(chat, |_| true),
            temperature: chat.finite_temperature(),
            max_completion_tokens: limit(LengthField::MaxCompletionTokens),
            max_tokens: limit(LengthField::MaxTokens),
            response_format: self.response_format(&chat.format),
            stream: chat.stream.then_some(true),
            stream_options: (chat.stream && self.asks_usage).then(|| json!({ "include_usage": true })),
            logprobs: told.then_some(true),
            top_logprobs: told.then_some(logprobs::TOP),
        };
        HttpRequest::post(&to.endpoint, "/chat/completions", accepted(chat), &body, chat.largest_reply)
    }

    fn read(&self, reply: &Value, writing: &mut Writing) -> Result<(), ProviderError> {
        let choice = reply.get("choices").and_then(Value::as_array).ok_or(Fault::Shape)?;
        let choice = choice.first().ok_or(Fault::Empty)?;
        writing.name(model(reply));
        writing.count(usage(reply));
        writing.tell(logprobs::tokens(choice));
        take(choice, "message", writing);
        Ok(())
    }

    fn event(&self, event: &Value, writing: &mut Writing) -> Result<(), ProviderError> {
        writing.name(model(event));
        writing.count(usage(event));
        let choices = event.get("choices").and_then(Value::as_array);
        for choice in choices.into_iter().flatten().filter(|choice| is_first(choice)) {
            if !writing.has_stopped() {
                take(choice, "delta", writing);
            }
        }
        Ok(())
    }

    fn tells_logprobs(&self) -> bool {
        self.logprobs
    }
}

impl OpenAi {
    fn response_format(self, format: &ReplyFormat) -> Option<Format<'_>> {
        match format {
            ReplyFormat::Text => None,
            ReplyFormat::Json => Some(Format { json_schema: None, schema: None, r#type: "json_object" }),
            ReplyFormat::Schema { name, schema } => {
                let valid = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
                let name: String = name.chars().take(64).map(valid).collect();
                Some(Format {
                    json_schema: Some(Named { name, schema, strict: true }),
                    schema: (self.schema == SchemaField::NestedAndTop).then_some(schema),
                    r#type: "json_schema",
                })
            }
        }
    }
}

/// The messages of those who are wanted, with their roles.
pub(super) fn spoken(chat: &ChatRequest, wanted: impl Fn(Role) -> bool) -> Vec<Spoken<'_>> {
    let role = |role| match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    let said = chat.messages.iter().filter(|message| wanted(message.role));
    said.map(|m| Spoken { role: role(m.role), content: &m.content }).collect()
}

/// Takes in a choice with its message or delta.
fn take(choice: &Value, field: &str, writing: &mut Writing) {
    let message = choice.get(field).unwrap_or(&Value::Null);
    let refusal = message.get("refusal").and_then(Value::as_str).is_some_and(|text| !text.is_empty());
    let calls = message.get("tool_calls").and_then(Value::as_array).is_some_and(|calls| !calls.is_empty());
    let reason = choice.get("finish_reason").and_then(Value::as_str);
    let failed = reason == Some("error");
    for (met, trouble) in [(calls, Trouble::Calls), (refusal, Trouble::Refused), (failed, Trouble::Failed)] {
        if met {
            writing.suffer(trouble);
        }
    }
    writing.say(&message.get("content").map(content).unwrap_or_default());
    if let Some(reason) = reason {
        writing.stop(finish(reason));
    }
}

/// What a service says of why it stopped.
pub(in crate::provider) fn finish(reason: &str) -> Finish {
    match reason {
        "stop" => Finish::Stop,
        "length" | "model_length" => Finish::Length,
        "content_filter" => Finish::ContentFilter,
        _ => Finish::Other,
    }
}

/// Several choices are never asked for; a server that sends them all the same is read as if it sent one.
fn is_first(choice: &Value) -> bool {
    choice.get("index").is_none_or(|index| index.as_u64() == Some(0))
}

/// The text of a message: a string, or the text parts of a list.
fn content(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(text_part).collect(),
        _ => String::new(),
    }
}

fn text_part(part: &Value) -> Option<&str> {
    let kind = part.get("type").and_then(Value::as_str);
    if matches!(kind, None | Some("text" | "output_text")) { part.get("text")?.as_str() } else { None }
}

pub(in crate::provider) fn usage(value: &Value) -> Option<Usage> {
    let usage = value.get("usage").filter(|usage| !usage.is_null()).or_else(|| value.pointer("/x_groq/usage"))?;
    let (input_tokens, output_tokens) = (tokens(usage, "prompt_tokens")?, tokens(usage, "completion_tokens")?);
    Some(Usage { input_tokens, output_tokens })
}

/// The model that a reply names.
pub(in crate::provider) fn model(value: &Value) -> Option<&str> {
    value.get("model")?.as_str()
}
