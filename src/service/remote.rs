//! A Worker of ours as solver and as web search: typed tasks go out, typed replies come back. It has
//! the prompts and the keys, and it repeats what is worth repeating; here nothing is sent twice.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::call::{Bounds, CallError, Called, Exchange, Progress, Reader, call};
use super::exchange::Whole;
use super::{TimeoutSettings, failure};
use crate::driver::Told;
use crate::host::Network;
use crate::pipeline::budget::Millis;
use crate::pipeline::run::{Outcome, Reply};
use crate::pipeline::task::{Draft, Failure, Task, TaskReply};
use crate::prompt::Language;
use crate::provider::error::{Fault, ProviderError};
use crate::provider::http::{Endpoint, Headers, HttpRequest, HttpResponse};
use crate::provider::search::{WebQuery, WebResult};
use crate::provider::sse::{SseDecoder, SseError, SseEvent, SseLimits};
use crate::retry::RetryPolicy;
use crate::wire::task::{self, TaskRequest, TaskResponse};
use crate::wire::web::{MAX_RESULTS, WebSearchRequest, WebSearchResponse};

/// How many bytes of a reply are read.
const LARGEST_REPLY: usize = 2 << 20;

const SERVICE: &str = "the Worker";

/// Where the Worker is.
#[derive(Debug)]
pub(super) struct Remote {
    pub endpoint: Endpoint,
    pub timeouts: TimeoutSettings,
}

impl Remote {
    /// Puts a task to the Worker's model.
    pub(super) async fn ask<N: Network>(
        &self,
        task: &Task,
        language: Language,
        network: &N,
        bounds: Bounds,
        told: &Told,
    ) -> Outcome {
        let exchange = Asking { endpoint: &self.endpoint, task, language };
        let called = call(network, &exchange, once(bounds), told).await;
        match called.result {
            Ok(response) => {
                let (called, tokens) = (response.called.min(bounds.may_call), response.tokens);
                let malformed = Failure::Malformed { task: task::name(task) };
                Outcome { reply: response.reply().map_or(Reply::Failed(malformed), Reply::Task), called, tokens }
            }
            // A draft that broke off is a draft cut off; its marks are the model's own, so they go.
            Err(failed) if matches!(task, Task::Generate(_)) && !failed.text.trim().is_empty() => {
                let draft = Draft { text: failed.text, quotes: Vec::new(), truncated: true };
                Outcome { reply: Reply::Task(TaskReply::Draft(draft)), called: called.called, tokens: None }
            }
            Err(failed) => {
                let reply = Reply::Failed(failure(SERVICE, failed.error, failed.retry_after));
                Outcome::without_tokens(reply, called.called)
            }
        }
    }

    /// Searches the web through the Worker.
    pub(super) async fn search<N: Network>(
        &self,
        asked: &WebQuery,
        network: &N,
        bounds: Bounds,
    ) -> Called<Vec<WebResult>> {
        let exchange = Searching { endpoint: &self.endpoint, asked };
        let found = call(network, &exchange, once(bounds), &Told::default()).await;
        match found.result {
            Ok(response) => Called {
                result: Ok(response.results.into_iter().map(WebResult::from).collect()),
                called: response.called.min(bounds.may_call),
            },
            Err(failed) => Called { result: Err::<_, CallError>(failed), called: found.called },
        }
    }
}

fn once(bounds: Bounds) -> Bounds {
    Bounds { policy: RetryPolicy { retries: 0, ..bounds.policy }, ..bounds }
}

struct Asking<'a> {
    endpoint: &'a Endpoint,
    task: &'a Task,
    language: Language,
}

impl Exchange for Asking<'_> {
    type Reply = TaskResponse;

    fn request(&self) -> HttpRequest {
        let path = format!("/v1/tasks/{}", task::name(self.task));
        HttpRequest::post(self.endpoint, &path, EVENTS, &TaskRequest::new(self.task, self.language), LARGEST_REPLY)
    }

    fn reader(&self, status: u16, headers: &Headers) -> Box<dyn Reader<Reply = TaskResponse> + '_> {
        reader(status, headers)
    }
}

struct Searching<'a> {
    endpoint: &'a Endpoint,
    asked: &'a WebQuery,
}

