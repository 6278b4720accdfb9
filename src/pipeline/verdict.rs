//! The three-valued verdict. Nothing unparsed, refused, cut off or timed out becomes a yes or a no.

use serde::{Deserialize, Serialize};

/// What a grader or a check says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Verdict {
    /// It holds.
    Yes,
    /// It does not hold.
    No,
    /// Nobody could tell: no answer, or one that could not be read.
    #[default]
    Unknown,
}

impl Verdict {
    /// The flag of an answer: `Some(true)`, `Some(false)`, or `None` for unknown.
    pub fn flag(self) -> Option<bool> {
        match self {
            Self::Yes => Some(true),
            Self::No => Some(false),
            Self::Unknown => None,
        }
    }

    /// Its worth when attempts are compared: 1, ½ for unknown, 0.
    pub fn worth(self) -> f32 {
        match self {
            Self::Yes => 1.0,
            Self::Unknown => 0.5,
            Self::No => 0.0,
        }
    }
}

impl From<bool> for Verdict {
    fn from(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }
}

/// The checks a draft goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Check {
    /// Is it in the sources?
    Grounding,
    /// Does it answer the question?
    Usefulness,
}
