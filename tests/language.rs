//! Which language a question is written in, measured on the labelled questions.

use countercheck::prompt::{Language, abstention};

#[derive(serde::Deserialize)]
struct Labelled {
    question: String,
    language: Language,
}

#[test]
fn the_language_of_labelled_questions_is_detected() {
    let lines = include_str!("questions/questions.jsonl").lines();
    let labelled: Vec<Labelled> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    let wrong: Vec<&str> =
        labelled.iter().filter(|q| Language::detect(&q.question) != q.language).map(|q| q.question.as_str()).collect();
    assert!(labelled.len() >= 150, "{} questions", labelled.len());
    assert!(wrong.len() * 50 <= labelled.len(), "{} of {} wrong: {wrong:#?}", wrong.len(), labelled.len());
}

#[test]
fn spanish_is_told_from_its_neighbours() {
    for question in [
        "¿Cómo puedo limitar el tamaño del cuerpo de una petición?",
        "qué hace la opción bodyLimit",
        "dónde se configura el tiempo de espera",
    ] {
        assert_eq!(Language::detect(question), Language::Es, "{question}");
    }
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
    let languages = [Language::En, Language::Fr, Language::De, Language::Es];
    let mut sentences: Vec<&str> = reasons.iter().flat_map(|r| languages.map(|l| abstention(r, l))).collect();
    assert!(sentences.iter().all(|s| s.ends_with('.')), "{sentences:#?}");
    sentences.sort_unstable();
    sentences.dedup();
    assert_eq!(sentences.len(), 40, "each is its own");
    assert_eq!(abstention("nonsense", Language::En), "");
}
