//! Which services there are, as a page or an operator says it, checked once.

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;

use serde::Deserialize;

use super::cache::{Cache, DEFAULT_BYTES};
use super::embed::Embedder;
use super::remote::Remote;
use super::{Chat, Continuing, Role, Services, Solver, TimeoutSettings, Web};
use crate::pipeline::budget::Millis;
use crate::provider::chat::openai::OpenAiChat;
use crate::provider::completions::Completions;
use crate::provider::embed::openai::OpenAiEmbed;
use crate::provider::http::{Endpoint, EndpointError, Secret};
use crate::provider::search::tavily::{self, Tavily};

/// Where a service is, and how long it may take.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// The base URL; the service's usual one if absent.
    pub base_url: Option<String>,
    /// The key.
    pub key: Option<String>,
    /// Milliseconds until the headers of a reply.
    pub headers_ms: Option<Millis>,
    /// Milliseconds between two pieces of a reply.
    pub idle_ms: Option<Millis>,
}

/// Nothing: before it is checked, the base URL may hold a key too.
impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Place").finish_non_exhaustive()
    }
}

/// Who answers the tasks of a role.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum SolverSettings {
    /// The built-in solver.
    #[default]
    Builtin,
    /// A model behind an OpenAI-compatible endpoint.
    OpenAi {
        /// Its name at the service.
        model: String,
        /// The endpoint.
        place: Place,
        /// Whether its grades come with the probability of yes as their score, where the service tells
        /// log probabilities. The verdict is what the model wrote all the same.
        #[serde(default)]
        confidence: bool,
    },
    /// A model behind a completions endpoint: a released Self-RAG checkpoint.
    Completions {
        /// Its name at the service.
        model: String,
        /// The endpoint.
        place: Place,
    },
    /// A Worker of ours.
    Worker {
        /// Where it is.
        place: Place,
    },
    /// A model that the host has itself.
    Own {
        /// Its number.
        number: u32,
    },
    /// A scorer of passages that the host has itself; it can do nothing but grade.
    Scorer {
        /// Its number.
        number: u32,
    },
}

/// Who searches the web.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum WebSettings {
    /// Tavily, or a relay of it.
    Tavily {
        /// The endpoint.
        place: Place,
    },
    /// A Worker of ours.
    Worker {
        /// Where it is.
        place: Place,
    },
    /// A search that the host has itself.
    Own {
        /// Its number.
        number: u32,
    },
}

/// Who makes vectors.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum EmbedSettings {
    /// A model behind an OpenAI-compatible endpoint.
    OpenAi {
        /// Its name at the service.
        model: String,
        /// The dimensions of its vectors, of a model that lets its callers choose.
        #[serde(default)]
        dimensions: Option<usize>,
        /// The endpoint.
        place: Place,
    },
}

/// Everything that can be set.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServiceSettings {
    /// Grades passages.
    pub grade: SolverSettings,
    /// Writes queries.
    pub rewrite: SolverSettings,
    /// Writes drafts.
    pub generate: SolverSettings,
    /// Checks drafts.
    pub check: SolverSettings,
    /// Searches the web.
    pub search: Option<WebSettings>,
    /// Makes the vectors of queries and documents, in place of the embedder's table.
    pub embed: Option<EmbedSettings>,
    /// The number of a retriever that the host has itself, in place of the index.
    pub retriever: Option<u32>,
    /// What models said is kept, and not asked again.
    pub cache: Option<CacheSettings>,
}

/// What is kept of what models said.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CacheSettings {
    /// The most bytes in memory.
    pub max_bytes: Option<usize>,
    /// What the models are called that are functions of the host: without a name what they say is not stored.
    pub name: Option<String>,
    /// Whether the host has a store.
    pub store: bool,
}

impl CacheSettings {
    /// An empty cache of that kind.
    pub fn cache(&self) -> Cache {
        Cache::new(self.max_bytes.unwrap_or(DEFAULT_BYTES), self.name.clone().unwrap_or_default())
    }
}

/// A setting that cannot be used. Values are not repeated: they may be keys.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{service}: {error}")]
pub struct ServiceError {
    /// What is set.
    pub service: &'static str,
    /// What is wrong with it.
    pub error: PlaceError,
}

