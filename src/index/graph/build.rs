//! The building of a graph, by `instant-distance`. What it serialises is read for its links alone: its own form holds
//! a second copy of the vectors, and searching it checks nothing.

use std::sync::Arc;

use instant_distance::{Builder, Hnsw, Point, PointId};
use serde::{Serialize, Serializer};

use super::links::Links;
use crate::index::snapshot::{decode, encode};
use crate::vectors::Vectors;

/// Candidates kept while inserting a point (`efConstruction` in the paper).
const BUILD_BREADTH: usize = 100;
/// The share of points on the next layer up (`mL`): 1 / ln 32, without the platform's logarithm.
const LAYER_SHARE: f32 = 0.288_539;
/// Neighbours on a layer above the lowest, which has twice as many (`M`).
const NEIGHBOURS: usize = 32;
/// No neighbour, nor any after it.
const NONE: u32 = u32::MAX;

/// What a graph serialises: its search breadth, its points, and of each layer the neighbours of each.
type Serialised = (usize, Vec<()>, Vec<[[u32; NEIGHBOURS]; 2]>, Vec<Vec<[u32; NEIGHBOURS]>>);

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

impl Serialize for Direction {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit()
    }
}

/// The section of a snapshot for the rows that have vectors. Their order and the seed decide it: points are linked by
/// one thread, since the order of linking shapes the graph. Only 32-bit and 64-bit machines differ, because the
/// generator that `instant-distance` seeds does.
pub(super) fn section(vectors: &Vectors, in_order: impl Iterator<Item = u32>, seed: u64) -> Vec<u8> {
    let numbered = in_order.filter_map(|row| Some((row, Direction::of(vectors.components(row)?))));
    let (numbers, directions): (Vec<u32>, Vec<Direction>) = numbered.unzip();
    let (hnsw, points) = linked(directions, seed);
    let mut rows = vec![0; points.len()];
    for (row, point) in numbers.into_iter().zip(points) {
        rows[point.into_inner() as usize] = row;
    }
    Links::section(&rows, &layers(&hnsw))
}

/// The neighbours of each point of each layer, the lowest first.
fn layers(hnsw: &Hnsw<Direction>) -> Vec<Vec<Vec<u32>>> {
    let (_, _, lowest, above) = decode::<Serialised>(&encode(hnsw)).expect("it is what a graph serialises");
    let valid = |neighbours: &[u32]| neighbours.iter().copied().take_while(|&point| point != NONE).collect();
    let lowest = lowest.iter().map(|halves| valid(halves.as_flattened())).collect();
    let above = above.iter().map(|layer| layer.iter().map(|neighbours| valid(neighbours)).collect());
    std::iter::once(lowest).chain(above).collect()
}

fn linked(directions: Vec<Direction>, seed: u64) -> (Hnsw<Direction>, Vec<PointId>) {
    on_one_thread(|| {
        let builder = Builder::default().seed(seed).ml(LAYER_SHARE);
        builder.ef_construction(BUILD_BREADTH).build_hnsw(directions)
    })
}

/// Where threads cannot be started, as in wasm, there is but one anyway.
fn on_one_thread<T: Send>(build: impl FnOnce() -> T + Send) -> T {
    match rayon::ThreadPoolBuilder::new().num_threads(1).build() {
        Ok(pool) => pool.install(build),
        Err(_) => build(),
    }
}
