//! The strategies: presets over one path, each a handful of options.

use serde::{Deserialize, Serialize};

use crate::pipeline::decision::{Domain, Grading, Rule};
use crate::pipeline::self_rag::{SelfRag, SelfRagOptions};
use crate::pipeline::verdict::{Check, Scale};

/// What a run does between a question and its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Strategy {
    /// The preset's name, as it stands in answers.
    pub name: &'static str,
    /// Whether it is decided first if the question needs documents at all (seed G-11).
    pub decides_retrieval: bool,
    /// How many passages are retrieved, 1…[`MAX_K`].
    pub k: usize,
    /// How they are graded, and when they are not enough; `None`: all are taken as they are.
    pub grading: Option<Grading>,
    /// Drafts are written from the strips of passages that are about the question, in source order.
    pub refines: bool,
    /// What the web is searched for.
    pub web: WebUse,
    /// How freely drafts may be worded, 0…1.
    pub temperature: f32,
    /// The first draft is begun while passages are graded, from all of them, and thrown away where not all of
    /// them are kept.
    pub speculates: bool,
    /// What each draft goes through.
    pub checks: Checks,
    /// How many drafts may follow the first, 0…[`MAX_RETRIES`].
    pub max_retries: u32,
    /// What is returned when no draft passed its checks.
    pub on_exhaustion: OnExhaustion,
    /// The Self-RAG paper's own inference, in place of the path of all others.
    pub self_rag: Option<SelfRag>,
}

/// How the web is used where the passages are not enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WebUse {
    /// How many results a search asks for; with 0 there is no search.
    pub results: usize,
    /// Whether they are graded like passages (seed G-21).
    pub graded: bool,
    /// The query asks for what the passages lack; else the first is the question itself.
    pub for_the_gap: bool,
}

/// The checks of a draft, and what follows when one fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checks {
    /// Which, in order.
    pub order: &'static [Check],
    /// Yes or no, or by degrees. By degrees a draft that is supported in part fails nothing, but it is
    /// not called grounded (seed G-15).
    pub scale: Scale,
    /// The rating from which a draft is useful, 1…5.
    pub usefulness_floor: u8,
    /// Grounding is checked claim by claim, and failing claims are mended; see [`ByClaim`].
    pub by_claim: Option<ByClaim>,
    /// The next draft is a strict one from the same passages, whichever check failed (seed G-15). Else
    /// a draft that was not useful gets other passages first (seed R-13).
    pub strict_retry: bool,
}

/// Whether models may be asked: all but the smallest module can. There nobody writes but the built-in
/// solver, whose drafts are quotations, and what is only for other drafts is not linked.
pub(crate) const HAS_MODELS: bool = cfg!(any(not(feature = "browser"), feature = "models"));

/// How usefulness is judged where grounding is checked claim by claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum ByClaim {
    /// In the same call, which sees the passages.
    Fused,
    /// In a call of its own, which does not see them (seed R-05).
    Isolated,
}

/// What is returned when no draft passed its checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum OnExhaustion {
    /// The best draft with its own flags, as a partial answer.
    #[default]
    Best,
    /// The last draft with its own flags, as a partial answer.
    Last,
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
    /// An option of grades, of a preset that grades nothing.
    #[error("{strategy} grades no passages, so it has no {option}: leave `{option}` out or ask for another strategy")]
    NoGrades {
        /// The preset.
        strategy: &'static str,
        /// The option.
        option: &'static str,
    },
    /// A way to judge usefulness, of a strategy that has but one.
    #[error("{strategy} does not check claim by claim: leave `usefulness` out or ask for countercheck")]
    NoClaims {
        /// The preset.
        strategy: &'static str,
    },
    /// A domain, of a strategy without scores.
    #[error("a domain sets thresholds for scores: ask for corrective-scored, or for the rule average or max")]
    NoScores,
    /// An option of `self-rag` is out of its range.
    #[error("self_rag.{option} must be {range}")]
    SelfRagOption {
        /// The option.
        option: &'static str,
        /// What it may be.
        range: &'static str,
    },
    /// Options of `self-rag`, for another strategy.
    #[error("self_rag has options of the strategy self-rag: ask for that, or leave them out")]
    NotSelfRag,
    /// `self-rag`, where no model writes.
    #[error(
        "self-rag needs a model that writes and judges: a completions or chat endpoint, or a function, as `generate` \
         and `check`; the built-in solver, a scorer and a Worker as solver cannot"
    )]
    NeedsModel,
}

