//! The search for near vectors against one that computes every score, and what a vector index refuses.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::collections::BTreeMap;
use std::fmt::Write;

use countercheck::vectors::{Metric, VectorIndex};
use proptest::prelude::*;
use proptest::sample::select;
use xxhash_rust::xxh64::xxh64;

type Found = Vec<(String, u32)>;

const METRICS: [Metric; 3] = [Metric::Cosine, Metric::Dot, Metric::Euclidean];

/// Sums in the documented order: eight running ones, folded by halves.
fn sum(terms: impl Iterator<Item = f32>) -> f32 {
    let mut lanes = [0.0_f32; 8];
    terms.enumerate().for_each(|(at, term)| lanes[at % 8] += term);
    let fours: [f32; 4] = std::array::from_fn(|lane| lanes[lane] + lanes[lane + 4]);
    (fours[0] + fours[2]) + (fours[1] + fours[3])
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    sum(a.iter().zip(b).map(|(a, b)| a * b))
}

fn score(metric: Metric, a: &[f32], b: &[f32]) -> f32 {
    match metric {
        Metric::Cosine => (dot(a, b) / (dot(a, a).sqrt() * dot(b, b).sqrt())).clamp(-1.0, 1.0),
        Metric::Dot => dot(a, b),
        Metric::Euclidean => -sum(a.iter().zip(b).map(|(a, b)| (a - b) * (a - b))),
    }
}

/// Every score computed, then sorted: by score, then by name.
fn brute(metric: Metric, rows: &BTreeMap<String, Vec<f32>>, query: &[f32], k: usize) -> Found {
    let mut all: Vec<(f32, &String)> = rows.iter().map(|(name, row)| (score(metric, query, row), name)).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    all.into_iter().take(k).map(|(score, name)| (name.clone(), score.to_bits())).collect()
}

fn found(index: &VectorIndex, query: &[f32], k: usize, allowed: impl Fn(&str) -> bool) -> Found {
    let near = index.search(query, k, &|row| allowed(index.name(row).unwrap())).unwrap();
    near.into_iter().map(|near| (index.name(near.row).unwrap().to_owned(), near.score.to_bits())).collect()
}

fn filled(metric: Metric, rows: &BTreeMap<String, Vec<f32>>) -> VectorIndex {
    let mut index = VectorIndex::new(rows.values().next().unwrap().len(), metric).unwrap();
    for (name, row) in rows {
        index.add(name, row).unwrap();
    }
    index
}

/// Knuth's MMIX generator: the same vectors on every machine.
struct Lcg(u64);

impl Lcg {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    fn vector(&mut self, dimension: usize) -> Vec<f32> {
        (0..dimension).map(|_| self.next()).collect()
    }
}

fn named(vectors: impl Iterator<Item = Vec<f32>>) -> BTreeMap<String, Vec<f32>> {
    vectors.enumerate().map(|(at, vector)| (format!("{at:05}"), vector)).collect()
}

/// Components that quantise badly: all missed to the same side, one far greater than the rest, tiny, huge.
fn component() -> impl Strategy<Value = f32> {
    prop_oneof![
        4 => -1.0_f32..1.0,
        2 => select(vec![0.0, -0.0, 1.0, -1.0, 0.104, 0.4999, 1e-20, -1e-6]),
        1 => -1e4_f32..1e4,
    ]
}

fn vector(dimension: usize) -> impl Strategy<Value = Vec<f32>> {
    let structured = (component(), component(), 0..dimension).prop_map(move |(all, one, at)| {
        let mut vector = vec![all; dimension];
        vector[at] = one;
        vector
    });
    let any = prop::collection::vec(component(), dimension);
    prop_oneof![any, structured].prop_filter("has a direction", |vector| vector.iter().any(|&c| c.abs() > 1e-6))
}

fn set() -> impl Strategy<Value = (Vec<Vec<f32>>, Vec<f32>)> {
    select(vec![1_usize, 3, 8, 16, 37, 64, 100])
        .prop_flat_map(|dimension| (prop::collection::vec(vector(dimension), 1..80), vector(dimension)))
}

