//! What the grades of the passages amount to: whether they are enough, are to be completed or are to be
//! replaced by the web (seeds G-01, G-02, G-19).

use serde::{Deserialize, Serialize};

use crate::pipeline::task::Grade;
use crate::pipeline::verdict::Scale;

/// When what was retrieved is not enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Rule {
    /// One passage was rejected, or there is none (seed C-07).
    AnyIrrelevant,
    /// The average score says so (seed G-02).
    Average,
    /// The best score says so, as in the CRAG paper.
    Max,
    /// Too few passages are relevant, however many were rejected: the paper's rule for grades of yes or no.
    TooFew,
}

/// What is done with what was retrieved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Decision {
    /// It is used as it is.
    Correct,
    /// The web completes it.
    Ambiguous,
    /// The web replaces it.
    Incorrect,
}

/// A field whose questions have thresholds of their own (seed G-19).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Domain {
    /// Strict, two relevant passages.
    Medical,
    /// Nearly as strict, two relevant passages.
    Legal,
    /// The usual thresholds.
    General,
    /// Tolerant.
    Ecommerce,
}

/// Scores that part one decision from the next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// Above it, or for [`Rule::Max`] at it: correct.
    pub upper: f64,
    /// Above it, or for [`Rule::Max`] at it: ambiguous; else incorrect.
    pub lower: f64,
    /// A passage above it is relevant (seed G-17).
    pub keep: f64,
}

/// How passages are graded, and what follows from it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grading {
    /// When what was retrieved is not enough.
    pub rule: Rule,
    /// Of the rules that go by scores.
    pub thresholds: Thresholds,
    /// With fewer relevant passages nothing is correct.
    pub min_relevant: usize,
    /// One task has all passages, up to 20 of them: one call of a model, or of a scorer (seed G-17). Those
    /// that the reply leaves without a grade are asked about once more, each by itself.
    pub batched: bool,
}

impl Domain {
    fn profile(self) -> (f64, f64, usize) {
        match self {
            Self::Medical => (0.85, 0.50, 2),
            Self::Legal => (0.80, 0.45, 2),
            Self::General => (0.70, 0.30, 1),
            Self::Ecommerce => (0.60, 0.25, 1),
        }
    }
}

impl Grading {
    /// Grading by that rule, with the usual thresholds.
    pub const fn by(rule: Rule) -> Self {
        let thresholds = Thresholds { upper: 0.7, lower: 0.3, keep: 0.5 };
        Self { rule, thresholds, min_relevant: 1, batched: false }
    }

    /// The same with the thresholds of a domain.
    #[must_use]
    pub fn of(self, domain: Domain) -> Self {
        let (upper, lower, min_relevant) = domain.profile();
        Self { thresholds: Thresholds { upper, lower, ..self.thresholds }, min_relevant, ..self }
    }

    /// What is asked of a grader.
    pub fn scale(&self) -> Scale {
        if matches!(self.rule, Rule::AnyIrrelevant | Rule::TooFew) { Scale::Binary } else { Scale::Graded }
    }

    /// The grade that counts: by scores a passage is relevant above [`Thresholds::keep`], and one
    /// without a score, or with one beyond 0…1, has no grade.
    pub fn judge(&self, grade: Grade) -> Grade {
        let scored = Grade::scored(grade.score);
        match (self.scale(), scored.score) {
            (Scale::Binary, score) => Grade { score, ..grade },
            (Scale::Graded, None) => scored,
            (Scale::Graded, Some(score)) => Grade { verdict: (score > self.thresholds.keep).into(), ..scored },
        }
    }

    /// The decision by scores. Sums of scores are exact here: binary fractions are not, and six times
    /// 0.7 would be more than 6 × 0.7.
    pub fn decide(&self, scores: &[f64]) -> Decision {
        let exact = |score: f64| (score * 1e6).round() as i64;
        let Thresholds { upper, lower, keep } = self.thresholds;
        let reaches = |threshold: f64| match self.rule {
            Rule::Max => scores.iter().any(|&score| exact(score) >= exact(threshold)),
            _ => scores.iter().map(|&score| exact(score) - exact(threshold)).sum::<i64>() > 0,
        };
        let relevant = scores.iter().filter(|&&score| score > keep).count();
        if reaches(upper) && relevant >= self.min_relevant {
            Decision::Correct
        } else if reaches(lower) {
            Decision::Ambiguous
        } else {
            Decision::Incorrect
        }
    }
}