/// What is wrong with a setting.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlaceError {
    /// The base URL or the key.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// There is no usual one.
    #[error("give the base URL, for instance https://api.openai.com/v1")]
    NoBaseUrl,
    /// A draft has no score.
    #[error("a scorer can only grade: give it as `grade`")]
    NotScored,
    /// Models have names.
    #[error("give the model's name")]
    NoModel,
    /// No model has as many.
    #[error("dimensions must be 1 to 8,192")]
    Dimensions,
    /// Nothing is that fast.
    #[error("a timeout must be 1 to 600,000 milliseconds")]
    Timeout,
}

impl Services {
    /// Checks the settings.
    pub fn new(settings: &ServiceSettings) -> Result<Self, ServiceError> {
        let of =
            |role: Role, settings| solver(role, settings).map_err(|error| ServiceError { service: role.name(), error });
        let search = settings.search.as_ref().map(web).transpose();
        let embed = settings.embed.as_ref().map(embedder).transpose();
        Ok(Self {
            solvers: [
                of(Role::Grade, &settings.grade)?,
                of(Role::Rewrite, &settings.rewrite)?,
                of(Role::Generate, &settings.generate)?,
                of(Role::Check, &settings.check)?,
            ],
            web: search.map_err(|error| ServiceError { service: "search", error })?,
            embed: embed.map_err(|error| ServiceError { service: "embed", error })?,
            retriever: settings.retriever,
        })
    }
}

fn solver(role: Role, settings: &SolverSettings) -> Result<Solver, PlaceError> {
    Ok(match settings {
        SolverSettings::Scorer { .. } if role != Role::Grade => return Err(PlaceError::NotScored),
        SolverSettings::Scorer { number } => Solver::Scorer(*number),
        SolverSettings::Builtin => Solver::Builtin,
        SolverSettings::Own { number } => Solver::Own(*number),
        SolverSettings::Worker { place } => Solver::Worker(remote(place)?),
        SolverSettings::OpenAi { model, place, confidence } => {
            let (codec, timeouts) = (OpenAiChat::new(endpoint(place, None)?, named(model)?), timeouts(place)?);
            let (plain, silent) = (Cell::default(), Cell::default());
            Solver::Chat(Rc::new(Chat { codec, timeouts, confidence: *confidence, plain, silent }))
        }
        SolverSettings::Completions { model, place } => {
            let codec = Completions { endpoint: endpoint(place, None)?, model: named(model)?.to_owned() };
            Solver::Completions(Rc::new(Continuing { codec, timeouts: timeouts(place)? }))
        }
    })
}

fn embedder(settings: &EmbedSettings) -> Result<Embedder, PlaceError> {
    let EmbedSettings::OpenAi { model, dimensions, place } = settings;
    if dimensions.is_some_and(|dimensions| !(1..=MAX_DIMENSIONS).contains(&dimensions)) {
        return Err(PlaceError::Dimensions);
    }
    let (endpoint, model) = (endpoint(place, None)?, named(model)?.to_owned());
    Ok(Embedder { codec: OpenAiEmbed { endpoint, model, dimensions: *dimensions }, timeouts: timeouts(place)? })
}

/// What a reply is read for at the most.
const MAX_DIMENSIONS: usize = 8_192;

fn named(model: &str) -> Result<&str, PlaceError> {
    let model = model.trim();
    if model.is_empty() { Err(PlaceError::NoModel) } else { Ok(model) }
}

fn web(settings: &WebSettings) -> Result<Web, PlaceError> {
    Ok(match settings {
        WebSettings::Own { number } => Web::Own(*number),
        WebSettings::Worker { place } => Web::Worker(remote(place)?),
        WebSettings::Tavily { place } => {
            Web::Tavily(Tavily { endpoint: endpoint(place, Some(tavily::BASE))? }, timeouts(place)?)
        }
    })
}

fn remote(place: &Place) -> Result<Rc<Remote>, PlaceError> {
    Ok(Rc::new(Remote { endpoint: endpoint(place, None)?, timeouts: timeouts(place)? }))
}

fn endpoint(place: &Place, usual: Option<&str>) -> Result<Endpoint, PlaceError> {
    let base = place.base_url.as_deref().or(usual).ok_or(PlaceError::NoBaseUrl)?;
    let key = place.key.as_deref().map(Secret::parse).transpose()?;
    Ok(Endpoint::parse(base, key)?)
}

fn timeouts(place: &Place) -> Result<TimeoutSettings, PlaceError> {
    let given = [place.headers_ms, place.idle_ms];
    if given.into_iter().flatten().all(|time| (1..=600_000).contains(&time)) {
        Ok(TimeoutSettings { headers: place.headers_ms, idle: place.idle_ms })
    } else {
        Err(PlaceError::Timeout)
    }
}