proptest! {
    #[test]
    fn the_nearest_are_those_that_computing_every_score_finds(
        (vectors, query) in set(), metric in select(METRICS.to_vec()), k in 0_usize..90,
    ) {
        let rows = named(vectors.into_iter());
        let index = filled(metric, &rows);
        prop_assert_eq!(found(&index, &query, k, |_| true), brute(metric, &rows, &query, k));
    }

    #[test]
    fn only_what_is_allowed_is_found_and_none_of_it_is_missed(
        (vectors, query) in set(), metric in select(METRICS.to_vec()), k in 0_usize..20, every in 1_usize..30,
    ) {
        let mut rows = named(vectors.into_iter());
        let index = filled(metric, &rows);
        let allowed = |name: &str| name.parse::<usize>().unwrap() % every == 0;
        let hits = found(&index, &query, k, allowed);
        rows.retain(|name, _| allowed(name));
        prop_assert_eq!(hits, brute(metric, &rows, &query, k));
    }

    #[test]
    fn the_order_of_adding_changes_nothing((vectors, query) in set(), seed in any::<u64>(), k in 1_usize..20) {
        let rows = named(vectors.into_iter());
        let mut order: Vec<_> = rows.iter().collect();
        let mut random = Lcg(seed);
        order.sort_by_cached_key(|_| random.next().to_bits());
        let mut shuffled = VectorIndex::new(query.len(), Metric::Cosine).unwrap();
        for (name, row) in order {
            shuffled.add(name, row).unwrap();
        }
        let index = filled(Metric::Cosine, &rows);
        prop_assert_eq!(found(&shuffled, &query, k, |_| true), found(&index, &query, k, |_| true));
        prop_assert_eq!(shuffled.save(), index.save());
    }

    #[test]
    fn adding_replacing_removing_searching_saving_and_loading_in_any_order_is_what_a_map_does(
        steps in prop::collection::vec((0_u8..6, 0_usize..12, vector(9)), 1..60), metric in select(METRICS.to_vec()),
    ) {
        let mut index = VectorIndex::new(9, metric).unwrap();
        let mut model = BTreeMap::new();
        for (step, name, vector) in steps {
            let name = format!("{name:02}");
            match step {
                0 => {
                    prop_assert_eq!(index.add(&name, &vector).is_ok(), !model.contains_key(&name));
                    model.entry(name).or_insert(vector);
                }
                1 => {
                    index.set(&name, &vector).unwrap();
                    model.insert(name, vector);
                }
                2 => prop_assert_eq!(index.remove(&name).is_some(), model.remove(&name).is_some()),
                3 => index = VectorIndex::load(index.save()).unwrap(),
                4 => prop_assert_eq!(index.vector(&name), model.get(&name).cloned()),
                _ => prop_assert_eq!(found(&index, &vector, 5, |_| true), brute(metric, &model, &vector, 5)),
            }
            prop_assert_eq!(index.len(), model.len());
        }
    }

    #[test]
    fn arbitrary_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), framed in any::<bool>()) {
        let bytes = if framed { [b"CCV\n\x01\0\0\0", &bytes[..]].concat() } else { bytes };
        prop_assert_eq!(VectorIndex::load(bytes).unwrap_err().code(), "invalid_snapshot");
    }
}

/// Vectors around 40 centres, as texts lie around their topics.
fn clustered(seed: u64, count: usize, dimension: usize) -> Vec<Vec<f32>> {
    let (mut random, mut topics) = (Lcg(seed), Lcg(1));
    let centres: Vec<_> = (0..40).map(|_| topics.vector(dimension)).collect();
    let near = |centre: &Vec<f32>, random: &mut Lcg| centre.iter().map(|c| c + random.next()).collect();
    (0..count).map(|at| near(&centres[at % 40], &mut random)).collect()
}

#[test]
fn an_approximate_search_finds_nearly_all_and_by_the_same_scores() {
    let rows = named(clustered(2, 5000, 96).into_iter());
    let mut index = filled(Metric::Cosine, &rows);
    let queries = clustered(3, 50, 96);
    let mut right = 0;
    for query in &queries {
        let exact = found(&index, query, 10, |_| true);
        let fast = index.search_fast(query, 10, &|_| true).unwrap();
        assert_eq!(fast.len(), 10);
        for near in fast {
            right += usize::from(exact.contains(&(index.name(near.row).unwrap().to_owned(), near.score.to_bits())));
        }
    }
    assert!(right >= 490, "{right} of 500");
}

#[test]
fn signs_follow_what_is_added_replaced_and_removed() {
    let vectors = clustered(2, 3000, 33);
    let mut index = filled(Metric::Cosine, &named(vectors.iter().take(1000).cloned()));
    index.search_fast(&vectors[0], 1, &|_| true).unwrap();
    for (at, vector) in vectors.iter().enumerate().skip(500) {
        index.set(&format!("{at:05}"), vector).unwrap();
    }
    for at in (0..2000).step_by(3) {
        index.remove(&format!("{at:05}"));
    }
    let mut fresh = VectorIndex::load(index.save()).unwrap();
    for query in clustered(3, 20, 33) {
        let named = |index: &mut VectorIndex| -> Vec<String> {
            let near = index.search_fast(&query, 5, &|_| true).unwrap();
            near.iter().map(|near| index.name(near.row).unwrap().to_owned()).collect()
        };
        let exact: Vec<String> = found(&index, &query, 5, |_| true).into_iter().map(|(name, _)| name).collect();
        for found in [named(&mut index), named(&mut fresh)] {
            assert!(found.iter().filter(|name| exact.contains(name)).count() >= 4, "{found:?} for {exact:?}");
        }
    }
}

#[test]
fn an_approximate_search_among_less_than_are_wanted_is_exact() {
    let rows = named(clustered(2, 3000, 16).into_iter());
    let mut index = filled(Metric::Cosine, &rows);
    for query in clustered(3, 20, 16) {
        let allowed = |name: &str| name.ends_with("777");
        let exact = found(&index, &query, 10, allowed);
        let names: Vec<String> = (0..3000).map(|row| index.name(row).unwrap().to_owned()).collect();
        let fast = index.search_fast(&query, 10, &|row| allowed(&names[row as usize])).unwrap();
        let fast: Found = fast.iter().map(|near| (names[near.row as usize].clone(), near.score.to_bits())).collect();
        assert_eq!((fast.len(), fast), (3, exact));
    }
}

