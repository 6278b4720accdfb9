//! All text that is written for people or models, by language; `templates/<language>/` holds it.

mod fence;
pub mod language;
mod pack;

use crate::document::Passage;
pub use language::Language;
use pack::Material::{self, Many, One};
pub use pack::{Prompt, Shown};

/// Does the question need the documents at all? The reply is `{"retrieve": "yes" | "no" | "continue"}`
/// (seed G-11).
pub fn decide(question: &str, language: Language) -> Prompt {
    language.pack().decide.fill([("question", one(question))], false)
}

/// Is the passage relevant for the question? The reply is `{"score": "yes" | "no"}` (seed C-03).
pub fn grade(question: &str, passage: &Passage, again: bool, language: Language) -> Prompt {
    let material = [("question", one(question)), ("document", One(shown(passage)))];
    language.pack().grade.fill(material, again)
}

/// Which of the passages are relevant for the question? The reply is
/// `{"verdicts": [{"id": 1, "score": "yes" | "no"}, …]}`, where 1 is the first passage.
pub fn grade_batch(question: &str, passages: &[Passage], again: bool, language: Language) -> Prompt {
    language.pack().grade_batch.fill([("question", one(question)), ("documents", documents(passages))], again)
}

/// How relevant is the passage for the question? The reply is `{"score": 0.0…1.0}` (seed G-04).
pub fn grade_score(question: &str, passage: &Passage, again: bool, language: Language) -> Prompt {
    let material = [("question", one(question)), ("document", One(shown(passage)))];
    language.pack().grade_score.fill(material, again)
}

/// How relevant is each passage for the question? The reply is
/// `{"verdicts": [{"id": 1, "score": 0.0…1.0}, …]}`, where 1 is the first passage.
pub fn grade_score_batch(question: &str, passages: &[Passage], again: bool, language: Language) -> Prompt {
    language.pack().grade_score_batch.fill([("question", one(question)), ("documents", documents(passages))], again)
}

/// A new query for the web. The reply is the query.
pub fn rewrite(question: &str, tried: &[String], language: Language) -> Prompt {
    let material = [("question", one(question)), ("tried", One(tried.join("\n")))];
    language.pack().rewrite.fill(material, false)
}

/// A new query for the web, made from what the passages lack. The reply is the query.
pub fn rewrite_gap(question: &str, held: &[Passage], tried: &[String], language: Language) -> Prompt {
    let material = [("question", one(question)), ("documents", documents(held)), ("tried", One(tried.join("\n")))];
    language.pack().rewrite_gap.fill(material, false)
}

/// Which of the claims do the passages support, and by which words? The reply is `{"claims": [{"id": 1,
/// "support": "yes" | "partly" | "no", "document": 1, "quote": "…"}, …]}`, where 1 is the first.
pub fn claims(claims: &[String], passages: &[Passage], again: bool, language: Language) -> Prompt {
    language.pack().claims.fill([("documents", documents(passages)), ("claims", Many(claims.to_vec()))], again)
}

/// The same, and does the answer answer the question? The reply has `"answer": {"useful": "yes" | "no"}`
/// besides.
pub fn claims_useful(
    question: &str,
    answer: &str,
    claims: &[String],
    passages: &[Passage],
    again: bool,
    language: Language,
) -> Prompt {
    let material = [
        ("documents", documents(passages)),
        ("question", one(question)),
        ("answer", one(answer)),
        ("claims", Many(claims.to_vec())),
    ];
    language.pack().claims_useful.fill(material, again)
}

/// What do the passages say in place of these claims? The reply is `{"statements": [{"id": 1, "text": "…"},
/// …]}`.
pub fn repair(question: &str, answer: &str, claims: &[String], passages: &[Passage], language: Language) -> Prompt {
    let material = [
        ("documents", documents(passages)),
        ("question", one(question)),
        ("answer", one(answer)),
        ("claims", Many(claims.to_vec())),
    ];
    language.pack().repair.fill(material, false)
}

/// An answer without documents, to a question that needs none (seed G-15). The reply is Markdown.
pub fn direct(question: &str, language: Language) -> Prompt {
    language.pack().direct.fill([("question", one(question))], false)
}

