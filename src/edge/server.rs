//! Requests in, responses out: joins the decisions of the sibling files to the platform.

use std::cell::RefCell;
use std::future::Future;
use std::panic;
use std::pin::pin;
use std::sync::Once;

use futures_util::StreamExt;
use futures_util::future::{Either, select};
use js_sys::Reflect;
use serde::Serialize;
use wasm_bindgen::JsValue;
use worker::{Context, Env, Request, Response, event};

use crate::corpus::Corpus;
use crate::driver::Told;
use crate::edge::answering::{answer, conclude, found, task_response, tell_outcome, web_response};
use crate::edge::assets;
use crate::edge::body;
use crate::edge::events::{EventStream, Events};
use crate::edge::kept::Kept;
use crate::edge::network::Edge;
use crate::edge::route::{Endpoint, Route, RouteError, is_json, prefers_events};
use crate::edge::settings::{RATE_LIMITER, Settings, SettingsError};
use crate::host::Host;
use crate::pipeline::budget::Limits;
use crate::pipeline::run::Outcome;
use crate::pipeline::trace::Event;
use crate::problem::Problem;
use crate::prompt::Language;
use crate::retry::RetryPolicy;
use crate::service::{Performer, Remembering};
use crate::signal::aborted;
use crate::wire::task::TaskRequest;
use crate::wire::web::WebSearchRequest;
use crate::wire::{Answer, AskRequest, Asked, ErrorBody, Health, SearchRequest};

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
        Err(problem) => refusal(&problem)?,
    };
    if method == "HEAD" {
        response = Response::empty()?.with_status(response.status_code()).with_headers(response.headers().clone());
    }
    finish(&mut response, endpoint, allowed_origin)?;
    Ok(response)
}

fn refusal(problem: &Problem) -> worker::Result<Response> {
    let mut response = Response::from_json(&ErrorBody::from(problem))?.with_status(problem.status);
    if let Some(wait) = problem.retry_after {
        response.headers_mut().set("retry-after", &wait.div_ceil(1_000).to_string())?;
    }
    Ok(response)
}

/// The headers that every reply of the API has.
fn finish(response: &mut Response, endpoint: Option<Endpoint>, allowed_origin: Option<String>) -> worker::Result<()> {
    let status = response.status_code();
    let headers = response.headers_mut();
    headers.set("cache-control", "no-store")?;
    headers.set("x-content-type-options", "nosniff")?;
    let streams = endpoint.is_some_and(Endpoint::may_stream);
    headers.set("vary", if streams { "Origin, Accept" } else { "Origin" })?;
    if let Some(origin) = allowed_origin {
        headers.set("access-control-allow-origin", &origin)?;
    }
    if let (Some(endpoint), 204 | 405) = (endpoint, status) {
        headers.set("allow", endpoint.allowed())?;
    }
    Ok(())
}

/// The bounds of a run: a caller that waits for a reply does not wait for long.
const LIMITS: Limits = Limits::within(40, 60_000, POLICY.retries);
const POLICY: RetryPolicy =
    RetryPolicy { retries: 1, ambiguous: 1, longest_hint: 10_000, longest_backoff: 8_000, shortest_call: 1_000 };

async fn respond(
    endpoint: Endpoint,
    request: Request,
    env: Env,
    settings: Result<Settings, SettingsError>,
) -> Result<Response, Problem> {
    if endpoint == Endpoint::Health {
        return healthz(env, settings).await;
    }
    let settings = settings?;
    let limiter = env.rate_limiter(RATE_LIMITER).ok();
    settings.guard(limiter.is_some())?;
    if let (Some(limiter), true) = (limiter, endpoint.is_metered(settings.services.embedding_model().is_some())) {
        let caller = request.headers().get("cf-connecting-ip")?.unwrap_or_default();
        if !limiter.limit(caller).await?.success {
            return Err(RouteError::TooMany.into());
        }
    }
    let streams = endpoint.may_stream() && prefers_events(request.headers().get("accept")?.as_deref());
    let signal = request.inner().signal();
    let body = read(request, endpoint.largest_body()).await?;
    match endpoint {
        Endpoint::Ask if streams => {
            let asked = AskRequest::from_json(&body)?.check(LIMITS)?;
            event_stream(move |events| async move {
                let tell = |event: &Event| events.push(event.name(), event);
                conclude(ask(asked, &env, &settings, tell).await, &events);
            })
        }
        Endpoint::Ask => {
            let asked = AskRequest::from_json(&body)?.check(LIMITS)?;
            let answered = unless_left(&signal, ask(asked, &env, &settings, |_| {})).await?;
            Ok(Response::from_json(&answered?)?)
        }
        Endpoint::Search => {
            let request = SearchRequest::from_json(&body)?;
            let (query, k) = request.check()?;
            let corpus = assets::corpus(&env, &settings).await?;
            let performer = performer(&settings, &corpus, Language::default());
            let searched = unless_left(&signal, performer.find(&request.query(&query), k)).await?;
            Ok(Response::from_json(&found(searched?))?)
        }
        Endpoint::Task(name) => {
            let request = TaskRequest::from_json(&body)?;
            let (language, task) = (request.language, request.task(name)?);
            if settings.services.is_builtin() {
                let message = "there is no model here: set CHAT_MODEL, and CHAT_VENDOR or CHAT_BASE_URL";
                return Err(Problem::new("not_configured", 503, message));
            }
            let kept = Kept::of(&env, &settings);
            let work = move |told: Told| async move {
                let corpus = RefCell::default();
                let performer = performer(&settings, &corpus, language);
                let remembering = Remembering::new(performer, kept.cache.as_deref(), &kept);
                remembering.put(&task, 1 + LIMITS.retries, Edge.now() + LIMITS.deadline, &told).await
            };
            perform(work, task_response, streams, &signal).await
        }
        Endpoint::WebSearch => {
            let (query, limit) = WebSearchRequest::from_json(&body)?;
            let work = move |_| async move {
                let corpus = RefCell::default();
                let performer = performer(&settings, &corpus, Language::default());
                performer.search(query, limit, 1 + LIMITS.retries, Edge.now() + LIMITS.deadline).await
            };
            perform(work, web_response, streams, &signal).await
        }
        Endpoint::Health => healthz(env, Ok(settings)).await,
    }
}

