//! Every error that reaches a caller, as a stable code, an HTTP status and a message that says what to do.

use crate::pipeline::answer::{QuestionError, RunError};
use crate::pipeline::budget::Millis;
use crate::pipeline::strategy::StrategyError;
use crate::pipeline::task::Failure;

/// What a caller is told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Problem {
    /// Stable, for programs.
    pub code: &'static str,
    /// The HTTP status that goes with it.
    pub status: u16,
    /// What happened and what to do.
    pub message: String,
    /// What went wrong at the service that failed.
    pub service_code: Option<&'static str>,
    /// When it may be tried again, in milliseconds.
    pub retry_after: Option<Millis>,
}

impl Problem {
    /// A problem with its parts.
    pub fn new(code: &'static str, status: u16, message: impl Into<String>) -> Self {
        Self { code, status, message: message.into(), service_code: None, retry_after: None }
    }

    /// JSON that cannot be read, or has fields it should not have.
    pub fn json(error: &serde_json::Error) -> Self {
        let message = error.to_string();
        let code = if message.starts_with("unknown field") { "unknown_field" } else { "invalid_request" };
        Self::new(code, 400, message)
    }
}

impl From<QuestionError> for Problem {
    fn from(error: QuestionError) -> Self {
        let (code, status) = match error {
            QuestionError::Empty => ("empty_question", 400),
            QuestionError::TooLong { .. } => ("too_large", 413),
        };
        Self::new(code, status, error.to_string())
    }
}

impl From<StrategyError> for Problem {
    fn from(error: StrategyError) -> Self {
        Self::new("invalid_option", 400, error.to_string())
    }
}

impl From<RunError> for Problem {
    fn from(error: RunError) -> Self {
        let message = error.to_string();
        let RunError::Failed(failure) = error;
        Self { message, ..failure.into() }
    }
}

/// A service of ours is at fault, never the caller: a key that it does not take is no 401 of ours.
impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        let message = failure.to_string();
        match failure {
            Failure::NotConfigured { .. } => Self::new("not_configured", 503, message),
            Failure::TooLong { .. } => {
                Self { service_code: Some("too_large"), ..Self::new("provider_failed", 502, message) }
            }
            Failure::Service { code, retry_after, .. } => {
                Self { service_code: Some(code), retry_after, ..Self::new("provider_failed", 502, message) }
            }
            _ => Self::new("provider_failed", 502, message),
        }
    }
}
