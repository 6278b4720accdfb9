//! Is each sentence of a draft in the passages? Its words must be, by weight, in one of them, and
//! every number exactly.
//!
//! It flags sentences whose words or numbers are not in the sources. It does not see a contradiction
//! in paraphrase, nor a negation.

use crate::corpus::Corpus;
use crate::document::Passage;
use crate::ingest::{self, UnitKind};
use crate::pipeline::verdict::Support;
use crate::solver::builtin::query::{Terms, passage_terms, terms};

/// The share of a sentence's weight that one passage must hold. The cut of token containment that
/// separates attributed from unattributed sentences lies at 0.77–0.82 on two public sets (BEGIN,
/// `WiCE`).
const CONTAINED: f32 = 0.8;

pub(super) fn check(draft: &str, passages: &[Passage], corpus: &Corpus) -> Support {
    let sources: Vec<Terms> = passages.iter().map(passage_terms).collect();
    let text = without_marks(draft);
    let claims: Vec<Terms> = ingest::units(&text)
        .iter()
        .filter(|u| u.kind != UnitKind::Heading)
        .map(|u| terms(&text[u.span.start..u.span.end]))
        .filter(|claim| !claim.is_empty())
        .collect();
    let is_supported = |claim: &&Terms| sources.iter().any(|source| supports(source, claim, corpus));
    match claims.iter().filter(is_supported).count() {
        0 => Support::None,
        supported if supported < claims.len() => Support::Partially,
        _ => Support::Fully,
    }
}

fn supports(source: &Terms, claim: &Terms, corpus: &Corpus) -> bool {
    let statistics = corpus.index().statistics();
    let has_digit = |term: &str| term.bytes().any(|b| b.is_ascii_digit());
    if claim.iter().any(|term| has_digit(term) && !source.contains(term)) {
        return false;
    }
    let weight = |t: &String| statistics.idf(t);
    let all: f32 = claim.iter().map(weight).sum();
    let found: f32 = claim.iter().filter(|t| source.contains(*t)).map(weight).sum();
    found >= CONTAINED * all
}

/// The draft without its citation marks `[n]`.
fn without_marks(draft: &str) -> String {
    let mut text = String::with_capacity(draft.len());
    let mut rest = draft;
    while let Some(open) = rest.find('[') {
        let inner = &rest[open + 1..];
        let digits = inner.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 && inner[digits..].starts_with(']') {
            text.push_str(rest[..open].trim_end_matches(' '));
            rest = &inner[digits + 1..];
        } else {
            text.push_str(&rest[..=open]);
            rest = inner;
        }
    }
    text + rest
}
