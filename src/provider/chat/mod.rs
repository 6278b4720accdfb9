//! What is asked of a chat model and what comes back, the same for every vendor.
//!
//! Each vendor's codec is a file of this folder and a line of [`VENDORS`]. A reply's text is without the
//! reasoning that some models write before it, and never empty: a model that says nothing has failed.

mod anthropic;
pub(super) mod gemini;
pub(super) mod openai;
mod stream;
mod thinking;
pub mod workers_ai;
mod writing;

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

pub use stream::ChatStream;
pub use writing::{Trouble, Writing};

use self::anthropic::Anthropic;
use self::gemini::Gemini;
use self::openai::OpenAi;
use self::workers_ai::WorkersAi;
use super::error::ProviderError;
use super::http::{Endpoint, Headers, HttpRequest, HttpResponse};
use super::logprobs::Token;
use super::refusal;
use super::sse::SseLimits;
use super::vendor::Vendor;

/// The vendors of chat models.
pub static VENDORS: &[Vendor<dyn ChatCodec>] = &[
    Vendor { name: "openai", base: None, codec: &OpenAi::LATEST },
    Vendor { name: "ollama", base: Some("http://127.0.0.1:11434/v1"), codec: &OpenAi::OLDER },
    Vendor { name: "llama-cpp", base: Some("http://127.0.0.1:8080/v1"), codec: &OpenAi::LLAMA_CPP },
    Vendor { name: "vllm", base: Some("http://127.0.0.1:8000/v1"), codec: &OpenAi::LATEST },
    Vendor { name: "groq", base: Some("https://api.groq.com/openai/v1"), codec: &OpenAi::GROQ },
    Vendor { name: "openrouter", base: Some("https://openrouter.ai/api/v1"), codec: &OpenAi::OLDER },
    Vendor { name: "mistral", base: Some("https://api.mistral.ai/v1"), codec: &OpenAi::MISTRAL },
    Vendor { name: "anthropic", base: Some("https://api.anthropic.com/v1"), codec: &Anthropic },
    Vendor { name: "gemini", base: Some("https://generativelanguage.googleapis.com/v1beta"), codec: &Gemini },
    Vendor { name: "workers-ai", base: None, codec: &WorkersAi },
];

/// What is said to a vendor's chat models, and how their replies are read.
pub trait ChatCodec: fmt::Debug + Sync {
    /// The request to send.
    fn request(&self, to: &ChatModel, chat: &ChatRequest) -> HttpRequest;

    /// Takes in a reply that was read whole. One that was cut off at the limit of tokens is no error but
    /// [`Finish::Length`]: what to do with its text is the caller's.
    fn read(&self, reply: &Value, writing: &mut Writing) -> Result<(), ProviderError>;

    /// Takes in one event of a reply that is read while it is written.
    fn event(&self, event: &Value, writing: &mut Writing) -> Result<(), ProviderError>;

    /// The service said `[DONE]`.
    fn done(&self, _writing: &mut Writing) {}

    /// What an error body means beyond what the bodies of all vendors have in common.
    fn refused(&self, _status: u16, _body: &Value) -> Option<ProviderError> {
        None
    }

    /// Whether it can be asked for the probabilities of tokens.
    fn tells_logprobs(&self) -> bool {
        false
    }
}

/// A chat model of a vendor.
#[derive(Debug, Clone)]
pub struct ChatModel {
    /// The vendor's codec.
    pub codec: &'static dyn ChatCodec,
    /// The base URL, its version included, and the key.
    pub endpoint: Endpoint,
    /// The model's name there.
    pub model: String,
}

impl ChatModel {
    /// The request to send.
    pub fn request(&self, chat: &ChatRequest) -> HttpRequest {
        self.codec.request(self, chat)
    }

    /// The reply that was read whole.
    pub fn reply(&self, response: &HttpResponse) -> Result<ChatReply, ProviderError> {
        let value = refusal::json_of(response, |status, body| self.codec.refused(status, body))?;
        let mut writing = Writing::default();
        self.codec.read(&value, &mut writing)?;
        writing.end(response.status)
    }

