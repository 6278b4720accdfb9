//! Server-sent events: their frames, and the stream that sends what a run tells.
//!
//! The stream begins with a comment, before the run does anything, and sends one whenever nothing
//! else was sent for a second: writing is the only way in which a Worker notices that its client has
//! gone (workerd issue 4638). The stream owns the run, so dropping it drops the run.

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use futures_util::future::LocalBoxFuture;
use futures_util::stream::Stream;
use serde::Serialize;

use crate::host::Host;
use crate::pipeline::budget::Millis;

/// The longest silence.
pub const KEEP_ALIVE_EVERY: Millis = 1_000;

/// A comment, which clients skip.
pub const KEEP_ALIVE: &str = ": keep-alive\n\n";

const OPENING: &str = ": countercheck\n\n";

/// Where a run puts its events; clones share one queue.
#[derive(Debug, Clone, Default)]
pub struct Events(Rc<RefCell<String>>);

impl Events {
    /// Queues an event. Its data is JSON on one line, so nothing in it can end the event or begin
    /// another.
    pub fn push(&self, name: &str, data: &impl Serialize) {
        // The types of `wire` have no map with keys that are not text, the only thing that JSON lacks.
        let Ok(data) = serde_json::to_string(data) else { return };
        self.0.borrow_mut().extend(["event: ", name, "\ndata: ", &data, "\n\n"]);
    }

    fn take(&self) -> Option<String> {
        let queued = std::mem::take(&mut *self.0.borrow_mut());
        (!queued.is_empty()).then_some(queued)
    }
}

/// The frames of a run, as they come; it ends when the run does.
pub struct EventStream<H> {
    events: Events,
    run: Option<LocalBoxFuture<'static, ()>>,
    host: H,
    silence: Option<LocalBoxFuture<'static, ()>>,
}

impl<H: Host + Copy + Unpin + 'static> EventStream<H> {
    /// A stream of what `run` tells the events that it is given.
    pub fn new<F: Future<Output = ()> + 'static>(host: H, run: impl FnOnce(Events) -> F) -> Self {
        let events = Events::default();
        events.0.borrow_mut().push_str(OPENING);
        let run = run(events.clone());
        Self { events, run: Some(Box::pin(run)), host, silence: None }
    }

    fn send(&mut self, frames: String) -> Poll<Option<String>> {
        self.silence = None;
        Poll::Ready(Some(frames))
    }
}

impl<H: Host + Copy + Unpin + 'static> Stream for EventStream<H> {
    type Item = String;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<String>> {
        if let Some(frames) = self.events.take() {
            return self.send(frames);
        }
        let Some(run) = self.run.as_mut() else { return Poll::Ready(None) };
        if run.as_mut().poll(context).is_ready() {
            self.run = None;
        }
        if let Some(frames) = self.events.take() {
            return self.send(frames);
        }
        if self.run.is_none() {
            return Poll::Ready(None);
        }
        let host = self.host;
        let silence = self.silence.get_or_insert_with(|| Box::pin(async move { host.sleep(KEEP_ALIVE_EVERY).await }));
        match silence.as_mut().poll(context) {
            Poll::Ready(()) => self.send(KEEP_ALIVE.to_owned()),
            Poll::Pending => Poll::Pending,
        }
    }
}
