//! The index against a model that recomputes everything from its documents, and what it refuses.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::collections::BTreeMap;

use countercheck::document::{Hit, Origin, Passage, Span};
use countercheck::index::words::words;
use countercheck::index::{
    EmbeddingIdentity, Filter, Fusion, Index, IndexError, SearchQuery, VectorFault, VectorMethod,
};
use proptest::prelude::*;
use proptest::sample::select;

type Row = (String, Option<Vec<f32>>);
type Found = (String, f32, f32, Option<f32>);

const DIMENSION: usize = 3;

fn identity(normalised: bool) -> EmbeddingIdentity {
    EmbeddingIdentity { model: "small integers".into(), dimension: DIMENSION, normalised }
}

fn passage(document: &str, ordinal: usize, text: &str) -> Passage {
    Passage {
        id: format!("{document}#{ordinal}"),
        document: document.to_owned(),
        url: format!("https://docs.example/{document}"),
        title: "Animals".to_owned(),
        headings: vec!["Animals".to_owned(), format!("Chapter {document}")],
        also: Vec::new(),
        span: Span { start: ordinal * 1000, end: ordinal * 1000 + text.len() },
        text: text.to_owned(),
        origin: Origin::Local,
    }
}

fn passages(document: &str, rows: &[Row]) -> Vec<Passage> {
    rows.iter().enumerate().map(|(ordinal, (text, _))| passage(document, ordinal, text)).collect()
}

fn insert(index: &mut Index, document: &str, rows: &[Row]) {
    let vectors = rows.iter().map(|(_, vector)| vector.clone()).collect();
    index.insert(document, passages(document, rows), vectors).unwrap();
}

fn filled(documents: &[(&str, &[Row])]) -> Index {
    let mut index = Index::new(Some(identity(false)));
    for (document, rows) in documents {
        insert(&mut index, document, rows);
    }
    index
}

fn row(text: &str, vector: Option<[f32; DIMENSION]>) -> Row {
    (text.to_owned(), vector.map(Vec::from))
}

fn found(hits: Vec<Hit>) -> Vec<Found> {
    hits.into_iter().map(|hit| (hit.passage.id, hit.score, hit.lexical, hit.dense)).collect()
}

fn ids(hits: Vec<Hit>) -> Vec<String> {
    hits.into_iter().map(|hit| hit.passage.id).collect()
}

/// Documents by id; every search starts from nothing.
#[derive(Default)]
struct Model(BTreeMap<String, Vec<Row>>);

impl Model {
    fn search(&self, text: &str, vector: Option<&[f32]>, weight: f32, k: usize) -> Vec<Found> {
        let all: Vec<(Passage, &Option<Vec<f32>>)> = self
            .0
            .iter()
            .flat_map(|(id, rows)| passages(id, rows).into_iter().zip(rows.iter().map(|(_, vector)| vector)))
            .collect();
        let lexical = bm25(text, &all);
        let dense: Vec<Option<f32>> =
            all.iter().map(|(_, own)| vector.zip(own.as_deref()).map(|(a, b)| cosine(a, b))).collect();
        let wanted = k.saturating_mul(4).max(50);
        let by_words = best(wanted, (0..all.len()).filter(|&i| lexical[i] > 0.0), |i| lexical[i]);
        let by_vector = best(wanted, (0..all.len()).filter(|&i| dense[i].is_some()), |i| dense[i].unwrap());
        let mut union: Vec<usize> = by_words.iter().chain(&by_vector).copied().collect();
        union.sort_unstable();
        union.dedup();
        let weight = if by_words.is_empty() {
            1.0
        } else if by_vector.is_empty() {
            0.0
        } else {
            weight
        };
        let words = min_max(union.iter().map(|&i| Some(lexical[i]).filter(|_| !by_words.is_empty())).collect());
        let vectors = min_max(union.iter().map(|&i| dense[i]).collect());
        let score = |at: usize| weight * vectors[at] + (1.0 - weight) * words[at];
        let mut order: Vec<usize> = (0..union.len()).collect();
        order.sort_by(|&a, &b| {
            let key = |at: usize| (score(at), lexical[union[at]], dense[union[at]]);
            key(b).partial_cmp(&key(a)).unwrap().then(a.cmp(&b))
        });
        order.truncate(k);
        order
            .into_iter()
            .map(|at| (all[union[at]].0.id.clone(), score(at), lexical[union[at]], dense[union[at]]))
            .collect()
    }
}

