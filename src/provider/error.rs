//! Why a call to a service brought no usable reply.
//!
//! One list for all services. Codecs make those that follow from a status or a body; hosts make
//! [`ProviderError::Timeout`], [`ProviderError::Network`] and [`ProviderError::CorsOrNetwork`], which no
//! body can tell. Nothing here carries text, headers or addresses of a service: such text can hold
//! keys, prompts and instructions.

/// What went wrong with one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderError {
    /// The service rejects the request as it is; sending it again cannot help.
    #[error("the service rejected the request with HTTP {status}: check the model's name and settings")]
    InvalidRequest {
        /// The HTTP status, or the one named inside a reply.
        status: u16,
    },
    /// The key is missing, wrong or revoked.
    #[error("the service did not accept the key: check that it is set and still valid")]
    Unauthorized,
    /// The account has no money or no quota left: waiting does not help.
    #[error("the account at the service has no quota left: check its plan and balance")]
    QuotaExhausted,
    /// The key is known but may not do this.
    #[error("the service forbids this request: check what the key may use")]
    Forbidden,
    /// A search that only gives web pages.
    #[error("the search does not give JSON: add json to search.formats in the settings.yml of its server")]
    NoJson,
    /// A Worker without its platform's models.
    #[error("the Worker is not bound to Workers AI: add [ai] binding = \"AI\" to wrangler.toml")]
    NotBound,
    /// A Worker of ours that lacks settings: only its operator can mend that.
    #[error(
        "the Worker is not set up for this: its operator must give it a model or a web search, or mend the settings that /healthz names"
    )]
    Misconfigured,
    /// There is no such model, or the base URL is wrong.
    #[error("the service knows no such model or address: check the model's name and the base URL")]
    NotFound,
    /// Time ran out.
    #[error("the service took too long: {phase}")]
    Timeout {
        /// What was waited for.
        phase: Phase,
    },
    /// The request conflicts with another one (HTTP 409).
    #[error("the service reports a conflict with another request")]
    Conflict,
    /// The request is longer than the model's context or than the service takes.
    #[error("the request is longer than the service takes: send fewer or shorter passages")]
    TooLong,
    /// The model cannot be held to the requested reply format, or does not tell probabilities; ask
    /// without it.
    #[error("the service does not take the requested reply format: ask for plain text")]
    FormatRefused,
    /// The model lets nobody choose its temperature; ask without one.
    #[error("the model takes no temperature: ask without one")]
    TemperatureRefused,
    /// The request is well formed but cannot be carried out (HTTP 422).
    #[error("the service cannot carry out the request as it is (HTTP 422)")]
    Unprocessable,
    /// Too many requests; the account is in order.
    #[error("the service limits the rate of requests: wait before the next")]
    RateLimited,
    /// The service failed, or answered with a redirect, which is never followed.
    #[error("the service failed with HTTP {status}")]
    Upstream {
        /// The HTTP status; 200 when the failure was reported inside a reply without a status of its own.
        status: u16,
    },
    /// The service is up but has no capacity, or still loads its model.
    #[error("the service is overloaded: try again later")]
    Overloaded,
    /// The connection failed.
    #[error("the service could not be reached or the connection broke")]
    Network {
        /// Whether the request may have been processed, and billed, all the same.
        sent: bool,
    },
    /// A browser's failed fetch, which does not say why.
    #[error(
        "the service could not be reached: it is offline or, where a browser asks, it allows no requests from this \
         page (CORS), an extension blocks it, or an https page asks for an http address"
    )]
    CorsOrNetwork,
    /// A reply came that is not one.
    #[error("the service's reply cannot be read: {fault}")]
    BadResponse {
        /// What is wrong with it.
        fault: Fault,
    },
    /// The reply is longer than the caller reads.
    #[error("the service's reply is longer than {limit} bytes")]
    ReplyTooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// The reply ends before its end.
    #[error("the service's reply was cut off")]
    Truncated,
    /// A filter of the service withheld the reply.
    #[error("a content filter of the service withheld the reply")]
    ContentFiltered,
    /// The model declined to answer.
    #[error("the model declined to answer")]
    Refused,
    /// The vectors are not those of the texts, or not of the model.
    #[error("the service's vectors cannot be used: {fault}")]
    EmbeddingMismatch {
        /// What is wrong with them.
        fault: Mismatch,
    },
    /// A function that stands for a service.
    #[error("the function given for it threw an error or returned nothing that can be used")]
    Function,
}

/// What a call was waiting for when time ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// For the connection: nothing was sent.
    Connect,
    /// The service itself gave up waiting for the request (HTTP 408): it was not processed.
    Request,
    /// For the reply's first byte.
    Headers,
    /// For more content of a reply that had begun; comments that keep a connection alive do not count.
    Idle,
    /// For the whole run.
    Deadline,
}

impl std::fmt::Display for Phase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Connect => "no connection in time",
            Self::Request => "it gave up waiting for the request",
            Self::Headers => "no reply in time",
            Self::Idle => "its reply stalled",
            Self::Deadline => "the deadline passed",
        })
    }
}

