//! What a run tells while it goes: the trace of an answer and the events of a stream are the same.
//!
//! Events carry no time: a recorded run replays bit for bit. Hosts stamp them when they pass them on.

use crate::pipeline::decision::Decision;
use crate::pipeline::verdict::{Check, Retrieval, Support, Verdict};
use serde::{Deserialize, Serialize};

/// One step of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename_all_fields = "camelCase"))]
pub enum Event {
    /// It was decided whether the question needs documents.
    DecideRetrieval {
        /// What was said.
        retrieve: Retrieval,
    },
    /// The index was searched.
    Retrieve {
        /// The query, the question itself.
        query: String,
        /// How many passages came back.
        passages: usize,
    },
    /// A passage was graded.
    Grade {
        /// Which one, from 1.
        n: usize,
        /// Of how many.
        of: usize,
        /// The passage.
        passage_id: String,
        /// Relevant to the question?
        verdict: Verdict,
        /// 0…1, where the solver has one.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        score: Option<f64>,
    },
    /// What the grades amount to.
    Decide {
        /// Passages graded yes.
        relevant: usize,
        /// Passages graded no.
        rejected: usize,
        /// Passages nobody could grade.
        unknown: usize,
        /// The seeds' `need_web`: whether the rule asks for a web search.
        need_web: bool,
        /// Where the rule goes by scores.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        decision: Option<Decision>,
    },
    /// A new query for the web was written.
    Rewrite {
        /// The query.
        query: String,
    },
    /// The web was searched.
    WebSearch {
        /// The query.
        query: String,
        /// How many new results came back.
        results: usize,
    },
    /// A segment was written and scored; of `self-rag`.
    Segment {
        /// Which segment of its answer, from 1.
        level: u32,
        /// The passage that it was written from.
        passage_id: String,
        /// Its score, where the model tells its probabilities.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        score: Option<f64>,
        /// Whether the beam kept it.
        kept: bool,
    },
    /// A draft is being written.
    DraftStart {
        /// Which attempt, from 1.
        attempt: u32,
    },
    /// A piece of the draft being written.
    DraftDelta {
        /// The piece.
        text: String,
    },
    /// The draft failed a check: what was shown of it must be withdrawn.
    DraftReject {
        /// Which attempt, from 1.
        attempt: u32,
        /// The check that it failed.
        check: Check,
    },
    /// Claims of the draft that failed are written anew or left out.
    Repair {
        /// How many.
        claims: usize,
    },
    /// A check of the draft.
    Check {
        /// Which check.
        check: Check,
        /// What it said.
        verdict: Verdict,
        /// How far the draft is supported, where that was asked.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        support: Option<Support>,
        /// How useful it is, 1 to 5, where that was asked.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        rating: Option<u8>,
    },
}

impl Event {
    /// The event's name in a stream of server-sent events.
    pub fn name(&self) -> &'static str {
        match self {
            Self::DecideRetrieval { .. } => "decide-retrieval",
            Self::Retrieve { .. } => "retrieve",
            Self::Grade { .. } => "grade",
            Self::Decide { .. } => "decide",
            Self::Rewrite { .. } => "rewrite",
            Self::WebSearch { .. } => "web-search",
            Self::Segment { .. } => "segment",
            Self::DraftStart { .. } => "draft-start",
            Self::DraftDelta { .. } => "draft-delta",
            Self::DraftReject { .. } => "draft-reject",
            Self::Repair { .. } => "repair",
            Self::Check { .. } => "check",
        }
    }
}
