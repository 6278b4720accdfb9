//! What a service means by a status and an error body. Reads codes and types; one phrase of a message
//! is looked for, none is kept.
//!
//! The shapes: `{error: {message, type, param, code}}` with a string or number as code (`OpenAI` and
//! compatible servers), `{error: "…"}`, `{detail: {error: "…"}}` (Tavily).

use serde_json::Value;

use super::error::{Fault, ProviderError};
use super::http::HttpResponse;

/// Codes that mean money or a hard quota; waiting does not help. `quota_exceeded` is not among them:
/// Azure says it of limits per minute.
const SPENT: [&str; 7] = [
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
/// A filter stopped it.
const FILTERED: [&str; 3] = ["content_filter", "content_policy_violation", "moderation"];
/// Parameters that ask for a reply format, or for the probabilities of its tokens.
const FORMATS: [&str; 3] = ["response_format", "json_schema", "logprobs"];

/// The JSON of a reply, or what its status or its form says is wrong.
pub(super) fn json_of(response: &HttpResponse) -> Result<Value, ProviderError> {
    let HttpResponse { status, headers, body } = response;
    let parsed = serde_json::from_slice::<Value>(body);
    if !(200..300).contains(status) {
        let retry_after = headers.value("retry-after").or(headers.value("retry-after-ms")).is_some();
        return Err(of_status(*status, retry_after, &parsed.unwrap_or_default()));
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
        Some(error) => Err(error),
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
    } else if said.code(&TOO_LONG) || said.message.contains("maximum context length") {
        Some(ProviderError::TooLong)
    } else if said.code(&FILTERED) || body.pointer("/error/metadata/flagged_input").is_some() {
        Some(ProviderError::ContentFiltered)
    } else if FORMATS.iter().any(|name| said.param.starts_with(name) || said.message.contains(name)) {
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
}

impl<'a> Said<'a> {
    fn new(body: &'a Value) -> Said<'a> {
        let text = |path: &str| body.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let codes = [text("/error/code"), text("/error/type"), text("/error/details/error_code"), text("/error")];
        Said { codes, param: text("/error/param"), message: text("/error/message") }
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
