//! An index that was loaded finds what the one it was saved from finds, to the last bit, over this repository's own
//! documentation.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::path::Path;

use countercheck::corpus::Corpus;
use countercheck::document::{Document, Format, Hit, Passage};
use countercheck::embedding::StaticEmbedder;
use countercheck::index::{Filter, Fusion, SearchQuery};

const SOURCES: [&str; 6] = [
    "README.md",
    "ARCHITECTURE.md",
    "docs/strategies.md",
    "docs/requirements.md",
    "benches/retrieval/README.md",
    "benches/index/README.md",
];

fn document(id: &str) -> Document {
    let source = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(id)).unwrap();
    Document { id: id.into(), url: format!("/{id}"), title: String::new(), format: Format::Markdown, source }
}

fn embedder() -> StaticEmbedder {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/embedder.bin");
    StaticEmbedder::parse(std::fs::read(path).unwrap()).unwrap()
}

fn corpus(sources: &[&str]) -> Corpus {
    let mut corpus = Corpus::default();
    corpus.set_embedder(embedder()).unwrap();
    for id in sources {
        corpus.add(&document(id)).unwrap();
    }
    corpus
}

fn loaded(corpus: &Corpus) -> Corpus {
    let mut loaded = Corpus::default();
    loaded.set_embedder(embedder()).unwrap();
    loaded.load(corpus.save()).unwrap();
    loaded
}

/// Sentences of the documentation, and beginnings of them.
fn queries() -> Vec<String> {
    let texts = SOURCES.iter().map(|id| document(id).source).collect::<Vec<_>>().join(" ");
    let sentences = texts.split(['.', '|', '\n']).map(str::trim).filter(|sentence| sentence.len() > 12);
    sentences.step_by(5).map(|sentence| sentence.chars().take(60).collect()).collect()
}

/// Every bit of every number.
fn bits(hits: Vec<Hit>) -> Vec<(Passage, Vec<u32>, Vec<String>)> {
    let of = |hit: Hit| {
        let explanation = hit.explanation.unwrap();
        let (names, terms): (Vec<String>, Vec<f32>) = explanation.terms.into_iter().unzip();
        let sums = [hit.score, hit.lexical, hit.dense.unwrap_or(f32::NAN), explanation.words, explanation.vectors];
        (hit.passage, sums.into_iter().chain(terms).map(f32::to_bits).collect(), names)
    };
    hits.into_iter().map(of).collect()
}

fn assert_alike(one: &Corpus, other: &Corpus) {
    let queries = queries();
    assert!(queries.len() > 150, "{} queries", queries.len());
    let is_odd = |passage: &Passage| !passage.span.start.is_multiple_of(2);
    for text in &queries {
        let plain = SearchQuery { text, explain: true, ..SearchQuery::default() };
        let kinds = [
            plain,
            SearchQuery { prefix: true, ..plain },
            SearchQuery { fusion: Fusion::ReciprocalRank, per_document: Some(1), ..plain },
            SearchQuery { filter: Some(Filter(&is_odd)), ..plain },
        ];
        for query in kinds {
            let [one, other] = [one, other].map(|corpus| bits(corpus.find(&query, 7).unwrap()));
            assert_eq!(one, other, "{text}");
        }
        for term in one.index().words(text) {
            let [one, other] = [one, other].map(|corpus| corpus.index().statistics().idf(&term).to_bits());
            assert_eq!(one, other, "{term}");
        }
    }
    let (one, other) = (one.index(), other.index());
    assert_eq!(one.corpus_hash(), other.corpus_hash());
    assert!(one.iter().eq(other.iter()));
    for passage in one.iter() {
        assert_eq!(one.passage(&passage.id), other.passage(&passage.id));
        assert_eq!(one.reading(passage), other.reading(passage));
    }
}

#[test]
fn a_loaded_index_finds_what_the_one_it_was_saved_from_finds() {
    let mut corpus = corpus(&SOURCES);
    // Passages of several blocks, the last of which is not full.
    let passages = corpus.index().passages();
    assert!(passages > 64, "{passages} passages, of less than three blocks");
    let mut loaded = loaded(&corpus);
    assert_alike(&corpus, &loaded);
    for corpus in [&mut corpus, &mut loaded] {
        assert!(corpus.remove("ARCHITECTURE.md").unwrap());
        let new = Document { source: document("CHANGELOG.md").source, ..document("docs/strategies.md") };
        corpus.add(&new).unwrap();
    }
    assert_alike(&corpus, &loaded);
    assert_eq!(loaded.save(), corpus.save());
}