impl Exchange for Searching<'_> {
    type Reply = WebSearchResponse;

    fn request(&self) -> HttpRequest {
        let limit = self.asked.limit.clamp(1, MAX_RESULTS);
        let body = WebSearchRequest { query: self.asked.query.clone(), limit: Some(limit) };
        HttpRequest::post(self.endpoint, "/v1/web-search", EVENTS, &body, LARGEST_REPLY)
    }

    fn reader(&self, status: u16, headers: &Headers) -> Box<dyn Reader<Reply = WebSearchResponse> + '_> {
        reader(status, headers)
    }
}

/// A Worker that writes while it waits notices when nobody reads any longer, and stops what it pays for.
const EVENTS: &str = "text/event-stream, application/json;q=0.9";

fn reader<T: DeserializeOwned + 'static>(status: u16, headers: &Headers) -> Box<dyn Reader<Reply = T>> {
    if status == 200 && headers.media_type().is_some_and(|media| media == "text/event-stream") {
        Box::new(Streaming::<T>::new())
    } else {
        Box::new(Whole::new(status, headers, LARGEST_REPLY, decode))
    }
}

fn decode<T: DeserializeOwned>(response: &HttpResponse) -> Result<T, ProviderError> {
    let value: Value = serde_json::from_slice(&response.body).map_err(|_| not_json(response))?;
    if response.status == 200 {
        serde_json::from_value(value).map_err(|_| Fault::Shape.into())
    } else {
        Err(refused(&value, response.status))
    }
}

fn not_json(response: &HttpResponse) -> ProviderError {
    match response.status {
        200 if response.body.trim_ascii_start().starts_with(b"<") => Fault::Html.into(),
        200 => Fault::Json.into(),
        status => ProviderError::of_status(status),
    }
}

/// What the Worker says of its service, or of the request.
fn refused(value: &Value, status: u16) -> ProviderError {
    let code = |name| value.pointer(name).and_then(Value::as_str).and_then(ProviderError::of_code);
    code("/error/service_code").or_else(|| code("/error/code")).unwrap_or_else(|| ProviderError::of_status(status))
}

/// A reply that comes as events: `draft-delta`s of a draft, then `reply` or `error`.
struct Streaming<T> {
    decoder: SseDecoder,
    text: String,
    reply: Option<Result<T, ProviderError>>,
    retry_after: Option<Millis>,
}

impl<T: DeserializeOwned> Streaming<T> {
    fn new() -> Self {
        let decoder = SseDecoder::new(SseLimits::default());
        Self { decoder, text: String::new(), reply: None, retry_after: None }
    }

    fn take(&mut self, event: &SseEvent, told: &Told) -> Result<(), ProviderError> {
        let value: Value = serde_json::from_str(&event.data).map_err(|_| Fault::Json)?;
        match event.name.as_str() {
            "draft-delta" => {
                let text = value.get("text").and_then(Value::as_str).unwrap_or_default();
                self.text += text;
                told.push(text.to_owned());
            }
            "reply" => self.reply = Some(serde_json::from_value(value).map_err(|_| Fault::Shape.into())),
            "error" => {
                self.retry_after = value.pointer("/error/retry_after_ms").and_then(Value::as_u64);
                self.reply = Some(Err(refused(&value, 502)));
            }
            _ => (),
        }
        Ok(())
    }
}

impl<T: DeserializeOwned> Reader for Streaming<T> {
    type Reply = T;

    fn feed(&mut self, bytes: &[u8], told: &Told) -> Result<bool, ProviderError> {
        let mut events = Vec::new();
        let framed = self.decoder.feed(bytes, &mut events);
        for event in &events {
            self.take(event, told)?;
        }
        framed.map_err(|error| match error {
            SseError::Event { limit } => Fault::Event { limit }.into(),
            SseError::Total { limit } => ProviderError::ReplyTooLarge { limit },
        })?;
        Ok(!events.is_empty())
    }

    /// Until a draft begins the Worker waits for its model, and says so itself when that takes too long.
    fn progress(&self) -> Progress {
        match (&self.reply, self.text.is_empty()) {
            (Some(_), _) => Progress::Done,
            (None, true) => Progress::Waiting,
            (None, false) => Progress::Open,
        }
    }

    fn end(&mut self) -> Result<T, ProviderError> {
        self.reply.take().unwrap_or(Err(ProviderError::Truncated))
    }

    fn text(&self) -> &str {
        &self.text
    }

    fn retry_after(&self) -> Option<Millis> {
        self.retry_after
    }
}
