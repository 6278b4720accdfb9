//! The façade for JavaScript: pages, Node, Deno, Bun. Requests come in and results go out as plain
//! objects in the words of [`crate::wire`]; the TypeScript client gives them their form.
//!
//! With the feature `models` it also asks models and searches the web; without it, it is as small as
//! can be and knows the built-in solver alone.
//!
//! No method holds a borrow while it calls out to JavaScript, so a callback may call back in.

#[cfg(feature = "models")]
mod connected;
#[cfg(feature = "models")]
mod embedding;
mod strict;

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::rc::Rc;

use gloo_timers::future::TimeoutFuture;
use js_sys::{Error, Function, Promise, Reflect, Uint8Array};
use serde::Serialize;
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;
use web_sys::AbortSignal;

use crate::corpus::Corpus;
use crate::document::{Document, Hit};
use crate::driver::{Offline, Perform, drive};
use crate::embedding::StaticEmbedder;
use crate::host::Host;
use crate::pipeline::budget::{Limits, Millis};
use crate::pipeline::run::Run;
use crate::pipeline::trace::Event;
use crate::problem::Problem;
use crate::solver::builtin;
use crate::wire::cost::EstimateRequest;
use crate::wire::{Answer, AskRequest, Asked, DocumentInput, SearchHit, SearchRequest, SearchResponse, Statistics};

/// An index and the loop over it.
#[wasm_bindgen]
#[derive(Default)]
pub struct Engine {
    corpus: Rc<RefCell<Corpus>>,
    #[cfg(feature = "models")]
    connected: RefCell<Option<Rc<connected::Connected>>>,
}

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

    /// Replaces the index by a snapshot.
    pub fn load(&self, snapshot: &[u8]) -> Result<(), JsValue> {
        #[cfg(feature = "models")]
        if let Some(model) = self.embedding_model() {
            return self.corpus.borrow_mut().load_of(snapshot, &model).map_err(thrown);
        }
        self.corpus.borrow_mut().load(snapshot).map_err(thrown)
    }

    /// Indexes a document, a `DocumentInput`.
    pub fn add(&self, document: &JsValue) -> Result<JsValue, JsValue> {
        let document: Document = strict::read::<DocumentInput>(document).map_err(thrown)?.into();
        let passages = self.corpus.borrow_mut().add(&document).map_err(thrown)?;
        to_js(&Added { passages })
    }

    /// Removes a document.
    pub fn remove(&self, document_id: &str) -> bool {
        self.corpus.borrow_mut().remove(document_id)
    }

    /// Searches: a `SearchRequest` to a `SearchResponse`.
    pub fn search(&self, request: &JsValue) -> Result<JsValue, JsValue> {
        let request: SearchRequest = strict::read(request).map_err(thrown)?;
        let (query, k) = request.check().map_err(thrown)?;
        let hits =
            self.corpus.borrow().search(query.as_str(), k).map_err(crate::corpus::CorpusError::from).map_err(thrown)?;
        found(hits)
    }

    /// Asks: an `AskRequest` to the promise of an `Answer`. `on_event` gets each event's name
    /// and data; once the signal is aborted the promise is rejected with the code `aborted`.
    pub fn ask(&self, request: &JsValue, on_event: Function, signal: Option<AbortSignal>) -> Result<Promise, JsValue> {
        #[cfg_attr(not(feature = "models"), allow(unused_mut))]
        let mut asked = strict::read::<AskRequest>(request).and_then(|r| r.check(MOST)).map_err(thrown)?;
        let corpus = Rc::clone(&self.corpus);
        #[cfg(feature = "models")]
        if let Some(connected) = self.connected.borrow().clone() {
            connected.services.serves(&asked.strategy).map_err(thrown)?;
            if connected.services.scores_passages() {
                asked.strategy = asked.strategy.in_batches();
            }
            return Ok(future_to_promise(async move {
                let performer = connected.performer(&corpus, asked.language);
                answer(asked, &performer, connected.services.solver(), &on_event, signal).await
            }));
        }
        Ok(future_to_promise(async move {
            answer(asked, &Offline { corpus: &corpus }, builtin::NAME, &on_event, signal).await
        }))
    }

    /// What a run will cost: an `EstimateRequest` to an `Estimate`.
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
        to_js(&Statistics { documents: corpus.index().documents(), passages: corpus.index().passages() })
    }
}

#[cfg(feature = "models")]
#[wasm_bindgen]
impl Engine {
    /// Sets who is asked: `ServiceSettings`, and the functions that it names by number.
    #[wasm_bindgen(js_name = setServices)]
    pub fn set_services(
        &self,
        settings: JsValue,
        models: js_sys::Array,
        searches: js_sys::Array,
    ) -> Result<(), JsValue> {
        let invalid = |message: String| thrown(Problem::new("invalid_option", 400, message));
        let settings: crate::service::ServiceSettings =
            serde_wasm_bindgen::from_value(settings).map_err(|error| invalid(error.to_string()))?;
        let services = crate::service::Services::new(&settings).map_err(|error| invalid(error.to_string()))?;
        self.connected.replace(Some(Rc::new(connected::Connected { services, models, searches })));
        Ok(())
    }
}

/// What a run may take at the most, whatever its caller says: nobody else waits for it.
const MOST: Limits = Limits { max_calls: 1_000, deadline: 600_000, retries: 2 };

fn found(hits: Vec<Hit>) -> Result<JsValue, JsValue> {
    to_js(&SearchResponse { hits: hits.into_iter().map(SearchHit::from).collect(), warnings: Vec::new() })
}

/// Drives a run to its answer, telling each event. An aborted signal ends it at the next event, and where
/// it waits for services at once.
async fn answer(
    asked: Asked,
    performer: &impl Perform,
    solver: &str,
    on_event: &Function,
    signal: Option<AbortSignal>,
) -> Result<JsValue, JsValue> {
    let run = Run::new(asked.question, asked.strategy, asked.limits, Page.now());
    let tell = |event: Event| {
        if signal.as_ref().is_some_and(AbortSignal::aborted) {
            return ControlFlow::Break(());
        }
        // A listener that throws is the page's affair, not the run's.
        let _ = to_js(&event).map(|data| on_event.call2(&JsValue::NULL, &event.name().into(), &data));
        ControlFlow::Continue(())
    };
    let driven = drive(run, &Page, performer, tell);
    #[cfg(feature = "models")]
    let driven = connected::unless_aborted(driven, signal.as_ref());
    let answer = driven.await;
    to_js(&Answer::new(answer.map_err(thrown)?, solver, asked.language))
}

fn to_js<T: Serialize>(value: &T) -> Result<JsValue, JsValue> {
    value.serialize(&Serializer::json_compatible()).map_err(|e| thrown(Problem::new("internal", 500, e.to_string())))
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

    /// The timer is cleared when the future is dropped, or it would keep Node from exiting. Timers count
    /// in 31 bits: a longer one would ring at once.
    async fn sleep(&self, duration: Millis) {
        TimeoutFuture::new(duration.min(i32::MAX as u64) as u32).await;
    }
}
