//! Anthropic's messages: `POST {base}/messages`. No probabilities of tokens; a reply is held to a schema by
//! `output_config`.

use serde::Serialize;
use serde_json::{Value, json};

use super::openai::{Spoken, spoken};
use super::writing::{Trouble, Writing};
use super::{ChatCodec, ChatModel, ChatRequest, Finish, ReplyFormat, Role, Usage, accepted, tokens};
use crate::provider::error::{Fault, ProviderError};
use crate::provider::http::HttpRequest;

/// The version of the protocol that this is.
const VERSION: &str = "2023-06-01";

/// Anthropic.
#[derive(Debug)]
pub(super) struct Anthropic;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "String::is_empty")]
    system: String,
    messages: Vec<Spoken<'a>>,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
}

impl ChatCodec for Anthropic {
    fn request(&self, to: &ChatModel, chat: &ChatRequest) -> HttpRequest {
        let body = Body {
            model: &to.model,
            system: chat.instructions(),
            messages: spoken(chat, |role| role != Role::System),
            max_tokens: chat.max_tokens,
            temperature: chat.finite_temperature(),
            output_config: match &chat.format {
                ReplyFormat::Schema { schema, .. } => {
                    Some(json!({ "format": { "type": "json_schema", "schema": schema } }))
                }
                // Any object at all is nothing it can be held to; the prompt says which.
                ReplyFormat::Text | ReplyFormat::Json => None,
            },
            stream: chat.stream.then_some(true),
        };
        HttpRequest::post(&to.endpoint, "/messages", accepted(chat), &body, chat.largest_reply)
            .keyed_by("x-api-key")
            .with("anthropic-version", VERSION)
            // Without it a page of another origin may not read the reply. Elsewhere it changes nothing.
            .with("anthropic-dangerous-direct-browser-access", "true")
    }

    fn read(&self, reply: &Value, writing: &mut Writing) -> Result<(), ProviderError> {
        let blocks = reply.get("content").and_then(Value::as_array).ok_or(Fault::Shape)?;
        writing.name(reply.get("model").and_then(Value::as_str));
        writing.count(usage(reply));
        for block in blocks {
            match block.get("type").and_then(Value::as_str) {
                Some("text") => writing.say(block.get("text").and_then(Value::as_str).unwrap_or_default()),
                Some("tool_use") => writing.suffer(Trouble::Calls),
                // Reasoning, and what there may be one day.
                _ => (),
            }
        }
        stop(reply.get("stop_reason"), writing);
        Ok(())
    }

    fn event(&self, event: &Value, writing: &mut Writing) -> Result<(), ProviderError> {
        let text = |path: &str| event.pointer(path).and_then(Value::as_str);
        match text("/type") {
            Some("message_start") => {
                let message = event.get("message").unwrap_or(&Value::Null);
                writing.name(message.get("model").and_then(Value::as_str));
                writing.count(usage(message));
            }
            Some("content_block_start") if text("/content_block/type") == Some("tool_use") => {
                writing.suffer(Trouble::Calls);
            }
            Some("content_block_delta") if text("/delta/type") == Some("text_delta") => {
                writing.say(text("/delta/text").unwrap_or_default());
            }
            Some("message_delta") => {
                let so_far = writing.usage.map(|usage| usage.input_tokens);
                writing.count(usage(event).or_else(|| later(so_far?, event)));
                stop(event.pointer("/delta/stop_reason"), writing);
            }
            Some("message_stop") => writing.complete(),
            _ => (),
        }
        Ok(())
    }
}

fn usage(value: &Value) -> Option<Usage> {
    let usage = value.get("usage")?;
    Some(Usage { input_tokens: tokens(usage, "input_tokens")?, output_tokens: tokens(usage, "output_tokens")? })
}

/// What a stream's end says: the tokens that were written, of a request whose own were said at its beginning.
fn later(input_tokens: u64, event: &Value) -> Option<Usage> {
    Some(Usage { input_tokens, output_tokens: tokens(event.get("usage")?, "output_tokens")? })
}

fn stop(reason: Option<&Value>, writing: &mut Writing) {
    let Some(reason) = reason.and_then(Value::as_str) else { return };
    if reason == "refusal" {
        writing.suffer(Trouble::Refused);
    }
    writing.stop(match reason {
        "end_turn" | "stop_sequence" => Finish::Stop,
        // A paused turn is to be continued by another request: this one is not all of it.
        "max_tokens" | "model_context_window_exceeded" | "pause_turn" => Finish::Length,
        _ => Finish::Other,
    });
}
