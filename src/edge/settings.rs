//! The Worker's settings, parsed once for each request from its variables and secrets into types.
//!
//! | variable | default | |
//! |---|---|---|
//! | `INDEX_PATH` | `/docs.ccx` | the index, a path in the assets |
//! | `EMBEDDER_PATH` | `/pkg/embedder.bin` | the embedder's table, a path in the assets; empty: search by words alone |
//! | `ALLOWED_ORIGINS` | | the sites whose pages may ask, for instance `https://docs.example.com`, separated by commas |
//! | `CHAT_MODEL` | | the model's name at its vendor; without it the built-in solver answers |
//! | `CHAT_VENDOR` | `openai` | who that is, or whom it speaks like |
//! | `CHAT_BASE_URL` | the vendor's | where that is, for instance `https://api.openai.com/v1`; of `workers-ai` the binding `AI` |
//! | `CHAT_API_KEY` | | a secret: the key for it |
//! | `CHAT_PROTOCOL` | `chat` | `completions` for a model that continues text: a Self-RAG checkpoint |
//! | `CHAT_HEADERS_TIMEOUT_MS`, `CHAT_IDLE_TIMEOUT_MS` | 20,000 (a draft 25,000), 15,000 | how long the model may take to begin, and between two pieces |
//! | `CHAT_CONFIDENCE` | | `yes`: grades come with the probability of yes as their score, where the service tells it |
//! | `SEARCH_API_KEY` | | a secret: the key for web search |
//! | `SEARCH_VENDOR` | `tavily` | who searches |
//! | `SEARCH_BASE_URL` | the vendor's | where that is, or a relay of it |
//! | `SEARCH_MODEL`, `SEARCH_ENGINE`, `SEARCH_GATEWAY` | the vendor's | what some vendors let one choose |
//! | `EMBED_MODEL` | | the model that makes the vectors of queries, in place of the embedder's table: the one that the index was made with |
//! | `EMBED_VENDOR`, `EMBED_BASE_URL` | `openai`, the vendor's | who has it, and where |
//! | `EMBED_API_KEY` | | a secret: the key for it |
//! | `EMBED_DIMENSIONS` | the model's | the dimensions that the index was made with, where they were chosen |
//! | `CACHE_BYTES` | | how many bytes of what the model said are kept in an isolate's memory, for instance `4000000` |
//! | `LOCAL` | | `yes`: for one's own machine, where the rule below does not hold |
//!
//! The vendor `cloudflare` of web searches, and `workers-ai` of models, are asked by the binding `AI` where no
//! base URL is set. Whoever can reach a Worker with a key or that binding spends the operator's money. So a key is only used where
//! `ALLOWED_ORIGINS` is set and a rate limit is bound as `RATE_LIMITER`.

use std::str::FromStr;

use crate::edge::origins::{OriginError, Origins};
use crate::problem::Problem;
use crate::provider::chat::workers_ai::BINDING;
use crate::provider::search::SearchOptions;
use crate::service::{EmbedSettings, Place, ServiceError, ServiceSettings, Services, SolverSettings, WebSettings};

const INDEX_PATH: &str = "/docs.ccx";
const EMBEDDER_PATH: &str = "/pkg/embedder.bin";

/// The binding of the rate limit.
pub const RATE_LIMITER: &str = "RATE_LIMITER";

/// The binding of the KV namespace that keeps what models said.
pub const CACHE: &str = "CACHE";

/// What an operator can set.
#[derive(Debug)]
pub struct Settings {
    /// Where the index is in the assets.
    pub index_path: String,
    /// Where the embedder's table is in the assets; none: words alone.
    pub embedder_path: Option<String>,
    /// The other sites whose pages may read replies.
    pub allowed_origins: Origins,
    /// The models and the web search.
    pub services: Services,
    /// How much of what models said is kept in memory; none: nothing, unless KV is bound.
    pub cache_bytes: Option<usize>,
    /// Whether a key or a binding is used, and this is not the operator's own machine.
    guarded: bool,
}

