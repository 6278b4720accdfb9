//! One call to a service, with its waits and repetitions: the only place that repeats anything.
//!
//! Each attempt has two clocks: until the reply's headers, and between two pieces of content. What
//! keeps a connection alive without saying anything does not count as content. The run's own deadline
//! is the driver's: it drops the call, and the attempt with it.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll, ready};

use futures_util::future::LocalBoxFuture;

use super::circuit::Circuit;
use crate::driver::Told;
use crate::host::{Broken, Host, Network, ReplyBody};
use crate::pipeline::budget::Millis;
use crate::provider::error::{Phase, ProviderError};
use crate::provider::http::{Headers, HttpRequest};
use crate::retry::{Failed, Next, Retries, RetryPolicy};

/// What is said to a service, and who reads its reply.
pub(super) trait Exchange {
    /// What comes of it.
    type Reply;

    /// The request; the same at each attempt.
    fn request(&self) -> HttpRequest;

    /// What decides whether the service is asked at all; none for a Worker of ours, which decides itself.
    fn circuit(&self) -> Option<&Circuit> {
        None
    }

    /// Reads a reply whose status and headers are there.
    fn reader(&self, status: u16, headers: &Headers) -> Box<dyn Reader<Reply = Self::Reply> + '_>;
}

/// Reads one reply, piece by piece.
pub(super) trait Reader {
    /// What comes of it.
    type Reply;

    /// Takes in the next bytes and tells the text in them. True when there was content.
    fn feed(&mut self, bytes: &[u8], told: &Told) -> Result<bool, ProviderError>;

    /// How far it has come.
    fn progress(&self) -> Progress;

    /// The reply, once the body has ended or is not waited for any longer.
    fn end(&mut self) -> Result<Self::Reply, ProviderError>;

    /// The text that was told.
    fn text(&self) -> &str;

    /// When the service would take the request, where its reply and not a header says so.
    fn retry_after(&self) -> Option<Millis> {
        None
    }

    /// How long its reply asks to wait before the request is made again, in place of a header.
    fn wait(&self) -> Option<Millis> {
        None
    }
}

/// How far a reply has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// Whoever replies is itself waiting, with clocks of its own.
    Waiting,
    /// More must come.
    Open,
    /// The content is there; the bill may follow.
    Finished,
    /// Nothing follows.
    Done,
}

/// How long a service may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Until the headers of its reply.
    pub headers: Millis,
    /// Between two pieces of content.
    pub idle: Millis,
}

/// The bounds of a call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// Attempts at the most; at least 1.
    pub may_call: u32,
    /// When the run ends.
    pub deadline: Millis,
    /// The bounds of each attempt.
    pub timeouts: Timeouts,
    /// Which attempts follow the first.
    pub policy: RetryPolicy,
}

/// What came of a call.
pub(super) struct Called<T> {
    pub result: Result<T, CallError>,
    /// How many attempts were made.
    pub called: u32,
}

/// A call that failed for good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CallError {
    pub error: ProviderError,
    /// When the service would take the request, if it said so.
    pub retry_after: Option<Millis>,
    /// The text that was told before it failed.
    pub text: String,
}

impl From<ProviderError> for CallError {
    fn from(error: ProviderError) -> Self {
        Self { error, retry_after: None, text: String::new() }
    }
}

/// After its content a reply may still say what it cost, but not for long.
const GRACE: Millis = 2_000;

/// Calls until there is a reply, or no attempt is left.
pub(super) async fn call<N: Network, X: Exchange>(
    network: &N,
    exchange: &X,
    bounds: Bounds,
    told: &Told,
) -> Called<X::Reply> {
    let policy = RetryPolicy { retries: bounds.policy.retries.min(bounds.may_call.saturating_sub(1)), ..bounds.policy };
    if let Some(error) = exchange.circuit().and_then(|circuit| circuit.refusal(network.now())) {
        return Called { result: Err(error.into()), called: 0 };
    }
    let mut retries = Retries::new(policy, network.now());
    loop {
        let stumble = match attempt(network, exchange, bounds.timeouts, told).await {
            Ok(reply) => return Called { result: Ok(reply), called: retries.used() + 1 },
            Err(stumble) => stumble,
        };
        let now = network.now();
        let next = retries.after(&Failed {
            error: stumble.error,
            headers: stumble.headers.as_ref(),
            now,
            remaining: bounds.deadline.saturating_sub(now),
            visible: !stumble.text.is_empty(),
        });
        match next {
            Next::Wait(wait) => network.sleep(wait).await,
            Next::GiveUp { retry_after } => {
                if let Some(circuit) = exchange.circuit() {
                    circuit.note(stumble.error, now);
                }
                let retry_after = retry_after.or(stumble.retry_after);
                let failed = CallError { error: stumble.error, retry_after, text: stumble.text };
                return Called { result: Err(failed), called: retries.used() + 1 };
            }
        }
    }
}

