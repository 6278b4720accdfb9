//! Which other sites' pages may read our replies: an exact list, compared byte by byte.
//!
//! An origin only says which page a browser is showing; anybody else can forge it. This decides
//! what browsers let a page read, not who may ask.

/// The origins that may read replies; empty: only pages of the Worker's own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origins(Vec<String>);

/// An entry that no browser would ever send.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "ALLOWED_ORIGINS has {entry:?}: write each origin as browsers send it, scheme and host in lower case and \
     nothing behind them but a port that is not the scheme's own, for instance https://docs.example.com"
)]
pub struct OriginError {
    /// The entry.
    pub entry: String,
}

impl Origins {
    /// Reads origins that commas separate; white space around them is ignored.
    pub fn parse(list: &str) -> Result<Self, OriginError> {
        let entries = list.split(',').map(str::trim).filter(|entry| !entry.is_empty());
        let checked = entries.map(|entry| is_origin(entry).then(|| entry.to_owned()).ok_or_else(|| unusable(entry)));
        checked.collect::<Result<_, _>>().map(Self)
    }

    /// The value of `Access-Control-Allow-Origin` for a request's `Origin`, if it gets one.
    pub fn allow(&self, origin: Option<&str>) -> Option<&str> {
        let origin = origin?;
        self.0.iter().map(String::as_str).find(|&allowed| allowed == origin)
    }
}

fn unusable(entry: &str) -> OriginError {
    OriginError { entry: entry.to_owned() }
}

/// Whether it is an origin as the URL standard serialises it (§4.7), of http or https.
fn is_origin(entry: &str) -> bool {
    let (own_port, rest) = match (entry.strip_prefix("https://"), entry.strip_prefix("http://")) {
        (Some(rest), _) => ("443", rest),
        (_, Some(rest)) => ("80", rest),
        (None, None) => return false,
    };
    let (host, port) = match rest.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (rest, None),
    };
    is_host(host) && port.is_none_or(|port| port != own_port && is_port(port))
}

fn is_host(host: &str) -> bool {
    if let Some(address) = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        return address.contains(':') && address.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f' | b':'));
    }
    let label =
        |label: &str| !label.is_empty() && label.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_'));
    host.split('.').all(label)
}

fn is_port(port: &str) -> bool {
    !port.starts_with('0') && port.parse::<u16>().is_ok() && port.bytes().all(|b| b.is_ascii_digit())
}
