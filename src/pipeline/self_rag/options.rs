//! The options of `self-rag`, their defaults and their ranges, and how many calls they can lead to.
//!
//! Defaults are the paper's where it has them: weights 1, 1 and ½, a beam of two, δ = 0.2. Three
//! passages and two segments are ours: with a chat model that makes at most 39 calls, and a run has 40.

use serde::Deserialize;

use crate::pipeline::beam::Combine;
use crate::pipeline::reflection::{Rule, Weights};
use crate::pipeline::segment::Form;
use crate::pipeline::strategy::StrategyError;

/// How an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename = "SelfRagMode"))]
pub enum Mode {
    /// Segment by segment, each from a passage of its own.
    #[default]
    Long,
    /// In one go from one passage.
    Short,
}

/// When passages are retrieved (seed N-11).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename = "SelfRagRetrieval"))]
pub enum When {
    /// Where what asks for it is above δ.
    #[default]
    Threshold,
    /// Where the model's own word asks for it.
    Token,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// How `self-rag` decides, writes and judges.
#[derive(Debug, Clone, PartialEq)]
pub struct SelfRag {
    /// How an answer is written; of a closed set in one go.
    pub mode: Mode,
    /// When passages are retrieved.
    pub retrieval: When,
    /// δ, 0…1: the lower, the more is retrieved.
    pub delta: f64,
    /// How the parts of a segment's score are weighed.
    pub weights: Weights,
    /// Which tokens of a group count.
    pub rule: Rule,
    /// How the scores of segments are put together.
    pub combine: Combine,
    /// How many answers are continued, 1…[`MAX_BEAM_WIDTH`].
    pub beam_width: usize,
    /// How many segments an answer has at the most, 1…[`MAX_DEPTH`].
    pub max_depth: u32,
    /// Whether what its passage does not support is dropped (seed N-10), and not only scored lower.
    pub hard_constraint: bool,
    /// The possible answers of a closed set; none: an open question.
    pub choices: Vec<String>,
}

/// The most answers that are continued.
pub const MAX_BEAM_WIDTH: usize = 8;

/// The most segments of an answer: what the authors' own commands ask for.
pub const MAX_DEPTH: u32 = 7;

/// A letter names each.
const MAX_CHOICES: usize = 26;
const MAX_CHOICE_BYTES: usize = 500;
const MAX_WEIGHT: f64 = 100.0;

/// What a caller may set of it; what is absent stays as the strategy has it.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename_all = "camelCase", optional_fields))]
pub struct SelfRagOptions {
    /// `long`, segment by segment, or `short`, in one go from one passage; `long` by default.
    pub mode: Option<Mode>,
    /// When passages are retrieved; `threshold` by default.
    pub retrieval: Option<When>,
    /// What the share of those who ask for passages must be above, 0 to 1; 0.2 by default.
    pub delta: Option<f64>,
    /// The weights of a segment's score.
    pub weights: Option<SelfRagWeights>,
    /// `ideal` counts the best token of each group alone, `appendix` each by its worth; the default.
    pub rule: Option<Rule>,
    /// Whether the scores of segments are added, the default, or multiplied.
    pub combine: Option<Combine>,
    /// How many answers are continued, 1 to 8; 2 by default.
    pub beam_width: Option<usize>,
    /// How many segments an answer has at the most, 1 to 7; 2 by default.
    pub max_depth: Option<u32>,
    /// Whether what its passage does not support is dropped; not by default.
    pub hard_constraint: Option<bool>,
    /// The possible answers, 2 to 26: one of them is chosen.
    pub choices: Option<Vec<String>>,
}

/// The weights of a segment's score, 0 to 100.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename_all = "camelCase", optional_fields))]
pub struct SelfRagWeights {
    /// Of the passage's relevance; 1 by default.
    pub relevance: Option<f64>,
    /// Of the passage's support; 1 by default.
    pub support: Option<f64>,
    /// Of the answer's usefulness; 0.5 by default.
    pub usefulness: Option<f64>,
    /// Whether the segment's own probability counts besides; it does by default.
    pub sequence: Option<bool>,
}

impl Default for SelfRag {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            retrieval: When::default(),
            delta: 0.2,
            weights: Weights::default(),
            rule: Rule::default(),
            combine: Combine::default(),
            beam_width: 2,
            max_depth: 2,
            hard_constraint: false,
            choices: Vec::new(),
        }
    }
}

impl SelfRag {
    /// How many passages each segment has to choose from, where nothing else was asked for.
    pub const K: usize = 3;

    /// What the strategy begins with.
    #[allow(clippy::unnecessary_wraps, reason = "where there is no model there is no preset")]
    pub(crate) fn preset() -> Result<Self, StrategyError> {
        Ok(Self::default())
    }

