//! The strategies: presets over one path, each a handful of options.

use crate::pipeline::verdict::Check;

/// What a run does between a question and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strategy {
    /// The preset's name, as it stands in answers.
    pub name: &'static str,
    /// How many passages are retrieved, 1…[`MAX_K`].
    pub k: usize,
    /// Whether each passage is graded, and the web searched when one is rejected (seed C-07).
    pub grades: bool,
    /// The checks each draft goes through, in order.
    pub checks: &'static [Check],
    /// How many drafts may follow the first, 0…[`MAX_RETRIES`].
    pub max_retries: u32,
    /// How many results a web search asks for.
    pub web_results: usize,
    /// What is returned when no draft passed its checks.
    pub on_exhaustion: OnExhaustion,
}

/// What is returned when no draft passed its checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnExhaustion {
    /// The best draft with its own flags, as a partial answer.
    #[default]
    Best,
    /// An abstention.
    Abstain,
}

/// The most passages a question may ask for.
pub const MAX_K: usize = 50;

/// The most drafts that may follow the first.
pub const MAX_RETRIES: u32 = 4;

/// An option outside its range, or a preset that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StrategyError {
    /// No preset has this name.
    #[error("there is no strategy {name:?}: use one of {}", NAMES.join(", "))]
    UnknownName {
        /// The name given.
        name: String,
    },
    /// `k` is out of range.
    #[error("k is {k}: it must be 1 to {MAX_K}")]
    K {
        /// The value given.
        k: usize,
    },
    /// `max_retries` is out of range.
    #[error("max_retries is {max_retries}: it must be 0 to {MAX_RETRIES}")]
    MaxRetries {
        /// The value given.
        max_retries: u32,
    },
}

/// A number of passages that may be asked for, 1…[`MAX_K`].
pub fn checked_k(k: usize) -> Result<usize, StrategyError> {
    if (1..=MAX_K).contains(&k) { Ok(k) } else { Err(StrategyError::K { k }) }
}

/// The names of the presets.
pub const NAMES: [&str; 3] = ["naive", "corrective", "self-reflective"];

impl Strategy {
    /// Retrieve and generate: the baseline every comparison needs.
    pub fn naive() -> Self {
        Self { name: NAMES[0], grades: false, ..Self::corrective() }
    }

    /// Grades before the draft, the web when a passage is rejected, no check after it (seeds C-01…C-23).
    pub fn corrective() -> Self {
        Self { name: NAMES[1], checks: &[], max_retries: 0, ..Self::self_reflective() }
    }

    /// [`Self::corrective`], then grounding and usefulness, and bounded retries (seeds R-01…R-15).
    pub fn self_reflective() -> Self {
        Self {
            name: NAMES[2],
            k: 4,
            grades: true,
            checks: &[Check::Grounding, Check::Usefulness],
            max_retries: 2,
            web_results: 5,
            on_exhaustion: OnExhaustion::Best,
        }
    }

    /// The preset of that name.
    pub fn named(name: &str) -> Result<Self, StrategyError> {
        match name {
            "naive" => Ok(Self::naive()),
            "corrective" => Ok(Self::corrective()),
            "self-reflective" => Ok(Self::self_reflective()),
            _ => Err(StrategyError::UnknownName { name: name.to_owned() }),
        }
    }

    /// This preset with other numbers, each checked.
    pub fn with(mut self, k: Option<usize>, max_retries: Option<u32>) -> Result<Self, StrategyError> {
        if let Some(k) = k {
            self.k = checked_k(k)?;
        }
        if let Some(max_retries) = max_retries {
            if max_retries > MAX_RETRIES {
                return Err(StrategyError::MaxRetries { max_retries });
            }
            self.max_retries = max_retries;
        }
        Ok(self)
    }
}

impl Default for Strategy {
    fn default() -> Self {
        Self::self_reflective()
    }
}