#[test]
fn many_equal_vectors_are_found_by_name() {
    let rows = named((0..200).map(|_| vec![0.5, -0.25, 0.125]));
    let index = filled(Metric::Cosine, &rows);
    let names: Vec<String> = found(&index, &[1.0, 0.0, 0.0], 40, |_| true).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, rows.keys().take(40).cloned().collect::<Vec<_>>());
}

#[test]
fn what_cannot_be_compared_is_refused_and_the_index_lives_on() {
    let mut index = VectorIndex::new(2, Metric::Cosine).unwrap();
    assert_eq!(index.search(&[1.0, 0.0], 9, &|_| true).unwrap(), []);
    index.add("a", &[1.0, 0.0]).unwrap();
    for bad in [&[f32::NAN, 1.0][..], &[1.0, f32::INFINITY], &[0.0, 0.0], &[1.0], &[1.0; 3], &[], &[1e30, 1e30]] {
        assert_eq!(index.add("b", bad).unwrap_err().code(), "invalid_vector", "{bad:?}");
        assert_eq!(index.set("a", bad).unwrap_err().code(), "invalid_vector", "{bad:?}");
        assert_eq!(index.search(bad, 1, &|_| true).unwrap_err().code(), "invalid_vector", "{bad:?}");
    }
    assert_eq!(index.add("a", &[0.0, 1.0]).unwrap_err().code(), "duplicate_id");
    assert_eq!(found(&index, &[2.0, 0.0], 9, |_| true), [("a".to_owned(), 1.0_f32.to_bits())]);
    assert_eq!(index.search(&[2.0, 0.0], 0, &|_| true).unwrap(), []);
    for dimension in [0, 65_537] {
        assert_eq!(VectorIndex::new(dimension, Metric::Dot).unwrap_err().code(), "invalid_dimension");
    }
}

#[test]
fn the_origin_is_a_point_but_no_direction() {
    let mut index = VectorIndex::new(2, Metric::Euclidean).unwrap();
    index.add("origin", &[0.0, 0.0]).unwrap();
    index.add("far", &[3.0, 4.0]).unwrap();
    let hits = found(&index, &[0.0, 0.0], 2, |_| true);
    assert_eq!(hits, [("origin".to_owned(), (-0.0_f32).to_bits()), ("far".to_owned(), (-25.0_f32).to_bits())]);
}

#[test]
fn a_plane_takes_the_bytes_it_says() {
    let mut random = Lcg(1);
    let index = filled(Metric::Cosine, &named((0..10).map(|_| random.vector(256))));
    assert_eq!((index.memory().scan, index.memory().rescoring), (10 * (256 + 8), 10 * 4 * 256));
}

fn small(metric: Metric) -> Vec<u8> {
    let mut random = Lcg(3);
    filled(metric, &named((0..5).map(|_| random.vector(3)))).save()
}

#[test]
fn a_file_that_is_cut_off_or_has_a_bit_flipped_is_refused() {
    let file = small(Metric::Dot);
    for length in 0..file.len() {
        assert_eq!(VectorIndex::load(file[..length].to_vec()).unwrap_err().code(), "invalid_snapshot");
    }
    for bit in 0..file.len() * 8 {
        let mut flipped = file.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(VectorIndex::load(flipped).unwrap_err().code(), "invalid_snapshot", "bit {bit}");
    }
}

#[test]
fn a_flipped_bit_under_a_right_checksum_is_refused_or_can_be_used() {
    for metric in METRICS {
        let file = small(metric);
        for bit in 0..(file.len() - 8) * 8 {
            let mut flipped = file.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let content = flipped.len() - 8;
            let checksum = xxh64(&flipped[..content], 0).to_le_bytes();
            flipped[content..].copy_from_slice(&checksum);
            let Ok(mut index) = VectorIndex::load(flipped) else { continue };
            let query = vec![0.5; index.comparison().dimension];
            for near in index.search(&query, 9, &|_| true).unwrap() {
                assert!(near.score.is_finite() && index.name(near.row).is_some());
            }
            index.set("new", &query).unwrap();
            index.remove("00001");
            index.save();
        }
    }
}

/// The same file is read by tests/node/vectors.test.mjs: scores are the same to the last bit on every host.
#[test]
fn known_vectors_have_known_neighbours() {
    let mut random = Lcg(7);
    let index = filled(Metric::Cosine, &named((0..1003).map(|_| random.vector(70))));
    let mut hits = String::new();
    for _ in 0..4 {
        for (name, score) in found(&index, &random.vector(70), 10, |_| true) {
            writeln!(hits, "{name} {score:08x}").unwrap();
        }
    }
    if std::env::var_os("UPDATE_VECTORS").is_some() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/neighbours.txt"), &hits).unwrap();
    }
    assert_eq!(hits, include_str!("data/neighbours.txt"));
}
