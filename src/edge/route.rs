//! Which endpoint a request is for, and in which form it comes and wants its reply.
//!
//! Paths are compared exactly: no suffix, no other spelling, so that a shared cache cannot be made
//! to store a reply under a name that looks like a file.

use crate::pipeline::budget::Millis;
use crate::problem::Problem;
use crate::wire::task::TASKS;

/// What the Worker answers itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endpoint {
    /// `POST /v1/ask`.
    Ask,
    /// `POST /v1/search`.
    Search,
    /// `POST /v1/tasks/{name}`.
    Task(&'static str),
    /// `POST /v1/web-search`.
    WebSearch,
    /// `GET /healthz`.
    Health,
}

/// The longer of the two periods that a rate limit can have, in milliseconds.
const LIMIT_PERIOD: Millis = 60_000;

/// What a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// One of ours.
    Api(Endpoint),
    /// Below `/v1`, where nothing but endpoints is, and none of them.
    Unknown,
    /// A file of the site, if there is one.
    Asset,
}

/// A request that no endpoint takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RouteError {
    /// See [`Route::Unknown`]. The path is not repeated: nothing of a request is reflected.
    #[error(
        "there is nothing here: use POST /v1/ask, /v1/search, /v1/tasks/{{task}} or /v1/web-search, or GET /healthz"
    )]
    Unknown,
    /// The endpoint does not take this method.
    #[error("the method is not allowed here: use {allowed}")]
    Method {
        /// Those it takes, as in the header `Allow`.
        allowed: &'static str,
    },
    /// The body is not sent as JSON. A form or plain text could come from any site without asking.
    #[error("the body must be JSON: send it with content-type: application/json")]
    MediaType,
    /// A browser asks for a page of a site that is not in the list.
    #[error("pages of this origin may not ask: the operator can add it to ALLOWED_ORIGINS")]
    Origin,
    /// The rate limit is used up.
    #[error("too many requests: wait a minute")]
    TooMany,
}

impl Route {
    /// Where a path leads.
    pub fn of(path: &str) -> Self {
        match path {
            "/v1/ask" => Self::Api(Endpoint::Ask),
            "/v1/search" => Self::Api(Endpoint::Search),
            "/v1/web-search" => Self::Api(Endpoint::WebSearch),
            "/healthz" => Self::Api(Endpoint::Health),
            "/v1" => Self::Unknown,
            _ => match path.strip_prefix("/v1/") {
                Some(rest) => task(rest).map_or(Self::Unknown, |name| Self::Api(Endpoint::Task(name))),
                None => Self::Asset,
            },
        }
    }
}

fn task(path: &str) -> Option<&'static str> {
    let name = path.strip_prefix("tasks/")?;
    TASKS.into_iter().find(|known| *known == name)
}

impl Endpoint {
    /// The most bytes that a body may have.
    pub fn largest_body(self) -> usize {
        match self {
            Self::Task(_) => 64 << 10,
            _ => 16 << 10,
        }
    }

    /// Whether the reply comes in one of two forms.
    pub fn may_stream(self) -> bool {
        matches!(self, Self::Ask | Self::Task(_) | Self::WebSearch)
    }

    /// Whether a request can cost the operator money; a search does where a model embeds its query.
    pub fn is_metered(self, embeds: bool) -> bool {
        match self {
            Self::Ask | Self::Task(_) | Self::WebSearch => true,
            Self::Search => embeds,
            Self::Health => false,
        }
    }

    /// The methods it takes, as in the header `Allow`.
    pub fn allowed(self) -> &'static str {
        match self {
            Self::Ask | Self::Search | Self::Task(_) | Self::WebSearch => "POST, OPTIONS",
            Self::Health => "GET, HEAD, OPTIONS",
        }
    }

    /// Whether it takes the method.
    pub fn takes(self, method: &str) -> Result<(), RouteError> {
        let allowed = self.allowed();
        if allowed.split(", ").any(|one| one == method) { Ok(()) } else { Err(RouteError::Method { allowed }) }
    }
}

/// Whether a `Content-Type` says JSON; parameters do not matter.
pub fn is_json(content_type: Option<&str>) -> bool {
    let essence = content_type.unwrap_or_default().split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/json")
}

/// Whether an `Accept` prefers server-sent events to JSON (RFC 9110, §12.5.1): by weight, then by
/// being named rather than matched by a wildcard. Where it says neither, the reply is JSON.
pub fn prefers_events(accept: Option<&str>) -> bool {
    let accept = accept.unwrap_or_default();
    wish(accept, "text", "event-stream") > wish(accept, "application", "json")
}

/// How much a type is wished for: the weight in thousandths, and how closely it is named.
fn wish(accept: &str, kind: &str, subtype: &str) -> (u16, u8) {
    let closeness = |range: &str| match range.split_once('/') {
        Some((k, s)) if k.eq_ignore_ascii_case(kind) && s.eq_ignore_ascii_case(subtype) => 3,
        Some((k, "*")) if k.eq_ignore_ascii_case(kind) => 2,
        Some(("*", "*")) => 1,
        _ => 0,
    };
    let mut best = (0, 0);
    for element in accept.split(',') {
        let mut parts = element.split(';').map(str::trim);
        let close = closeness(parts.next().unwrap_or_default());
        // The closest range decides, even when it is weighed less.
        if close > best.1 {
            best = (parts.find_map(weight).unwrap_or(1000), close);
        }
    }
    // A type that is named only to be refused is not wished for.
    if best.0 == 0 { (0, 0) } else { best }
}

/// The weight in thousandths that `q=0.5` gives; none when the parameter is another one.
fn weight(parameter: &str) -> Option<u16> {
    let (name, value) = parameter.split_once('=')?;
    if !name.trim().eq_ignore_ascii_case("q") {
        return None;
    }
    let q: f64 = value.trim().parse().ok().filter(|q| (0.0..=1.0).contains(q)).unwrap_or(0.0);
    Some((q * 1000.0) as u16)
}

impl From<RouteError> for Problem {
    fn from(error: RouteError) -> Self {
        let (code, status) = match error {
            RouteError::Unknown => ("not_found", 404),
            RouteError::Method { .. } => ("method_not_allowed", 405),
            RouteError::MediaType => ("unsupported_media_type", 415),
            RouteError::Origin => ("origin_not_allowed", 403),
            RouteError::TooMany => ("rate_limited", 429),
        };
        let retry_after = (error == RouteError::TooMany).then_some(LIMIT_PERIOD);
        Self { retry_after, ..Self::new(code, status, error.to_string()) }
    }
}
