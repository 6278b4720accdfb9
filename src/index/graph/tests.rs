//! The graph against the scan.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::sync::Arc;

use super::links::Links;
use crate::document::{Origin, Passage, Span};
use crate::index::{EmbeddingIdentity, GRAPH_FROM, Index, SearchQuery, VectorMethod};

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

fn wordless(document: &str) -> Passage {
    Passage {
        id: format!("{document}#0"),
        document: document.to_owned(),
        url: String::new(),
        title: String::new(),
        headings: Vec::new(),
        also: Vec::new(),
        span: Span { start: 0, end: 0 },
        text: String::new(),
        origin: Origin::Local,
    }
}

fn insert(index: &mut Index, document: &str, vector: Vec<f32>) {
    index.insert(document, vec![wordless(document)], vec![Some(vector)]).unwrap();
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
    let links = |seed| {
        let mut index = filled(clustered(2, 700));
        index.build_graph(seed);
        index.graph.unwrap().save(|row| row)
    };
    assert_eq!(links(7), links(7));
    assert_ne!(links(7), links(8));
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
        let rows = index.graph.as_ref().unwrap().links.rows();
        rows.map(|row| index.content.row(row).unwrap().passage.id.clone()).collect()
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
    assert_eq!(recall(&index, &queries, 500).to_bits(), 1.0_f64.to_bits());
    for at in 0..450 {
        index.remove(&format!("{at:05}")).unwrap();
    }
    assert_eq!(recall(&index, &queries, 10).to_bits(), 1.0_f64.to_bits());
    assert!(index.graph.as_ref().unwrap().removed.len() > super::MOST_BREADTH);
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

fn loaded(index: &Index) -> Index {
    Index::load(&index.save(1)).unwrap()
}

fn all_ids(index: &Index, k: usize) -> Vec<Vec<String>> {
    clustered(3, 50).iter().map(|query| ids(index, query, VectorMethod::Graph, k)).collect()
}

#[test]
fn a_loaded_graph_finds_what_it_found_before_it_was_saved() {
    let mut index = filled(clustered(2, 1500));
    index.build_graph(7);
    let mut loaded = loaded(&index);
    assert!(loaded.graph.as_ref().unwrap().links.layers() > 2);
    assert_eq!(loaded.save(1), index.save(1));
    // And also once both have changed.
    for change in 0..2 {
        assert_eq!(all_ids(&loaded, 10), all_ids(&index, 10));
        for index in [&mut index, &mut loaded] {
            for (at, vector) in clustered(4 + change, 100).into_iter().enumerate() {
                insert(index, &format!("{:05}", at * 20 + change as usize), vector);
                index.remove(&format!("{:05}", at * 3 + 900 * change as usize)).unwrap();
            }
        }
    }
    assert_eq!(all_ids(&loaded, 10), all_ids(&index, 10));
}

#[test]
fn a_graph_is_saved_as_long_as_it_has_the_very_vectors() {
    let mut index = filled(clustered(2, 200));
    let without = index.save(1);
    index.build_graph(7);
    let with = index.save(1);
    assert!(with.len() > without.len());
    assert!(index.has_whole_graph() && loaded(&index).has_whole_graph());
    let vector = clustered(4, 1).remove(0);
    insert(&mut index, "later", vector.clone());
    assert!(!index.has_whole_graph() && !loaded(&index).has_whole_graph());
    index.remove("later").unwrap();
    assert_eq!(index.save(1), with);
    index.remove("00007").unwrap();
    assert!(!index.has_whole_graph() && !loaded(&index).has_whole_graph());
    insert(&mut index, "00007", clustered(2, 200).remove(7));
    assert_eq!(index.save(1), without);
    index.build_graph(7);
    assert_eq!(index.save(1), with);
    // Of a snapshot that has none, or another.
    let mut bare = Index::load(&without).unwrap();
    bare.build_graph(8);
    assert_ne!(bare.save(1), with);
    bare.build_graph(7);
    assert_eq!(bare.save(1), with);
}

#[test]
fn passages_without_a_vector_are_no_points_and_move_none() {
    let mut index = filled(clustered(2, 200));
    for document in ["", "00100a", "z"] {
        index.insert(document, vec![wordless(document)], vec![None]).unwrap();
    }
    index.build_graph(7);
    let before = all_ids(&index, 10);
    // Rows are numbered in document order when they are saved: those after the first are now one less.
    index.remove("").unwrap();
    let loaded = loaded(&index);
    assert!(loaded.has_whole_graph());
    assert_eq!(all_ids(&loaded, 10), before);
}

#[test]
fn the_way_leads_past_what_was_removed() {
    let mut index = filled(clustered(2, 1500));
    index.build_graph(7);
    // Whole clusters, and of the others every third.
    for at in (0..1500).filter(|at| at % 40 < 8 || at % 3 == 0) {
        index.remove(&format!("{at:05}")).unwrap();
    }
    let graph = index.graph.as_ref().unwrap();
    assert!(graph.removed.len() > 600 && graph.removed.len() <= 750, "{}", graph.removed.len());
    let recall = recall(&index, &clustered(3, 200), 10);
    assert!(recall >= 0.99, "recall@10 is {recall}");
}

#[test]
fn few_vectors_are_scanned_unless_the_graph_is_asked_for() {
    // A bad graph, of one link each: who follows it has enough before it has seen all.
    let mut index = filled(clustered(2, 1000));
    let section = Links::section(&(0..1000).collect::<Vec<_>>(), &[(0..1000).map(|n| vec![(n + 1) % 1000]).collect()]);
    let length = section.len();
    let links = Links::open(&Arc::new(section), 0..length, 1000).unwrap();
    index.graph = Some(super::Graph::of(links, &index.vectors));
    let found = |method| ids(&index, &clustered(3, 1)[0], method, 10);
    assert_eq!(found(VectorMethod::Measured), found(VectorMethod::Scan));
    assert_ne!(found(VectorMethod::Graph), found(VectorMethod::Scan));
    let asks = |vectors| VectorMethod::Measured.asks_graph(vectors);
    assert!(asks(GRAPH_FROM) && !asks(GRAPH_FROM - 1));
}

#[test]
fn vectors_of_any_length_are_linked_by_their_direction() {
    let identity = EmbeddingIdentity { model: "clusters".into(), dimension: DIMENSION, normalised: false };
    let mut index = Index::new(Some(identity));
    for (at, vector) in clustered(2, 2000).into_iter().enumerate() {
        let long = vector.into_iter().map(|component| component * (1 + at % 7) as f32).collect();
        insert(&mut index, &format!("{at:05}"), long);
    }
    index.build_graph(7);
    for at in 0..100 {
        index.remove(&format!("{at:05}")).unwrap();
    }
    let recall = recall(&index, &clustered(3, 200), 10);
    assert!(recall >= 0.99, "recall@10 is {recall}");
}
