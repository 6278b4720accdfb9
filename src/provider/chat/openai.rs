//! The chat completions of `OpenAI` and of the many servers that speak like it (llama.cpp, Ollama,
//! vLLM, Groq, `OpenRouter`): `POST {base}/chat/completions`.
//!
//! Fields that are not needed are ignored, whatever they hold. Reasoning and tool calls are never text.

use serde::Serialize;
use serde_json::{Value, json};

use super::thinking::ThinkingFilter;
use super::{ChatDelta, ChatReply, ChatRequest, Finish, ReplyFormat, Role, Usage};
use crate::provider::error::{Fault, ProviderError};
use crate::provider::http::{Endpoint, Headers, HttpRequest, HttpResponse};
use crate::provider::sse::{SseDecoder, SseError, SseEvent, SseLimits};
use crate::provider::{logprobs, refusal};

/// The field that limits the length of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LengthField {
    /// `max_completion_tokens`; reasoning models refuse the other.
    #[default]
    MaxCompletionTokens,
    /// `max_tokens`, which older servers expect.
    MaxTokens,
}

/// Where a JSON schema stands in `response_format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SchemaField {
    /// In `json_schema.schema`.
    #[default]
    Nested,
    /// There and in `schema`, for llama.cpp's server as its manual has it.
    NestedAndTop,
}

/// A model behind an OpenAI-compatible endpoint.
#[derive(Debug, Clone)]
pub struct OpenAiChat {
    /// The base URL, `/v1` or the like included, and the key.
    pub endpoint: Endpoint,
    /// The model's name at the service.
    pub model: String,
    /// How the length of a reply is limited.
    pub length_field: LengthField,
    /// Where schemas stand.
    pub schema_field: SchemaField,
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
    response_format: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logprobs: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_logprobs: Option<u32>,
}

#[derive(Serialize)]
struct Spoken<'a> {
    role: &'static str,
    content: &'a str,
}

impl OpenAiChat {
    /// A model with the settings that most services take.
    pub fn new(endpoint: Endpoint, model: impl Into<String>) -> OpenAiChat {
        let (length_field, schema_field) = (LengthField::default(), SchemaField::default());
        OpenAiChat { endpoint, model: model.into(), length_field, schema_field }
    }

