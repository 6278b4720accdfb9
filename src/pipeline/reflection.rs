//! What a model that reflects says of its own segments, as numbers: the critique scores of the paper
//! "Self-RAG" (Asai et al., 2023; equations 3 and 4, appendix A.3).
//!
//! Such a model writes tokens of four groups between its words. What counts is not the token it wrote
//! but the probability of each of the group's, normalised inside the group. A token that is not listed
//! has [`FLOOR`]; a position without any of them has no score, which is not a score of zero.

use serde::Deserialize;

use crate::pipeline::segment::Token;

/// The log probability of a token that is not among those listed. As a number in a sum of
/// probabilities it would be nonsense; as a logarithm it is next to nothing.
pub const FLOOR: f64 = -100.0;

/// A question that one reflection token answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Are passages needed now?
    Retrieve,
    /// Is the passage about the question?
    Relevance,
    /// Is the segment supported by the passage?
    Support,
    /// How useful is the answer?
    Usefulness,
}

/// Which tokens of a group count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename = "CritiqueRule"))]
pub enum Rule {
    /// The most desirable one alone: equation 4.
    Ideal,
    /// Each with its worth: appendix A.3, and what the paper's numbers were made with.
    #[default]
    Appendix,
}

impl Group {
    /// The tokens, spelled as the released checkpoints do; the most desirable first.
    pub const fn tokens(self) -> &'static [&'static str] {
        match self {
            Self::Retrieve => &["[Retrieval]", "[No Retrieval]", "[Continue to Use Evidence]"],
            Self::Relevance => &["[Relevant]", "[Irrelevant]"],
            Self::Support => &["[Fully supported]", "[Partially supported]", "[No support / Contradictory]"],
            Self::Usefulness => &["[Utility:5]", "[Utility:4]", "[Utility:3]", "[Utility:2]", "[Utility:1]"],
        }
    }

    /// What each token is worth. Whether to go on with the evidence that is there says nothing on
    /// whether to retrieve, so of the first group two tokens are compared.
    const fn worths(self, rule: Rule) -> &'static [f64] {
        match (self, rule) {
            (Self::Retrieve | Self::Relevance, _) => &[1.0, 0.0],
            (Self::Support, Rule::Ideal) => &[1.0, 0.0, 0.0],
            (Self::Support, Rule::Appendix) => &[1.0, 0.5, 0.0],
            (Self::Usefulness, Rule::Ideal) => &[1.0, 0.0, 0.0, 0.0, 0.0],
            (Self::Usefulness, Rule::Appendix) => &[1.0, 0.5, 0.0, -0.5, -1.0],
        }
    }

    /// The group's score, of probabilities in the order of [`Self::tokens`].
    pub fn score(self, rule: Rule, probabilities: &[f64]) -> Option<f64> {
        let of = self.worths(rule).iter().zip(probabilities);
        let (worth, all) = of.fold((0.0, 0.0), |(worth, all), (w, p)| (worth + w * p, all + p));
        (all > 0.0).then(|| worth / all)
    }

    /// The probabilities of the group's tokens at one position; `None` where none of them is listed.
    pub fn read(self, token: &Token) -> Option<Vec<f64>> {
        let listed = |name: &str| {
            let own = token.logprob.filter(|_| token.text.trim() == name);
            let others = token.top.iter().filter(|other| other.text.trim() == name).map(|other| other.logprob);
            own.into_iter().chain(others).reduce(f64::max)
        };
        let logprobs: Vec<Option<f64>> = self.tokens().iter().map(|name| listed(name)).collect();
        let any = logprobs.iter().any(Option::is_some);
        any.then(|| logprobs.into_iter().map(|logprob| libm::exp(logprob.unwrap_or(FLOOR))).collect())
    }

    /// Whether the token is one of the group's.
    pub fn has(self, token: &Token) -> bool {
        self.tokens().contains(&token.text.trim())
    }

    /// The probabilities at the first token of the group that was written.
    fn first_in(self, tokens: &[Token]) -> Option<Vec<f64>> {
        self.read(tokens.iter().find(|token| self.has(token))?)
    }
}

/// How much asks for retrieval, 0…1: p(yes) / (p(yes) + p(no)). It is wanted above δ.
pub fn retrieval(probabilities: &[f64]) -> Option<f64> {
    Group::Retrieve.score(Rule::Ideal, probabilities)
}

/// The same inside a long answer, where going on with the evidence counts as a yes above the line:
/// (p(yes) + p(continue)) / (p(yes) + p(no)).
pub fn retrieval_within(probabilities: &[f64]) -> Option<f64> {
    let [yes, no, proceed] = *probabilities else { return None };
    (yes + no > 0.0).then(|| (yes + proceed) / (yes + no))
}

/// The index of the most probable value, of equals the more desirable one.
pub fn likeliest(probabilities: &[f64]) -> Option<usize> {
    let indexed = probabilities.iter().enumerate();
    indexed.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(i, _)| i)
}

/// How the parts of a segment's score are weighed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// Of relevance.
    pub relevance: f64,
    /// Of support.
    pub support: f64,
    /// Of usefulness.
    pub usefulness: f64,
    /// Whether the segment's own probability counts besides, as exp(mean log probability).
    pub sequence: bool,
}

impl Default for Weights {
    fn default() -> Self {
        Self { relevance: 1.0, support: 1.0, usefulness: 0.5, sequence: true }
    }
}

/// What is known of a segment: for each group the probabilities of its tokens.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Critique {
    /// Of relevance.
    pub relevance: Option<Vec<f64>>,
    /// Of support.
    pub support: Option<Vec<f64>>,
    /// Of usefulness.
    pub usefulness: Option<Vec<f64>>,
    /// The mean log probability of the segment's tokens.
    pub mean_logprob: Option<f64>,
}

impl Critique {
    /// Read off a segment's tokens: relevance where the segment begins, support and usefulness where
    /// the first token of theirs stands.
    pub fn of(tokens: &[Token]) -> Self {
        let logprobs: Vec<f64> = tokens.iter().filter_map(|token| token.logprob).collect();
        Self {
            relevance: tokens.first().and_then(|token| Group::Relevance.read(token)),
            support: Group::Support.first_in(tokens),
            usefulness: Group::Usefulness.first_in(tokens),
            mean_logprob: (!logprobs.is_empty()).then(|| logprobs.iter().sum::<f64>() / logprobs.len() as f64),
        }
    }

    /// The score of equation 3: a segment without a token for support or for usefulness gets nothing
    /// for it; one whose relevance, or whose own probability where that counts, is not known has none.
    pub fn score(&self, rule: Rule, weights: &Weights) -> Option<f64> {
        let part = |group: Group, p: &Option<Vec<f64>>| p.as_ref().and_then(|p| group.score(rule, p));
        let sequence = if weights.sequence { libm::exp(self.mean_logprob?) } else { 0.0 };
        let relevance = part(Group::Relevance, &self.relevance)?;
        let support = part(Group::Support, &self.support).unwrap_or(0.0);
        let usefulness = part(Group::Usefulness, &self.usefulness).unwrap_or(0.0);
        let judged = weights.relevance * relevance + weights.support * support + weights.usefulness * usefulness;
        Some(sequence + judged)
    }

    /// Whether the segment says what its passage does not: the most probable value is the last one.
    pub fn is_unsupported(&self) -> bool {
        self.support.as_deref().and_then(likeliest) == Some(2)
    }
}
