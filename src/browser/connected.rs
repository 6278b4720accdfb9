//! The network of a page, and the functions that it offers as model and as search.

use std::cell::RefCell;
use std::future::Future;
use std::rc::Rc;

use gloo_net::http::Response;
use js_sys::{Reflect, Uint8Array};
use serde::{Deserialize, Serialize, Serializer};
use wasm_bindgen::prelude::*;
use web_sys::{AbortController, ReadableStreamDefaultReader, RequestInit};

use super::functions::{Functions, PageFunctions};
use super::{Page, to_js};
use crate::corpus::Corpus;
use crate::document::Passage;
use crate::driver::Told;
use crate::host::{Broken, Host, Network, NetworkReply, ReplyBody};
use crate::pipeline::budget::Millis;
use crate::prompt::Language;
use crate::provider::chat::{ChatReply, ChatRequest, Finish, Usage, spoken};
use crate::provider::error::{Fault, ProviderError};
use crate::provider::http::{HeaderValue, Headers, HttpRequest, Method};
use crate::provider::search::{Found, WebQuery, WebResult, cleaned};
use crate::retry::RetryPolicy;
use crate::service::{Cache, CacheSettings, OwnPassage, Performer, Platform, Remembering, Role, Services, Store};

/// A page with its services.
pub(super) struct Connected {
    /// Who is asked.
    pub services: Services,
    functions: Rc<Functions>,
    cache: Option<Cache>,
    /// The page has a place for what is kept.
    stores: bool,
}

impl Connected {
    /// With the functions that the services name by number.
    pub(super) fn new(services: Services, cache: Option<&CacheSettings>, page: PageFunctions) -> Self {
        let stores = cache.is_some_and(|cache| cache.store);
        Self { services, functions: Rc::new(Functions::new(page)), cache: cache.map(CacheSettings::cache), stores }
    }

    /// What a function of the page gives; what it throws stays there.
    async fn given(&self, begin: impl FnOnce(&PageFunctions, u32)) -> Result<JsValue, ProviderError> {
        self.functions.call(None, begin).await.map_err(|_| ProviderError::Function)
    }

    /// Performs what one question needs, with what is known from earlier ones.
    pub(super) fn remembering<'a>(
        &'a self,
        corpus: &'a RefCell<Corpus>,
        language: Language,
    ) -> Remembering<'a, Self, Self> {
        Remembering::new(self.performer(corpus, language), self.cache.as_ref(), self)
    }

    /// Performs what one question, search or document needs.
    pub(super) fn performer<'a>(&'a self, corpus: &'a RefCell<Corpus>, language: Language) -> Performer<'a, Self> {
        Performer { corpus, services: &self.services, network: self, language, policy: RetryPolicy::default() }
    }
}

impl Host for Connected {
    fn now(&self) -> Millis {
        Page.now()
    }

    fn sleep(&self, duration: Millis) -> impl Future<Output = ()> {
        Page.sleep(duration)
    }
}

impl Network for Connected {
    type Body = Body;

    async fn fetch(&self, request: HttpRequest) -> Result<NetworkReply<Body>, ProviderError> {
        let mut exchange = Exchange::new()?;
        let outgoing = outgoing(&request, &exchange).map_err(|_| ProviderError::InvalidRequest { status: 400 })?;
        let fetching = self.functions.call(None, |page, call| page.fetch(call, &outgoing));
        exchange.request = Some(outgoing);
        let response = fetching.await.map_err(|error| unreachable_because(&error))?;
        let response: Response = response.unchecked_into::<web_sys::Response>().into();
        let reader = response.body().map(|body| body.get_reader().unchecked_into());
        Ok(NetworkReply {
            // Browsers do not say which redirect it is that they did not follow.
            status: if response.status() == 0 { 302 } else { response.status() },
            headers: headers(&response),
            body: Body { reader, exchange, functions: Rc::clone(&self.functions) },
        })
    }
}

/// What a request is made with, but for its body and its signal.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Init<'a> {
    method: &'static str,
    headers: Fields<'a>,
    redirect: &'static str,
    credentials: &'static str,
    referrer_policy: &'static str,
}

/// Headers as the fields of an object.
struct Fields<'a>(&'a [(&'static str, HeaderValue)]);

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value.reveal())))
    }
}

fn outgoing(request: &HttpRequest, exchange: &Exchange) -> Result<web_sys::Request, JsValue> {
    let init = to_js(&Init {
        method: request.method.name(),
        headers: Fields(&request.headers),
        redirect: "manual",
        credentials: "omit",
        referrer_policy: "no-referrer",
    })?;
    let init: RequestInit = init.unchecked_into();
    init.set_signal(Some(&exchange.controller.signal()));
    if request.method == Method::Post {
        init.set_body(&Uint8Array::from(request.body.as_slice()));
    }
    web_sys::Request::new_with_str_and_init(&request.url, &init)
}

/// All at once: there may be dozens.
fn headers(response: &Response) -> Headers {
    let pairs = js_sys::Array::from(&response.headers().into_raw());
    let json = js_sys::JSON::stringify(&pairs).ok().map(String::from).unwrap_or_default();
    serde_json::from_str::<Vec<(String, String)>>(&json).unwrap_or_default().into_iter().collect()
}

/// Node, Deno and Bun say why a connection failed; browsers do not, so that pages cannot probe networks.
fn unreachable_because(error: &JsValue) -> ProviderError {
    let member = |value: &JsValue, name: &str| Reflect::get(value, &name.into()).unwrap_or(JsValue::UNDEFINED);
    let cause = member(error, "cause");
    let code = member(&cause, "code").as_string().or_else(|| member(error, "code").as_string());
    match code.as_deref() {
        None => ProviderError::CorsOrNetwork,
        Some("ECONNREFUSED" | "ENOTFOUND" | "EAI_AGAIN" | "UND_ERR_CONNECT_TIMEOUT" | "ConnectionRefused") => {
            ProviderError::Network { sent: false }
        }
        Some(_) => ProviderError::Network { sent: true },
    }
}

