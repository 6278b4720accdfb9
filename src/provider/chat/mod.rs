//! What is asked of a chat model and what comes back, the same for every vendor.
//!
//! Each vendor's codec is a file of this folder. A reply's text is without the reasoning that some
//! models write before it, and never empty: a model that says nothing has failed.

pub mod openai;
mod thinking;

use super::logprobs::Token;

/// What a model says, without the reasoning that it writes before.
pub fn spoken(text: &str) -> String {
    let mut filter = thinking::ThinkingFilter::default();
    let mut spoken = filter.feed(text);
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
        name: String,
        /// The JSON schema.
        schema: serde_json::Value,
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
