//! All of the outside world, as a driver sees it: a clock, and for those who ask services a network.

use std::future::Future;

use crate::pipeline::budget::Millis;
use crate::provider::error::ProviderError;
use crate::provider::http::{Headers, HttpRequest};

/// A clock. Browsers, Workers and tests each have their own.
pub trait Host {
    /// Milliseconds since 1970; in tests since any fixed moment.
    fn now(&self) -> Millis;

    /// Comes back after that time.
    fn sleep(&self, duration: Millis) -> impl Future<Output = ()>;
}

/// A way to services. Dropping a future or a body ends the exchange at once.
pub trait Network: Host {
    /// The rest of a reply.
    type Body: ReplyBody;

    /// Sends a request as it stands and comes back with the reply's status and headers. It follows
    /// no redirect, sends no cookies and fails with [`ProviderError::Network`] or
    /// [`ProviderError::CorsOrNetwork`].
    fn fetch(&self, request: HttpRequest) -> impl Future<Output = Result<NetworkReply<Self::Body>, ProviderError>>;
}

/// A reply whose body is still to be read.
pub struct NetworkReply<B> {
    /// 100…599.
    pub status: u16,
    /// As they came.
    pub headers: Headers,
    /// The rest.
    pub body: B,
}

/// A body that comes in pieces.
pub trait ReplyBody {
    /// The next bytes, decoded; `None` after the last.
    fn next(&mut self) -> impl Future<Output = Option<Result<Vec<u8>, Broken>>>;
}

/// The connection broke before the body's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Broken;