thread_local! {
    /// Why exchanges are ended. One for all: each would make an error of its own, with its stack, for nobody.
    static UNWANTED: js_sys::Error = {
        let error = js_sys::Error::new("nobody waits for the reply any longer");
        error.set_name("AbortError");
        error
    };
}

/// An exchange that is under way; dropping it ends it, which the service sees at once.
struct Exchange {
    controller: AbortController,
    is_over: bool,
    /// In Node 20 a signal knows its request weakly: were that collected, nobody would be told.
    request: Option<web_sys::Request>,
}

impl Exchange {
    fn new() -> Result<Self, ProviderError> {
        let controller = AbortController::new().map_err(|_| ProviderError::Function)?;
        Ok(Self { controller, is_over: false, request: None })
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        if !self.is_over {
            UNWANTED.with(|reason| self.controller.abort_with_reason(reason));
        }
        self.request.take();
    }
}

/// The body of a reply.
pub(super) struct Body {
    reader: Option<ReadableStreamDefaultReader>,
    exchange: Exchange,
    functions: Rc<Functions>,
}

impl ReplyBody for Body {
    async fn next(&mut self) -> Option<Result<Vec<u8>, Broken>> {
        let reader = self.reader.as_ref()?;
        let piece = self.functions.call(None, |page, call| page.read(call, reader)).await;
        let Ok(bytes) = piece.map(|piece| piece.dyn_into::<Uint8Array>().ok()) else { return Some(Err(Broken)) };
        self.exchange.is_over = bytes.is_none();
        bytes.map(|bytes| Ok(bytes.to_vec()))
    }
}

/// What the page cannot give back is asked again.
impl Store for Connected {
    async fn recall(&self, key: &str) -> Option<String> {
        if !self.stores {
            return None;
        }
        self.functions.call(None, |page, call| page.recall(call, key)).await.ok()?.as_string()
    }

    async fn remember(&self, key: &str, value: &str) {
        if self.stores {
            _ = self.functions.call(None, |page, call| page.remember(call, key, value)).await;
        }
    }

    async fn meanwhile(&self, other: impl Future<Output = ()>) {
        let turn = self.functions.call(None, PageFunctions::hold);
        other.await;
        turn.release();
        _ = turn.await;
    }
}

/// What a scorer is asked.
#[derive(Serialize)]
struct FunctionPairs<'a> {
    role: &'static str,
    question: &'a str,
    passages: Vec<FunctionPassage>,
}

#[derive(Serialize)]
struct FunctionPassage {
    id: String,
    title: String,
    text: String,
}

/// What it gives, if that is more than a text.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct FunctionReply {
    text: String,
    finish: Option<String>,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

impl Platform for Connected {
    async fn own_model(
        &self,
        model: u32,
        role: Role,
        request: &ChatRequest,
        told: &Told,
    ) -> Result<ChatReply, ProviderError> {
        // What is not shown while it is written needs nobody to be told of.
        let told = request.stream.then(|| told.clone());
        let reply = self.functions.ask(model, role, request, told).await.map_err(|_| ProviderError::Function)?;
        let reply = match reply.as_string() {
            Some(text) => FunctionReply { text, ..FunctionReply::default() },
            None => serde_wasm_bindgen::from_value(reply).map_err(|_| ProviderError::Function)?,
        };
        let text = spoken(reply.text);
        if text.trim().is_empty() {
            return Err(Fault::Empty.into());
        }
        let finish = match reply.finish.as_deref() {
            None | Some("stop") => Finish::Stop,
            Some("length") => Finish::Length,
            Some("content_filter" | "content-filter") => Finish::ContentFilter,
            Some(_) => Finish::Other,
        };
        let usage = reply.input_tokens.zip(reply.output_tokens);
        let usage = usage.map(|(input_tokens, output_tokens)| Usage { input_tokens, output_tokens });
        Ok(ChatReply { text, finish, usage, model: None, lossy: false, tokens: Vec::new() })
    }

    async fn own_scores(&self, scorer: u32, question: &str, passages: &[Passage]) -> Result<Vec<f64>, ProviderError> {
        let shown = |passage: &Passage| FunctionPassage {
            id: passage.id.clone(),
            title: passage.breadcrumb(),
            text: passage.text.clone(),
        };
        let asked =
            FunctionPairs { role: Role::Grade.name(), question, passages: passages.iter().map(shown).collect() };
        let asked = to_js(&asked).map_err(|_| ProviderError::Function)?;
        let given = self.given(|page, call| page.score(call, scorer, &asked)).await?;
        serde_wasm_bindgen::from_value(given).map_err(|_| ProviderError::Function)
    }

    async fn own_passages(&self, retriever: u32, query: &str, k: usize) -> Result<Vec<OwnPassage>, ProviderError> {
        let found = self.given(|page, call| page.retrieve(call, retriever, query, k as u32)).await?;
        serde_wasm_bindgen::from_value(found).map_err(|_| ProviderError::Function)
    }

    async fn own_search(&self, search: u32, asked: &WebQuery) -> Result<Vec<WebResult>, ProviderError> {
        let (query, limit) = (&asked.query, asked.limit as u32);
        let found = self.given(|page, call| page.search(call, search, query, limit)).await?;
        let found: Vec<Found> = serde_wasm_bindgen::from_value(found).map_err(|_| ProviderError::Function)?;
        Ok(cleaned(&found, asked))
    }
}