/// A number of passages that may be asked for, 1…[`MAX_K`].
pub fn checked_k(k: usize) -> Result<usize, StrategyError> {
    if (1..=MAX_K).contains(&k) { Ok(k) } else { Err(StrategyError::K { k }) }
}

/// The names of the presets.
pub const NAMES: [&str; 7] =
    ["naive", "corrective", "self-reflective", "corrective-scored", "self-rag-prompted", "self-rag", "countercheck"];

/// What a caller may set; what is absent stays as the preset has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// See [`Strategy::k`].
    pub k: Option<usize>,
    /// See [`Strategy::max_retries`].
    pub max_retries: Option<u32>,
    /// See [`Grading::rule`].
    pub rule: Option<Rule>,
    /// The thresholds of a domain.
    pub domain: Option<Domain>,
    /// See [`Grading::batched`].
    pub batch: Option<bool>,
    /// See [`Strategy::speculates`].
    pub speculate: Option<bool>,
    /// See [`Checks::by_claim`].
    pub usefulness: Option<ByClaim>,
    /// See [`Strategy::on_exhaustion`].
    pub on_exhaustion: Option<OnExhaustion>,
}

impl Strategy {
    /// Retrieve and generate: the baseline every comparison needs.
    pub fn naive() -> Self {
        Self { name: NAMES[0], grading: None, ..Self::corrective() }
    }

    /// Grades before the draft, the web when a passage is rejected, no check after it (seeds C-01…C-23).
    pub fn corrective() -> Self {
        let checks = Checks { order: &[], ..Self::self_reflective().checks };
        Self { name: NAMES[1], temperature: 0.1, checks, max_retries: 0, ..Self::self_reflective() }
    }

    /// [`Self::corrective`], then grounding and usefulness, and bounded retries (seeds R-01…R-15).
    pub fn self_reflective() -> Self {
        Self {
            name: NAMES[2],
            decides_retrieval: false,
            k: 4,
            grading: Some(Grading::by(Rule::AnyIrrelevant)),
            refines: false,
            web: WebUse { results: 5, graded: false, for_the_gap: false },
            temperature: 0.2,
            speculates: false,
            checks: Checks {
                order: &[Check::Grounding, Check::Usefulness],
                scale: Scale::Binary,
                usefulness_floor: 3,
                by_claim: None,
                strict_retry: false,
            },
            max_retries: 2,
            on_exhaustion: OnExhaustion::Best,
            self_rag: None,
        }
    }

    /// Scores before the draft; by their average what was found is used, completed by the web or
    /// replaced by it, and so are the results of the web (seeds G-01…G-08, G-19, G-21).
    pub fn corrective_scored() -> Self {
        let web = WebUse { graded: true, ..Self::corrective().web };
        Self { name: NAMES[3], grading: Some(Grading::by(Rule::Average)), web, ..Self::corrective() }
    }

    /// The decisions of the Self-RAG paper put to a model as questions: whether to retrieve, which
    /// passage is relevant, how far the draft is supported, how useful it is; one strict draft after a
    /// bad one, checked like the first, and no web (seeds G-09…G-16).
    pub fn self_rag_prompted() -> Self {
        let reflective = Self::self_reflective();
        Self {
            name: NAMES[4],
            decides_retrieval: true,
            web: WebUse { results: 0, ..reflective.web },
            temperature: 0.1,
            checks: Checks { scale: Scale::Graded, strict_retry: true, ..reflective.checks },
            max_retries: 1,
            ..reflective
        }
    }

    /// The inference of the Self-RAG paper (seeds N-04…N-11): a model writes segments, each from one
    /// passage, and scores them by its own tokens; the better ones are continued.
    pub fn self_rag() -> Result<Self, StrategyError> {
        let self_rag = Some(SelfRag::preset()?);
        let checks = Checks { strict_retry: false, ..Self::self_rag_prompted().checks };
        let prompted =
            Self { grading: None, k: SelfRag::K, temperature: 0.0, max_retries: 0, ..Self::self_rag_prompted() };
        Ok(Self { name: NAMES[5], checks, self_rag, ..prompted })
    }

