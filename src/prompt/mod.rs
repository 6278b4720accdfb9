//! All text that is written for people or models, by language; `templates/<language>/` holds it.

pub mod language;

pub use language::Language;

/// The sentence that says why there is no answer; `reason` is the reason's code in answers.
pub fn abstention(reason: &str, language: Language) -> &'static str {
    let sentences = match language {
        Language::En => include_str!("templates/en/abstained.txt"),
        Language::Fr => include_str!("templates/fr/abstained.txt"),
        Language::De => include_str!("templates/de/abstained.txt"),
        Language::Es => include_str!("templates/es/abstained.txt"),
    };
    let sentence = |line: &'static str| line.split_once(": ").filter(|(code, _)| *code == reason).map(|(_, text)| text);
    sentences.lines().find_map(sentence).unwrap_or_default()
}
