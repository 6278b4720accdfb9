//! An approximate neighbour graph (HNSW, Malkov & Yashunin 2018, by `instant-distance`) beside the
//! exact scan, for corpora that have outgrown it.
//!
//! The graph is a snapshot in time of the vectors it was built from. Vectors that came later are
//! scanned, vectors that were removed are skipped, and their number is made up for by asking the
//! graph for more; when it cannot give as many as are wanted, it answers nothing and the caller
//! scans. So a stale graph costs time or is not used, and is never wrong beyond its recall. It
//! finds candidates only: their cosines are those of the scan.

use std::collections::BTreeSet;
use std::sync::Arc;

use instant_distance::{Builder, Hnsw, Point, PointId, Search};

use super::passages::Position;
use crate::vectors::{Checked, Near, Top, Vectors};

/// Candidates kept while searching the graph, and so the most it can give (`ef` in the paper).
const SEARCH_BREADTH: usize = 200;
/// Candidates kept while inserting into it (`efConstruction`).
const BUILD_BREADTH: usize = 100;
/// The share of points on the next layer up (`mL`): 1 / ln 32, without the platform's logarithm.
const LAYER_SHARE: f32 = 0.288_539;

/// A unit vector, shared between the copies that the builder makes.
#[derive(Clone)]
struct Direction(Arc<[f32]>);

impl Direction {
    fn of(components: impl Iterator<Item = f32> + Clone) -> Self {
        let length = components.clone().map(|component| component * component).sum::<f32>().sqrt();
        Self(components.map(|component| component / length).collect())
    }
}

impl Point for Direction {
    fn distance(&self, other: &Self) -> f32 {
        1.0 - crate::vectors::dot(&self.0, &other.0)
    }
}

/// A graph with what has happened to its vectors since.
#[derive(Clone)]
pub(super) struct Graph {
    hnsw: Arc<Hnsw<Direction>>,
    /// The row of each point of the graph, as long as its vector is the one in the graph.
    rows: Vec<Option<u32>>,
    removed: usize,
    /// Rows whose vector is not in the graph.
    later: BTreeSet<u32>,
}

impl Graph {
    /// Builds a graph of the rows that have vectors. Their order and the seed decide it: points are
    /// linked by one thread, since the order of linking shapes the graph. Only 32-bit and 64-bit
    /// machines differ, because the generator that `instant-distance` seeds does.
    pub(super) fn build(vectors: &Vectors, in_order: impl Iterator<Item = u32>, seed: u64) -> Self {
        let numbered = in_order.filter_map(|row| Some((row, Direction::of(vectors.components(row)?))));
        let (numbers, directions): (Vec<u32>, Vec<Direction>) = numbered.unzip();
        let (hnsw, points) = linked(directions, seed, SEARCH_BREADTH);
        let mut rows = vec![None; points.len()];
        for (row, point) in numbers.into_iter().zip(points) {
            if let Some(slot) = rows.get_mut(point.into_inner() as usize) {
                *slot = Some(row);
            }
        }
        Self { hnsw: Arc::new(hnsw), rows, removed: 0, later: BTreeSet::new() }
    }

    /// Notes that a row got a vector.
    pub(super) fn add(&mut self, row: u32) {
        self.later.insert(row);
    }

    /// Notes that a row lost its vector, if it had one.
    pub(super) fn remove(&mut self, row: u32) {
        if self.later.remove(&row) {
            return;
        }
        if let Some(slot) = self.rows.iter_mut().find(|slot| **slot == Some(row)) {
            *slot = None;
            self.removed += 1;
        }
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
        if k.saturating_add(self.removed) > SEARCH_BREADTH {
            return None;
        }
        let mut search = Search::default();
        let direction = Direction::of(query.components().iter().copied());
        let found = self.hnsw.search(&direction, &mut search);
        let found = found.filter_map(|item| *self.rows.get(item.pid.into_inner() as usize)?);
        let mut top = Top::new(k);
        for row in found.chain(self.later.iter().copied()) {
            if let Some(score) = vectors.score(query, row) {
                top.offer(row, score, || position(row));
            }
        }
        Some(top.into_ranked().map(|(row, score)| Near { row, score }).collect())
    }
}

