//! Citation marks in a model's draft: `[2]` means the second passage it was given. The draft's own
//! marks then number its citations, each a place in its passage; marks of passages that were not given
//! are taken out.

use crate::document::{Passage, Span};
use crate::index::words::words;
use crate::ingest;
use crate::pipeline::task::{Draft, Quote};

/// The draft with its marks resolved.
pub(crate) fn resolve(text: &str, passages: &[Passage], truncated: bool) -> Draft {
    let mut draft = Draft { truncated, ..Draft::default() };
    let mut rest = text.trim();
    while let Some((before, numbers, after)) = next_mark(rest) {
        let sentence = last_sentence(&draft.text, before).to_owned();
        draft.text += before;
        let mut any = false;
        for number in numbers {
            let Some(passage) = number.checked_sub(1).and_then(|i| passages.get(i)) else { continue };
            let quote = Quote { passage: number - 1, span: support(&sentence, passage) };
            let n = draft.quotes.iter().position(|known| *known == quote).unwrap_or_else(|| {
                draft.quotes.push(quote);
                draft.quotes.len() - 1
            });
            draft.text += "[";
            draft.text += &(n + 1).to_string();
            draft.text += "]";
            any = true;
        }
        if !any {
            draft.text.truncate(draft.text.trim_end_matches(' ').len());
        }
        rest = after;
    }
    draft.text += rest;
    draft
}

/// The text before the next mark, its numbers, and the text after it. `[1]`, `[1, 2]` and `[1; 2]` are
/// marks; `[x]` and `items[0]` are not.
fn next_mark(text: &str) -> Option<(&str, Vec<usize>, &str)> {
    let mut from = 0;
    loop {
        let open = from + text[from..].find('[')?;
        let close = open + text[open..].find(']')?;
        let inside = text[open + 1..close].split([',', ';']);
        let numbers: Option<Vec<usize>> = inside.map(|n| n.trim().parse().ok()).collect();
        let glued = text[..open].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '`');
        match numbers {
            Some(numbers) if !glued => return Some((&text[..open], numbers, &text[close + 1..])),
            _ => from = open + 1,
        }
    }
}

/// What a mark stands behind: the last sentence of the text before it. That often begins with the end of the sentence
/// that the mark before it stands in.
fn last_sentence<'a>(written: &'a str, before: &'a str) -> &'a str {
    let text = if before.trim().is_empty() { written } else { before.trim_start_matches(['.', ',', ';', '!', '?']) };
    let last = ingest::units(text).last().map(|unit| unit.span);
    last.map_or(text, |span| &text[span.start..span.end])
}

/// The place in a passage that has most words of the sentence; of equals the first, else all of it.
pub(super) fn support(sentence: &str, passage: &Passage) -> Span {
    let nearest = nearest(sentence, std::slice::from_ref(passage));
    nearest.map_or(Span { start: 0, end: passage.text.len() }, |quote| quote.span)
}

/// The place in the passages that has most words of the sentence; of equals the first. The only place
/// there is has no other to be weighed against.
pub(super) fn nearest(sentence: &str, passages: &[Passage]) -> Option<Quote> {
    let spans = |(at, of): (usize, &Passage)| ingest::units(&of.text).into_iter().map(move |unit| (at, unit.span));
    let places: Vec<(usize, Span)> = passages.iter().enumerate().flat_map(spans).collect();
    if let ([_], &[(passage, span)]) = (passages, &places[..]) {
        return Some(Quote { passage, span });
    }
    let sought = words(&ingest::plain_text(sentence));
    let mut best = (0, None);
    for (passage, span) in places {
        let found = words(&ingest::plain_text(&passages[passage].text[span.start..span.end]));
        let shared = sought.iter().filter(|word| found.contains(word)).count();
        if shared > best.0 {
            best = (shared, Some(Quote { passage, span }));
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::resolve;
    use crate::document::{Origin, Passage, Span};

    fn passage(text: &str) -> Passage {
        Passage {
            id: "guide#0".to_owned(),
            document: "guide".to_owned(),
            url: String::new(),
            title: "Guide".to_owned(),
            headings: Vec::new(),
            also: Vec::new(),
            span: Span { start: 0, end: text.len() },
            text: text.to_owned(),
            origin: Origin::Local,
        }
    }

    #[test]
    fn marks_become_citations_of_places() {
        let passages =
            [passage("Keys expire after 90 days. Run `rotate` to get a new one."), passage("The port is 8080.")];
        let cases: &[(&str, &str, &[&str])] = &[
            ("Keys expire [1].", "Keys expire [1].", &["Keys expire after 90 days."]),
            (
                "The port is 8080 [2]. Keys expire [1].",
                "The port is 8080 [1]. Keys expire [2].",
                &["The port is 8080.", "Keys expire after 90 days."],
            ),
            (
                "Keys expire. [1] Rotate them. [1]",
                "Keys expire. [1] Rotate them. [2]",
                &["Keys expire after 90 days.", "Run `rotate` to get a new one."],
            ),
            ("Keys expire [1] and expire [1].", "Keys expire [1] and expire [1].", &["Keys expire after 90 days."]),
            ("Both [1, 2].", "Both [1][2].", &[passages[0].text.as_str(), "The port is 8080."]),
            ("Made up [5].", "Made up.", &[]),
            ("Made up [0] [7].", "Made up.", &[]),
            ("Use items[0] or [x] or [1", "Use items[0] or [x] or [1", &[]),
            ("", "", &[]),
        ];
        for (text, expected, quotes) in cases {
            let draft = resolve(text, &passages, false);
            assert_eq!(draft.text, *expected, "of {text:?}");
            let quoted = |q: &crate::pipeline::task::Quote| &passages[q.passage].text[q.span.start..q.span.end];
            assert_eq!(draft.quotes.iter().map(quoted).collect::<Vec<_>>(), *quotes, "of {text:?}");
            assert!(draft.quotes_from(&passages));
        }
    }
}