    /// These options with others, each checked.
    pub(crate) fn with(mut self, options: SelfRagOptions) -> Result<Self, StrategyError> {
        let SelfRagOptions { mode, retrieval, delta, weights, rule, combine, hard_constraint, .. } = options;
        self.retrieval = retrieval.unwrap_or(self.retrieval);
        self.rule = rule.unwrap_or(self.rule);
        self.combine = combine.unwrap_or(self.combine);
        self.hard_constraint = hard_constraint.unwrap_or(self.hard_constraint);
        self.delta = within("delta", "0 to 1", delta.unwrap_or(self.delta), |d| (0.0..=1.0).contains(d))?;
        if delta.is_some() && self.retrieval == When::Token {
            return Err(refused("delta", "left out where the model's own token decides"));
        }
        self.weights = weighed(self.weights, weights.unwrap_or_default())?;
        let width = options.beam_width.unwrap_or(self.beam_width);
        self.beam_width = within("beam_width", "1 to 8", width, |w| (1..=MAX_BEAM_WIDTH).contains(w))?;
        let depth = options.max_depth.unwrap_or(self.max_depth);
        self.max_depth = within("max_depth", "1 to 7", depth, |d| (1..=MAX_DEPTH).contains(d))?;
        if let Some(choices) = options.choices {
            self.choices = distinct(&choices)?;
            if mode == Some(Mode::Long) {
                return Err(refused("mode", "left out where there are choices: one of them is the whole answer"));
            }
        }
        self.mode = mode.unwrap_or(self.mode);
        Ok(self)
    }

    /// What the retrieval of passages must exceed; `None`: the model's own word counts.
    pub(crate) fn threshold(&self) -> Option<f64> {
        (self.retrieval != When::Token).then_some(self.delta)
    }

    /// In which form an answer is asked for.
    pub(crate) fn form(&self) -> Form {
        match self.mode {
            _ if !self.choices.is_empty() => Form::Choice(self.choices.clone()),
            Mode::Long => Form::Segment,
            Mode::Short => Form::Whole,
        }
    }

    /// How many levels the beam has at the most.
    pub(crate) fn depth(&self) -> u32 {
        if self.form() == Form::Segment { self.max_depth } else { 1 }
    }

    /// The most calls of a run over `k` passages at a time, retries apart.
    pub fn most_calls(&self, k: usize) -> MostCalls {
        if self.retrieval == When::Never {
            return MostCalls { searches: 0, segments: 1, reflections_of_a_chat_model: 0 };
        }
        let decides = usize::from(self.retrieval != When::Always);
        let (mut kept, mut searches, mut candidates, mut continued) = (1, 0, 0, 0);
        for level in 1..=self.depth() {
            searches += kept;
            candidates += kept * k;
            kept = self.beam_width.min(kept * k);
            continued += if level < self.depth() { kept } else { 0 };
        }
        // Relevance, support and usefulness of each candidate, and whether each that is kept goes on.
        let reflections = decides + 3 * candidates + continued;
        MostCalls { searches, segments: decides + candidates, reflections_of_a_chat_model: reflections }
    }
}

/// See [`SelfRag::most_calls`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MostCalls {
    /// Searches of the index.
    pub searches: usize,
    /// Segments, the beginning that decides on retrieval among them; a chat model writes none for that.
    pub segments: usize,
    /// Questions put to a model without reflection tokens; a model with them is asked none.
    pub reflections_of_a_chat_model: usize,
}

fn weighed(weights: Weights, given: SelfRagWeights) -> Result<Weights, StrategyError> {
    let weight = |option, given: Option<f64>, own: f64| {
        within(option, "0 to 100", given.unwrap_or(own), |weight| (0.0..=MAX_WEIGHT).contains(weight))
    };
    Ok(Weights {
        relevance: weight("weights.relevance", given.relevance, weights.relevance)?,
        support: weight("weights.support", given.support, weights.support)?,
        usefulness: weight("weights.usefulness", given.usefulness, weights.usefulness)?,
        sequence: given.sequence.unwrap_or(weights.sequence),
    })
}

fn distinct(choices: &[String]) -> Result<Vec<String>, StrategyError> {
    let choices: Vec<String> = choices.iter().map(|choice| choice.trim().to_owned()).collect();
    if !(2..=MAX_CHOICES).contains(&choices.len()) {
        return Err(refused("choices", "2 to 26 answers"));
    }
    let fits = |choice: &String| !choice.is_empty() && choice.len() <= MAX_CHOICE_BYTES;
    if !choices.iter().all(fits) {
        return Err(refused("choices", "answers of 1 to 500 bytes"));
    }
    let lower: Vec<String> = choices.iter().map(|c| c.trim_end_matches(['.', '!']).to_lowercase()).collect();
    if (1..lower.len()).any(|i| lower[..i].contains(&lower[i])) {
        return Err(refused("choices", "answers that differ"));
    }
    Ok(choices)
}

fn within<T>(
    option: &'static str,
    range: &'static str,
    value: T,
    fits: impl Fn(&T) -> bool,
) -> Result<T, StrategyError> {
    if fits(&value) { Ok(value) } else { Err(refused(option, range)) }
}

fn refused(option: &'static str, range: &'static str) -> StrategyError {
    StrategyError::SelfRagOption { option, range }
}
