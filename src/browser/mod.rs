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
mod tasks;
#[cfg(feature = "models")]
mod text;
mod timer;

use std::cell::RefCell;
use std::future::Future;
use std::ops::ControlFlow;
use std::rc::Rc;

use js_sys::{Error, Function, Reflect, Uint8Array};
use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::corpus::Corpus;
#[cfg(feature = "models")]
use crate::document::Document;
use crate::document::Hit;
use crate::driver::{Offline, Perform, drive};
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
    #[cfg(feature = "models")]
    connected: RefCell<Option<Rc<connected::Connected>>>,
    #[cfg(feature = "models")]
    projection: RefCell<Option<crate::embedding::Projection>>,
}

#[cfg(feature = "models")]
#[derive(Serialize)]
struct Added {
    passages: usize,
}

#[wasm_bindgen]
impl Engine {
    /// An empty index. When a timer rings `ring` is called with its number, and hands it to [`ring`].
    #[wasm_bindgen(constructor)]
    pub fn new(ring: Function) -> Self {
        timer::set_ring(ring);
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

    /// Asks: an `AskRequest` to an `Answer`, which the caller is handed after [`start`]. Gives the number of the task.
    pub fn ask(&self, request: &JsValue, caller: Caller) -> Result<u32, JsValue> {
        let mut asked = strict::read::<AskRequest>(request).and_then(|r| r.check(MOST)).map_err(thrown)?;
        let corpus = Rc::clone(&self.corpus);
        #[cfg(feature = "models")]
        if let Some(connected) = self.connected.borrow().clone() {
            asked.strategy = connected.services.followed(asked.strategy).map_err(thrown)?;
            return Ok(tasks::begin(|task| async move {
                let performer = connected.remembering(&corpus, asked.language);
                let answer = answer(asked, &performer, connected.services.solver(), &caller, task).await;
                caller.hear(answer);
            }));
        }
        asked.strategy = asked.strategy.of_quotations().map_err(thrown)?;
        Ok(tasks::begin(|task| async move {
            let answer = answer(asked, &Offline { corpus: &corpus }, builtin::NAME, &caller, task).await;
            caller.hear(answer);
        }))
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

/// Gives a task its first turn; each that follows comes with what the task waits for.
#[wasm_bindgen]
pub fn start(task: u32) {
    tasks::start(task);
}

/// Drops a task and all it has under way: its caller hears no more of it. A run that is telling an event ends with
/// that.
#[wasm_bindgen]
pub fn cancel(task: u32) {
    tasks::cancel(task);
}

/// Takes the number of a timer that has rung.
#[wasm_bindgen]
pub fn ring(timer: u32) {
    timer::ring(timer);
    tasks::advance();
}

#[wasm_bindgen]
extern "C" {
    /// Who began a task. None of its methods throws.
    pub type Caller;

    /// Whether somebody listens to events. While nobody does they are kept; at the end of a run whose answer has them
    /// all in its trace they are dropped.
    #[wasm_bindgen(method)]
    fn wants(this: &Caller) -> bool;

    /// Takes an event.
    #[wasm_bindgen(method)]
    fn tell(this: &Caller, event: JsValue);

    /// Takes what came of the task.
    #[wasm_bindgen(method)]
    fn settle(this: &Caller, result: JsValue);

    /// Takes why nothing did.
    #[wasm_bindgen(method)]
    fn fail(this: &Caller, error: JsValue);
}

impl Caller {
    fn hear(&self, result: Result<JsValue, JsValue>) {
        match result {
            Ok(result) => self.settle(result),
            Err(error) => self.fail(error),
        }
    }
}

/// Drives a run to its answer, telling each event.
async fn answer(
    asked: Asked,
    performer: &impl Perform,
    solver: &str,
    caller: &Caller,
    task: u32,
) -> Result<JsValue, JsValue> {
    let run = Run::new(asked.question, asked.strategy, asked.limits, Page.now());
    let untold = RefCell::new(Vec::new());
    let tell_all = || {
        for event in untold.take() {
            let _ = shown(&event).map(|data| caller.tell(data));
        }
    };
    let tell = |event: Event| {
        untold.borrow_mut().push(event);
        if caller.wants() {
            tell_all();
        }
        if tasks::is_open(task) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let answer = drive(run, &Page, performer, tell).await;
    let is_delta = |event: &Event| matches!(event, Event::DraftDelta { .. });
    if answer.is_err() || untold.borrow().iter().any(is_delta) || caller.wants() {
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