    /// The request to send.
    pub fn request(&self, chat: &ChatRequest) -> HttpRequest {
        let role = |role| match role {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        let limit = |field| (self.length_field == field).then_some(chat.max_tokens);
        let body = Body {
            model: &self.model,
            messages: chat.messages.iter().map(|m| Spoken { role: role(m.role), content: &m.content }).collect(),
            temperature: chat.temperature.filter(|temperature| temperature.is_finite()),
            max_completion_tokens: limit(LengthField::MaxCompletionTokens),
            max_tokens: limit(LengthField::MaxTokens),
            response_format: self.response_format(&chat.format),
            stream: chat.stream.then_some(true),
            stream_options: chat.stream.then(|| json!({ "include_usage": true })),
            logprobs: chat.logprobs.then_some(true),
            top_logprobs: chat.logprobs.then_some(logprobs::TOP),
        };
        let accept = if chat.stream { "text/event-stream, application/json" } else { "application/json" };
        HttpRequest::post(&self.endpoint, "/chat/completions", accept, &body, chat.largest_reply)
    }

    fn response_format(&self, format: &ReplyFormat) -> Option<Value> {
        match format {
            ReplyFormat::Text => None,
            ReplyFormat::Json => Some(json!({ "type": "json_object" })),
            ReplyFormat::Schema { name, schema } => {
                let valid = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
                let name: String = name.chars().take(64).map(valid).collect();
                let inner = json!({ "name": name, "schema": schema, "strict": true });
                let mut outer = json!({ "type": "json_schema", "json_schema": inner });
                if self.schema_field == SchemaField::NestedAndTop {
                    outer["schema"] = schema.clone();
                }
                Some(outer)
            }
        }
    }

    /// The reply that was read whole. A reply that was cut off at the limit of tokens is `Ok` with
    /// [`Finish::Length`]: what to do with its text is the caller's.
    pub fn reply(&self, response: &HttpResponse) -> Result<ChatReply, ProviderError> {
        let value = refusal::json_of(response)?;
        let choice = value.get("choices").and_then(Value::as_array).ok_or(Fault::Shape)?;
        let choice = choice.first().ok_or(Fault::Empty)?;
        let mut writing = Writing { model: model(&value), usage: usage(&value), ..Writing::default() };
        writing.take(choice, choice.get("message").unwrap_or(&Value::Null));
        Ok(ChatReply { tokens: logprobs::tokens(choice), ..writing.end(response.status)? })
    }

    /// The stream of a reply whose status and headers are there. `None` for errors and for services that
    /// do not stream: read the body and give it to [`OpenAiChat::reply`].
    pub fn open(&self, status: u16, headers: &Headers, limits: SseLimits) -> Option<ChatStream> {
        let events = headers.media_type().is_none_or(|media| media == "text/event-stream");
        (status == 200 && events).then(|| ChatStream::new(limits))
    }
}

/// A reply that is read while it is written.
///
/// Feed it bytes until [`ChatStream::is_done`] or the body's end, then ask [`ChatStream::end`]. Once
/// [`ChatStream::has_finished`] only the usage can follow: wait briefly, then close the body. After an
/// error, what was written so far is still [`ChatStream::text`].
#[derive(Debug)]
pub struct ChatStream {
    decoder: SseDecoder,
    writing: Writing,
    events: usize,
    done: bool,
    failed: Option<ProviderError>,
}

impl ChatStream {
    /// The stream of a reply that has just begun.
    pub fn new(limits: SseLimits) -> ChatStream {
        let decoder = SseDecoder::new(limits);
        ChatStream { decoder, writing: Writing::default(), events: 0, done: false, failed: None }
    }

    /// Reads the next bytes and appends the text in them. After an error every call gives it again.
    pub fn feed(&mut self, bytes: &[u8], deltas: &mut Vec<ChatDelta>) -> Result<(), ProviderError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        if self.done {
            return Ok(());
        }
        let mut events = Vec::new();
        let framed = self.decoder.feed(bytes, &mut events).map_err(|error| match error {
            SseError::Event { limit } => Fault::Event { limit }.into(),
            SseError::Total { limit } => ProviderError::ReplyTooLarge { limit },
        });
        let read = events.iter().try_for_each(|event| self.take(event, deltas));
        let result = read.and(if self.done { Ok(()) } else { framed });
        self.failed = result.err();
        result
    }

    /// Whether the service said that nothing follows.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// Whether the model has stopped writing.
    pub fn has_finished(&self) -> bool {
        self.done || self.writing.finish.is_some()
    }

    /// How many events with content of any kind have come; comments, which only keep the connection
    /// alive, are none.
    pub fn events(&self) -> usize {
        self.events
    }

    /// The text so far.
    pub fn text(&self) -> &str {
        &self.writing.text
    }

    /// The whole reply, once the body has ended or was closed. A stream that stops without saying that
    /// it is complete was cut off; that is never taken for the model's own end.
    pub fn end(&mut self) -> Result<ChatReply, ProviderError> {
        match self.failed {
            Some(error) => Err(error),
            None if !self.has_finished() => Err(ProviderError::Truncated),
            None => self.writing.end(200),
        }
    }

