//! A reply that is read while it is written: events out of bytes, for every vendor by the same decoder, and
//! each event to the vendor's codec.

use serde_json::Value;

use super::writing::Writing;
use super::{ChatCodec, ChatDelta, ChatReply};
use crate::provider::error::{Fault, ProviderError};
use crate::provider::refusal;
use crate::provider::sse::{SseDecoder, SseError, SseEvent, SseLimits};

/// A reply under way.
///
/// Feed it bytes until [`ChatStream::is_done`] or the body's end, then ask [`ChatStream::end`]. Once
/// [`ChatStream::has_finished`] only the usage can follow: wait briefly, then close the body. After an
/// error, what was written so far is still [`ChatStream::text`].
#[derive(Debug)]
pub struct ChatStream {
    codec: &'static dyn ChatCodec,
    decoder: SseDecoder,
    writing: Writing,
    events: usize,
    failed: Option<ProviderError>,
}

impl ChatStream {
    /// The stream of a reply that has just begun.
    pub fn new(codec: &'static dyn ChatCodec, limits: SseLimits) -> ChatStream {
        let decoder = SseDecoder::new(limits);
        ChatStream { codec, decoder, writing: Writing::default(), events: 0, failed: None }
    }

    /// Reads the next bytes and appends the text in them. After an error every call gives it again.
    pub fn feed(&mut self, bytes: &[u8], deltas: &mut Vec<ChatDelta>) -> Result<(), ProviderError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        if self.is_done() {
            return Ok(());
        }
        let mut events = Vec::new();
        let framed = self.decoder.feed(bytes, &mut events).map_err(|error| match error {
            SseError::Event { limit } => Fault::Event { limit }.into(),
            SseError::Total { limit } => ProviderError::ReplyTooLarge { limit },
        });
        let read = events.iter().try_for_each(|event| self.take(event, deltas));
        let result = read.and(if self.is_done() { Ok(()) } else { framed });
        self.failed = result.err();
        result
    }

    /// Whether the service said that nothing follows.
    pub fn is_done(&self) -> bool {
        self.writing.is_done()
    }

    /// Whether the model has stopped writing.
    pub fn has_finished(&self) -> bool {
        self.writing.is_done() || self.writing.has_stopped()
    }

    /// How many events with content of any kind have come; comments, which only keep the connection
    /// alive, are none.
    pub fn events(&self) -> usize {
        self.events
    }

    /// The text so far.
    pub fn text(&self) -> &str {
        self.writing.text()
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
        // Some relays wrap the comments of another stream into data; a ping is no more than they.
        if self.is_done() || data.is_empty() || data.starts_with(':') || event.name == "ping" {
            return Ok(());
        }
        self.events += 1;
        if data == "[DONE]" {
            self.codec.done(&mut self.writing);
            self.writing.complete();
            return Ok(());
        }
        let value: Value = match serde_json::from_str(data) {
            Ok(value) => value,
            Err(_) if event.name == "error" => return Err(ProviderError::Upstream { status: 200 }),
            Err(_) => return Err(Fault::Json.into()),
        };
        let reported = if event.name == "error" { Some(refusal::of_error(200, &value)) } else { None };
        if let Some(error) = reported.or_else(|| refusal::of_reply(200, &value)) {
            return Err(self.codec.refused(200, &value).unwrap_or(error));
        }
        self.writing.lossy |= event.lossy;
        let before = self.text().len();
        self.codec.event(&value, &mut self.writing)?;
        let text = self.text().get(before..).unwrap_or_default().to_owned();
        deltas.extend((!text.is_empty()).then_some(ChatDelta::Text(text)));
        Ok(())
    }
}