/// A variable that cannot be used: the operator's mistake, never the caller's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// The variable is JSON, a binding, anything but text.
    #[error("{name} is not text: write it as a string in [vars]")]
    NotText {
        /// The variable.
        name: &'static str,
    },
    /// It is no path in the assets.
    #[error("{name} is {value:?}: it must be the path of a file in the assets, from / on, for instance {example}")]
    Path {
        /// The variable.
        name: &'static str,
        /// Its value.
        value: String,
        /// A value that would do.
        example: &'static str,
    },
    /// It names no origin.
    #[error(transparent)]
    Origin(#[from] OriginError),
    /// It is no number.
    #[error("{name} is not a whole number")]
    Number {
        /// The variable.
        name: &'static str,
    },
    /// It is neither yes nor no.
    #[error("{name} must be yes or no")]
    Flag {
        /// The variable.
        name: &'static str,
    },
    /// It is neither of the protocols.
    #[error("CHAT_PROTOCOL must be chat or completions")]
    Protocol,
    /// A model or the search; values are not repeated, they may be keys.
    #[error("one of the variables CHAT_…, SEARCH_… and EMBED_… cannot be used: {0}")]
    Service(#[from] ServiceError),
    /// A part of what belongs together.
    #[error("{given} is set, but not {missing}: set both or neither")]
    Half {
        /// What is there.
        given: &'static str,
        /// What is not.
        missing: &'static str,
    },
    /// What a model that continues text has not.
    #[error("{given} is set, but CHAT_PROTOCOL is completions, which has none: take one of the two out")]
    NotContinued {
        /// What is set.
        given: &'static str,
    },
    /// Anybody could spend the operator's money.
    #[error(
        "a key or the binding AI is used without {missing}: anybody could spend its money. Set ALLOWED_ORIGINS to the sites whose pages \
         may ask and bind a rate limit as RATE_LIMITER; on your own machine set LOCAL to \"yes\" instead"
    )]
    Unguarded {
        /// What is not there.
        missing: &'static str,
    },
}

type Variable = Result<Option<String>, SettingsError>;