/// Performs one piece of a loop that runs elsewhere.
async fn perform<T: Serialize + 'static, F: Future<Output = Outcome> + 'static>(
    work: impl FnOnce(Told) -> F + 'static,
    read: fn(Outcome) -> Result<T, Problem>,
    streams: bool,
    signal: &web_sys::AbortSignal,
) -> Result<Response, Problem> {
    let told = Told::default();
    if streams {
        return event_stream(move |events| async move { tell_outcome(work(told.clone()), read, told, &events).await });
    }
    Ok(Response::from_json(&read(unless_left(signal, work(told)).await?)?)?)
}

async fn ask(mut asked: Asked, env: &Env, settings: &Settings, tell: impl Fn(&Event)) -> Result<Answer, Problem> {
    asked.strategy = settings.services.followed(asked.strategy)?;
    let corpus = assets::corpus(env, settings).await?;
    let kept = Kept::of(env, settings);
    let performer = performer(settings, &corpus, asked.language);
    let performer = Remembering::new(performer, kept.cache.as_deref(), &kept);
    answer(asked, &performer, &Edge, settings.services.solver(), tell).await
}

fn performer<'a>(settings: &'a Settings, corpus: &'a RefCell<Corpus>, language: Language) -> Performer<'a, Edge> {
    Performer { corpus, services: &settings.services, network: &Edge, language, policy: POLICY }
}

fn event_stream<F: Future<Output = ()> + 'static>(run: impl FnOnce(Events) -> F) -> Result<Response, Problem> {
    let frames = EventStream::new(Edge, run).map(|frames| Ok::<_, worker::Error>(frames.into_bytes()));
    let mut response = Response::from_stream(frames)?;
    response.headers_mut().set("content-type", "text/event-stream")?;
    Ok(response)
}

/// Ends the work when the caller has gone: it would be paid for and thrown away.
async fn unless_left<T>(signal: &web_sys::AbortSignal, work: impl Future<Output = T>) -> Result<T, Problem> {
    match select(pin!(work), pin!(aborted(signal))).await {
        Either::Left((done, _)) => Ok(done),
        Either::Right(_) => Err(Problem::new("aborted", 499, "the caller has gone")),
    }
}

/// The body of a request, which must say that it is JSON.
async fn read(mut request: Request, limit: usize) -> Result<Vec<u8>, Problem> {
    if !is_json(request.headers().get("content-type")?.as_deref()) {
        return Err(RouteError::MediaType.into());
    }
    if request.inner().body().is_none() {
        return Ok(Vec::new());
    }
    Ok(body::read(request.stream()?, limit, &Edge).await?)
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
    let solver = settings.as_ref().map_or("", |settings| settings.services.solver());
    let checked = settings.as_ref().map_err(|error| error.clone().into());
    let corpus = match checked
        .and_then(|s| s.guard(env.rate_limiter(RATE_LIMITER).is_ok()).map(|()| s).map_err(Problem::from))
    {
        Ok(settings) => assets::corpus(&env, settings).await,
        Err(problem) => Err(problem),
    };
    Ok(match corpus {
        Ok(corpus) => {
            let corpus = corpus.borrow();
            Response::from_json(&health("ok", solver, corpus.index().documents(), corpus.index().passages()))?
        }
        Err(problem) => {
            let unhealthy =
                Unhealthy { health: health("loading_failed", solver, 0, 0), body: ErrorBody::from(&problem) };
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

fn health(status: &str, solver: &str, documents: usize, passages: usize) -> Health {
    Health {
        status: status.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        solver: solver.to_owned(),
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