fn linked(directions: Vec<Direction>, seed: u64, search_breadth: usize) -> (Hnsw<Direction>, Vec<PointId>) {
    on_one_thread(|| {
        let builder = Builder::default().seed(seed).ml(LAYER_SHARE);
        builder.ef_search(search_breadth).ef_construction(BUILD_BREADTH).build_hnsw(directions)
    })
}

/// Where threads cannot be started, as in wasm, there is but one anyway.
fn on_one_thread<T: Send>(build: impl FnOnce() -> T + Send) -> T {
    match rayon::ThreadPoolBuilder::new().num_threads(1).build() {
        Ok(pool) => pool.install(build),
        Err(_) => build(),
    }
}

#[cfg(test)]
mod tests {
    use crate::document::{Origin, Passage, Span};
    use crate::index::{EmbeddingIdentity, Index, SearchQuery, VectorMethod};

    const DIMENSION: usize = 64;

    /// Knuth's MMIX generator: the same vectors on every machine.
    struct Lcg(u64);

    impl Lcg {
        /// Between −1 and 1, most often near 0.
        fn component(&mut self) -> f32 {
            let mut sum = 0.0;
            for _ in 0..4 {
                self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                sum += (self.0 >> 40) as f32 / (1 << 24) as f32;
            }
            sum / 2.0 - 1.0
        }

        fn near(&mut self, centre: &[f32], spread: f32) -> Vec<f32> {
            let vector: Vec<f32> = centre.iter().map(|c| c + spread * self.component()).collect();
            let length = vector.iter().map(|c| c * c).sum::<f32>().sqrt();
            vector.into_iter().map(|c| c / length).collect()
        }
    }

    /// Unit vectors around 40 centres, as texts lie around their topics.
    fn clustered(seed: u64, count: usize) -> Vec<Vec<f32>> {
        let mut random = Lcg(seed);
        let mut topics = Lcg(1);
        let centres: Vec<_> = (0..40).map(|_| topics.near(&[0.0; DIMENSION], 1.0)).collect();
        (0..count).map(|at| random.near(&centres[at % centres.len()], 0.3)).collect()
    }

    fn insert(index: &mut Index, document: &str, vector: Vec<f32>) {
        let passage = Passage {
            id: format!("{document}#0"),
            document: document.to_owned(),
            url: String::new(),
            title: String::new(),
            headings: Vec::new(),
            also: Vec::new(),
            span: Span { start: 0, end: 0 },
            text: String::new(),
            origin: Origin::Local,
        };
        index.insert(document, vec![passage], vec![Some(vector)]).unwrap();
    }

    fn filled(vectors: Vec<Vec<f32>>) -> Index {
        let identity = EmbeddingIdentity { model: "clusters".into(), dimension: DIMENSION, normalised: true };
        let mut index = Index::new(Some(identity));
        for (at, vector) in vectors.into_iter().enumerate() {
            insert(&mut index, &format!("{at:05}"), vector);
        }
        index
    }

    fn ids(index: &Index, vector: &[f32], method: VectorMethod, k: usize) -> Vec<String> {
        let query = SearchQuery { vector: Some(vector), method, ..SearchQuery::default() };
        index.search(&query, k).unwrap().into_iter().map(|hit| hit.passage.id).collect()
    }

    fn recall(index: &Index, queries: &[Vec<f32>], k: usize) -> f64 {
        let mut right = 0;
        for query in queries {
            let exact = ids(index, query, VectorMethod::Scan, k);
            right += ids(index, query, VectorMethod::Graph, k).iter().filter(|id| exact.contains(id)).count();
        }
        right as f64 / (queries.len() * k) as f64
    }

    #[test]
    fn the_graph_finds_what_the_scan_finds() {
        let mut index = filled(clustered(2, 2000));
        index.build_graph(7);
        let recall = recall(&index, &clustered(3, 200), 10);
        assert!(recall >= 0.99, "recall@10 is {recall}");
    }