fn bm25(query: &str, all: &[(Passage, &Option<Vec<f32>>)]) -> Vec<f32> {
    // A heading counts twice; the first is the title again, where it reads the same.
    let headings = |p: &Passage| {
        let own = p.headings.iter().skip(usize::from(p.headings.first() == Some(&p.title)));
        own.flat_map(|heading| words(heading)).collect::<Vec<_>>()
    };
    let terms = |p: &Passage| [words(&p.title), headings(p), headings(p), words(&p.text)].concat();
    let rows: Vec<Vec<String>> = all.iter().map(|(passage, _)| terms(passage)).collect();
    let mean = rows.iter().map(Vec::len).sum::<usize>() as f32 / rows.len().max(1) as f32;
    let mut query = words(query);
    query.sort();
    let mut scores = vec![0.0; rows.len()];
    for same in query.chunk_by(|a, b| a == b) {
        let occurrences = |row: &Vec<String>| row.iter().filter(|term| **term == same[0]).count() as f32;
        let df = rows.iter().filter(|row| occurrences(row) > 0.0).count() as f32;
        let weight = same.len() as f32 * libm::logf(1.0 + (rows.len() as f32 - df + 0.5) / (df + 0.5));
        for (score, row) in scores.iter_mut().zip(&rows).filter(|(_, row)| occurrences(row) > 0.0) {
            let tf = occurrences(row);
            *score += weight * (tf / (tf + (1.2 * (1.0 - 0.75) + 1.2 * 0.75 / mean * row.len() as f32)));
        }
    }
    scores
}

/// Exact for small integers, in whichever order the products are added.
fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    (dot(a, b) / (dot(a, a).sqrt() * dot(b, b).sqrt())).clamp(-1.0, 1.0)
}

fn best(k: usize, rows: impl Iterator<Item = usize>, score: impl Fn(usize) -> f32) -> Vec<usize> {
    let mut rows: Vec<usize> = rows.collect();
    rows.sort_by(|&a, &b| score(b).partial_cmp(&score(a)).unwrap().then(a.cmp(&b)));
    rows.truncate(k);
    rows
}

fn min_max(values: Vec<Option<f32>>) -> Vec<f32> {
    let low = values.iter().flatten().copied().fold(f32::INFINITY, f32::min);
    let high = values.iter().flatten().copied().fold(f32::NEG_INFINITY, f32::max);
    let stretch = |value: f32| if high > low { (value - low) / (high - low) } else { 1.0 };
    values.into_iter().map(|value| value.map_or(0.0, stretch)).collect()
}

fn texts() -> impl Strategy<Value = String> {
    let word = select(vec!["cat", "cats", "dog", "fishTank", "tank", "the", "v1.2", "猫の木", "tree", "treeHouse"]);
    prop::collection::vec(word, 0..6).prop_map(|words| words.join(" "))
}

fn vectors() -> impl Strategy<Value = Option<Vec<f32>>> {
    let component = (-2_i8..=2).prop_map(f32::from);
    let vector =
        prop::collection::vec(component, DIMENSION).prop_filter("no direction", |v| v.iter().any(|&c| c != 0.0));
    prop::option::weighted(0.8, vector)
}

fn rows(most: usize) -> impl Strategy<Value = Vec<Row>> {
    prop::collection::vec((texts(), vectors()), 0..most)
}

fn weights() -> impl Strategy<Value = f32> {
    select(vec![0.0, 0.25, 0.4, 0.5, 1.0])
}

#[derive(Debug, Clone)]
enum Step {
    Insert(u8, Vec<Row>),
    Remove(u8),
    Graph(u64),
    Reload,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0_u8..5, rows(6)).prop_map(|(document, rows)| Step::Insert(document, rows)),
        3 => (0_u8..5).prop_map(Step::Remove),
        1 => any::<u64>().prop_map(Step::Graph),
        1 => Just(Step::Reload),
    ];
    prop::collection::vec(step, 1..20)
}

