//! An approximate neighbour graph (HNSW, Malkov & Yashunin 2018) beside the exact scan, for corpora that have
//! outgrown it.
//!
//! A graph is links between points, and of each point its row; it is searched by the index's own vectors. It is of one
//! moment. Vectors that came later are scanned; those that were removed are kept here, as the way to
//! others may lead past them, and are not found. Once either are half as many as the points, or where it
//! finds too few, it answers nothing and the caller scans. So a stale graph costs time or is not used, and is
//! never wrong beyond its recall.

#[cfg(feature = "build-graph")]
mod build;
mod links;
#[cfg(all(test, feature = "build-graph"))]
mod tests;

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::ops::Range;
use std::sync::Arc;

use self::links::{Links, Marks};
use super::passages::Position;
use super::snapshot::{SnapshotError, require};
use crate::vectors::{Bounds, Checked, Near, Top, Vectors};

/// Points kept while searching (`ef` in the paper): at least so many, so that enough of the nearest are among them.
const LEAST_BREADTH: usize = 200;
/// And at most so many; for more the scan is as fast.
const MOST_BREADTH: usize = 400;

/// A graph with what has happened to its vectors since.
#[derive(Clone)]
pub(super) struct Graph {
    links: Links,
    /// The vectors of points whose row has lost them, under the points' numbers.
    removed: Vectors,
    /// Rows whose vector is not in the graph.
    later: BTreeSet<u32>,
}

impl Graph {
    /// Links the rows that have vectors. Their order and the seed decide it.
    #[cfg(feature = "build-graph")]
    pub(super) fn build(vectors: &Vectors, in_order: impl Iterator<Item = u32>, seed: u64) -> Option<Self> {
        let section = build::section(vectors, in_order, seed);
        let length = section.len();
        let links = Links::open(&Arc::new(section), 0..length, vectors.len())?;
        Some(Self::of(links, vectors))
    }

    /// What a part of a snapshot says; no graph when it is empty. `rows` is how many rows there are.
    pub(super) fn load(
        file: &Arc<Vec<u8>>,
        part: Range<usize>,
        vectors: &Vectors,
        rows: usize,
    ) -> Result<Option<Self>, SnapshotError> {
        if part.is_empty() {
            return Ok(None);
        }
        let links = Links::open(file, part, vectors.len()).ok_or(SnapshotError::Corrupt { what: "graph" })?;
        let mut taken = Marks::new(rows);
        let is_own = |row| vectors.components(row).is_some() && taken.add(row);
        require(links.rows().all(is_own), "graph")?;
        Ok(Some(Self::of(links, vectors)))
    }

    fn of(links: Links, vectors: &Vectors) -> Self {
        Self { links, removed: Vectors::new(vectors.comparison()), later: BTreeSet::new() }
    }

    /// As a snapshot has it, its rows numbered anew; nothing when there are vectors that it does not have, or no more.
    pub(super) fn save(&self, number: impl Fn(u32) -> u32) -> Vec<u8> {
        if self.is_whole() { self.links.renumbered(number) } else { Vec::new() }
    }

    /// Whether it has the very vectors that there are.
    pub(super) fn is_whole(&self) -> bool {
        self.removed.is_empty() && self.later.is_empty()
    }

    /// Notes that a row got a vector.
    pub(super) fn add(&mut self, row: u32) {
        self.later.insert(row);
    }

    /// Notes that a row is about to lose its vector, if it has one. No longer a graph if that is false: what goes is
    /// not what could have been added.
    pub(super) fn remove(&mut self, row: u32, vectors: &Vectors) -> bool {
        let Some(components) = vectors.components(row).filter(|_| !self.later.remove(&row)) else { return true };
        let components: Vec<f32> = components.collect();
        let Ok(vector) = Checked::new(&components, vectors.comparison()) else { return false };
        // A row that has its second vector is among the later ones: only one point still stands for it.
        let point = (0..).zip(self.links.rows()).find(|&(point, of)| of == row && !self.is_removed(point));
        if let Some((point, _)) = point {
            self.removed.add(point, vector);
        }
        true
    }

