//! Requests and replies as plain data, and the secrets in them.
//!
//! A host sends an [`HttpRequest`] as it stands and hands back an [`HttpResponse`]. It follows no
//! redirect and reads no more than `largest_reply` decoded bytes. Keys travel as [`Secret`]s, which
//! `Debug` does not show; request bodies hold users' questions and are not shown either.

use std::fmt;

use super::error::ProviderError;

/// A key: it can be sent, but neither printed nor compared.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// A key as it was configured; white space around it is dropped.
    pub fn parse(key: &str) -> Result<Secret, EndpointError> {
        let key = key.trim();
        let valid = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic());
        if valid { Ok(Secret(key.to_owned())) } else { Err(EndpointError::Key) }
    }

    /// The value, for the one place that writes it into a request.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// The value of a request's header.
#[derive(Debug, Clone)]
pub enum HeaderValue {
    /// Anybody may see it.
    Plain(String),
    /// A key, after `Bearer `.
    Bearer(Secret),
    /// A key as it stands.
    Key(Secret),
}

impl HeaderValue {
    /// The text to send.
    pub fn reveal(&self) -> String {
        match self {
            Self::Plain(text) => text.clone(),
            Self::Bearer(key) => format!("Bearer {}", key.reveal()),
            Self::Key(key) => key.reveal().to_owned(),
        }
    }
}

/// How a request is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// With everything in its address.
    Get,
    /// With JSON as its body.
    Post,
}

impl Method {
    /// Its name in HTTP.
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
        }
    }
}

/// A request as plain data.
#[derive(Clone)]
pub struct HttpRequest {
    /// How.
    pub method: Method,
    /// Absolute, http or https, without credentials.
    pub url: String,
    /// Names in lower case.
    pub headers: Vec<(&'static str, HeaderValue)>,
    /// JSON; empty when nothing is posted.
    pub body: Vec<u8>,
    /// How many decoded bytes of the reply may be read; more is
    /// [`ProviderError::ReplyTooLarge`]. [`Body`] counts them.
    pub largest_reply: usize,
}

impl HttpRequest {
    /// A JSON request below `endpoint`, its key after `Bearer`.
    pub(crate) fn post(
        endpoint: &Endpoint,
        path: &str,
        accept: &str,
        body: &impl serde::Serialize,
        largest_reply: usize,
    ) -> HttpRequest {
        let headers = vec![("content-type", HeaderValue::Plain("application/json".to_owned()))];
        // Bodies are made of strings, finite numbers and JSON values: they always serialise.
        let body = serde_json::to_vec(body).unwrap_or_default();
        let url = format!("{}{path}", endpoint.base);
        HttpRequest { method: Method::Post, url, headers, body, largest_reply }.accepting(accept, endpoint)
    }

    /// A request for JSON below `endpoint` whose parameters stand in its address.
    pub(crate) fn get(endpoint: &Endpoint, path: &str, query: &[(&str, &str)], largest_reply: usize) -> HttpRequest {
        let pairs: Vec<String> = query.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        let url = format!("{}{path}?{}", endpoint.base, pairs.join("&"));
        HttpRequest { method: Method::Get, url, headers: Vec::new(), body: Vec::new(), largest_reply }
            .accepting("application/json", endpoint)
    }

    fn accepting(mut self, accept: &str, endpoint: &Endpoint) -> HttpRequest {
        self.headers.push(("accept", HeaderValue::Plain(accept.to_owned())));
        self.headers.extend(endpoint.key.clone().map(|key| ("authorization", HeaderValue::Bearer(key))));
        self
    }

    /// The same with the key in another header, as it stands.
    pub(crate) fn keyed_by(mut self, header: &'static str) -> HttpRequest {
        for (name, value) in &mut self.headers {
            if let HeaderValue::Bearer(key) = value {
                (*name, *value) = (header, HeaderValue::Key(key.clone()));
            }
        }
        self
    }

    /// The same with one more header.
    pub(crate) fn with(mut self, name: &'static str, value: &str) -> HttpRequest {
        self.headers.push((name, HeaderValue::Plain(value.to_owned())));
        self
    }
}

/// A parameter's value as an address can hold it.
fn encoded(value: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::new();
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// A model's name as a part of an address: it may have slashes and an `@`, and nothing that ends a path.
pub(crate) fn as_path(name: &str) -> String {
    encoded(name).replace("%2F", "/").replace("%40", "@").replace("%3A", ":")
}

impl fmt::Debug for HttpRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An address with parameters holds a question.
        let place = self.url.split('?').next().unwrap_or_default();
        f.debug_struct("HttpRequest")
            .field("method", &self.method)
            .field("url", &place)
            .field("headers", &self.headers)
            .field("body", &format_args!("{} bytes", self.body.len()))
            .field("largest_reply", &self.largest_reply)
            .finish()
    }
}