/// Why a reply cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// There is no content, or only white space or reasoning.
    Empty,
    /// A web page came: a login form, a firewall, a wrong base URL.
    Html,
    /// It is not JSON.
    Json,
    /// It is not UTF-8.
    Utf8,
    /// It is JSON without the fields of a reply.
    Shape,
    /// One event of a stream is longer than any real one.
    Event {
        /// The limit in bytes.
        limit: usize,
    },
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Empty => f.write_str("it is empty"),
            Self::Html => f.write_str("it is a web page; check the base URL"),
            Self::Json => f.write_str("it is not JSON"),
            Self::Utf8 => f.write_str("it is not UTF-8"),
            Self::Shape => f.write_str("it lacks the fields of a reply"),
            Self::Event { limit } => write!(f, "one of its events is longer than {limit} bytes"),
        }
    }
}

/// Why vectors cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mismatch {
    /// One for each text was asked for.
    Count {
        /// How many there are.
        got: usize,
        /// How many texts.
        want: usize,
    },
    /// They do not say, each text once, which text they are for.
    Index,
    /// They are of another model, or of several.
    Dimension {
        /// How many components one has.
        got: usize,
        /// How many it must have.
        want: usize,
    },
    /// A component is no finite number.
    NonFinite {
        /// Of which text, from 0.
        at: usize,
    },
    /// One has no direction.
    Zero {
        /// Of which text, from 0.
        at: usize,
    },
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Count { got, want } => write!(f, "there are {got} for {want} texts"),
            Self::Index => f.write_str("their indices are not those of the texts"),
            Self::Dimension { got, want } if got * 4 == *want => {
                write!(f, "one has {got} dimensions, a quarter of {want}: a relay seems to read numbers as base64")
            }
            Self::Dimension { got, want } => write!(f, "one has {got} dimensions, not {want}: check the model's name"),
            Self::NonFinite { at } => write!(f, "a component of that of text {at} is no finite number"),
            Self::Zero { at } => write!(f, "that of text {at} is zero throughout"),
        }
    }
}

impl ProviderError {
    /// What a status means when nothing else is known.
    pub fn of_status(status: u16) -> Self {
        match status {
            401 => Self::Unauthorized,
            403 => Self::Forbidden,
            404 => Self::NotFound,
            408 => Self::Timeout { phase: Phase::Request },
            413 => Self::TooLong,
            429 => Self::RateLimited,
            503 | 529 => Self::Overloaded,
            400..=499 => Self::InvalidRequest { status },
            _ => Self::Upstream { status },
        }
    }

    /// The error of that [`code`](Self::code), as another instance of this program reports it. Details
    /// that a code does not carry are those of the plainest case.
    pub fn of_code(code: &str) -> Option<Self> {
        Some(match code {
            "invalid_request" => Self::InvalidRequest { status: 400 },
            "unauthorized" => Self::Unauthorized,
            "quota_exhausted" => Self::QuotaExhausted,
            "forbidden" => Self::Forbidden,
            "not_found" => Self::NotFound,
            "misconfigured" | "not_configured" | "index_unavailable" | "embedder_unavailable" => Self::Misconfigured,
            "timeout" => Self::Timeout { phase: Phase::Headers },
            "conflict" => Self::Conflict,
            "too_large" => Self::TooLong,
            "unprocessable" => Self::Unprocessable,
            "rate_limited" => Self::RateLimited,
            "upstream_error" => Self::Upstream { status: 500 },
            "overloaded" => Self::Overloaded,
            "network" => Self::Network { sent: true },
            "bad_response" => Fault::Shape.into(),
            "truncated" => Self::Truncated,
            "content_filtered" => Self::ContentFiltered,
            "refused" => Self::Refused,
            "function_failed" => Self::Function,
            _ => return None,
        })
    }

    /// Which text's vector cannot be used, where it is a single one.
    pub fn text(self) -> Option<usize> {
        match self {
            Self::EmbeddingMismatch { fault: Mismatch::NonFinite { at } | Mismatch::Zero { at } } => Some(at),
            _ => None,
        }
    }

    /// A stable name for programs.
    pub fn code(self) -> &'static str {
        match self {
            Self::InvalidRequest { .. } => "invalid_request",
            Self::Unauthorized => "unauthorized",
            Self::QuotaExhausted => "quota_exhausted",
            Self::Forbidden | Self::NoJson => "forbidden",
            Self::NotFound | Self::NotBound => "not_found",
            Self::Misconfigured => "misconfigured",
            Self::Timeout { .. } => "timeout",
            Self::Conflict => "conflict",
            Self::TooLong | Self::ReplyTooLarge { .. } => "too_large",
            Self::FormatRefused | Self::TemperatureRefused | Self::Unprocessable => "unprocessable",
            Self::RateLimited => "rate_limited",
            Self::Upstream { .. } => "upstream_error",
            Self::Overloaded => "overloaded",
            Self::Network { .. } => "network",
            Self::CorsOrNetwork => "cors_or_network",
            Self::BadResponse { .. } => "bad_response",
            Self::Truncated => "truncated",
            Self::ContentFiltered => "content_filtered",
            Self::Refused => "refused",
            Self::EmbeddingMismatch { .. } => "embedding_mismatch",
            Self::Function => "function_failed",
        }
    }
}

impl From<Fault> for ProviderError {
    fn from(fault: Fault) -> Self {
        Self::BadResponse { fault }
    }
}