    fn is_removed(&self, point: u32) -> bool {
        self.removed.components(point).is_some()
    }

    /// The `k` rows nearest to the query, nearest first, or nothing when the graph cannot give as
    /// many.
    pub(super) fn search<'a>(
        &self,
        vectors: &Vectors,
        query: Checked<'_>,
        k: usize,
        position: impl Fn(u32) -> Position<'a>,
    ) -> Option<Vec<Near>> {
        let changed = self.removed.len().max(self.later.len());
        if k > MOST_BREADTH || changed > self.links.points() / 2 {
            return None;
        }
        let walk = Walk { graph: self, bounds: vectors.bounds(query), removed: self.removed.bounds(query) };
        let found = walk.nearest((2 * k).clamp(LEAST_BREADTH, MOST_BREADTH)).into_ranked();
        let found = found.filter_map(|(point, _)| self.links.row(point));
        let mut top = Top::new(k);
        for row in found.chain(self.later.iter().copied()) {
            if let Some(score) = vectors.score(query, row) {
                top.offer(row, score, || position(row));
            }
        }
        let found: Vec<Near> = top.into_ranked().map(|(row, score)| Near { row, score }).collect();
        (found.len() >= k.min(vectors.len())).then_some(found)
    }
}

/// A search under way. It goes by bounds of the scores, which are in a quarter of the bytes.
struct Walk<'a> {
    graph: &'a Graph,
    bounds: Bounds<'a>,
    removed: Bounds<'a>,
}

impl Walk<'_> {
    /// The points of the greatest bounds that have not been removed: algorithm 5 of the paper.
    fn nearest(&self, breadth: usize) -> Top<u32> {
        let mut entry = (0, self.bounds(&[0])[0]);
        for layer in (1..self.graph.links.layers()).rev() {
            entry = self.climbed(layer, entry);
        }
        self.around(entry, breadth)
    }

    fn bounds(&self, points: &[u32]) -> Vec<f32> {
        let Graph { links, removed, .. } = self.graph;
        let mut bounds = self.bounds.of(points.iter().filter_map(|&point| links.row(point)));
        if !removed.is_empty() {
            let gone = points.iter().zip(&mut bounds).filter(|&(&point, _)| self.graph.is_removed(point));
            gone.for_each(|(&point, bound)| *bound = self.removed.of([point].into_iter())[0]);
        }
        bounds
    }

    /// Where no neighbour on a layer is nearer.
    fn climbed(&self, layer: usize, from: (u32, f32)) -> (u32, f32) {
        let mut best = from;
        loop {
            let neighbours: Vec<u32> = self.graph.links.neighbours(layer, best.0).collect();
            let bounded = neighbours.iter().copied().zip(self.bounds(&neighbours));
            let next = bounded.fold(best, |best, next| if next.1 > best.1 { next } else { best });
            if next.0 == best.0 {
                return best;
            }
            best = next;
        }
    }

    /// The nearest on the lowest layer: algorithm 2.
    fn around(&self, entry: (u32, f32), breadth: usize) -> Top<u32> {
        let links = &self.graph.links;
        let mut found = Top::new(breadth);
        let mut seen = Marks::new(links.points());
        let mut open = BinaryHeap::new();
        let mut reached = vec![entry];
        seen.add(entry.0);
        loop {
            for (point, bound) in reached.drain(..) {
                // Of those reached at once the first may have shut out the others.
                if bound > found.least() {
                    open.push((ordered(bound), Reverse(point)));
                    if self.graph.removed.is_empty() || !self.graph.is_removed(point) {
                        found.offer(point, bound, || point);
                    }
                }
            }
            let Some((bound, Reverse(nearest))) = open.pop() else { break };
            if bound < ordered(found.least()) {
                break;
            }
            let neighbours: Vec<u32> = links.neighbours(0, nearest).filter(|&point| seen.add(point)).collect();
            reached.extend(neighbours.iter().copied().zip(self.bounds(&neighbours)));
        }
        found
    }
}

/// A number that is greater where a score is.
fn ordered(score: f32) -> i32 {
    let bits = score.to_bits().cast_signed();
    if bits < 0 { bits ^ i32::MAX } else { bits }
}
