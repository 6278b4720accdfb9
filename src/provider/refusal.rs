//! What a service means by a status and an error body. Reads codes and types; a few phrases of a message
//! are looked for, none is kept.
//!
//! The shapes: `{error: {message, type, param, code}}` with a string or number as code (`OpenAI` and
//! compatible servers), the same without `error` around it (Mistral), `{error: "…"}`, `{detail: {error: "…"}}`
//! (Tavily), `{detail: [{loc: […]}]}` (what checks requests before they are carried out).

use serde_json::Value;

use super::error::{Fault, ProviderError};
use super::http::HttpResponse;

/// Codes that mean money or a hard quota; waiting does not help. `quota_exceeded` is not among them:
/// Azure says it of limits per minute.
const SPENT: [&str; 8] = [
    "billing_error",
    "insufficient_quota",
    "credit_balance_exhausted",
    "billing_hard_limit_reached",
    "billing_not_active",
    "access_terminated",
    "enforced_spend_limit_reached",
    "insufficient_credits",
];
/// The request is longer than the context.
const TOO_LONG: [&str; 3] = ["context_length_exceeded", "exceed_context_size_error", "request_too_large"];
/// What messages say of it where no code does: of a context, and of a batch of texts.
const LONG: [&str; 2] = ["maximum context length", "Too many tokens"];
/// A filter stopped it.
const FILTERED: [&str; 3] = ["content_filter", "content_policy_violation", "moderation"];
/// Parameters that ask for a reply format, or for the probabilities of its tokens.
const FORMATS: [&str; 9] = [
    "response_format",
    "json_schema",
    "logprobs",
    "output_config",
    "output_format",
    "responseJsonSchema",
    "response_json_schema",
    "responseLogprobs",
    "JSON mode",
];

/// The JSON of a reply, or what its status or its form says is wrong; `own` knows what is the vendor's alone.
pub(super) fn json_of(
    response: &HttpResponse,
    own: impl Fn(u16, &Value) -> Option<ProviderError>,
) -> Result<Value, ProviderError> {
    let HttpResponse { status, headers, body } = response;
    let parsed = serde_json::from_slice::<Value>(body);
    if !(200..300).contains(status) {
        let retry_after = headers.value("retry-after").or(headers.value("retry-after-ms")).is_some();
        let said = parsed.unwrap_or_default();
        return Err(own(*status, &said).unwrap_or_else(|| of_status(*status, retry_after, &said)));
    }
    let first = body.iter().find(|byte| !byte.is_ascii_whitespace());
    if first.is_none() || *status == 204 {
        return Err(Fault::Empty.into());
    }
    if headers.media_type().is_some_and(|media| media == "text/html") || first == Some(&b'<') {
        return Err(Fault::Html.into());
    }
    if std::str::from_utf8(body).is_err() {
        return Err(Fault::Utf8.into());
    }
    let value = parsed.map_err(|error| if error.is_eof() { ProviderError::Truncated } else { Fault::Json.into() })?;
    match of_reply(*status, &value) {
        Some(error) => Err(own(*status, &value).unwrap_or(error)),
        None => Ok(value),
    }
}

/// The error that a body or an event reports although its status is a success.
pub(super) fn of_reply(status: u16, value: &Value) -> Option<ProviderError> {
    // Some servers say `error: null` or `false` of every success.
    let reported = value.get("error").is_some_and(|error| !matches!(error, Value::Null | Value::Bool(false)));
    let detailed = value.pointer("/detail/error").is_some();
    (reported || detailed).then(|| of_error(status, value))
}

/// The error of a body that is one, whatever its status says.
pub(super) fn of_error(status: u16, value: &Value) -> ProviderError {
    let code = ["/error/code", "/error/status", "/code"].iter().find_map(|path| number(value.pointer(path)?));
    if let Some(code @ 300..=599) = code {
        return of_status(code, false, value);
    }
    let says = |names: &[&str]| Said::new(value).code(names);
    if says(&["invalid_api_key", "authentication_error"]) {
        ProviderError::Unauthorized
    } else if says(&["permission_error"]) {
        ProviderError::Forbidden
    } else if says(&["model_not_found", "not_found_error"]) {
        ProviderError::NotFound
    } else if says(&["rate_limit_exceeded", "rate_limit_error", "quota_exceeded"]) {
        of_status(429, false, value)
    } else if says(&["overloaded_error", "unavailable_error"]) {
        ProviderError::Overloaded
    } else if says(&["timeout", "timeout_error"]) {
        ProviderError::Upstream { status: 504 }
    } else if says(&["invalid_request_error"]) {
        of_status(400, false, value)
    } else {
        refined(value).unwrap_or(ProviderError::Upstream { status })
    }
}

