//! All text that is written for people or models, by language; `templates/<language>/` holds it.

mod fence;
pub mod language;
mod pack;

use crate::document::Passage;
use fence::Fence;
pub use language::Language;
pub use pack::Prompt;
use pack::{Template, pack};

/// Does the question need the documents at all? The reply is `{"retrieve": "yes" | "no" | "continue"}`
/// (seed G-11).
pub fn decide(question: &str, language: Language) -> Prompt {
    let fence = Fence::around(&[question]);
    pack(language).decide.fill(&[("question", &fence.enclose(question))], false)
}

/// Is the passage relevant for the question? The reply is `{"score": "yes" | "no"}` (seed C-03).
pub fn grade(question: &str, passage: &Passage, again: bool, language: Language) -> Prompt {
    graded(pack(language).grade, question, passage, again)
}

/// How relevant is the passage for the question? The reply is `{"score": 0.0…1.0}` (seed G-04).
pub fn grade_score(question: &str, passage: &Passage, again: bool, language: Language) -> Prompt {
    graded(pack(language).grade_score, question, passage, again)
}

fn graded(template: Template, question: &str, passage: &Passage, again: bool) -> Prompt {
    let document = shown(passage);
    let fence = Fence::around(&[question, &document]);
    let values = [("question", fence.enclose(question)), ("document", fence.enclose(&document))];
    template.fill(&borrowed(&values), again)
}

/// A new query for the web. The reply is the query.
pub fn rewrite(question: &str, tried: &[String], language: Language) -> Prompt {
    let tried = tried.join("\n");
    let fence = Fence::around(&[question, &tried]);
    let values = [("question", fence.enclose(question)), ("tried", fence.enclose(&tried))];
    pack(language).rewrite.fill(&borrowed(&values), false)
}

/// An answer without documents, to a question that needs none (seed G-15). The reply is Markdown.
pub fn direct(question: &str, language: Language) -> Prompt {
    let fence = Fence::around(&[question]);
    pack(language).direct.fill(&[("question", &fence.enclose(question))], false)
}

/// An answer from the passages alone, citing `[n]`. The reply is Markdown. Rejected drafts come along,
/// so that a second try is not the first one again; `strict` forbids every assumption (seed G-15).
pub fn generate(question: &str, passages: &[Passage], rejected: &[&str], strict: bool, language: Language) -> Prompt {
    let documents: Vec<String> = passages.iter().map(shown).collect();
    let documents: Vec<&str> = documents.iter().map(String::as_str).collect();
    let fence = Fence::around(&[&documents[..], rejected, &[question]].concat());
    let values = [
        ("question", fence.enclose(question)),
        ("documents", numbered(&fence, &documents)),
        ("rejected", numbered(&fence, rejected)),
    ];
    let pack = pack(language);
    let template = if strict { pack.generate_strict } else { pack.generate };
    template.fill(&borrowed(&values), !rejected.is_empty())
}

/// Is the answer entirely in the passages? The reply is `{"grounded": "yes" | "no"}` (seed R-03).
pub fn grounding(answer: &str, passages: &[Passage], again: bool, language: Language) -> Prompt {
    checked(pack(language).grounding, answer, passages, again)
}

/// How far do the passages support the answer? The reply is
/// `{"support": "fully_supported" | "partially_supported" | "no_support"}` (seed G-13).
pub fn support(answer: &str, passages: &[Passage], again: bool, language: Language) -> Prompt {
    checked(pack(language).support, answer, passages, again)
}

fn checked(template: Template, answer: &str, passages: &[Passage], again: bool) -> Prompt {
    let documents: Vec<String> = passages.iter().map(shown).collect();
    let documents: Vec<&str> = documents.iter().map(String::as_str).collect();
    let fence = Fence::around(&[&documents[..], &[answer]].concat());
    let values = [("documents", numbered(&fence, &documents)), ("answer", fence.enclose(answer))];
    template.fill(&borrowed(&values), again)
}

/// Does the answer answer the question? It sees no passage (seed R-05). The reply is
/// `{"useful": "yes" | "no"}`.
pub fn usefulness(question: &str, answer: &str, again: bool, language: Language) -> Prompt {
    judged(pack(language).usefulness, question, answer, again)
}

/// How useful is the answer? It sees no passage. The reply is `{"usefulness": 1…5}` (seed G-14).
pub fn rate(question: &str, answer: &str, again: bool, language: Language) -> Prompt {
    judged(pack(language).rate, question, answer, again)
}

fn judged(template: Template, question: &str, answer: &str, again: bool) -> Prompt {
    let fence = Fence::around(&[question, answer]);
    let values = [("question", fence.enclose(question)), ("answer", fence.enclose(answer))];
    template.fill(&borrowed(&values), again)
}

/// A passage as a model sees it: where it stands, then its text.
fn shown(passage: &Passage) -> String {
    format!("{}\n\n{}", passage.breadcrumb(), passage.text.trim())
}

fn numbered(fence: &Fence, texts: &[&str]) -> String {
    texts.iter().zip(1..).map(|(text, n)| fence.numbered(n, text)).collect::<Vec<_>>().join("\n\n")
}

fn borrowed<'a, const N: usize>(values: &'a [(&'a str, String); N]) -> [(&'a str, &'a str); N] {
    values.each_ref().map(|(name, value)| (*name, value.as_str()))
}

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
