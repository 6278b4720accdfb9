//! Requests in, responses out: joins the decisions of the sibling files to the platform.

use std::panic;
use std::sync::Once;
use std::time::Duration;

use futures_util::StreamExt;
use js_sys::Reflect;
use serde::Serialize;
use wasm_bindgen::JsValue;
use worker::{Context, Date, Delay, Env, Request, Response, event};

use crate::edge::answering::{answer, search, tell};
use crate::edge::assets;
use crate::edge::body;
use crate::edge::events::EventStream;
use crate::edge::route::{Endpoint, Route, RouteError, is_json, prefers_events};
use crate::edge::settings::{Settings, SettingsError};
use crate::host::Host;
use crate::pipeline::budget::{Limits, Millis};
use crate::problem::Problem;
use crate::solver::builtin;
use crate::wire::{AskRequest, ErrorBody, Health, SearchRequest};

/// How long a browser may remember that an origin is allowed, in seconds.
const PREFLIGHT_MAX_AGE: &str = "600";

#[event(fetch)]
async fn fetch(request: Request, env: Env, _context: Context) -> worker::Result<Response> {
    keep_questions_out_of_panics();
    let endpoint = match Route::of(&request.path()) {
        Route::Api(endpoint) => Some(endpoint),
        Route::Unknown => None,
        Route::Asset => return env.assets("ASSETS")?.fetch_request(request).await,
    };
    let settings = Settings::parse(|name| variable(&env, name));
    let origin = request.headers().get("origin")?;
    let allowed_origin =
        settings.as_ref().ok().and_then(|s| s.allowed_origins.allow(origin.as_deref())).map(str::to_owned);
    let method = request.inner().method();

    let responded = match endpoint {
        None => Err(RouteError::Unknown.into()),
        Some(endpoint) if method == "OPTIONS" => options(endpoint, &request, allowed_origin.is_some()),
        Some(endpoint) => match endpoint.takes(&method) {
            Ok(()) => respond(endpoint, request, env, settings).await,
            Err(refused) => Err(refused.into()),
        },
    };
    let mut response = match responded {
        Ok(response) => response,
        Err(problem) => Response::from_json(&ErrorBody::from(&problem))?.with_status(problem.status),
    };
    if method == "HEAD" {
        response = Response::empty()?.with_status(response.status_code()).with_headers(response.headers().clone());
    }
    finish(&mut response, endpoint, allowed_origin)?;
    Ok(response)
}

/// The headers that every reply of the API has.
fn finish(response: &mut Response, endpoint: Option<Endpoint>, allowed_origin: Option<String>) -> worker::Result<()> {
    let status = response.status_code();
    let headers = response.headers_mut();
    headers.set("cache-control", "no-store")?;
    headers.set("x-content-type-options", "nosniff")?;
    headers.set("vary", if endpoint == Some(Endpoint::Ask) { "Origin, Accept" } else { "Origin" })?;
    if let Some(origin) = allowed_origin {
        headers.set("access-control-allow-origin", &origin)?;
    }
    if let (Some(endpoint), 204 | 405) = (endpoint, status) {
        headers.set("allow", endpoint.allowed())?;
    }
    Ok(())
}

async fn respond(
    endpoint: Endpoint,
    request: Request,
    env: Env,
    settings: Result<Settings, SettingsError>,
) -> Result<Response, Problem> {
    match endpoint {
        Endpoint::Ask => ask(request, env, settings?).await,
        Endpoint::Search => {
            let (query, k) = SearchRequest::from_json(&read(request).await?)?.check()?;
            let corpus = assets::corpus(&env, &settings?).await?;
            let found = search(&query, k, &corpus.borrow())?;
            Ok(Response::from_json(&found)?)
        }
        Endpoint::Health => healthz(env, settings).await,
    }
}