/// An attempt that failed.
struct Stumble {
    error: ProviderError,
    headers: Option<Headers>,
    retry_after: Option<Millis>,
    text: String,
}

async fn attempt<N: Network, X: Exchange>(
    network: &N,
    exchange: &X,
    timeouts: Timeouts,
    told: &Told,
) -> Result<X::Reply, Stumble> {
    let mut watch = Watch::new(network);
    let fetched = watch.within(timeouts.headers, network.fetch(exchange.request())).await;
    let late = ProviderError::Timeout { phase: Phase::Headers };
    let mut reply = fetched.unwrap_or(Err(late)).map_err(|error| Stumble {
        error,
        headers: None,
        retry_after: None,
        text: String::new(),
    })?;
    let mut reader = exchange.reader(reply.status, &reply.headers);
    let read = read(&mut watch, &mut reply.body, &mut *reader, timeouts.idle, told).await;
    read.and_then(|()| reader.end()).map_err(|error| Stumble {
        error,
        retry_after: reader.retry_after(),
        text: reader.text().to_owned(),
        headers: Some(match reader.wait() {
            Some(wait) => reply.headers.or("retry-after-ms", &wait.to_string()),
            None => reply.headers,
        }),
    })
}

/// Reads to the end of the body, or of what is waited for.
async fn read<N: Host, B: ReplyBody, R>(
    watch: &mut Watch<'_, N>,
    body: &mut B,
    reader: &mut dyn Reader<Reply = R>,
    idle: Millis,
    told: &Told,
) -> Result<(), ProviderError> {
    let mut content_at = watch.host.now();
    loop {
        let finished = reader.progress() == Progress::Finished;
        let patience = match reader.progress() {
            Progress::Waiting => Millis::MAX,
            Progress::Finished => GRACE.min(idle),
            Progress::Open | Progress::Done => idle,
        };
        let left = content_at.saturating_add(patience).saturating_sub(watch.host.now());
        match watch.within(left, body.next()).await {
            Some(Some(Ok(bytes))) => {
                if reader.feed(&bytes, told)? {
                    content_at = watch.host.now();
                }
            }
            Some(None) => return Ok(()),
            _ if finished => return Ok(()),
            Some(Some(Err(Broken))) => return Err(ProviderError::Truncated),
            None => return Err(ProviderError::Timeout { phase: Phase::Idle }),
        }
        if reader.progress() == Progress::Done {
            return Ok(());
        }
    }
}

/// The clock of an attempt, with one timer for all of its waits: a reply comes in many pieces, and hardly any is late.
struct Watch<'a, H> {
    host: &'a H,
    /// The timer, and when it rings; it stays when a wait is over, for the next.
    timer: Option<(Millis, LocalBoxFuture<'a, ()>)>,
}

/// The longest time that a timer is set to: then most waits end after that of the wait before, whose timer will do.
const LONGEST: Millis = 15_000;

impl<'a, H: Host> Watch<'a, H> {
    fn new(host: &'a H) -> Self {
        Self { host, timer: None }
    }

    /// What the future gives, unless the time is up first.
    async fn within<T>(&mut self, time: Millis, future: impl Future<Output = T>) -> Option<T> {
        let until = self.host.now().saturating_add(time);
        let mut future = pin!(future);
        poll_fn(|cx| match future.as_mut().poll(cx) {
            Poll::Ready(value) => Poll::Ready(Some(value)),
            Poll::Pending => self.passed(until, cx).map(|()| None),
        })
        .await
    }

    /// Whether that moment has come; it always takes a turn.
    fn passed(&mut self, until: Millis, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            if let Some((_, timer)) = self.timer.as_mut().filter(|(rings, _)| *rings <= until) {
                ready!(timer.as_mut().poll(cx));
                self.timer = None;
                if self.host.now() >= until {
                    return Poll::Ready(());
                }
            }
            let now = self.host.now();
            let time = until.saturating_sub(now).min(LONGEST);
            self.timer = Some((now + time, Box::pin(self.host.sleep(time))));
        }
    }
}
