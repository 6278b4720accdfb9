//! The façade for JavaScript: pages, Node, Deno, Bun. Requests come in as plain objects in the words of
//! [`crate::wire`], and results go out as such or as JSON; the TypeScript client gives them their form.
//!
//! With the feature `models` it also asks models and searches the web; without it, it is as small as
//! can be and knows the built-in solver alone.
//!
//! No method holds a borrow while it calls out to JavaScript, so a callback may call back in.

#[cfg(feature = "models")]
mod connected;
#[cfg(feature = "models")]
mod embedding;
#[cfg(feature = "models")]
mod functions;
mod strict;
#[cfg(feature = "models")]
mod text;
mod timer;

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::ops::ControlFlow;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Poll, Waker};

use js_sys::{Error, Promise, Reflect, Uint8Array};
use serde::Serialize;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;

use crate::corpus::Corpus;
#[cfg(feature = "models")]
use crate::document::Document;
use crate::document::Hit;
use crate::driver::{DriveError, Offline, Perform, drive};
use crate::embedding::StaticEmbedder;
use crate::host::Host;
use crate::pipeline::budget::{Limits, Millis};
use crate::pipeline::run::Run;
use crate::pipeline::trace::Event;
use crate::problem::Problem;
use crate::solver::builtin;
use crate::wire::{Answer, AskRequest, Asked, SearchHit, SearchRequest, SearchResponse, Statistics};
#[cfg(feature = "models")]
use crate::wire::{DocumentInput, cost::EstimateRequest};

/// An index and the loop over it.
#[wasm_bindgen]
#[derive(Default)]
pub struct Engine {
    corpus: Rc<RefCell<Corpus>>,
    runs: Rc<RefCell<Vec<Running>>>,
    #[cfg(feature = "models")]
    connected: RefCell<Option<Rc<connected::Connected>>>,
    #[cfg(feature = "models")]
    projection: RefCell<Option<crate::embedding::Projection>>,
}

/// A run under way, by the number that JavaScript gave it.
struct Running {
    number: u32,
    cancelled: bool,
    waker: Option<Waker>,
}

#[cfg(feature = "models")]
#[derive(Serialize)]
struct Added {
    passages: usize,
}

#[wasm_bindgen]
impl Engine {
    /// An empty index.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the embedder from its table.
    #[wasm_bindgen(js_name = setEmbedder)]
    pub fn set_embedder(&self, table: Vec<u8>) -> Result<(), JsValue> {
        let embedder = StaticEmbedder::parse(table).map_err(crate::corpus::CorpusError::from).map_err(thrown)?;
        self.corpus.borrow_mut().set_embedder(embedder).map_err(thrown)
    }

    /// Sets whose word endings are cut: of an empty index, or as the index has it.
    #[wasm_bindgen(js_name = setStemming)]
    pub fn set_stemming(&self, of: &JsValue) -> Result<(), JsValue> {
        let stemming = strict::read(of).map_err(thrown)?;
        self.corpus.borrow_mut().set_stemming(stemming).map_err(thrown)
    }

    /// Replaces the index by a snapshot.
    pub fn load(&self, snapshot: Vec<u8>) -> Result<(), JsValue> {
        #[cfg(feature = "models")]
        if let Some(model) = self.embedding_model() {
            return self.corpus.borrow_mut().load_of(snapshot, &model).map_err(thrown);
        }
        self.corpus.borrow_mut().load(snapshot).map_err(thrown)
    }

    /// Indexes a document, a `DocumentInput`. The small module reads none: a page that adds one goes on in
    /// the module with models.
    #[cfg(feature = "models")]
    pub fn add(&self, document: &JsValue) -> Result<JsValue, JsValue> {
        let document: Document = strict::read::<DocumentInput>(document).map_err(thrown)?.into();
        let passages = self.corpus.borrow_mut().add(&document).map_err(thrown)?;
        to_js(&Added { passages })
    }

    /// Removes a document.
    pub fn remove(&self, document_id: &str) -> Result<bool, JsValue> {
        self.corpus.borrow_mut().remove(document_id).map_err(thrown)
    }

