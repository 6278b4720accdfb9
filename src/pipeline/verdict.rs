//! What graders and checks say, in one of two scales: yes or no, or by degrees. Each has an unknown;
//! nothing unparsed, refused, cut off or timed out becomes anything else.

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

/// The words in which a verdict is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Yes or no.
    #[default]
    Binary,
    /// By degrees: a score 0…1 for a passage, [`Support`] for a draft, 1…5 for its usefulness.
    Graded,
}

/// Whether a question needs documents (seeds G-09, G-11).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Retrieval {
    /// It asks for specific facts.
    Yes,
    /// Common knowledge will do.
    No,
    /// What has been written will do; of a question just asked, nothing has been.
    Continue,
    /// Nobody could tell.
    #[default]
    Unknown,
}

/// How far the passages support a draft (seeds G-09, G-13).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Support {
    /// Everything it says is in them.
    #[serde(rename = "fully_supported")]
    Fully,
    /// Some of what it says is in them.
    #[serde(rename = "partially_supported")]
    Partially,
    /// It is not in them.
    #[serde(rename = "no_support")]
    None,
    /// Nobody could tell.
    #[default]
    #[serde(rename = "unknown")]
    Unknown,
}

impl From<Verdict> for Support {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Yes => Self::Fully,
            Verdict::No => Self::None,
            Verdict::Unknown => Self::Unknown,
        }
    }
}

impl Support {
    /// Whether the draft is entirely in the passages: what is so in part is not.
    pub fn verdict(self) -> Verdict {
        match self {
            Self::Fully => Verdict::Yes,
            Self::Partially | Self::None => Verdict::No,
            Self::Unknown => Verdict::Unknown,
        }
    }

    /// Its worth when attempts are compared, as the Self-RAG paper counts it: 1, ½ for a part, 0.
    pub fn worth(self) -> f32 {
        match self {
            Self::Partially => 0.5,
            other => other.verdict().worth(),
        }
    }
}

/// How useful a draft is (seeds R-05, G-14).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Usefulness {
    /// Useful, not useful, or unknown.
    Verdict(Verdict),
    /// 1, of no use, to 5, complete.
    Rated(u8),
}

impl Default for Usefulness {
    fn default() -> Self {
        Self::Verdict(Verdict::Unknown)
    }
}

impl From<Verdict> for Usefulness {
    fn from(verdict: Verdict) -> Self {
        Self::Verdict(verdict)
    }
}

impl From<u8> for Usefulness {
    /// A rating out of range says nothing.
    fn from(rating: u8) -> Self {
        if (1..=5).contains(&rating) { Self::Rated(rating) } else { Self::default() }
    }
}

impl Usefulness {
    /// Whether it is useful, a rating when it reaches the floor.
    pub fn verdict(self, floor: u8) -> Verdict {
        match self {
            Self::Verdict(verdict) => verdict,
            Self::Rated(rating) => (rating >= floor).into(),
        }
    }

    /// Its worth when attempts are compared, 0…1.
    pub fn worth(self) -> f32 {
        match self {
            Self::Verdict(verdict) => verdict.worth(),
            Self::Rated(rating) => (f32::from(rating) - 1.0) / 4.0,
        }
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
