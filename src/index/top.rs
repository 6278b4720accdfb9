//! The best k of a stream of scored rows, in one total order.
//!
//! Higher scores come first, equal scores in document order, so that what is found depends on the
//! documents alone and not on the order in which they were inserted.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Where a passage stands: documents by id, the passages of one in reading order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Position<'a> {
    pub(super) document: &'a str,
    pub(super) ordinal: u32,
}

/// Keeps the best `k` of the rows offered to it. Its memory follows what is offered, never `k`.
pub(super) struct Top<'a> {
    k: usize,
    worst_first: BinaryHeap<Ranked<'a>>,
}

struct Ranked<'a> {
    score: f32,
    position: Position<'a>,
    row: u32,
}

impl<'a> Top<'a> {
    pub(super) fn new(k: usize) -> Self {
        Self { k, worst_first: BinaryHeap::new() }
    }

    /// Offers a row; `position` is asked for only when the score can make it one of the best.
    pub(super) fn offer(&mut self, row: u32, score: f32, position: impl FnOnce() -> Position<'a>) {
        if self.worst_first.len() < self.k {
            self.worst_first.push(Ranked { score, position: position(), row });
            return;
        }
        let Some(mut worst) = self.worst_first.peek_mut() else { return };
        if score < worst.score {
            return;
        }
        let offered = Ranked { score, position: position(), row };
        if offered < *worst {
            *worst = offered;
        }
    }

    /// The rows kept, best first.
    pub(super) fn into_rows(self) -> Vec<u32> {
        self.worst_first.into_sorted_vec().into_iter().map(|ranked| ranked.row).collect()
    }
}

/// Brings the best `k` to the front, in order. Of a few hundred few are wanted: cheaper than a sort,
/// and a tenth of its code.
pub(super) fn select<T>(items: &mut [T], k: usize, better: impl Fn(&T, &T) -> bool) {
    for place in 0..items.len().min(k) {
        let best =
            (place + 1..items.len()).fold(place, |best, i| if better(&items[i], &items[best]) { i } else { best });
        items.swap(place, best);
    }
}

impl Ord for Ranked<'_> {
    /// The better is the smaller: a max-heap then has the worst on top.
    fn cmp(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then_with(|| self.position.cmp(&other.position))
    }
}

impl PartialOrd for Ranked<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ranked<'_> {}
