//! Vectors from an embedding model: of a query, and of a document's passages.
//!
//! A query that cannot be embedded is searched for by words alone, and the answer says so. A document
//! is indexed with all its vectors or not at all.

use super::call::{Bounds, call};
use super::circuit::Circuit;
use super::exchange::Embedding;
use super::{Performer, Platform, Services, TimeoutSettings};
use crate::corpus::EmbeddingModel;
use crate::document::{Document, Hit};
use crate::driver::{Told, searched};
use crate::host::Network;
use crate::index::SearchQuery;
use crate::pipeline::budget::{Limits, Millis};
use crate::pipeline::run::{Outcome, Reply};
use crate::pipeline::task::Failure;
use crate::problem::Problem;
use crate::provider::embed::{EmbedModel, EmbedRequest, MAX_TEXT_BYTES, Purpose, batches};
use crate::retry::RetryPolicy;

const SERVICE: &str = "the embedding model";

/// Somebody waits for the answer to a query.
const QUERY_HEADERS: Millis = 10_000;

/// A model on a machine without a graphics card reads a batch in this time.
const BATCH_HEADERS: Millis = 120_000;

/// Nobody waits for an index, and what was embedded of it is paid for: a service that limits the rate is
/// waited for, and one that stumbles is asked again.
const PATIENT: RetryPolicy =
    RetryPolicy { retries: 5, ambiguous: 3, longest_hint: 90_000, longest_backoff: 30_000, shortest_call: 1_000 };

/// An embedding model.
#[derive(Debug)]
pub(super) struct Embedder {
    pub model: EmbedModel,
    pub circuit: Circuit,
    pub timeouts: TimeoutSettings,
}

impl Embedder {
    /// The vectors of texts that fit a request, and how often the model was called for them. `name` is for a
    /// text whose vector cannot be used.
    async fn embed<N: Network>(
        &self,
        (texts, purpose): (Vec<String>, Purpose),
        name: impl Fn(usize) -> String,
        dimension: Option<usize>,
        network: &N,
        bounds: Bounds,
    ) -> (Result<Vec<Vec<f32>>, Failure>, u32) {
        let failed = |code, detail, retry_after| Failure::Service { service: SERVICE, code, detail, retry_after };
        if bounds.may_call == 0 {
            return (Err(failed("budget_exceeded", "no call is left for it: raise max_calls".to_owned(), None)), 0);
        }
        let asked = match EmbedRequest::new(texts, dimension) {
            Ok(asked) => asked.to(purpose),
            Err(error) => return (Err(failed("invalid_request", error.to_string(), None)), 0),
        };
        let asking = Embedding { model: &self.model, circuit: &self.circuit, asked: &asked };
        let done = call(network, &asking, bounds, &Told::default()).await;
        let result = done.result.map_err(|f| {
            let whose = f.error.text().map(|at| format!(" ({})", name(at))).unwrap_or_default();
            failed(f.error.code(), format!("{}{whose}", f.error), f.retry_after)
        });
        (result, done.called)
    }
}

impl Services {
    /// The model that makes vectors.
    pub fn embedding_model(&self) -> Option<EmbeddingModel> {
        let EmbedModel { model, dimensions, .. } = &self.embed.as_ref()?.model;
        Some(EmbeddingModel { name: model.clone(), dimension: *dimensions })
    }
}

impl<N: Platform> Performer<'_, N> {
    /// Searches the index; where it has vectors of the model, by the query's vector too. A retriever of the
    /// host's own is asked instead, if there is one.
    pub async fn retrieve(&self, query: &str, k: usize, may_call: u32, deadline: Millis) -> Outcome {
        self.retrieve_by(&SearchQuery { text: query, ..SearchQuery::default() }, k, may_call, deadline).await
    }

    async fn retrieve_by(&self, query: &SearchQuery<'_>, k: usize, may_call: u32, deadline: Millis) -> Outcome {
        if let Some(retriever) = self.services.retriever {
            return Outcome::without_tokens(self.found_by(retriever, query.text, k).await, 0);
        }
        let dimension = self.corpus.borrow().index().identity().map(|identity| identity.dimension);
        let (Some(embedder), Some(dimension)) = (&self.services.embed, dimension) else {
            return Outcome::without_tokens(searched(self.corpus.borrow().find(query, k)), 0);
        };
        let timeouts = embedder.timeouts.or(QUERY_HEADERS);
        let bounds = Bounds { may_call, deadline, timeouts, policy: self.policy };
        let (vectors, called) = {
            let asked = (vec![query.text.to_owned()], Purpose::Query);
            embedder.embed(asked, |_| "the query".to_owned(), Some(dimension), self.network, bounds).await
        };
        let corpus = self.corpus.borrow();
        let near = |vector| searched(corpus.index().search(&SearchQuery { vector, ..*query }, k));
        let reply = match vectors {
            Ok(vectors) => near(vectors.first().map(Vec::as_slice)),
            Err(failure) => match near(None) {
                Reply::Hits(hits) => Reply::ByWords(hits, failure),
                other => other,
            },
        };
        // Its tokens are not those of the model that answers, and cost a small part of them.
        Outcome::without_tokens(reply, called)
    }

    /// Searches outside of a run: what is found, and why by words alone if it is.
    pub async fn find(&self, query: &SearchQuery<'_>, k: usize) -> Result<(Vec<Hit>, Option<Failure>), Problem> {
        let deadline = self.network.now() + Limits::default().deadline;
        match self.retrieve_by(query, k, 1 + self.policy.retries, deadline).await.reply {
            Reply::Hits(hits) => Ok((hits, None)),
            Reply::ByWords(hits, failure) => Ok((hits, Some(failure))),
            Reply::Failed(failure) => Err(failure.into()),
            Reply::Web(_) | Reply::Task(_) => Err(Failure::Malformed { task: "search" }.into()),
        }
    }

    /// The vectors with which the corpus takes the document.
    pub async fn vectors(&self, document: &Document) -> Result<Vec<Vec<f32>>, Problem> {
        let embedder = self.services.embed.as_ref().ok_or(Failure::NotConfigured { service: SERVICE })?;
        let mut texts = self.corpus.borrow().texts(document)?;
        // Only a block that cannot be split is as long as that; its beginning says what it is about.
        for text in &mut texts {
            text.truncate(text.floor_char_boundary(MAX_TEXT_BYTES));
        }
        let mut dimension = self.corpus.borrow().index().identity().map(|identity| identity.dimension);
        dimension = dimension.or(embedder.model.dimensions);
        let timeouts = embedder.timeouts.or(BATCH_HEADERS);
        let bounds = Bounds { may_call: 1 + PATIENT.retries, deadline: Millis::MAX, timeouts, policy: PATIENT };
        let mut vectors: Vec<Vec<f32>> = Vec::new();
        for batch in batches(&texts, embedder.model.codec.limits()) {
            let name = |at| format!("passage {}#{}", document.id, batch.start + at);
            let asked = (texts[batch.clone()].to_vec(), Purpose::Document);
            vectors.extend(embedder.embed(asked, name, dimension, self.network, bounds).await.0?);
            dimension = vectors.first().map(Vec::len);
        }
        Ok(vectors)
    }
}
