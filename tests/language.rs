//! Which language a question is written in, measured on the labelled questions.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // the labels are well formed; the accuracy is printed

use countercheck::prompt::{Language, abstention};

#[derive(serde::Deserialize)]
struct Labelled {
    question: String,
    language: Language,
}

/// The questions of each language that are taken for another; at least so many of a hundred must not be.
fn detects(percent: usize, questions: &[(&str, Language)]) {
    for language in Language::ALL {
        let own: Vec<&str> = questions.iter().filter(|q| q.1 == *language).map(|q| q.0).collect();
        let wrong: Vec<&str> = own.iter().copied().filter(|text| Language::detect(text) != *language).collect();
        println!("{}: {} of {}; not {wrong:?}", language.code(), own.len() - wrong.len(), own.len());
        assert!(wrong.len() * 100 <= own.len() * (100 - percent), "{language:?}: {wrong:#?}");
    }
}

#[test]
fn the_language_of_labelled_questions_is_detected() {
    let lines = include_str!("questions/questions.jsonl").lines();
    let labelled: Vec<Labelled> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(labelled.len() >= 150, "{} questions", labelled.len());
    detects(98, &labelled.iter().map(|q| (q.question.as_str(), q.language)).collect::<Vec<_>>());
}

#[test]
fn the_language_of_most_phrases_is_detected() {
    let phrase = |line: &'static str| {
        let (code, text) = line.split_once('\t').unwrap();
        (text, *Language::ALL.iter().find(|language| language.code() == code).unwrap())
    };
    let phrases: Vec<_> = include_str!("questions/phrases.tsv").lines().map(phrase).collect();
    assert_eq!(phrases.len(), 20 * Language::ALL.len());
    detects(80, &phrases);
}

#[test]
fn a_question_without_function_words_counts_as_english() {
    for question in ["", "bodyLimit", "FST_ERR_CTP_BODY_TOO_LARGE", "日本語", "\u{0}"] {
        assert_eq!(Language::detect(question), Language::En, "{question:?}");
    }
}

#[test]
fn every_reason_has_a_sentence_in_every_language() {
    let reasons = [
        "no_documents",
        "irrelevant",
        "web_failed",
        "ungrounded",
        "not_useful",
        "unchecked",
        "no_progress",
        "provider_failed",
        "budget",
        "truncated",
    ];
    let sentence = |reason: &&'static str| Language::ALL.iter().map(|language| abstention(reason, *language));
    let mut sentences: Vec<&str> = reasons.iter().flat_map(sentence).collect();
    assert!(sentences.iter().all(|s| s.ends_with('.')), "{sentences:#?}");
    sentences.sort_unstable();
    sentences.dedup();
    assert_eq!(sentences.len(), reasons.len() * Language::ALL.len(), "each is its own");
    assert_eq!(abstention("nonsense", Language::En), "");
}
