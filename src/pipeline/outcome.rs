//! How good an answer is, and why it is not better.

use serde::{Deserialize, Serialize};

/// How good an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Outcome {
    /// Complete, and every check that the strategy has was passed.
    Answered,
    /// The best there is, with flags that say what is wrong with it.
    Partial,
    /// No answer, and the reason why.
    Abstained,
}

/// Why an answer is not [`Outcome::Answered`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Reason {
    /// The index has nothing for the question.
    NoDocuments,
    /// What was found does not answer the question.
    Irrelevant,
    /// Nothing local was relevant and the web search failed.
    WebFailed,
    /// The draft says things that the sources do not.
    Ungrounded,
    /// The draft does not answer the question.
    NotUseful,
    /// A check could not be decided.
    Unchecked,
    /// The generator repeated itself.
    NoProgress,
    /// A provider failed after the first draft.
    ProviderFailed,
    /// The calls or the time were used up.
    Budget,
    /// The draft was cut off.
    Truncated,
}

impl Reason {
    /// The reason as it stands in answers.
    pub fn code(self) -> &'static str {
        match self {
            Self::NoDocuments => "no_documents",
            Self::Irrelevant => "irrelevant",
            Self::WebFailed => "web_failed",
            Self::Ungrounded => "ungrounded",
            Self::NotUseful => "not_useful",
            Self::Unchecked => "unchecked",
            Self::NoProgress => "no_progress",
            Self::ProviderFailed => "provider_failed",
            Self::Budget => "budget",
            Self::Truncated => "truncated",
        }
    }
}
