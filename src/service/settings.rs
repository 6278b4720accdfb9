//! Which services there are, as a page or an operator says it, checked once.

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;

use serde::Deserialize;

use super::cache::{Cache, DEFAULT_BYTES};
use super::circuit::Circuit;
use super::embed::Embedder;
use super::remote::Remote;
use super::{Chat, Continuing, Role, Services, Solver, TimeoutSettings, Web};
use crate::pipeline::budget::Millis;
use crate::provider::chat::{self, ChatModel};
use crate::provider::completions::Completions;
use crate::provider::embed::{self, EmbedModel};
use crate::provider::http::{Endpoint, EndpointError, Secret};
use crate::provider::search::{self, SearchEngine, SearchOptions};
use crate::provider::vendor::{self, Vendor};

/// Where a service is, and how long it may take.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
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
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum SolverSettings {
    /// The built-in solver.
    #[default]
    Builtin,
    /// A chat model of a vendor.
    Chat {
        /// Its name in [`chat::VENDORS`].
        vendor: String,
        /// The model's name at the vendor.
        model: String,
        /// The endpoint.
        #[serde(default)]
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
    /// Several, in the order in which they are asked: the next when one fails.
    Ordered {
        /// Models, none of them the built-in solver, a scorer or a list.
        of: Vec<SolverSettings>,
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
    /// A vendor's search.
    Vendor {
        /// Its name in [`search::VENDORS`].
        vendor: String,
        /// The endpoint.
        #[serde(default)]
        place: Place,
        /// What some vendors let their callers choose.
        #[serde(default)]
        options: SearchOptions,
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

/// Who makes vectors: an embedding model of a vendor.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmbedSettings {
    /// Its name in [`embed::VENDORS`].
    pub vendor: String,
    /// The model's name at the vendor.
    pub model: String,
    /// The dimensions of its vectors, of a model that lets its callers choose.
    #[serde(default)]
    pub dimensions: Option<usize>,
    /// The endpoint.
    #[serde(default)]
    pub place: Place,
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
    /// No such vendor.
    #[error("there is no vendor of that name: there are {known}")]
    NoVendor {
        /// Those that there are.
        known: String,
    },
    /// It would be ignored.
    #[error("this vendor's search has no {option} to choose: leave it out")]
    NoChoice {
        /// What is set.
        option: &'static str,
    },
    /// There is no usual one.
    #[error("give the base URL, for instance https://api.openai.com/v1")]
    NoBaseUrl,
    /// A draft has no score.
    #[error("a scorer can only grade: give it as `grade`")]
    NotScored,
    /// Nobody to ask, or somebody who cannot stand in for a model.
    #[error("a list names 1 to 8 models, functions or Workers")]
    NotOrdered,
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
        // Roles with the same settings share what is learned of a service.
        let mut made = Vec::new();
        let mut of = |role: Role, settings| {
            solvers(role, settings, &mut made).map_err(|error| ServiceError { service: role.name(), error })
        };
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

/// One solver, or those of a list.
fn solvers<'a>(role: Role, settings: &'a SolverSettings, made: &mut Made<'a>) -> Result<Vec<Solver>, PlaceError> {
    let SolverSettings::Ordered { of } = settings else { return Ok(vec![known_solver(role, settings, made)?]) };
    if !(1..=MAX_ORDERED).contains(&of.len()) {
        return Err(PlaceError::NotOrdered);
    }
    of.iter().map(|settings| known_solver(role, settings, made)?.in_order()).collect()
}

/// The solvers that there are already, by their settings.
type Made<'a> = Vec<(&'a SolverSettings, Solver)>;

fn known_solver<'a>(role: Role, settings: &'a SolverSettings, made: &mut Made<'a>) -> Result<Solver, PlaceError> {
    let solver = match made.iter().find(|(of, _)| *of == settings && !matches!(of, SolverSettings::Scorer { .. })) {
        Some((_, solver)) => solver.clone(),
        None => solver(role, settings)?,
    };
    made.push((settings, solver.clone()));
    Ok(solver)
}

/// Nobody has more.
const MAX_ORDERED: usize = 8;

impl Solver {
    /// The built-in solver fails at nothing that another could do, and a scorer does nothing else.
    fn in_order(self) -> Result<Self, PlaceError> {
        if matches!(self, Self::Builtin | Self::Scorer(_)) { Err(PlaceError::NotOrdered) } else { Ok(self) }
    }
}

fn solver(role: Role, settings: &SolverSettings) -> Result<Solver, PlaceError> {
    Ok(match settings {
        SolverSettings::Ordered { .. } => return Err(PlaceError::NotOrdered),
        SolverSettings::Scorer { .. } if role != Role::Grade => return Err(PlaceError::NotScored),
        SolverSettings::Scorer { number } => Solver::Scorer(*number),
        SolverSettings::Builtin => Solver::Builtin,
        SolverSettings::Own { number } => Solver::Own(*number),
        SolverSettings::Worker { place } => Solver::Worker(remote(place)?),
        SolverSettings::Chat { vendor, model, place, confidence } => {
            let vendor = known(chat::VENDORS, vendor)?;
            let (endpoint, model) = (endpoint(place, vendor.base)?, named(model)?.to_owned());
            let silent = Cell::new(!vendor.codec.tells_logprobs());
            let (model, timeouts) = (ChatModel { codec: vendor.codec, endpoint, model }, timeouts(place)?);
            let (confidence, plain, own_temperature) = (*confidence, Cell::default(), Cell::default());
            let circuit = Circuit::default();
            Solver::Chat(Rc::new(Chat { model, timeouts, confidence, plain, silent, own_temperature, circuit }))
        }
        SolverSettings::Completions { model, place } => {
            let codec = Completions { endpoint: endpoint(place, None)?, model: named(model)?.to_owned() };
            Solver::Completions(Rc::new(Continuing { codec, timeouts: timeouts(place)?, circuit: Circuit::default() }))
        }
    })
}

/// The line of a table.
fn known<C: ?Sized>(vendors: &'static [Vendor<C>], name: &str) -> Result<&'static Vendor<C>, PlaceError> {
    let unknown = || PlaceError::NoVendor { known: vendor::names(vendors) };
    vendor::vendor(vendors, name.trim()).ok_or_else(unknown)
}

fn embedder(settings: &EmbedSettings) -> Result<Embedder, PlaceError> {
    let EmbedSettings { vendor, model, dimensions, place } = settings;
    let dimensions = *dimensions;
    if dimensions.is_some_and(|dimensions| !(1..=MAX_DIMENSIONS).contains(&dimensions)) {
        return Err(PlaceError::Dimensions);
    }
    let vendor = known(embed::VENDORS, vendor)?;
    let (endpoint, model) = (endpoint(place, vendor.base)?, named(model)?.to_owned());
    let model = EmbedModel { codec: vendor.codec, endpoint, model, dimensions };
    Ok(Embedder { model, timeouts: timeouts(place)?, circuit: Circuit::default() })
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
        WebSettings::Vendor { vendor, place, options } => {
            let vendor = known(search::VENDORS, vendor)?;
            if let Some(option) = options.given().find(|option| !vendor.codec.choices().contains(option)) {
                return Err(PlaceError::NoChoice { option });
            }
            let (endpoint, options) = (endpoint(place, vendor.base)?, options.clone());
            Web::Vendor(SearchEngine { codec: vendor.codec, endpoint, options }, timeouts(place)?, Circuit::default())
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