impl Settings {
    /// Reads the settings; `variable` looks one up by its name.
    pub fn parse(variable: impl Fn(&'static str) -> Variable) -> Result<Self, SettingsError> {
        let set = |name| Ok(variable(name)?.filter(|value| !value.trim().is_empty()));
        let embedder_path = match variable("EMBEDDER_PATH")? {
            Some(empty) if empty.trim().is_empty() => None,
            given => Some(path("EMBEDDER_PATH", given, EMBEDDER_PATH)?),
        };
        let [chat_key, search_key, embed_key] = [set("CHAT_API_KEY")?, set("SEARCH_API_KEY")?, set("EMBED_API_KEY")?];
        let has_key = [&chat_key, &search_key, &embed_key].into_iter().any(Option::is_some);
        let vendors = [set("CHAT_VENDOR")?, set("SEARCH_VENDOR")?, set("EMBED_VENDOR")?];
        let is_bound = vendors.into_iter().flatten().any(|vendor| bound(&vendor).is_some());
        let is_local = is_yes(&set, "LOCAL")?;
        for (needed, details) in DETAILS {
            let given = |name: &&'static str| set(name).map(|value| value.map(|_| *name)).transpose();
            if let (None, Some(given)) = (set(needed)?, details.iter().find_map(given).transpose()?) {
                return Err(SettingsError::Half { given, missing: needed });
            }
        }
        let solver = solver(&set, chat_key)?;
        let services = ServiceSettings {
            grade: solver.clone(),
            rewrite: solver.clone(),
            generate: solver.clone(),
            check: solver,
            search: web(&set, search_key)?,
            embed: embedder(&set, embed_key)?,
            retriever: None,
            cache: None,
        };
        Ok(Self {
            index_path: path("INDEX_PATH", variable("INDEX_PATH")?, INDEX_PATH)?,
            embedder_path,
            allowed_origins: Origins::parse(&variable("ALLOWED_ORIGINS")?.unwrap_or_default())?,
            services: Services::new(&services)?,
            cache_bytes: number(&set, "CACHE_BYTES")?,
            guarded: (has_key || is_bound) && !is_local,
        })
    }

    /// Refuses to use a key that anybody could use.
    pub fn guard(&self, has_rate_limit: bool) -> Result<(), SettingsError> {
        let missing = match (self.allowed_origins == Origins::default(), has_rate_limit) {
            _ if !self.guarded => return Ok(()),
            (true, _) => "ALLOWED_ORIGINS",
            (false, false) => RATE_LIMITER,
            (false, true) => return Ok(()),
        };
        Err(SettingsError::Unguarded { missing })
    }
}

fn solver(set: &impl Fn(&'static str) -> Variable, key: Option<String>) -> Result<SolverSettings, SettingsError> {
    let Some((vendor, model, place)) = model(set, CHAT, key)? else {
        return Ok(SolverSettings::Builtin);
    };
    let headers_ms = number(set, "CHAT_HEADERS_TIMEOUT_MS")?;
    let idle_ms = number(set, "CHAT_IDLE_TIMEOUT_MS")?;
    let confidence = is_yes(set, "CHAT_CONFIDENCE")?;
    let place = Place { headers_ms, idle_ms, ..place };
    match set("CHAT_PROTOCOL")?.as_deref().map(str::trim) {
        None | Some("chat") => Ok(SolverSettings::Chat { vendor, model, place, confidence }),
        Some("completions") => match (set("CHAT_VENDOR")?, confidence) {
            (Some(_), _) => Err(SettingsError::NotContinued { given: "CHAT_VENDOR" }),
            (None, true) => Err(SettingsError::NotContinued { given: "CHAT_CONFIDENCE" }),
            (None, false) => Ok(SolverSettings::Completions { model, place }),
        },
        Some(_) => Err(SettingsError::Protocol),
    }
}

fn embedder(
    set: &impl Fn(&'static str) -> Variable,
    key: Option<String>,
) -> Result<Option<EmbedSettings>, SettingsError> {
    let found = model(set, EMBED, key)?;
    let dimensions = number(set, "EMBED_DIMENSIONS")?;
    Ok(found.map(|(vendor, model, place)| EmbedSettings { vendor, model, dimensions, place }))
}

/// The variables of a model: its vendor, where that is, its name and the key.
const CHAT: [&str; 4] = ["CHAT_VENDOR", "CHAT_BASE_URL", "CHAT_MODEL", "CHAT_API_KEY"];
const EMBED: [&str; 4] = ["EMBED_VENDOR", "EMBED_BASE_URL", "EMBED_MODEL", "EMBED_API_KEY"];

/// What says how something is used, behind that: without it nobody would look at these.
const DETAILS: [(&str, &[&str]); 3] = [
    (
        "CHAT_MODEL",
        &["CHAT_PROTOCOL", "CHAT_HEADERS_TIMEOUT_MS", "CHAT_IDLE_TIMEOUT_MS", "CHAT_CONFIDENCE", "CACHE_BYTES"],
    ),
    ("EMBED_MODEL", &["EMBED_DIMENSIONS"]),
    ("SEARCH_VENDOR", &["SEARCH_MODEL", "SEARCH_ENGINE", "SEARCH_GATEWAY"]),
];

/// A model's vendor, its name and its place; a key alone is for nobody. Who names no vendor says where it is.
fn model(
    set: &impl Fn(&'static str) -> Variable,
    [vendor, base_url, model, api_key]: [&'static str; 4],
    key: Option<String>,
) -> Result<Option<(String, String, Place)>, SettingsError> {
    let half = |given, missing| Err(SettingsError::Half { given, missing });
    let (named, address) = (set(vendor)?, set(base_url)?);
    match (&named, &address, set(model)?) {
        (None, None, Some(_)) => half(model, base_url),
        (_, _, Some(model)) => {
            let vendor = named.unwrap_or_else(|| "openai".to_owned());
            let place = Place { base_url: address.or_else(|| bound(&vendor)), key, ..Place::default() };
            Ok(Some((vendor, model, place)))
        }
        (_, Some(_), None) => half(base_url, model),
        (Some(_), None, None) => half(vendor, model),
        (None, None, None) if key.is_some() => half(api_key, base_url),
        (None, None, None) => Ok(None),
    }
}

/// A Worker is bound to what runs on its own platform; by `AI`, unless an address says otherwise.
fn bound(vendor: &str) -> Option<String> {
    matches!(vendor.trim(), "workers-ai" | "cloudflare").then(|| BINDING.to_owned())
}

fn is_yes(set: &impl Fn(&'static str) -> Variable, name: &'static str) -> Result<bool, SettingsError> {
    match set(name)?.as_deref().map(str::trim) {
        Some("yes") => Ok(true),
        None | Some("no") => Ok(false),
        Some(_) => Err(SettingsError::Flag { name }),
    }
}

fn number<T: FromStr>(set: &impl Fn(&'static str) -> Variable, name: &'static str) -> Result<Option<T>, SettingsError> {
    let number = |text: String| text.trim().parse().map_err(|_| SettingsError::Number { name });
    set(name)?.map(number).transpose()
}

/// A vendor alone needs no key, and a base URL alone is a relay that has the key itself.
fn web(set: &impl Fn(&'static str) -> Variable, key: Option<String>) -> Result<Option<WebSettings>, SettingsError> {
    let (vendor, base_url) = (set("SEARCH_VENDOR")?, set("SEARCH_BASE_URL")?);
    if vendor.is_none() && base_url.is_none() && key.is_none() {
        return Ok(None);
    }
    let vendor = vendor.unwrap_or_else(|| "tavily".to_owned());
    let place = Place { base_url: base_url.or_else(|| bound(&vendor)), key, ..Place::default() };
    let options =
        SearchOptions { model: set("SEARCH_MODEL")?, engine: set("SEARCH_ENGINE")?, gateway: set("SEARCH_GATEWAY")? };
    Ok(Some(WebSettings::Vendor { vendor, place, options }))
}

fn path(name: &'static str, given: Option<String>, default: &'static str) -> Result<String, SettingsError> {
    let value = given.unwrap_or_else(|| default.to_owned());
    // What a URL would cut off or change can name no file.
    let plain = |b: u8| b.is_ascii_graphic() && !matches!(b, b'?' | b'#' | b'\\' | b'%');
    let named =
        value.starts_with('/') && !value.ends_with('/') && !value.split('/').any(|part| matches!(part, "." | ".."));
    if named && value.bytes().all(plain) {
        Ok(value)
    } else {
        Err(SettingsError::Path { name, value, example: default })
    }
}

impl From<SettingsError> for Problem {
    fn from(error: SettingsError) -> Self {
        Self::new("misconfigured", 503, error.to_string())
    }
}