    /// Searches: a `SearchRequest` to a `SearchResponse`.
    pub fn search(&self, request: &JsValue) -> Result<JsValue, JsValue> {
        let request: SearchRequest = strict::read(request).map_err(thrown)?;
        let (query, k) = request.check().map_err(thrown)?;
        let corpus = self.corpus.borrow();
        found(corpus.find(&request.query(&query), k).map_err(crate::corpus::CorpusError::from).map_err(thrown)?)
    }

    /// Asks: an `AskRequest` to the promise of an `Answer`. See [`Listener`] for the events. The number is
    /// for [`Self::cancel`].
    pub fn ask(&self, request: &JsValue, listener: Listener, number: u32) -> Result<Promise, JsValue> {
        let mut asked = strict::read::<AskRequest>(request).and_then(|r| r.check(MOST)).map_err(thrown)?;
        let corpus = Rc::clone(&self.corpus);
        let running = Numbered::new(&self.runs, number);
        #[cfg(feature = "models")]
        if let Some(connected) = self.connected.borrow().clone() {
            asked.strategy = connected.services.followed(asked.strategy).map_err(thrown)?;
            return Ok(future_to_promise(async move {
                let performer = connected.remembering(&corpus, asked.language);
                answer(asked, &performer, connected.services.solver(), &listener, running).await
            }));
        }
        asked.strategy = asked.strategy.of_quotations().map_err(thrown)?;
        Ok(future_to_promise(async move {
            answer(asked, &Offline { corpus: &corpus }, builtin::NAME, &listener, running).await
        }))
    }

    /// Ends the run of that number, if it is under way, at its next event, and where it waits for services
    /// at once: its promise is rejected with the code `aborted`.
    pub fn cancel(&self, number: u32) {
        let mut runs = self.runs.borrow_mut();
        let Some(running) = runs.iter_mut().find(|running| running.number == number) else { return };
        running.cancelled = true;
        let waker = running.waker.take();
        drop(runs);
        waker.into_iter().for_each(Waker::wake);
    }

    /// What a run will cost: an `EstimateRequest` to an `Estimate`.
    #[cfg(feature = "models")]
    pub fn estimate(&self, request: &JsValue) -> Result<JsValue, JsValue> {
        to_js(&strict::read::<EstimateRequest>(request).and_then(EstimateRequest::check).map_err(thrown)?)
    }

    /// The index as a snapshot.
    pub fn save(&self) -> Uint8Array {
        Uint8Array::from(self.corpus.borrow().save().as_slice())
    }

    /// How much the index holds.
    pub fn statistics(&self) -> Result<JsValue, JsValue> {
        let corpus = self.corpus.borrow();
        shown(&Statistics { documents: corpus.index().documents(), passages: corpus.index().passages() })
    }
}

#[cfg(feature = "models")]
#[wasm_bindgen]
impl Engine {
    /// Sets who is asked: `ServiceSettings`, and the functions that it names by number.
    #[wasm_bindgen(js_name = setServices)]
    pub fn set_services(&self, settings: JsValue, functions: functions::PageFunctions) -> Result<(), JsValue> {
        let invalid = |message: String| thrown(Problem::new("invalid_option", 400, message));
        let settings: crate::service::ServiceSettings =
            serde_wasm_bindgen::from_value(settings).map_err(|error| invalid(error.to_string()))?;
        let services = crate::service::Services::new(&settings).map_err(|error| invalid(error.to_string()))?;
        let connected = connected::Connected::new(services, settings.cache.as_ref(), functions);
        self.connected.replace(Some(Rc::new(connected)));
        Ok(())
    }
}

/// What a run may take at the most, whatever its caller says: nobody else waits for it.
const MOST: Limits = Limits::within(1_000, 600_000, 2);

fn found(hits: Vec<Hit>) -> Result<JsValue, JsValue> {
    shown(&SearchResponse { hits: hits.into_iter().map(SearchHit::from).collect(), warnings: Vec::new() })
}

#[wasm_bindgen]
extern "C" {
    /// Who is told of events. While nobody wants them they are kept; at the end of a run whose answer has
    /// them all in its trace they are dropped.
    pub type Listener;

    /// Whether somebody listens.
    #[wasm_bindgen(method, getter)]
    fn wanted(this: &Listener) -> bool;

    /// Takes an event. What it throws is the page's affair, not the run's.
    #[wasm_bindgen(method, catch)]
    fn tell(this: &Listener, event: JsValue) -> Result<(), JsValue>;
}

