//! Cloudflare Workers AI: by its REST API, which speaks like `OpenAI` (`POST {base}/chat/completions`, below
//! `…/accounts/{id}/ai/v1`), and by a Worker's own binding, whose requests the host of a Worker makes.
//!
//! Older models reply with a `response`, newer ones like `OpenAI`, and the platform may wrap either into a
//! `result`: each is read from wherever it comes.

use serde_json::{Value, json};

use super::openai::{self, OpenAi};
use super::writing::Writing;
use super::{ChatCodec, ChatModel, ChatRequest, Finish, ReplyFormat, accepted};
use crate::provider::error::ProviderError;
use crate::provider::http::{HttpRequest, as_path};

/// Where the models are that a Worker is bound to. The name resolves nowhere: a Worker's host knows it.
pub const BINDING: &str = "https://ai.binding.invalid";

/// Workers AI.
#[derive(Debug)]
pub(super) struct WorkersAi;

impl ChatCodec for WorkersAi {
    fn request(&self, to: &ChatModel, chat: &ChatRequest) -> HttpRequest {
        if !to.endpoint.is(BINDING) {
            return OpenAi::LATEST.request(to, chat);
        }
        // By the binding a schema stands where `OpenAI` has it by its name.
        let format = match &chat.format {
            ReplyFormat::Text => None,
            ReplyFormat::Json => Some(json!({ "type": "json_object" })),
            ReplyFormat::Schema { schema, .. } => Some(json!({ "type": "json_schema", "json_schema": schema })),
        };
        let mut body = json!({ "messages": openai::spoken(chat, |_| true), "max_tokens": chat.max_tokens });
        if let Some(fields) = body.as_object_mut() {
            fields.extend(chat.finite_temperature().map(|temperature| ("temperature".to_owned(), json!(temperature))));
            fields.extend(format.map(|format| ("response_format".to_owned(), format)));
            fields.extend(chat.stream.then(|| ("stream".to_owned(), json!(true))));
        }
        let path = format!("/run/{}", as_path(&to.model));
        HttpRequest::post(&to.endpoint, &path, accepted(chat), &body, chat.largest_reply)
    }

    fn read(&self, reply: &Value, writing: &mut Writing) -> Result<(), ProviderError> {
        let reply = unwrapped(reply);
        match reply.get("response") {
            Some(said) => {
                writing.count(openai::usage(reply));
                writing.say(&response(said));
                writing.stop(Finish::Stop);
                Ok(())
            }
            None => OpenAi::LATEST.read(reply, writing),
        }
    }

    fn event(&self, event: &Value, writing: &mut Writing) -> Result<(), ProviderError> {
        if let (Some(said), None) = (event.get("response"), event.get("choices")) {
            writing.count(openai::usage(event));
            writing.say(&response(said));
            return Ok(());
        }
        OpenAi::LATEST.event(event, writing)
    }

    /// Older models do not say why they stopped, only that they did.
    fn done(&self, writing: &mut Writing) {
        if !writing.has_stopped() {
            writing.stop(Finish::Stop);
        }
    }

    fn refused(&self, _status: u16, body: &Value) -> Option<ProviderError> {
        refused(body)
    }

    fn tells_logprobs(&self) -> bool {
        true
    }
}

/// Text, or the object that a schema asked for.
fn response(said: &Value) -> String {
    match said {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        object => object.to_string(),
    }
}

/// A reply without the platform's wrapping.
pub(in crate::provider) fn unwrapped(reply: &Value) -> &Value {
    reply.get("result").filter(|result| result.is_object()).unwrap_or(reply)
}

/// The platform's codes, which say more than its statuses do.
pub(in crate::provider) fn refused(body: &Value) -> Option<ProviderError> {
    let codes = body.get("errors").and_then(Value::as_array).into_iter().flatten();
    let own = body.pointer("/internalCode").or(body.get("code")).and_then(Value::as_u64);
    codes.filter_map(|error| error.get("code")?.as_u64()).chain(own).find_map(|code| match code {
        3036 => Some(ProviderError::QuotaExhausted),
        3040 => Some(ProviderError::Overloaded),
        // It had begun.
        3007 => Some(ProviderError::Upstream { status: 504 }),
        3006 => Some(ProviderError::TooLong),
        5007 => Some(ProviderError::NotFound),
        5016 => Some(ProviderError::Forbidden),
        10_000 => Some(ProviderError::Unauthorized),
        _ => None,
    })
}