    #[test]
    fn a_seed_decides_every_link() {
        let nearby = || {
            // Without clusters and with little breadth, what is found depends on every link.
            let mut random = Lcg(2);
            let mut scattered = || super::Direction(random.near(&[0.0; DIMENSION], 1.0).into());
            let (hnsw, _) = super::linked((0..700).map(|_| scattered()).collect(), 7, 5);
            let mut search = instant_distance::Search::default();
            let mut nearby = Vec::new();
            for _ in 0..300 {
                let found = hnsw.search(&scattered(), &mut search);
                nearby.extend(found.map(|item| (item.pid.into_inner(), item.distance.to_bits())));
            }
            nearby
        };
        assert_eq!(nearby(), nearby());
    }

    #[test]
    fn the_order_of_insertion_does_not_change_the_graph() {
        let vectors = clustered(2, 100);
        let mut forwards = filled(vectors.clone());
        let mut backwards = filled(Vec::new());
        for (at, vector) in vectors.into_iter().enumerate().rev() {
            insert(&mut backwards, &format!("{at:05}"), vector);
        }
        let points = |index: &mut Index| -> Vec<String> {
            index.build_graph(7);
            let rows = index.graph.as_ref().unwrap().rows.iter().flatten();
            rows.map(|&row| index.content.row(row).unwrap().passage.id.clone()).collect()
        };
        assert_eq!(points(&mut forwards), points(&mut backwards));
    }

    #[test]
    fn passages_inserted_after_the_build_are_found_and_removed_ones_are_not() {
        let mut index = filled(clustered(2, 300));
        index.build_graph(7);
        let query = clustered(3, 1).remove(0);
        let before = ids(&index, &query, VectorMethod::Graph, 5);
        index.remove(before[0].trim_end_matches("#0")).unwrap();
        insert(&mut index, before[1].trim_end_matches("#0"), clustered(4, 2).remove(1));
        insert(&mut index, "later", query.clone());
        let after = ids(&index, &query, VectorMethod::Graph, 5);
        assert_eq!(after, ids(&index, &query, VectorMethod::Scan, 5));
        assert_eq!(after[0], "later#0");
        assert!(!after.contains(&before[0]) && !after.contains(&before[1]));
    }

    #[test]
    fn a_vector_that_was_replaced_is_a_candidate_once() {
        let mut index = filled(clustered(2, 300));
        index.build_graph(7);
        for (at, vector) in clustered(4, 100).into_iter().enumerate() {
            insert(&mut index, &format!("{at:05}"), vector);
        }
        let graph = index.graph.as_ref().unwrap();
        let query = clustered(3, 1).remove(0);
        let query = super::Checked::new(&query, index.vectors.comparison()).unwrap();
        let position = |row| index.content.position(row);
        let found = graph.search(&index.vectors, query, 100, position).unwrap();
        assert_eq!(found, index.vectors.nearest(query, 100, &|_| true, position));
    }

    #[test]
    fn a_graph_that_cannot_give_enough_gives_way_to_the_scan() {
        let mut index = filled(clustered(2, 600));
        index.build_graph(7);
        let queries = clustered(3, 20);
        assert_eq!(recall(&index, &queries, 400).to_bits(), 1.0_f64.to_bits());
        for at in 0..400 {
            index.remove(&format!("{at:05}")).unwrap();
        }
        assert_eq!(recall(&index, &queries, 10).to_bits(), 1.0_f64.to_bits());
        assert!(index.graph.as_ref().unwrap().removed > super::SEARCH_BREADTH);
    }

    #[test]
    fn a_graph_of_few_or_no_vectors_can_be_asked() {
        for count in [0, 1, 2, 40] {
            let mut index = filled(clustered(2, count));
            index.build_graph(7);
            let found = ids(&index, &clustered(3, 1)[0], VectorMethod::Graph, 10);
            assert_eq!(found, ids(&index, &clustered(3, 1)[0], VectorMethod::Scan, 10), "of {count}");
        }
    }
}