    /// The stream of a reply whose status and headers are there. `None` for errors and for services that
    /// do not stream: read the body and give it to [`ChatModel::reply`].
    pub fn open(&self, status: u16, headers: &Headers, limits: SseLimits) -> Option<ChatStream> {
        let events = headers.media_type().is_none_or(|media| media == "text/event-stream");
        (status == 200 && events).then(|| ChatStream::new(self.codec, limits))
    }
}

/// The media types that are asked for.
fn accepted(chat: &ChatRequest) -> &'static str {
    if chat.stream { "text/event-stream, application/json" } else { "application/json" }
}

/// A number of tokens.
fn tokens(counts: &Value, name: &str) -> Option<u64> {
    counts.get(name).and_then(Value::as_u64)
}

/// What a model says, without the reasoning that it writes before.
pub fn spoken(mut text: String) -> String {
    text.drain(..text.len() - text.trim_start().len());
    // Hardly any reply begins with a tag.
    if !text.starts_with('<') {
        return text;
    }
    let mut filter = thinking::ThinkingFilter::default();
    let mut spoken = filter.feed(&text);
    spoken.push_str(&filter.end());
    spoken
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Instructions of ours.
    System,
    /// The task, and what it is about.
    User,
    /// An earlier reply of the model.
    Assistant,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub content: String,
}

/// The form that the reply must have.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum ReplyFormat {
    /// Any text.
    #[default]
    Text,
    /// One JSON object; the prompt says which.
    Json,
    /// One JSON object that fits a schema.
    Schema {
        /// What it is; characters that services refuse become `_`, after 64 it is cut.
        name: Cow<'static, str>,
        /// The JSON schema.
        schema: Cow<'static, Value>,
    },
}

/// A request to a chat model.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatRequest {
    /// At least one.
    pub messages: Vec<Message>,
    /// 0 is the most predictable; absent: the service's default, for models that refuse the field.
    pub temperature: Option<f32>,
    /// The most tokens that the model may write, reasoning included.
    pub max_tokens: u32,
    /// The form of the reply.
    pub format: ReplyFormat,
    /// Whether the reply is read while it is written.
    pub stream: bool,
    /// Whether the probabilities of its tokens are asked for; only of a reply that is read whole.
    pub logprobs: bool,
    /// How many bytes of the reply are read: 64 KiB are enough for a verdict, 2 MiB for an answer.
    pub largest_reply: usize,
}

impl ChatRequest {
    /// All instructions, for vendors that take them apart from what is said.
    fn instructions(&self) -> String {
        let own = self.messages.iter().filter(|message| message.role == Role::System);
        own.map(|message| message.content.as_str()).collect::<Vec<_>>().join("\n\n")
    }

    /// The temperature, if it is a number that JSON can hold.
    fn finite_temperature(&self) -> Option<f32> {
        self.temperature.filter(|temperature| temperature.is_finite())
    }
}

/// Why a model stopped writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// It had finished.
    Stop,
    /// It reached the limit of tokens: the text is cut off.
    Length,
    /// A filter cut the text off.
    ContentFilter,
    /// The service gave another reason or none.
    Other,
}

/// What a reply cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the request.
    pub input_tokens: u64,
    /// Tokens of the reply, reasoning included.
    pub output_tokens: u64,
}

/// A whole reply.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatReply {
    /// Never blank.
    pub text: String,
    /// Why it ends.
    pub finish: Finish,
    /// Absent when the service did not say, or not in numbers: then reckon with the worst case.
    pub usage: Option<Usage>,
    /// The model that the service says it used, cut at 128 characters.
    pub model: Option<String>,
    /// Whether bytes of a stream were not UTF-8; they are U+FFFD now. Such a reply is no verdict.
    pub lossy: bool,
    /// Its tokens with their probabilities; none where the service does not tell them.
    pub tokens: Vec<Token>,
}

/// A piece of a reply that is still being written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChatDelta {
    /// More text; never empty.
    Text(String),
}
