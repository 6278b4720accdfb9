//! The claims of a draft: what is checked one by one, and repaired one by one.

use crate::document::Span;
use crate::ingest::{self, UnitKind};

/// A sentence, list item, table row or code block of a draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    /// Where it stands in the draft, its citation marks included.
    pub span: Span,
    /// Code is right as a whole or not at all.
    pub is_code: bool,
}

/// The claims of a draft, in order. Headings claim nothing, and neither does a paragraph that is bold as a
/// whole, which stands for one. Marks that follow a sentence belong to it.
pub fn claims(draft: &str) -> Vec<Claim> {
    let mut found: Vec<Claim> = Vec::new();
    for unit in ingest::units(draft).into_iter().filter(|unit| unit.kind != UnitKind::Heading) {
        let text = &draft[unit.span.start..unit.span.end];
        let marks = text.len() - after_marks(text).len();
        let mut span = unit.span;
        if let Some(before) =
            found.last_mut().filter(|before| marks > 0 && !draft[before.span.end..span.start].contains("\n\n"))
        {
            before.span.end = span.start + text[..marks].trim_end().len();
            span.start += marks;
        }
        let text = without_marks(&draft[span.start..span.end]);
        let bold = text.trim().strip_prefix("**").and_then(|text| text.strip_suffix("**"));
        let is_heading = bold.is_some_and(|bold| !bold.contains("**") && !bold.ends_with(['.', '!', '?']));
        if !text.trim().is_empty() && !is_heading {
            found.push(Claim { span, is_code: unit.kind == UnitKind::Code });
        }
    }
    found
}

/// The text after the citation marks that it begins with.
fn after_marks(text: &str) -> &str {
    let mut rest = text;
    while let Some(after) = rest.trim_start().strip_prefix('[').and_then(mark_end) {
        rest = after;
    }
    if rest.len() < text.len() { rest.trim_start() } else { text }
}

/// What follows a mark, of which the text after `[` is given.
fn mark_end(inner: &str) -> Option<&str> {
    let digits = inner.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 { None } else { inner[digits..].strip_prefix(']') }
}

/// A text without its citation marks `[n]`, and without the blanks before them.
pub fn without_marks(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let before = &rest[..open];
        let glued = before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '`');
        if let Some(after) = mark_end(&rest[open + 1..]).filter(|_| !glued) {
            plain.push_str(before.trim_end_matches(' '));
            rest = after;
        } else {
            plain.push_str(&rest[..=open]);
            rest = &rest[open + 1..];
        }
    }
    plain + rest
}
