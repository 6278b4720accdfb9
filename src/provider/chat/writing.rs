//! A reply in the making, whatever the vendor: its text without reasoning, why it ends, and what is wrong
//! with it. Codecs say what they read; what that comes to is decided here.

use super::thinking::ThinkingFilter;
use super::{ChatReply, Finish, Usage};
use crate::provider::error::{Fault, ProviderError};
use crate::provider::logprobs::Token;

/// Why a reply has no text to use, the graver ones last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trouble {
    /// Tools were called, though none were offered.
    Calls,
    /// The model declined.
    Refused,
    /// The service says that it failed.
    Failed,
}

/// What was read of a reply so far.
#[derive(Debug, Default)]
pub struct Writing {
    filter: ThinkingFilter,
    text: String,
    finish: Option<Finish>,
    trouble: Option<Trouble>,
    done: bool,
    pub(super) usage: Option<Usage>,
    pub(super) model: Option<String>,
    pub(super) tokens: Vec<Token>,
    pub(super) lossy: bool,
}

impl Writing {
    /// The model wrote this.
    pub fn say(&mut self, text: &str) {
        let spoken = self.filter.feed(text);
        self.text.push_str(&spoken);
    }

    /// It stopped, and why.
    pub fn stop(&mut self, finish: Finish) {
        self.finish = Some(finish);
        let held = self.filter.end();
        self.text.push_str(&held);
    }

    /// The service said that nothing follows.
    pub fn complete(&mut self) {
        self.done = true;
    }

    /// Something is wrong with it.
    pub fn suffer(&mut self, trouble: Trouble) {
        self.trouble = self.trouble.max(Some(trouble));
    }

    /// What it took, where that is said.
    pub fn count(&mut self, usage: Option<Usage>) {
        self.usage = usage.or(self.usage);
    }

    /// The model that the service names, cut at 128 characters; the first name stands.
    pub fn name(&mut self, model: Option<&str>) {
        let name = model.map(|name| name.chars().take(128).collect());
        self.model = self.model.take().or(name);
    }

    /// Its tokens with their probabilities.
    pub fn tell(&mut self, tokens: Vec<Token>) {
        self.tokens = tokens;
    }

    /// The text so far.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the model has stopped.
    pub fn has_stopped(&self) -> bool {
        self.finish.is_some()
    }

    /// Whether nothing follows.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// The reply, or why there is none.
    pub(super) fn end(&mut self, status: u16) -> Result<ChatReply, ProviderError> {
        let held = self.filter.end();
        self.text.push_str(&held);
        let finish = self.finish.unwrap_or(Finish::Other);
        match self.trouble {
            Some(Trouble::Failed) => return Err(ProviderError::Upstream { status }),
            Some(Trouble::Refused) => return Err(ProviderError::Refused),
            _ if !self.text.trim().is_empty() => (),
            _ if finish == Finish::ContentFilter => return Err(ProviderError::ContentFiltered),
            Some(Trouble::Calls) => return Err(Fault::Shape.into()),
            None => return Err(Fault::Empty.into()),
        }
        Ok(ChatReply {
            text: std::mem::take(&mut self.text),
            finish,
            usage: self.usage,
            model: self.model.take(),
            lossy: self.lossy,
            tokens: std::mem::take(&mut self.tokens),
        })
    }
}