    fn take(&mut self, event: &SseEvent, deltas: &mut Vec<ChatDelta>) -> Result<(), ProviderError> {
        let data = event.data.trim();
        // Some relays wrap the comments of another stream into data.
        if self.done || data.is_empty() || data.starts_with(':') {
            return Ok(());
        }
        self.events += 1;
        if data == "[DONE]" {
            self.done = true;
            return Ok(());
        }
        let value: Value = match serde_json::from_str(data) {
            Ok(value) => value,
            Err(_) if event.name == "error" => return Err(ProviderError::Upstream { status: 200 }),
            Err(_) => return Err(Fault::Json.into()),
        };
        if event.name == "error" {
            return Err(refusal::of_error(200, &value));
        }
        if let Some(error) = refusal::of_reply(200, &value) {
            return Err(error);
        }
        self.writing.lossy |= event.lossy;
        self.writing.usage = usage(&value).or(self.writing.usage);
        self.writing.model = self.writing.model.take().or_else(|| model(&value));
        let choices = value.get("choices").and_then(Value::as_array);
        for choice in choices.into_iter().flatten().filter(|choice| is_first(choice)) {
            if self.writing.finish.is_none() {
                let text = self.writing.take(choice, choice.get("delta").unwrap_or(&Value::Null));
                deltas.extend((!text.is_empty()).then_some(ChatDelta::Text(text)));
            }
        }
        Ok(())
    }
}

/// Why a reply has no text to use, the graver ones last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Trouble {
    /// Tools were called, though none were offered.
    Calls,
    Refused,
    Failed,
}

/// A reply in the making.
#[derive(Debug, Default)]
struct Writing {
    filter: ThinkingFilter,
    text: String,
    finish: Option<Finish>,
    trouble: Option<Trouble>,
    usage: Option<Usage>,
    model: Option<String>,
    lossy: bool,
}

impl Writing {
    /// Takes in a choice with its message or delta; gives the text that it adds.
    fn take(&mut self, choice: &Value, message: &Value) -> String {
        let content = message.get("content").map(content).unwrap_or_default();
        let refusal = message.get("refusal").and_then(Value::as_str).is_some_and(|text| !text.is_empty());
        let calls = message.get("tool_calls").and_then(Value::as_array).is_some_and(|calls| !calls.is_empty());
        let reason = choice.get("finish_reason").and_then(Value::as_str);
        let failed = reason == Some("error");
        for (met, trouble) in [(calls, Trouble::Calls), (refusal, Trouble::Refused), (failed, Trouble::Failed)] {
            self.trouble = self.trouble.max(met.then_some(trouble));
        }
        if let Some(reason) = reason {
            self.finish = Some(finish(reason));
        }
        let mut text = self.filter.feed(&content);
        if self.finish.is_some() {
            text.push_str(&self.filter.end());
        }
        self.text.push_str(&text);
        text
    }

    fn end(&mut self, status: u16) -> Result<ChatReply, ProviderError> {
        self.text.push_str(&self.filter.end());
        let finish = self.finish.unwrap_or(Finish::Other);
        match self.trouble {
            Some(Trouble::Failed) => return Err(ProviderError::Upstream { status }),
            Some(Trouble::Refused) => return Err(ProviderError::Refused),
            _ if !self.text.trim().is_empty() => (),
            _ if finish == Finish::ContentFilter => return Err(ProviderError::ContentFiltered),
            Some(Trouble::Calls) => return Err(Fault::Shape.into()),
            None => return Err(Fault::Empty.into()),
        }
        let (text, model) = (std::mem::take(&mut self.text), self.model.take());
        Ok(ChatReply { text, finish, usage: self.usage, model, lossy: self.lossy, tokens: Vec::new() })
    }
}

/// What a service says of why it stopped.
pub(in crate::provider) fn finish(reason: &str) -> Finish {
    match reason {
        "stop" => Finish::Stop,
        "length" => Finish::Length,
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
    let tokens = |name| usage.get(name).and_then(Value::as_u64);
    Some(Usage { input_tokens: tokens("prompt_tokens")?, output_tokens: tokens("completion_tokens")? })
}

pub(in crate::provider) fn model(value: &Value) -> Option<String> {
    Some(value.get("model")?.as_str()?.chars().take(128).collect())
}