/// A run in the list of those under way, until it is dropped.
struct Numbered {
    runs: Rc<RefCell<Vec<Running>>>,
    number: u32,
}

impl Numbered {
    fn new(runs: &Rc<RefCell<Vec<Running>>>, number: u32) -> Self {
        runs.borrow_mut().push(Running { number, cancelled: false, waker: None });
        Self { runs: Rc::clone(runs), number }
    }

    /// Whether it was cancelled; if it is later, that wakes the waker.
    fn is_cancelled(&self, waker: Option<&Waker>) -> bool {
        let mut runs = self.runs.borrow_mut();
        let Some(running) = runs.iter_mut().find(|running| running.number == self.number) else { return false };
        running.waker = waker.cloned().or(running.waker.take());
        running.cancelled
    }
}

impl Drop for Numbered {
    fn drop(&mut self) {
        self.runs.borrow_mut().retain(|running| running.number != self.number);
    }
}

/// Drives a run to its answer, telling each event.
async fn answer(
    asked: Asked,
    performer: &impl Perform,
    solver: &str,
    listener: &Listener,
    running: Numbered,
) -> Result<JsValue, JsValue> {
    let run = Run::new(asked.question, asked.strategy, asked.limits, Page.now());
    let untold = RefCell::new(Vec::new());
    let tell_all = || {
        for event in untold.take() {
            let _ = shown(&event).map(|data| listener.tell(data));
        }
    };
    let tell = |event: Event| {
        if running.is_cancelled(None) {
            return ControlFlow::Break(());
        }
        untold.borrow_mut().push(event);
        if listener.wanted() {
            tell_all();
        }
        ControlFlow::Continue(())
    };
    let mut driven = pin!(drive(run, &Page, performer, tell));
    let answer = poll_fn(|cx| {
        if running.is_cancelled(Some(cx.waker())) {
            return Poll::Ready(Err(DriveError::Cancelled));
        }
        driven.as_mut().poll(cx)
    });
    let answer = answer.await;
    let is_delta = |event: &Event| matches!(event, Event::DraftDelta { .. });
    if answer.is_err() || untold.borrow().iter().any(is_delta) || listener.wanted() {
        tell_all();
    }
    let answer = answer.map_err(thrown)?;
    performer.settle(&answer).await;
    shown(&Answer::new(answer, solver, asked.language).with_remembered(performer.remembered()))
}

/// A result for the client, which gives it its form: here as an object in `snake_case`. The small module has nothing
/// that writes numbers as text, and no room for it.
#[cfg(not(feature = "models"))]
fn shown<T: Serialize>(value: &T) -> Result<JsValue, JsValue> {
    let json = serde_wasm_bindgen::Serializer::json_compatible();
    value.serialize(&json).map_err(|e| thrown(Problem::new("internal", 500, e.to_string())))
}

/// A result for the client, which gives it its form: here as a text.
#[cfg(feature = "models")]
fn shown<T: Serialize>(value: &T) -> Result<JsValue, JsValue> {
    text::written(value).map(JsValue::from).map_err(|e| thrown(Problem::new("internal", 500, e.to_string())))
}

/// An object with the fields of a value as they are.
#[cfg(feature = "models")]
fn to_js<T: Serialize>(value: &T) -> Result<JsValue, JsValue> {
    let json = serde_json::to_string(value).map_err(|e| thrown(Problem::new("internal", 500, e.to_string())))?;
    js_sys::JSON::parse(&json)
}

/// A JavaScript `Error` with the problem's code.
fn thrown(problem: impl Into<Problem>) -> JsValue {
    let problem = problem.into();
    let error = Error::new(&problem.message);
    // Setting a property of a fresh Error cannot fail.
    let set = |name: &str, value: JsValue| Reflect::set(&error, &name.into(), &value);
    let _ = set("code", problem.code.into());
    let _ = set("serviceCode", problem.service_code.into());
    let _ = set("retryAfterMs", problem.retry_after.map(|time| time as f64).into());
    error.into()
}

/// The clock of a JavaScript host.
struct Page;

impl Host for Page {
    fn now(&self) -> Millis {
        js_sys::Date::now() as Millis
    }

    fn sleep(&self, duration: Millis) -> impl Future<Output = ()> {
        timer::sleep(duration)
    }
}
