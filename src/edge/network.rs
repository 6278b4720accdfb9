//! The clock and the network of a Worker.

use std::time::Duration;

use futures_util::StreamExt;
use js_sys::Uint8Array;
use worker::{AbortController, ByteStream, Date, Delay, Fetch, Headers, Method, Request, RequestInit, RequestRedirect};

use crate::document::Passage;
use crate::driver::Told;
use crate::host::{Broken, Host, Network, NetworkReply, ReplyBody};
use crate::pipeline::budget::Millis;
use crate::provider::chat::{ChatReply, ChatRequest};
use crate::provider::error::ProviderError;
use crate::provider::http::HttpRequest;
use crate::provider::search::{WebQuery, WebResult};
use crate::service::{OwnPassage, Platform, Role};

/// A Worker's clock stands still while it computes.
#[derive(Clone, Copy)]
pub(super) struct Edge;

impl Host for Edge {
    fn now(&self) -> Millis {
        Date::now().as_millis()
    }

    /// The timer is cleared when the future is dropped. Timers count in 31 bits; no run is that long.
    async fn sleep(&self, duration: Millis) {
        Delay::from(Duration::from_millis(duration.min(i32::MAX as u64))).await;
    }
}

impl Network for Edge {
    type Body = Body;

    async fn fetch(&self, request: HttpRequest) -> Result<NetworkReply<Body>, ProviderError> {
        let exchange = Exchange(Some(AbortController::default()));
        let Some(signal) = exchange.0.as_ref().map(AbortController::signal) else { return Err(UNSENT) };
        let outgoing = outgoing(&request).map_err(|_| ProviderError::InvalidRequest { status: 400 })?;
        // The platform's message names the host, and nothing that a caller could use.
        let mut response = Fetch::Request(outgoing)
            .send_with_signal(&signal)
            .await
            .map_err(|_| ProviderError::Network { sent: true })?;
        Ok(NetworkReply {
            status: response.status_code(),
            headers: response.headers().entries().collect(),
            // A reply without a body, such as a 204, has no stream.
            body: Body { stream: response.stream().ok(), _exchange: exchange },
        })
    }
}

const UNSENT: ProviderError = ProviderError::Network { sent: false };

fn outgoing(request: &HttpRequest) -> worker::Result<Request> {
    let headers = Headers::new();
    for (name, value) in &request.headers {
        headers.set(name, &value.reveal())?;
    }
    let mut init = RequestInit::new();
    init.with_method(Method::Post)
        .with_headers(headers)
        .with_redirect(RequestRedirect::Manual)
        .with_body(Some(Uint8Array::from(request.body.as_slice()).into()));
    Request::new_with_init(&request.url, &init)
}

/// An exchange that is under way; dropping it ends it, which the service sees at once.
struct Exchange(Option<AbortController>);

impl Drop for Exchange {
    fn drop(&mut self) {
        if let Some(controller) = self.0.take() {
            controller.abort();
        }
    }
}

/// The body of a reply.
pub(super) struct Body {
    stream: Option<ByteStream>,
    _exchange: Exchange,
}

impl ReplyBody for Body {
    async fn next(&mut self) -> Option<Result<Vec<u8>, Broken>> {
        let piece = self.stream.as_mut()?.next().await?;
        Some(piece.map_err(|_| Broken))
    }
}

/// A Worker has no model, no scorer, no retriever and no search of its own.
impl Platform for Edge {
    async fn own_model(&self, _: u32, _: Role, _: &ChatRequest, _: &Told) -> Result<ChatReply, ProviderError> {
        Err(ProviderError::Function)
    }

    async fn own_scores(&self, _: u32, _: &str, _: &[Passage]) -> Result<Vec<f64>, ProviderError> {
        Err(ProviderError::Function)
    }

    async fn own_passages(&self, _: u32, _: &str, _: usize) -> Result<Vec<OwnPassage>, ProviderError> {
        Err(ProviderError::Function)
    }

    async fn own_search(&self, _: u32, _: &WebQuery) -> Result<Vec<WebResult>, ProviderError> {
        Err(ProviderError::Function)
    }
}
