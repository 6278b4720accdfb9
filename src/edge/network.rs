//! The clock and the network of a Worker.

use std::time::Duration;

use futures_util::StreamExt;
use js_sys::{Function, JSON, Object, Promise, Reflect, Uint8Array};
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use worker::{
    AbortController, ByteStream, Date, Delay, Fetch, Headers, Method, Request, RequestInit, RequestRedirect, Response,
};

use crate::document::Passage;
use crate::driver::Told;
use crate::host::{Broken, Host, Network, NetworkReply, ReplyBody};
use crate::pipeline::budget::Millis;
use crate::provider::chat::workers_ai::BINDING;
use crate::provider::chat::{ChatReply, ChatRequest};
use crate::provider::error::{Fault, ProviderError};
use crate::provider::http::{self, HttpRequest};
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
        if let Some(path) = request.url.strip_prefix(BINDING) {
            return bound(path, &request.body).await;
        }
        let exchange = Exchange(Some(AbortController::default()));
        let Some(signal) = exchange.0.as_ref().map(AbortController::signal) else { return Err(UNSENT) };
        let outgoing = outgoing(&request).map_err(|_| ProviderError::InvalidRequest { status: 400 })?;
        // The platform's message names the host, and nothing that a caller could use.
        let response = Fetch::Request(outgoing)
            .send_with_signal(&signal)
            .await
            .map_err(|_| ProviderError::Network { sent: true })?;
        Ok(reply(response, exchange))
    }
}

fn reply(mut response: Response, exchange: Exchange) -> NetworkReply<Body> {
    NetworkReply {
        status: response.status_code(),
        headers: response.headers().entries().collect(),
        // A reply without a body, such as a 204, has no stream.
        body: Body { stream: response.stream().ok(), exchange },
    }
}

/// Asks what the Worker is bound to as `AI`: `/run/{model}` with its inputs, or `/websearch/`. The reply
/// comes as the service gave it, its status included. A model is told when nobody waits any longer; a search
/// by the binding takes no signal.
async fn bound(path: &str, inputs: &[u8]) -> Result<NetworkReply<Body>, ProviderError> {
    let missing = |_| ProviderError::NotBound;
    let ai = Reflect::get(&bindings(), &"AI".into()).map_err(missing)?;
    let inputs = std::str::from_utf8(inputs).ok().and_then(|json| JSON::parse(json).ok()).unwrap_or_default();
    let exchange = Exchange(Some(AbortController::default()));
    let called = match path.strip_prefix("/run/") {
        Some(model) => {
            let options = Object::new();
            let signal = exchange.0.as_ref().map(AbortController::signal);
            let _ = Reflect::set(&options, &"returnRawResponse".into(), &true.into());
            let _ = Reflect::set(&options, &"signal".into(), &signal.as_deref().into());
            method(&ai, "run")?.call3(&ai, &model.into(), &inputs, &options)
        }
        None => method(&ai, "websearch")?.call1(&ai, &inputs),
    };
    let failed = |_| ProviderError::Upstream { status: 500 };
    let response = JsFuture::from(Promise::resolve(&called.map_err(failed)?)).await.map_err(failed)?;
    let response: web_sys::Response = response.dyn_into().map_err(|_| ProviderError::from(Fault::Shape))?;
    Ok(reply(response.into(), exchange))
}

fn method(of: &JsValue, name: &str) -> Result<Function, ProviderError> {
    let found = Reflect::get(of, &name.into()).unwrap_or_default();
    found.dyn_into().map_err(|_| ProviderError::NotBound)
}

#[wasm_bindgen(module = "cloudflare:workers")]
extern "C" {
    /// What the Worker is bound to, the same in all its requests.
    #[wasm_bindgen(thread_local_v2, js_name = env)]
    static ENV: JsValue;
}

fn bindings() -> JsValue {
    ENV.with(Clone::clone)
}

const UNSENT: ProviderError = ProviderError::Network { sent: false };

fn outgoing(request: &HttpRequest) -> worker::Result<Request> {
    let headers = Headers::new();
    for (name, value) in &request.headers {
        headers.set(name, &value.reveal())?;
    }
    let mut init = RequestInit::new();
    init.with_headers(headers).with_redirect(RequestRedirect::Manual);
    match request.method {
        http::Method::Get => init.with_method(Method::Get),
        http::Method::Post => {
            init.with_method(Method::Post).with_body(Some(Uint8Array::from(request.body.as_slice()).into()))
        }
    };
    Request::new_with_init(&request.url, &init)
}

/// An exchange that is under way; dropping it ends it, which the service sees at once. One that is over has nothing left.
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
    exchange: Exchange,
}

impl ReplyBody for Body {
    async fn next(&mut self) -> Option<Result<Vec<u8>, Broken>> {
        let piece = self.stream.as_mut()?.next().await;
        if piece.is_none() {
            self.exchange.0.take();
        }
        Some(piece?.map_err(|_| Broken))
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
