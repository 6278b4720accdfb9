//! The codecs as exchanges: what is read whole, and the chat reply that is read while it is written.

use super::call::{Exchange, Progress, Reader};
use super::circuit::Circuit;
use crate::driver::Told;
use crate::pipeline::budget::Millis;
use crate::provider::chat::{ChatDelta, ChatModel, ChatReply, ChatRequest, ChatStream};
use crate::provider::completions::{CompletionReply, CompletionRequest, Completions};
use crate::provider::embed::{EmbedModel, EmbedRequest};
use crate::provider::error::ProviderError;
use crate::provider::http::{Body, Headers, HttpRequest, HttpResponse};
use crate::provider::refusal::wait_in;
use crate::provider::search::{SearchEngine, WebQuery, WebResult};
use crate::provider::sse::SseLimits;

/// What makes a reply of a body.
type Decode<'a, R> = Box<dyn Fn(&HttpResponse) -> Result<R, ProviderError> + 'a>;

/// A reply that is read whole before anything is made of it.
pub(super) struct Whole<'a, R> {
    status: u16,
    headers: Headers,
    body: Body,
    decode: Decode<'a, R>,
    wait: Option<Millis>,
}

impl<'a, R> Whole<'a, R> {
    /// Nothing read yet; `largest` bytes may be.
    pub(super) fn new(
        status: u16,
        headers: &Headers,
        largest: usize,
        decode: impl Fn(&HttpResponse) -> Result<R, ProviderError> + 'a,
    ) -> Self {
        Self { status, headers: headers.clone(), body: Body::new(largest), decode: Box::new(decode), wait: None }
    }
}

impl<R> Reader for Whole<'_, R> {
    type Reply = R;

    fn feed(&mut self, bytes: &[u8], _told: &Told) -> Result<bool, ProviderError> {
        self.body.push(bytes)?;
        Ok(!bytes.is_empty())
    }

    fn progress(&self) -> Progress {
        Progress::Open
    }

    fn end(&mut self) -> Result<R, ProviderError> {
        let body = std::mem::replace(&mut self.body, Body::new(0)).into_bytes();
        let response = HttpResponse { status: self.status, headers: self.headers.clone(), body };
        let decoded = (self.decode)(&response);
        self.wait = if decoded.is_err() { wait_in(&response.body) } else { None };
        decoded
    }

    fn wait(&self) -> Option<Millis> {
        self.wait
    }

    fn text(&self) -> &'static str {
        ""
    }
}

/// A question to a chat model.
pub(super) struct Chatting<'a> {
    pub model: &'a ChatModel,
    pub circuit: &'a Circuit,
    pub request: &'a ChatRequest,
}

impl Exchange for Chatting<'_> {
    type Reply = ChatReply;

    fn request(&self) -> HttpRequest {
        self.model.request(self.request)
    }

    fn circuit(&self) -> Option<&Circuit> {
        Some(self.circuit)
    }

    fn reader(&self, status: u16, headers: &Headers) -> Box<dyn Reader<Reply = ChatReply> + '_> {
        let stream = self.request.stream.then(|| self.model.open(status, headers, SseLimits::default())).flatten();
        match stream {
            Some(stream) => Box::new(stream),
            None => Box::new(Whole::new(status, headers, self.request.largest_reply, |r| self.model.reply(r))),
        }
    }
}

/// A text to a model that continues it.
pub(super) struct Continuation<'a> {
    pub codec: &'a Completions,
    pub circuit: &'a Circuit,
    pub request: &'a CompletionRequest,
}

impl Exchange for Continuation<'_> {
    type Reply = CompletionReply;

    fn request(&self) -> HttpRequest {
        self.codec.request(self.request)
    }

    fn circuit(&self) -> Option<&Circuit> {
        Some(self.circuit)
    }

    fn reader(&self, status: u16, headers: &Headers) -> Box<dyn Reader<Reply = CompletionReply> + '_> {
        Box::new(Whole::new(status, headers, self.request.largest_reply, |response| self.codec.reply(response)))
    }
}

impl Reader for ChatStream {
    type Reply = ChatReply;

    fn feed(&mut self, bytes: &[u8], told: &Told) -> Result<bool, ProviderError> {
        let (before, mut deltas) = (self.events(), Vec::new());
        let fed = ChatStream::feed(self, bytes, &mut deltas);
        for ChatDelta::Text(text) in deltas {
            told.push(text);
        }
        fed.map(|()| self.events() > before)
    }

    fn progress(&self) -> Progress {
        match (self.is_done(), self.has_finished()) {
            (true, _) => Progress::Done,
            (_, true) => Progress::Finished,
            _ => Progress::Open,
        }
    }

    fn end(&mut self) -> Result<ChatReply, ProviderError> {
        ChatStream::end(self)
    }

    fn text(&self) -> &str {
        ChatStream::text(self)
    }
}

/// A web search.
pub(super) struct Searching<'a> {
    pub engine: &'a SearchEngine,
    pub circuit: &'a Circuit,
    pub asked: &'a WebQuery,
}

impl Exchange for Searching<'_> {
    type Reply = Vec<WebResult>;

    fn request(&self) -> HttpRequest {
        self.engine.request(self.asked)
    }

    fn circuit(&self) -> Option<&Circuit> {
        Some(self.circuit)
    }

    fn reader(&self, status: u16, headers: &Headers) -> Box<dyn Reader<Reply = Vec<WebResult>> + '_> {
        let largest = self.request().largest_reply;
        Box::new(Whole::new(status, headers, largest, |response| self.engine.reply(self.asked, response)))
    }
}

/// The vectors of texts.
pub(super) struct Embedding<'a> {
    pub model: &'a EmbedModel,
    pub circuit: &'a Circuit,
    pub asked: &'a EmbedRequest,
}

impl Exchange for Embedding<'_> {
    type Reply = Vec<Vec<f32>>;

    fn request(&self) -> HttpRequest {
        self.model.request(self.asked)
    }

    fn circuit(&self) -> Option<&Circuit> {
        Some(self.circuit)
    }

    fn reader(&self, status: u16, headers: &Headers) -> Box<dyn Reader<Reply = Vec<Vec<f32>>> + '_> {
        let largest = self.request().largest_reply;
        Box::new(Whole::new(status, headers, largest, |response| self.model.reply(self.asked, response)))
    }
}
