//! The builtin solver: what a passage has of a question word by word, and what is quoted of it.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use countercheck::corpus::Corpus;
use countercheck::document::{Document, Format, Passage};
use countercheck::embedding::StaticEmbedder;
use countercheck::pipeline::task::{Generate, Task, TaskReply};
use countercheck::solver::builtin::relevance::{Features, features, score};
use countercheck::solver::builtin::solve_own;

/// The place of the nearness of single words among the features.
const NEARNESS: usize = 5;

const TEXTS: [&str; 2] =
    ["Sockets that are idle are closed after five seconds.", "A recipe for bread needs flour and patience."];

fn corpus(with_vectors: bool) -> Corpus {
    let mut corpus = Corpus::default();
    if with_vectors {
        let table = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/embedder.bin")).unwrap();
        corpus.set_embedder(StaticEmbedder::parse(table).unwrap()).unwrap();
    }
    for (i, text) in TEXTS.iter().enumerate() {
        let (id, source) = (format!("{i}.md"), (*text).to_owned());
        corpus.add(&Document { id, title: String::new(), source, url: String::new(), format: Format::Plain }).unwrap();
    }
    corpus
}

fn of(question: &str, document: &str, corpus: &Corpus) -> Features {
    let passage: Vec<&Passage> = corpus.index().iter().filter(|passage| passage.document == document).collect();
    features(question, passage[0], corpus)
}

#[test]
fn a_word_that_means_the_same_counts_in_part_where_the_word_does_not_occur() {
    let corpus = corpus(true);
    let question = "Which idle sockets get shut?";
    let [near, far] = ["0.md", "1.md"].map(|document| of(question, document, &corpus)[NEARNESS]);
    let literal = of("idle sockets", "0.md", &corpus)[NEARNESS];
    assert!((literal - 1.0).abs() < 1e-6, "every word occurs: {literal}");
    assert!(far < near && near < 1.0, "{far} and {near}");
    // `shut` is nowhere: what the passage has of it is `closed`.
    let shut = of("shut", "0.md", &corpus)[NEARNESS];
    assert!((0.2..1.0).contains(&shut) && shut > of("shut", "1.md", &corpus)[NEARNESS], "{shut}");
    assert!(score(&of(question, "0.md", &corpus)) > score(&of(question, "1.md", &corpus)));
}

#[test]
fn without_vectors_only_words_that_occur_count() {
    let corpus = corpus(false);
    assert!(of("shut", "0.md", &corpus)[NEARNESS].abs() < 1e-6);
    assert!((of("idle", "0.md", &corpus)[NEARNESS] - 1.0).abs() < 1e-6);
    assert!(of("?!", "0.md", &corpus).iter().all(|feature| feature.is_finite()), "a question without a word");
}
#[test]
fn a_sentence_is_quoted_with_the_next_one_that_says_what_was_asked() {
    let source = "# Widget server\n\n## maxWidgets\n\nThe option `maxWidgets` limits how many widgets a server may hold. It defaults to `12`. \
        Nobody has ever needed more.\n\n## widgetTimeout\n\nHow long a widget may take to answer. The default is 3000.\n";
    let mut corpus = Corpus::default();
    let document = Document {
        id: "widgets.md".to_owned(),
        title: String::new(),
        source: source.to_owned(),
        url: String::new(),
        format: Format::Markdown,
    };
    corpus.add(&document).unwrap();
    let passages: Vec<Passage> = corpus.index().iter().cloned().collect();
    let question = "What is the default of maxWidgets?".to_owned();
    let task =
        Generate { question, passages: passages.clone().into(), rejected: Vec::new(), strict: false, temperature: 0.0 };
    let TaskReply::Draft(draft) = solve_own(&Task::Generate(task), &corpus) else { panic!("no draft") };
    assert!(draft.text.contains("It defaults to `12`."), "{}", draft.text);
    assert!(!draft.text.contains("Nobody"), "{}", draft.text);
    for quote in &draft.quotes {
        assert!(passages[quote.passage].text.get(quote.span.start..quote.span.end).is_some());
    }
}
