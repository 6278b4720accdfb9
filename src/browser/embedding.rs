//! Adding and searching with the vectors of a model elsewhere: what waits for a service before it comes
//! to the index. The vectors of a document go out to JavaScript and come back with it, so that an engine
//! that is built again need not ask for them again.

use std::rc::Rc;

use js_sys::Float32Array;
use wasm_bindgen::prelude::*;

use super::connected::Connected;
use super::{Added, Caller, Engine, found, strict, tasks, thrown, to_js};
use crate::corpus::{CorpusError, EmbeddingModel};
use crate::document::Document;
use crate::embedding::{Projection, TEACHER_DIMENSION};
use crate::pipeline::task::Failure;
use crate::prompt::Language;
use crate::wire::{DocumentInput, SearchRequest};

impl Engine {
    pub(super) fn embedding_model(&self) -> Option<EmbeddingModel> {
        self.connected.borrow().as_ref()?.services.embedding_model()
    }

    fn embedder(&self) -> Result<(Rc<Connected>, EmbeddingModel), JsValue> {
        let model = self.embedding_model();
        let model = model.ok_or_else(|| thrown(Failure::NotConfigured { service: "the embedding model" }))?;
        Ok((self.services()?, model))
    }

    fn services(&self) -> Result<Rc<Connected>, JsValue> {
        self.connected.borrow().clone().ok_or_else(|| thrown(Failure::NotConfigured { service: "a service" }))
    }
}

#[wasm_bindgen]
impl Engine {
    /// The vectors with which `addEmbedded` takes a document, a `DocumentInput`: all their components, one vector
    /// after the other, which the caller is handed. Gives the number of the task.
    pub fn vectors(&self, document: &JsValue, caller: Caller) -> Result<u32, JsValue> {
        let document: Document = strict::read::<DocumentInput>(document).map_err(thrown)?.into();
        let (connected, _) = self.embedder()?;
        let corpus = Rc::clone(&self.corpus);
        Ok(tasks::begin(|_| async move {
            let vectors = connected.performer(&corpus, Language::default()).vectors(&document).await;
            let components = vectors.map(|vectors| Float32Array::from(vectors.concat().as_slice()));
            caller.hear(components.map(Into::into).map_err(thrown));
        }))
    }

    /// Indexes a document with its vectors.
    #[wasm_bindgen(js_name = addEmbedded)]
    pub fn add_embedded(&self, document: &JsValue, components: &[f32]) -> Result<JsValue, JsValue> {
        let document: Document = strict::read::<DocumentInput>(document).map_err(thrown)?.into();
        let (_, model) = self.embedder()?;
        let mut corpus = self.corpus.borrow_mut();
        // What does not divide evenly is no vector of the model, and refused as such.
        let dimension = components.len() / corpus.texts(&document).map_err(thrown)?.len().max(1);
        let vectors = components.chunks(dimension.max(1)).map(<[f32]>::to_vec).collect();
        let passages = corpus.add_embedded(&document, &model, vectors).map_err(thrown)?;
        to_js(&Added { passages })
    }

    /// Sets the projection of the teacher's vectors from its file.
    #[wasm_bindgen(js_name = setProjection)]
    pub fn set_projection(&self, file: &[u8]) -> Result<(), JsValue> {
        let projection = Projection::parse(file).map_err(CorpusError::from).map_err(thrown)?;
        self.projection.replace(Some(projection));
        Ok(())
    }

    /// The texts whose vectors `addProjected` takes, in order: those of a document, a `DocumentInput`.
    pub fn texts(&self, document: &JsValue) -> Result<Vec<String>, JsValue> {
        let document: Document = strict::read::<DocumentInput>(document).map_err(thrown)?.into();
        self.corpus.borrow().texts(&document).map_err(thrown)
    }

    /// Indexes a document with the teacher's vectors, one after the other.
    #[wasm_bindgen(js_name = addProjected)]
    pub fn add_projected(&self, document: &JsValue, components: &[f32]) -> Result<JsValue, JsValue> {
        let document: Document = strict::read::<DocumentInput>(document).map_err(thrown)?.into();
        let projection = self.projection.borrow();
        let projection =
            projection.as_ref().ok_or_else(|| thrown(Failure::NotConfigured { service: "the projection" }))?;
        let vectors: Vec<&[f32]> = components.chunks(TEACHER_DIMENSION).collect();
        let passages = self.corpus.borrow_mut().add_projected(&document, projection, &vectors).map_err(thrown)?;
        to_js(&Added { passages })
    }

    /// Searches, by the query's vector too, or has the host's retriever search: a `SearchRequest` to a `SearchResponse`,
    /// which the caller is handed. Gives the number of the task.
    #[wasm_bindgen(js_name = searchEmbedded)]
    pub fn search_embedded(&self, request: &JsValue, caller: Caller) -> Result<u32, JsValue> {
        let request: SearchRequest = strict::read(request).map_err(thrown)?;
        let (query, k) = request.check().map_err(thrown)?;
        let connected = self.services()?;
        let corpus = Rc::clone(&self.corpus);
        Ok(tasks::begin(|_| async move {
            let searched = connected.performer(&corpus, Language::default()).find(&request.query(&query), k).await;
            caller.hear(searched.map_err(thrown).and_then(|(hits, _)| found(hits)));
        }))
    }
}