/// How long an error body asks to wait, in milliseconds: `{error: {details: [{retryDelay: "34s"}]}}` (Google).
pub fn wait_in(body: &[u8]) -> Option<u64> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let details = value.pointer("/error/details")?.as_array()?;
    if is_daily(details) {
        return None;
    }
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    let seconds: f64 = delay.strip_suffix('s')?.parse().ok()?;
    (0.0..86_400.0 * 30.0).contains(&seconds).then_some((seconds * 1000.0) as u64)
}

/// Whether details tell of a quota of a day that is used up (Google); the wait beside them is that of a minute's.
pub(super) fn is_daily(details: &[Value]) -> bool {
    let violations = details.iter().filter_map(|detail| detail.get("violations")?.as_array()).flatten();
    violations.filter_map(|violation| violation.get("quotaId")?.as_str()).any(|quota| quota.contains("PerDay"))
}

/// The error of a status that is no success; the body can make it more precise.
fn of_status(status: u16, retry_after: bool, body: &Value) -> ProviderError {
    let refined = if (400..500).contains(&status) { refined(body) } else { None };
    if let Some(error) = refined {
        return error;
    }
    match status {
        401 => ProviderError::Unauthorized,
        // A budget for requests in flight, not for money: it comes with the time to wait.
        402 if retry_after => ProviderError::RateLimited,
        402 | 432 | 433 => ProviderError::QuotaExhausted,
        403 => ProviderError::Forbidden,
        404 => ProviderError::NotFound,
        408 => ProviderError::Timeout { phase: super::error::Phase::Request },
        409 => ProviderError::Conflict,
        413 => ProviderError::TooLong,
        422 => ProviderError::Unprocessable,
        429 => ProviderError::RateLimited,
        503 | 529 => ProviderError::Overloaded,
        400..=499 => ProviderError::InvalidRequest { status },
        _ => ProviderError::Upstream { status },
    }
}

/// What the codes in a body say beyond its status.
fn refined(body: &Value) -> Option<ProviderError> {
    let said = Said::new(body);
    if said.code(&SPENT) {
        Some(ProviderError::QuotaExhausted)
    } else if said.code(&TOO_LONG) || LONG.iter().any(|words| said.message.contains(words)) {
        Some(ProviderError::TooLong)
    } else if said.code(&FILTERED) || body.pointer("/error/metadata/flagged_input").is_some() {
        Some(ProviderError::ContentFiltered)
    } else if said.param == "temperature" || said.message.contains("temperature") {
        Some(ProviderError::TemperatureRefused)
    } else if FORMATS.iter().any(|name| said.param.starts_with(name) || said.message.contains(name) || said.is_at(name))
    {
        Some(ProviderError::FormatRefused)
    } else {
        None
    }
}

/// The fields of an error body that classify it.
struct Said<'a> {
    codes: [&'a str; 4],
    param: &'a str,
    message: &'a str,
    details: &'a [Value],
}

impl<'a> Said<'a> {
    fn new(body: &'a Value) -> Said<'a> {
        // A body that is an error itself has its fields; those of other replies are none of ours.
        let bare = body.get("object").and_then(Value::as_str) == Some("error");
        let error = if bare { Some(body) } else { body.get("error") };
        let text = |name: &str| error.and_then(|error| error.get(name)).and_then(Value::as_str).unwrap_or_default();
        let nested = error.and_then(|error| error.pointer("/details/error_code")).and_then(Value::as_str);
        let plain = error.and_then(Value::as_str);
        Said {
            codes: [text("code"), text("type"), nested.unwrap_or_default(), plain.unwrap_or_default()],
            param: text("param"),
            message: text("message"),
            details: body.get("detail").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default(),
        }
    }

    /// Whether a parameter is where the fault was found.
    fn is_at(&self, name: &str) -> bool {
        let places = self.details.iter().filter_map(|detail| detail.get("loc")?.as_array());
        places.flatten().any(|place| place.as_str() == Some(name))
    }

    fn code(&self, names: &[&str]) -> bool {
        self.codes.iter().any(|code| names.contains(code))
    }
}

/// A status written as a number or as its digits.
fn number(value: &Value) -> Option<u16> {
    let digits = || value.as_str().and_then(|text| text.parse().ok());
    value.as_u64().and_then(|code| u16::try_from(code).ok()).or_else(digits)
}