proptest! {
    #[test]
    fn any_interleaving_of_insert_remove_and_search_equals_the_model(
        steps in steps(), text in texts(), vector in vectors(), weight in weights(), k in 0_usize..8,
    ) {
        let (mut index, mut model) = (Index::new(Some(identity(false))), Model::default());
        let vector = vector.as_deref();
        let query = SearchQuery { text: &text, vector, fusion: Fusion::MinMax { dense_weight: weight }, ..SearchQuery::default() };
        for step in steps {
            match step {
                Step::Insert(document, rows) => {
                    insert(&mut index, &document.to_string(), &rows);
                    model.0.insert(document.to_string(), rows);
                }
                Step::Remove(document) => {
                    let there = model.0.remove(&document.to_string()).is_some();
                    prop_assert_eq!(index.remove(&document.to_string()), Ok(there));
                }
                Step::Graph(seed) => index.build_graph(seed),
                Step::Reload => index = Index::load(&index.save(1)).unwrap(),
            }
            prop_assert_eq!(found(index.search(&query, k).unwrap()), model.search(&text, vector, weight, k));
            prop_assert_eq!(index.documents(), model.0.len());
            prop_assert_eq!(index.passages(), model.0.values().map(Vec::len).sum::<usize>());
            let listed: Vec<&Passage> = index.iter().collect();
            let expected: Vec<Passage> = model.0.iter().flat_map(|(id, rows)| passages(id, rows)).collect();
            prop_assert_eq!(listed, expected.iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn more_passages_than_candidates_are_ranked_as_the_model_ranks_them(
        rows in prop::collection::vec((texts(), vectors()), 60..140),
        text in texts(), vector in vectors(), weight in weights(), k in select(vec![1_usize, 10, 20, 1000, usize::MAX]),
    ) {
        let (mut index, mut model) = (Index::new(Some(identity(false))), Model::default());
        for (at, rows) in rows.chunks(7).enumerate() {
            insert(&mut index, &at.to_string(), rows);
            model.0.insert(at.to_string(), rows.to_vec());
        }
        let vector = vector.as_deref();
        let query = SearchQuery { text: &text, vector, fusion: Fusion::MinMax { dense_weight: weight }, ..SearchQuery::default() };
        let hits = found(index.search(&query, k).unwrap());
        prop_assert_eq!(&hits, &model.search(&text, vector, weight, k));
        for (id, score, lexical, dense) in hits {
            prop_assert!((0.0..=1.0).contains(&score) && lexical >= 0.0, "{} has {} from {}", id, score, lexical);
            prop_assert!(dense.is_none_or(|cosine| (-1.0..=1.0).contains(&cosine)));
        }
    }

    #[test]
    fn the_order_of_insertion_changes_neither_hits_nor_bytes(
        documents in prop::collection::btree_map("[a-e]{1,2}", rows(5), 1..8).prop_map(|map| map.into_iter().collect::<Vec<_>>()),
        shuffled in any::<prop::sample::Index>(), text in texts(), vector in vectors(),
    ) {
        let mut other_order = documents.clone();
        other_order.rotate_left(shuffled.index(documents.len()));
        other_order.reverse();
        let [a, b] = [documents, other_order].map(|documents| {
            let mut index = Index::new(Some(identity(false)));
            for (document, rows) in &documents {
                insert(&mut index, document, rows);
            }
            index
        });
        let query = SearchQuery { text: &text, vector: vector.as_deref(), ..SearchQuery::default() };
        prop_assert_eq!(a.search(&query, 100).unwrap(), b.search(&query, 100).unwrap());
        prop_assert_eq!(a.save(1), b.save(1));
    }

    #[test]
    fn with_one_side_alone_fewer_hits_are_the_first_of_more(rows in rows(120), text in texts(), vector in vectors(), k in 0_usize..60) {
        let mut index = Index::new(Some(identity(false)));
        insert(&mut index, "d", &rows);
        let by_words = SearchQuery { text: &text, ..SearchQuery::default() };
        let by_vector = SearchQuery { vector: vector.as_deref(), ..SearchQuery::default() };
        for query in [by_words, by_vector] {
            let all = ids(index.search(&query, 1000).unwrap());
            prop_assert_eq!(ids(index.search(&query, k).unwrap()), &all[..k.min(all.len())]);
        }
    }
}

#[test]
fn equal_scores_are_in_document_order() {
    // W40: scores are kept, and ties have a rule.
    let same = row("cat", Some([1.0, 2.0, 0.0]));
    let index = filled(&[("b", &[same.clone(), same.clone()]), ("a", std::slice::from_ref(&same))]);
    let query = SearchQuery { text: "cat", vector: Some(&[1.0, 2.0, 0.0]), ..SearchQuery::default() };
    assert_eq!(ids(index.search(&query, 2).unwrap()), ["a#0", "b#0"]);
}

#[test]
fn more_equal_passages_than_candidates_are_cut_in_document_order() {
    let mut index = Index::new(Some(identity(false)));
    for document in (100..220).rev() {
        insert(&mut index, &document.to_string(), &[row("cat", Some([1.0, 2.0, 0.0]))]);
    }
    let by_words = SearchQuery { text: "cat", ..SearchQuery::default() };
    let by_vector = SearchQuery { vector: Some(&[1.0, 0.0, 0.0]), ..SearchQuery::default() };
    for query in [by_words, by_vector] {
        assert_eq!(ids(index.search(&query, 3).unwrap()), ["100#0", "101#0", "102#0"]);
    }
}

#[test]
fn a_filter_lets_through_what_is_far_behind_the_candidates() {
    let mut index = Index::new(Some(identity(false)));
    for document in 100..220 {
        insert(&mut index, &document.to_string(), &[row("cat", Some([1.0, 2.0, 0.0]))]);
    }
    insert(&mut index, "far", &[row("cat and so many words more about another thing", Some([-1.0, 0.1, 0.0]))]);
    let allows = |passage: &Passage| passage.document == "far";
    let filter = Some(Filter(&allows));
    let by_words = SearchQuery { text: "cat", filter, ..SearchQuery::default() };
    let by_vector = SearchQuery { vector: Some(&[1.0, 0.0, 0.0]), filter, ..SearchQuery::default() };
    index.build_graph(7);
    let by_graph = SearchQuery { method: VectorMethod::Graph, ..by_vector };
    for query in [by_words, by_vector, by_graph] {
        assert_eq!(ids(index.search(&query, 3).unwrap()), ["far#0"]);
    }
}

#[test]
fn either_side_alone_finds_what_only_it_knows() {
    let index = filled(&[("d", &[row("cat", None), row("dog", Some([1.0, 0.0, 0.0])), row("fish", None)])]);
    let query = |text, vector| SearchQuery { text, vector, ..SearchQuery::default() };
    let vector: &[f32] = &[2.0, 0.0, 0.0];
    assert_eq!(ids(index.search(&query("cat", Some(vector)), 9).unwrap()), ["d#0", "d#1"]);
    assert_eq!(ids(index.search(&query("cat", None), 9).unwrap()), ["d#0"]);
    let hits = index.search(&query("unheard of", Some(vector)), 9).unwrap();
    assert_eq!(found(hits), [("d#1".to_owned(), 1.0, 0.0, Some(1.0))]);
    assert_eq!(index.search(&query("the", None), 9).unwrap(), []);
}

#[test]
fn headings_are_found_by_their_words() {
    let index = filled(&[("intro", &[row("", None)])]);
    let hits = index.search(&SearchQuery { text: "chapters", ..SearchQuery::default() }, 1).unwrap();
    assert_eq!(ids(hits), ["intro#0"]);
}

#[test]
fn statistics_follow_the_passages() {
    let mut index = filled(&[("a", &[row("cat cat", None), row("cats dog", None)]), ("b", &[row("tree", None)])]);
    let statistics = index.statistics();
    assert_eq!((statistics.passages(), statistics.document_frequency("cat")), (3, 2));
    assert_eq!(statistics.idf("cat").to_bits(), libm::logf(1.0 + 1.5 / 2.5).to_bits());
    assert_eq!(statistics.idf("unknown").to_bits(), libm::logf(1.0 + 3.5 / 0.5).to_bits());
    index.remove("a").unwrap();
    assert_eq!((index.statistics().passages(), index.statistics().document_frequency("cat")), (1, 0));
    assert!(index.passage("a#0").is_none() && index.passage("b#0").is_some());
}

#[test]
fn an_empty_index_and_an_empty_query_find_nothing() {
    let query = SearchQuery { text: "cat", ..SearchQuery::default() };
    assert_eq!(Index::new(None).search(&query, usize::MAX).unwrap(), []);
    let index = filled(&[("empty", &[]), ("a", &[row("cat", None)])]);
    assert_eq!(index.documents(), 2);
    assert_eq!(index.search(&SearchQuery::default(), 5).unwrap(), []);
    assert_eq!(index.search(&query, 0).unwrap(), []);
}

#[test]
fn what_cannot_be_inserted_is_refused_by_name_and_changes_nothing() {
    let vector = |vector: [f32; DIMENSION]| vec![None, Some(vector.to_vec())];
    let fault = |fault| IndexError::Vector { passage: "a#1".into(), fault };
    let two = || passages("a", &[row("new", None), row("new", None)]);
    let edited = |edit: fn(&mut Passage)| {
        let mut two = two();
        edit(&mut two[1]);
        two
    };
    let other = |id: &str| IndexError::PassageId { found: id.into(), expected: "a#1".into() };
    let length = |length| VectorFault::Length { length, minimum: 0.999, maximum: 1.001 };
    let cases = [
        (two(), vec![None], IndexError::VectorCount { document: "a".into(), passages: 2, vectors: 1 }),
        (edited(|p| p.id = "a#0".into()), vec![None; 2], other("a#0")),
        (edited(|p| p.id = "b#1".into()), vec![None; 2], other("b#1")),
        (edited(|p| p.id = "a#01".into()), vec![None; 2], other("a#01")),
        (
            edited(|p| p.document = "b".into()),
            vec![None; 2],
            IndexError::ForeignPassage { passage: "a#1".into(), found: "b".into(), expected: "a".into() },
        ),
        (
            edited(|p| p.span = Span { start: 7, end: 3 }),
            vec![None; 2],
            IndexError::Span { passage: "a#1".into(), text: 3, start: 7, end: 3 },
        ),
        (two(), vector([0.0; 3]), fault(VectorFault::Zero)),
        (two(), vector([0.5, 0.0, 0.0]), fault(length(0.5))),
        (two(), vec![None, Some(vec![1.0])], fault(VectorFault::Dimension { found: 1, expected: 3 })),
        (
            two(),
            vector([0.0, f32::INFINITY, 0.0]),
            fault(VectorFault::NotFinite { component: 1, value: f32::INFINITY }),
        ),
    ];
    let mut index = Index::new(Some(identity(true)));
    insert(&mut index, "a", &[row("old", Some([0.0, 1.0, 0.0]))]);
    insert(&mut index, "b", &[row("cat", None)]);
    let before = index.save(1);
    for (passages, vectors, error) in cases {
        assert_eq!(index.insert("a", passages, vectors), Err(error));
        assert_eq!(index.save(1), before);
    }
    let nan = index.insert("a", two(), vector([0.0, 0.0, f32::NAN])).unwrap_err();
    assert_eq!(nan.to_string(), r#"vector of "a#1": component 2 is not a finite number"#);
    let unmodelled = Index::new(None).insert("a", two(), vector([1.0, 0.0, 0.0]));
    assert_eq!(unmodelled, Err(fault(VectorFault::NoModel)));
}

#[test]
fn a_query_that_cannot_be_compared_is_refused_by_name() {
    let index = filled(&[("a", &[row("cat", Some([1.0, 0.0, 0.0]))])]);
    let faults: [(&[f32], _); 4] = [
        (&[0.0; 3], VectorFault::Zero),
        (&[1.0; 4], VectorFault::Dimension { found: 4, expected: 3 }),
        (&[1.0, f32::NEG_INFINITY, 0.0], VectorFault::NotFinite { component: 1, value: f32::NEG_INFINITY }),
        (&[1e30, 0.0, 0.0], VectorFault::Length { length: f32::INFINITY, minimum: 1e-15, maximum: 1e15 }),
    ];
    for (vector, fault) in faults {
        let query = SearchQuery { text: "cat", vector: Some(vector), ..SearchQuery::default() };
        assert_eq!(index.search(&query, 0), Err(IndexError::Vector { passage: "query".into(), fault }));
    }
    for weight in [-0.1, 1.1, f32::INFINITY] {
        let query =
            SearchQuery { text: "cat", fusion: Fusion::MinMax { dense_weight: weight }, ..SearchQuery::default() };
        assert_eq!(index.search(&query, 1), Err(IndexError::Weight { weight }));
    }
    let not_a_number = SearchQuery { fusion: Fusion::MinMax { dense_weight: f32::NAN }, ..SearchQuery::default() };
    assert!(index.search(&not_a_number, 1).is_err());
    assert_eq!(ids(index.search(&SearchQuery { text: "cat", ..SearchQuery::default() }, 1).unwrap()), ["a#0"]);
}
