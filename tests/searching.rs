//! The options of a search: a word still being typed, ranks in place of scores, a cap, explanations, stems.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use countercheck::document::{Hit, Origin, Passage, Span};
use countercheck::index::words::Stemming;
use countercheck::index::{Analysis, EmbeddingIdentity, Fusion, Index, SearchQuery};

/// A passage's text and vector.
type Row = (&'static str, [f32; 2]);
type Documents<'a> = &'a [(&'static str, &'a [Row])];

fn index(documents: Documents<'_>, analysis: Analysis) -> Index {
    let identity = EmbeddingIdentity { model: "m".into(), dimension: 2, normalised: false };
    let mut index = Index::with_analysis(Some(identity), analysis);
    for (document, rows) in documents {
        let passage = |(ordinal, (text, _)): (usize, &Row)| Passage {
            id: format!("{document}#{ordinal}"),
            document: (*document).to_owned(),
            url: String::new(),
            title: String::new(),
            headings: Vec::new(),
            also: Vec::new(),
            span: Span { start: 0, end: text.len() },
            text: (*text).to_owned(),
            origin: Origin::Local,
        };
        let vectors = rows.iter().map(|(_, vector)| Some(vector.to_vec())).collect();
        index.insert(document, rows.iter().enumerate().map(passage).collect(), vectors).unwrap();
    }
    index
}

const DOCUMENTS: Documents<'static> = &[
    ("auth", &[("authentication of a user", [1.0, 0.0]), ("the author of a key", [0.8, 0.6])]),
    ("body", &[("bodyLimit in bytes", [0.0, 1.0]), ("limits of a key", [0.6, 0.8]), ("a key, a key", [0.5, 0.5])]),
    ("café", &[("le café de la gare", [-1.0, 0.0])]),
];

fn ids(hits: &[Hit]) -> Vec<&str> {
    hits.iter().map(|hit| hit.passage.id.as_str()).collect()
}

fn typed<'a>(index: &'a Index, text: &'a str) -> Vec<Hit> {
    index.search(&SearchQuery { text, prefix: true, explain: true, ..SearchQuery::default() }, 9).unwrap()
}

#[test]
fn a_word_still_being_typed_finds_what_begins_with_it() {
    let index = index(DOCUMENTS, Analysis::default());
    let cases: [(&str, &[&str]); 9] = [
        ("aut", &["auth#0", "auth#1"]),
        ("authe", &["auth#0"]),
        // Beyond the stem, `authent`.
        ("authenticati", &["auth#0"]),
        ("authentication", &["auth#0"]),
        ("bodyLim", &["body#0", "body#1"]),
        ("key lim", &["body#1", "body#0", "body#2", "auth#1"]),
        ("caf", &["café#0"]),
        ("zeb", &[]),
        ("aut ", &[]),
    ];
    for (text, expected) in cases {
        let hits = typed(&index, text);
        let mut found = ids(&hits);
        let mut expected = expected.to_vec();
        if text != "authe" {
            found.sort_unstable();
            expected.sort_unstable();
        }
        assert_eq!(found, expected, "{text:?}");
    }
    let whole = index.search(&SearchQuery { text: "aut", ..SearchQuery::default() }, 9).unwrap();
    assert!(whole.is_empty(), "only where it is asked for");
    assert_eq!(typed(&index, "key lim")[0].passage.id, "body#1", "both words");
}

#[test]
fn a_hit_says_what_its_score_is_made_of() {
    let index = index(DOCUMENTS, Analysis::default());
    let vector: &[f32] = &[0.6, 0.8];
    for fusion in [Fusion::default(), Fusion::ReciprocalRank] {
        let query = SearchQuery {
            text: "key lim",
            vector: Some(vector),
            prefix: true,
            explain: true,
            fusion,
            ..SearchQuery::default()
        };
        let hits = index.search(&query, 9).unwrap();
        assert_eq!(hits.len(), 6);
        for hit in &hits {
            let explanation = hit.explanation.as_ref().unwrap();
            assert!((explanation.words + explanation.vectors - hit.score).abs() < 1e-6);
            let sum: f32 = explanation.terms.iter().map(|(_, score)| score).sum();
            assert!((sum - hit.lexical).abs() < 1e-5, "{} is not {sum}", hit.lexical);
            assert!(explanation.terms.is_sorted_by(|a, b| a.1 >= b.1));
        }
        let terms: Vec<&str> =
            hits[0].explanation.as_ref().unwrap().terms.iter().map(|(term, _)| term.as_str()).collect();
        assert_eq!((ids(&hits)[0], terms), ("body#1", vec!["lim…", "key"]));
        let silent = index.search(&SearchQuery { explain: false, ..query }, 9).unwrap();
        assert!(silent.iter().all(|hit| hit.explanation.is_none()));
        assert_eq!(ids(&silent), ids(&hits));
    }
}

#[test]
fn reciprocal_ranks_add_up_to_one_for_the_first_of_both_sides() {
    let index = index(DOCUMENTS, Analysis::default());
    let vector: &[f32] = &[0.6, 0.8];
    let query =
        SearchQuery { text: "limits", vector: Some(vector), fusion: Fusion::ReciprocalRank, ..SearchQuery::default() };
    let hits = index.search(&query, 9).unwrap();
    assert_eq!((ids(&hits)[0], hits[0].score), ("body#1", 1.0));
    // Fourth of six by its vector and second by its words, and so on: ranks, whatever the scores are.
    let part = |rank: u8| 61.0 / (60.0 + f32::from(rank)) / 2.0;
    let body = hits.iter().find(|hit| hit.passage.id == "body#0").unwrap();
    assert!((body.score - part(2) - part(4)).abs() < 1e-6, "{}", body.score);
    let words = index.search(&SearchQuery { vector: None, ..query }, 9).unwrap();
    assert_eq!((ids(&words), words[0].score), (vec!["body#1", "body#0"], 1.0));
}

#[test]
fn no_document_has_more_hits_than_the_cap() {
    let index = index(DOCUMENTS, Analysis::default());
    let query = SearchQuery { text: "key", vector: Some(&[0.5, 0.5]), ..SearchQuery::default() };
    let all = index.search(&query, 9).unwrap();
    for most in 0..4 {
        let capped = index.search(&SearchQuery { per_document: Some(most), ..query }, 9).unwrap();
        let mut taken = std::collections::BTreeMap::new();
        let expected = all.iter().filter(|hit| {
            let count = taken.entry(hit.passage.document.clone()).or_insert(0);
            *count += 1;
            *count <= most
        });
        assert_eq!(ids(&capped), ids(&expected.cloned().collect::<Vec<_>>()));
    }
    let two = index.search(&SearchQuery { per_document: Some(1), ..query }, 2).unwrap();
    assert_eq!(two.len(), 2, "others take the place of those left out");
}

#[test]
fn an_index_keeps_its_stems_when_it_is_saved() {
    let french = Analysis { stemming: Stemming::Fr, ..Analysis::default() };
    let documents: Documents<'_> = &[("a", &[("les chaînes régulières", [1.0, 0.0])])];
    let loaded = Index::load(&index(documents, french).save(0)).unwrap();
    assert_eq!(loaded.analysis(), french);
    let query = SearchQuery { text: "chaine régulière", ..SearchQuery::default() };
    assert_eq!(ids(&loaded.search(&query, 9).unwrap()), ["a#0"]);
    assert_eq!(loaded.words("régulières"), ["reguli"]);
    let english = index(documents, Analysis::default());
    assert_eq!(english.words("régulières"), ["regulier"]);
}