    /// All grades in one call; the web only where too few passages are relevant, for what they lack, and
    /// graded too; drafts from strips; claims that hold by a quotation that is found, the others mended.
    pub fn countercheck() -> Self {
        let reflective = Self::self_reflective();
        Self {
            name: NAMES[6],
            grading: Some(Grading { batched: true, ..Grading::by(Rule::TooFew) }),
            refines: true,
            web: WebUse { graded: true, for_the_gap: true, ..reflective.web },
            temperature: 0.1,
            checks: Checks { by_claim: Some(ByClaim::Fused), ..reflective.checks },
            max_retries: 1,
            ..reflective
        }
    }

    /// The preset of that name.
    pub fn named(name: &str) -> Result<Self, StrategyError> {
        match name {
            "naive" => Ok(Self::naive()),
            "corrective" => Ok(Self::corrective()),
            "self-reflective" => Ok(Self::self_reflective()),
            "corrective-scored" => Ok(Self::corrective_scored()),
            "self-rag-prompted" => Ok(Self::self_rag_prompted()),
            "self-rag" => Self::self_rag(),
            "countercheck" => Ok(Self::countercheck()),
            _ => Err(StrategyError::UnknownName { name: name.to_owned() }),
        }
    }

    /// This strategy with all passages graded at once, for a solver that scores them so (seed G-17).
    #[must_use]
    pub fn in_batches(mut self) -> Self {
        self.grading = self.grading.map(|grading| Grading { batched: true, ..grading });
        self
    }

    /// This strategy with options of `self-rag`, each checked.
    pub fn with_self_rag(mut self, options: SelfRagOptions) -> Result<Self, StrategyError> {
        let own = self.self_rag.take().ok_or(StrategyError::NotSelfRag)?;
        self.self_rag = Some(own.with(options)?);
        Ok(self)
    }

    /// This strategy for a solver whose drafts are quotations: they are grounded as they stand, statement by
    /// statement, and need no strips. It cannot write segments.
    pub fn of_quotations(mut self) -> Result<Self, StrategyError> {
        if self.self_rag.is_some() {
            return Err(StrategyError::NeedsModel);
        }
        (self.refines, self.speculates) = (false, false);
        self.checks.by_claim = None;
        Ok(self)
    }

    /// This preset with other options, each checked.
    pub fn with(mut self, options: Options) -> Result<Self, StrategyError> {
        let Options { k, max_retries, rule, domain, batch, speculate, usefulness, on_exhaustion } = options;
        if let Some(k) = k {
            self.k = checked_k(k)?;
        }
        if let Some(max_retries) = max_retries {
            if max_retries > MAX_RETRIES {
                return Err(StrategyError::MaxRetries { max_retries });
            }
            self.max_retries = max_retries;
        }
        let no_grades = |option| StrategyError::NoGrades { strategy: self.name, option };
        if let Some(rule) = rule {
            self.grading.as_mut().ok_or(no_grades("rule"))?.rule = rule;
        }
        match (&mut self.grading, batch) {
            (Some(grading), Some(batch)) => grading.batched = batch,
            (None, Some(true)) => return Err(no_grades("batch")),
            (_, None) | (None, Some(false)) => (),
        }
        if let Some(domain) = domain {
            let scored = self.grading.filter(|grading| grading.scale() == Scale::Graded);
            self.grading = Some(scored.ok_or(StrategyError::NoScores)?.of(domain));
        }
        if speculate == Some(true) && self.grading.is_none() {
            return Err(no_grades("speculate"));
        }
        self.speculates = speculate.unwrap_or(self.speculates);
        if let Some(usefulness) = usefulness {
            let by_claim = self.checks.by_claim.as_mut().ok_or(StrategyError::NoClaims { strategy: self.name })?;
            *by_claim = usefulness;
        }
        self.on_exhaustion = on_exhaustion.unwrap_or(self.on_exhaustion);
        Ok(self)
    }
}

impl Default for Strategy {
    fn default() -> Self {
        Self::countercheck()
    }
}