/// An answer from the passages alone, citing `[n]`. The reply is Markdown. Rejected drafts come along,
/// so that a second try is not the first one again; `strict` forbids every assumption (seed G-15).
pub fn generate(question: &str, passages: &[Passage], rejected: &[&str], strict: bool, language: Language) -> Prompt {
    let material = [
        ("question", one(question)),
        ("documents", documents(passages)),
        ("rejected", Many(rejected.iter().copied().map(str::to_owned).collect())),
    ];
    let pack = language.pack();
    let template = if strict { pack.generate_strict } else { pack.generate };
    template.fill(material, !rejected.is_empty())
}

/// Is the answer entirely in the passages? The reply is `{"grounded": "yes" | "no"}` (seed R-03).
pub fn grounding(answer: &str, passages: &[Passage], again: bool, language: Language) -> Prompt {
    let material = [("documents", documents(passages)), ("answer", one(answer))];
    language.pack().grounding.fill(material, again)
}

/// How far do the passages support the answer? The reply is
/// `{"support": "fully_supported" | "partially_supported" | "no_support"}` (seed G-13).
pub fn support(answer: &str, passages: &[Passage], again: bool, language: Language) -> Prompt {
    let material = [("documents", documents(passages)), ("answer", one(answer))];
    language.pack().support.fill(material, again)
}

/// Does the answer answer the question? It sees no passage (seed R-05). The reply is
/// `{"useful": "yes" | "no"}`.
pub fn usefulness(question: &str, answer: &str, again: bool, language: Language) -> Prompt {
    let material = [("question", one(question)), ("answer", one(answer))];
    language.pack().usefulness.fill(material, again)
}

/// How useful is the answer? It sees no passage. The reply is `{"usefulness": 1…5}` (seed G-14).
pub fn rate(question: &str, answer: &str, again: bool, language: Language) -> Prompt {
    let material = [("question", one(question)), ("answer", one(answer))];
    language.pack().rate.fill(material, again)
}

/// The next piece of an answer, from one passage alone; what has been written goes before it. The reply
/// is Markdown.
pub fn segment(question: &str, passage: &Passage, written: &str, language: Language) -> Prompt {
    let mut material = vec![("question", one(question)), ("document", One(shown(passage)))];
    let is_begun = !written.trim().is_empty();
    if is_begun {
        material.push(("answer", one(written.trim())));
    }
    language.pack().segment.fill(material, is_begun)
}

/// Does an answer that has been begun need another piece? The reply is that of [`decide`].
pub fn proceed(question: &str, answer: &str, language: Language) -> Prompt {
    language.pack().proceed.fill([("question", one(question)), ("answer", one(answer.trim()))], false)
}

/// One of a few answers, from a passage where there is one. The reply is a letter.
pub fn choose(question: &str, choices: &[String], passage: Option<&Passage>, language: Language) -> Prompt {
    let mut material = vec![("question", one(question)), ("choices", One(lettered(choices)))];
    if let Some(passage) = passage {
        material.push(("document", One(shown(passage))));
    }
    language.pack().choose.fill(material, passage.is_some())
}

/// The instruction to choose one of a few answers, for a model that only continues text; the released
/// Self-RAG checkpoints read the question and the answers under such a heading.
pub fn choose_bare(question: &str, choices: &[String], language: Language) -> String {
    [language.choosing().trim_end(), "\n\n### Input:\n", question, "\n", &lettered(choices)].concat()
}

/// Answers with a letter each, from A on.
fn lettered(choices: &[String]) -> String {
    let line = |(letter, choice): (char, &String)| format!("{letter}: {choice}");
    ('A'..='Z').zip(choices).map(line).collect::<Vec<_>>().join("\n")
}

fn one(text: &str) -> Material {
    One(text.to_owned())
}

fn documents(passages: &[Passage]) -> Material {
    Many(passages.iter().map(shown).collect())
}

/// A passage as a model sees it: where it stands, then its text.
fn shown(passage: &Passage) -> String {
    [&passage.breadcrumb(), "\n\n", passage.text.trim()].concat()
}

/// The sentence that says why there is no answer; `reason` is the reason's code in answers.
pub fn abstention(reason: &str, language: Language) -> &'static str {
    let sentence = |line: &'static str| line.split_once(": ").filter(|(code, _)| *code == reason).map(|(_, text)| text);
    language.abstentions().lines().find_map(sentence).unwrap_or_default()
}