async fn ask(request: Request, env: Env, settings: Settings) -> Result<Response, Problem> {
    let streams = prefers_events(request.headers().get("accept")?.as_deref());
    let asked = AskRequest::from_json(&read(request).await?)?.check(Limits::default())?;
    if !streams {
        let corpus = assets::corpus(&env, &settings).await?;
        return Ok(Response::from_json(&answer(asked, &corpus, &Edge, |_| {}).await?)?);
    }
    let run = |events| async move { tell(asked, assets::corpus(&env, &settings), Edge, events).await };
    let frames = EventStream::new(Edge, run).map(|frames| Ok::<_, worker::Error>(frames.into_bytes()));
    let mut response = Response::from_stream(frames)?;
    response.headers_mut().set("content-type", "text/event-stream")?;
    Ok(response)
}

/// The body of a request, which must say that it is JSON.
async fn read(mut request: Request) -> Result<Vec<u8>, Problem> {
    if !is_json(request.headers().get("content-type")?.as_deref()) {
        return Err(RouteError::MediaType.into());
    }
    if request.inner().body().is_none() {
        return Ok(Vec::new());
    }
    Ok(body::read(request.stream()?, &Edge).await?)
}

/// `OPTIONS`: which methods there are, and to a browser whether a page of that origin may use them.
fn options(endpoint: Endpoint, request: &Request, allowed_origin: bool) -> Result<Response, Problem> {
    let mut response = Response::empty()?.with_status(204);
    if request.headers().has("access-control-request-method")? {
        if !allowed_origin {
            return Err(RouteError::Origin.into());
        }
        let headers = response.headers_mut();
        headers.set("access-control-allow-methods", endpoint.allowed())?;
        headers.set("access-control-allow-headers", "content-type")?;
        headers.set("access-control-max-age", PREFLIGHT_MAX_AGE)?;
    }
    Ok(response)
}

async fn healthz(env: Env, settings: Result<Settings, SettingsError>) -> Result<Response, Problem> {
    let corpus = match settings {
        Ok(settings) => assets::corpus(&env, &settings).await,
        Err(error) => Err(error.into()),
    };
    Ok(match corpus {
        Ok(corpus) => {
            let corpus = corpus.borrow();
            Response::from_json(&health("ok", corpus.index().documents(), corpus.index().passages()))?
        }
        Err(problem) => {
            let unhealthy = Unhealthy { health: health("loading_failed", 0, 0), body: ErrorBody::from(&problem) };
            Response::from_json(&unhealthy)?.with_status(problem.status)
        }
    })
}

/// `Health` and `ErrorBody` at once: monitors read the one, clients the other.
#[derive(Serialize)]
struct Unhealthy {
    #[serde(flatten)]
    health: Health,
    #[serde(flatten)]
    body: ErrorBody,
}

fn health(status: &str, documents: usize, passages: usize) -> Health {
    Health {
        status: status.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        solver: builtin::NAME.to_owned(),
        documents,
        passages,
    }
}

/// A variable of the Worker, if it is set.
fn variable(env: &Env, name: &'static str) -> Result<Option<String>, SettingsError> {
    let value = Reflect::get(env, &name.into()).unwrap_or(JsValue::UNDEFINED);
    if value.is_undefined() {
        return Ok(None);
    }
    value.as_string().map(Some).ok_or(SettingsError::NotText { name })
}

/// A panic's message can quote the text that it stumbled over: only its place is logged.
fn keep_questions_out_of_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        panic::set_hook(Box::new(|info| {
            let place = info.location().map(ToString::to_string).unwrap_or_default();
            worker::console_error!("panicked at {place}");
        }));
    });
}

/// What the platform refuses; it knows nothing of questions.
impl From<worker::Error> for Problem {
    fn from(error: worker::Error) -> Self {
        Self::new("internal", 500, error.to_string())
    }
}

/// The clock of a Worker, which stands still while it computes.
#[derive(Clone, Copy)]
struct Edge;

impl Host for Edge {
    fn now(&self) -> Millis {
        Date::now().as_millis()
    }

    /// The timer is cleared when the future is dropped. Timers count in 31 bits; no run is that long.
    async fn sleep(&self, duration: Millis) {
        Delay::from(Duration::from_millis(duration.min(i32::MAX as u64))).await;
    }
}
