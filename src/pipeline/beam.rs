//! The segment beam of the Self-RAG paper: which partial answers are continued, which of them is the
//! answer, and how its text cites what it was written from.
//!
//! Every level continues the `width` best. The published code multiplies a segment's score into that of
//! what stands before it. Scores may be negative, and then a better beginning makes an answer worse; so
//! here they are added unless asked otherwise. An answer that is complete stays in the contest, and
//! sums are compared by their mean, or the longer answer would always win.

use serde::Deserialize;

use crate::document::{Passage, Span};
use crate::pipeline::reflection::Critique;
use crate::pipeline::task::{Draft, Quote};

/// How the scores of an answer's segments are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Combine {
    /// Their sum.
    #[default]
    Sum,
    /// Their product, as the published code has it.
    Product,
}

/// A segment in its place.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Node {
    /// The segment before it.
    pub parent: Option<usize>,
    /// Its own score, where it has one.
    pub score: Option<f64>,
    /// Whether it asks to be continued.
    pub wants_more: bool,
    /// What the beam does not look at.
    pub segment: Segment,
}

/// What a node adds to the answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Segment {
    /// As the model wrote it.
    pub raw: String,
    /// As it is read.
    pub text: String,
    /// The index of its passage.
    pub passage: usize,
    /// The place in the passage that supports it; all of it where none is known.
    pub quote: Option<Span>,
    /// What is known of it.
    pub critique: Critique,
    /// Cut off before its end.
    pub truncated: bool,
}

/// Partial answers, level by level.
#[derive(Debug)]
pub struct Beam {
    width: usize,
    combine: Combine,
    nodes: Vec<Grown>,
    /// The nodes of the last level that were kept.
    level: Vec<usize>,
}

#[derive(Debug)]
struct Grown {
    node: Node,
    total: Option<f64>,
    depth: u32,
    /// Kept when its level was cut to the width, and not continued since.
    is_leaf: bool,
}

impl Beam {
    /// A beam without a segment.
    pub fn new(width: usize, combine: Combine) -> Self {
        Self { width, combine, nodes: Vec::new(), level: Vec::new() }
    }

    /// The nodes to continue; none before the first level and after the last.
    pub fn open(&self) -> Vec<usize> {
        self.level.iter().copied().filter(|&i| self.nodes[i].node.wants_more).collect()
    }

    /// Adds a level and keeps the best of it, of equals the earlier.
    pub fn grow(&mut self, nodes: Vec<Node>) {
        let first = self.nodes.len();
        for node in nodes {
            let parent = node.parent.map(|i| &mut self.nodes[i]);
            let (total, depth) = match parent {
                None => (node.score, 1),
                Some(parent) => {
                    parent.is_leaf = false;
                    (self.combine.of(parent.total, node.score), parent.depth + 1)
                }
            };
            self.nodes.push(Grown { node, total, depth, is_leaf: false });
        }
        let mut ranked: Vec<usize> = (first..self.nodes.len()).collect();
        ranked.sort_by(|&a, &b| best_first(self.nodes[a].total, self.nodes[b].total));
        ranked.truncate(self.width);
        for &i in &ranked {
            self.nodes[i].is_leaf = true;
        }
        self.level = ranked;
    }

    /// How many nodes there are; the next level's are numbered from here.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no node yet.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Has a node of the last level continued.
    pub fn reopen(&mut self, node: usize) {
        self.nodes[node].node.wants_more = true;
    }

    /// Whether the node asks to be continued.
    pub fn wants_more(&self, node: usize) -> bool {
        self.nodes[node].node.wants_more
    }

    /// The total of a node.
    pub fn total(&self, node: usize) -> Option<f64> {
        self.nodes[node].total
    }

    /// The nodes of the last level that were kept, best first.
    pub fn level(&self) -> &[usize] {
        &self.level
    }

    /// The last segment of the best answer there is.
    pub fn best(&self) -> Option<usize> {
        let leaves = (0..self.nodes.len()).filter(|&i| self.nodes[i].is_leaf);
        leaves.min_by(|&a, &b| best_first(self.worth(a), self.worth(b)))
    }

    /// Answers of unlike lengths are compared by this.
    fn worth(&self, node: usize) -> Option<f64> {
        let Grown { total, depth, .. } = &self.nodes[node];
        match self.combine {
            Combine::Sum => total.map(|total| total / f64::from(*depth)),
            Combine::Product => *total,
        }
    }

    /// The segments up to a node, in the order of reading.
    pub fn path(&self, node: usize) -> Vec<&Segment> {
        let mut path = Vec::new();
        let mut next = Some(node);
        while let Some(i) = next {
            path.push(&self.nodes[i].node.segment);
            next = self.nodes[i].node.parent;
        }
        path.reverse();
        path
    }
}

impl Combine {
    fn of(self, before: Option<f64>, score: Option<f64>) -> Option<f64> {
        let (before, score) = (before?, score?);
        Some(match self {
            Self::Sum => before + score,
            Self::Product => before * score,
        })
    }
}

/// What has no score comes last.
fn best_first(a: Option<f64>, b: Option<f64>) -> std::cmp::Ordering {
    match (a, b) {
        (Some(a), Some(b)) => b.total_cmp(&a),
        (a, b) => b.is_some().cmp(&a.is_some()),
    }
}

/// The candidate whose answer has most on its side: of a question with few possible answers the scores of
/// all that give the same one are added. Of equals the first.
pub fn elect(answers: &[(&str, Option<f64>)]) -> Option<usize> {
    let said = |i: usize| answers[i].0.trim().trim_end_matches('.').to_lowercase();
    let total = |i: usize| {
        let same = (0..answers.len()).filter(|&other| said(other) == said(i)).filter_map(|other| answers[other].1);
        same.reduce(|sum, score| sum + score)
    };
    (0..answers.len()).min_by(|&a, &b| best_first(total(a), total(b)))
}

/// The answer that segments amount to. Each is followed by the number of the place that supports it; a
/// segment that says what another said is left out, and so is its number.
pub fn compose(segments: &[&Segment], passages: &[Passage]) -> Draft {
    let mut draft = Draft { truncated: segments.last().is_some_and(|s| s.truncated), ..Draft::default() };
    let mut said: Vec<&str> = Vec::new();
    for segment in segments {
        let Some(passage) = passages.get(segment.passage) else { continue };
        if segment.text.is_empty() || said.contains(&segment.text.as_str()) {
            continue;
        }
        let all = Span { start: 0, end: passage.text.len() };
        let quote = Quote { passage: segment.passage, span: segment.quote.unwrap_or(all) };
        let n = draft.quotes.iter().position(|known| *known == quote).unwrap_or_else(|| {
            draft.quotes.push(quote);
            draft.quotes.len() - 1
        });
        if let Some(before) = said.last() {
            draft.text += if before.contains('\n') || segment.text.contains('\n') { "\n\n" } else { " " };
        }
        draft.text += &marked(&segment.text, n + 1);
        said.push(&segment.text);
    }
    draft
}

/// The text with a mark before the full stop it ends with, or after its last letter if there is none.
fn marked(text: &str, n: usize) -> String {
    let body = text.trim_end_matches(['.', '!', '?', '…', '。', '！', '？']);
    let last_line = text.lines().last().unwrap_or_default().trim_start();
    let is_fence = last_line.starts_with("```") || last_line.starts_with("~~~");
    format!("{body}{}[{n}]{}", if is_fence { "\n\n" } else { " " }, &text[body.len()..])
}