/// Headers of a reply; names are compared without regard to case.
#[derive(Clone, Default)]
pub struct Headers(Vec<(String, String)>);

impl Headers {
    /// The value of the first header of that name.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }

    /// The same with a header, unless it is there already.
    #[must_use]
    pub(crate) fn or(mut self, name: &str, value: &str) -> Headers {
        if self.value(name).is_none() {
            self.0.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    /// `text/html` of `Content-Type: text/html; charset=utf-8`, in lower case.
    pub fn media_type(&self) -> Option<String> {
        let value = self.value("content-type")?;
        Some(value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Headers {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        Self(pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

/// Only the names: values can carry cookies and account names.
impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

/// A reply whose body was read to its end.
#[derive(Clone)]
pub struct HttpResponse {
    /// 100…599.
    pub status: u16,
    /// As they came.
    pub headers: Headers,
    /// Decoded, and no longer than the request's `largest_reply`.
    pub body: Vec<u8>,
}

impl fmt::Debug for HttpResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpResponse")
            .field("status", &self.status)
            .field("headers", &self.headers)
            .field("body", &format_args!("{} bytes", self.body.len()))
            .finish()
    }
}

/// The body of a reply while it is read, never longer than its limit.
#[derive(Clone)]
pub struct Body {
    bytes: Vec<u8>,
    limit: usize,
}

impl Body {
    /// An empty body that takes up to `limit` decoded bytes: the request's `largest_reply`.
    pub fn new(limit: usize) -> Body {
        Body { bytes: Vec::new(), limit }
    }

    /// Appends a piece. After an error the rest of the reply is to be discarded.
    pub fn push(&mut self, piece: &[u8]) -> Result<(), ProviderError> {
        if piece.len() > self.limit - self.bytes.len() {
            return Err(ProviderError::ReplyTooLarge { limit: self.limit });
        }
        self.bytes.extend_from_slice(piece);
        Ok(())
    }

    /// All of it.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// Where a service is, and the key for it.
#[derive(Debug, Clone)]
pub struct Endpoint {
    base: String,
    key: Option<Secret>,
}

impl Endpoint {
    /// A base URL such as `https://api.example.org/v1`; a slash at its end is dropped. It comes from
    /// configuration, never from a question or a page.
    pub fn parse(base_url: &str, key: Option<Secret>) -> Result<Endpoint, EndpointError> {
        let base = base_url.trim().trim_end_matches('/');
        let (scheme, rest) = base.split_once("://").ok_or(EndpointError::Scheme)?;
        if !scheme.eq_ignore_ascii_case("https") && !scheme.eq_ignore_ascii_case("http") {
            return Err(EndpointError::Scheme);
        }
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if host.contains('@') {
            return Err(EndpointError::Credentials);
        }
        let plain = rest.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
        if key.is_some() && scheme.eq_ignore_ascii_case("http") && !is_near(host) {
            return Err(EndpointError::Plain);
        }
        if host.is_empty() || host.starts_with(':') || !plain || rest.contains(['?', '#']) {
            return Err(EndpointError::Address);
        }
        Ok(Endpoint { base: base.to_owned(), key })
    }

    /// Whether it is that one.
    pub(crate) fn is(&self, base: &str) -> bool {
        self.base == base
    }
}

/// Whether a host is this machine, or one of a private network by its name or address: there a key may
/// travel in plain text.
fn is_near(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, port)| if port.contains(']') { host } else { name });
    let address = name.trim_matches(['[', ']']);
    match address.parse::<std::net::IpAddr>() {
        Ok(std::net::IpAddr::V4(address)) => address.is_loopback() || address.is_private() || address.is_link_local(),
        Ok(std::net::IpAddr::V6(address)) => address.is_loopback() || address.is_unique_local(),
        Err(_) => {
            let private = [".local", ".internal", ".localhost", ".lan"];
            !name.contains('.') || private.iter().any(|end| name.to_ascii_lowercase().ends_with(end))
        }
    }
}

/// Why an endpoint's settings are refused. The values are not repeated: they may hold a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EndpointError {
    /// Not a URL that can be fetched.
    #[error("the base URL does not begin with https:// or http://")]
    Scheme,
    /// A URL is logged and sent as a referrer; a key does not belong in it.
    #[error("the base URL contains a user name or password: give the key on its own")]
    Credentials,
    /// Anybody on the way could read the key.
    #[error("the key would be sent in plain text: the base URL must begin with https://")]
    Plain,
    /// Paths are appended to the base URL.
    #[error("the base URL has no host, or has a query, a fragment, spaces or characters outside ASCII")]
    Address,
    /// It could not be sent in a header.
    #[error("the key is empty or contains characters that no key has")]
    Key,
}
