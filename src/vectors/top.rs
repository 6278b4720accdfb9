//! The best k of a stream of scored rows, in one total order.
//!
//! Higher scores come first, equal scores in the order of a position, so that what is found depends on what
//! there is alone and not on the order in which it came.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Keeps the best `k` of the rows offered to it. Its memory follows what is offered, never `k`.
pub(crate) struct Top<P> {
    k: usize,
    worst_first: BinaryHeap<Ranked<P>>,
}

struct Ranked<P> {
    score: f32,
    position: P,
    row: u32,
}

impl<P: Ord> Top<P> {
    pub(crate) fn new(k: usize) -> Self {
        Self { k, worst_first: BinaryHeap::new() }
    }

    /// Offers a row; `position` is asked for only when the score can make it one of the best.
    pub(crate) fn offer(&mut self, row: u32, score: f32, position: impl FnOnce() -> P) {
        if !self.is_full() {
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

    /// Whether there are `k`.
    pub(crate) fn is_full(&self) -> bool {
        self.worst_first.len() >= self.k
    }

    /// What a score must reach to be among the best, once there are `k`.
    pub(crate) fn least(&self) -> f32 {
        self.worst_first.peek().filter(|_| self.is_full()).map_or(f32::NEG_INFINITY, |worst| worst.score)
    }

    /// The rows kept, in no order.
    pub(crate) fn into_rows(self) -> impl Iterator<Item = u32> {
        self.worst_first.into_iter().map(|ranked| ranked.row)
    }

    /// The rows kept with their scores, best first.
    pub(crate) fn into_ranked(self) -> impl ExactSizeIterator<Item = (u32, f32)> {
        self.worst_first.into_sorted_vec().into_iter().map(|ranked| (ranked.row, ranked.score))
    }
}

/// Brings the best `k` to the front, in order. Of a few hundred few are wanted: cheaper than a sort,
/// and a tenth of its code.
pub(crate) fn select<T>(items: &mut [T], k: usize, better: impl Fn(&T, &T) -> bool) {
    for place in 0..items.len().min(k) {
        let best =
            (place + 1..items.len()).fold(place, |best, i| if better(&items[i], &items[best]) { i } else { best });
        items.swap(place, best);
    }
}

impl<P: Ord> Ord for Ranked<P> {
    /// The better is the smaller: a max-heap then has the worst on top.
    fn cmp(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then_with(|| self.position.cmp(&other.position))
    }
}

impl<P: Ord> PartialOrd for Ranked<P> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<P: Ord> PartialEq for Ranked<P> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<P: Ord> Eq for Ranked<P> {}
