//! An answer quoted from the passages: one to three places that speak most directly to the question,
//! each with its exact span.

use crate::corpus::Corpus;
use crate::document::{Passage, Span, Unit, UnitKind};
use crate::pipeline::task::{Draft, Quote};
use crate::solver::builtin::query::Query;

/// At most so many places are quoted.
const MOST_QUOTES: usize = 3;

/// A further place must be at least this good against the best one. Set on the tuning half of
/// `tests/questions`.
const NEARLY_AS_GOOD: f32 = 0.75;

/// What a place is worth: words of its own, words of the headings above it, its vector, and a bonus
/// for standing in a passage that retrieval ranked high.
const OWN_WORDS: f32 = 1.0;
const HEADINGS: f32 = 0.6;
const COSINE: f32 = 0.8;
const RANK: f32 = 0.25;

/// Where the heading alone has so much of the question, the section is about just that: its opening,
/// which defines the thing, is quoted whatever its own words are, up to so many bytes.
const NAMED_BY_HEADING: f32 = 0.3;
const MOST_BYTES_OPENING: usize = 400;

/// A sentence is quoted with the next one where that has a word of the question that it lacks (`It defaults to
/// 12.`), up to so many bytes.
const MOST_BYTES_CONTINUED: usize = 400;

/// A place that announces what follows (`… like this:`) is quoted with it, up to so many bytes.
const MOST_BYTES_ANNOUNCED: usize = 700;

#[derive(Debug, Clone, Copy)]
struct Place {
    passage: usize,
    span: Span,
    worth: f32,
}

pub(super) fn draft(question: &str, passages: &[Passage], corpus: &Corpus) -> Draft {
    let query = Query::new(question, corpus);
    let places: Vec<Place> = passages.iter().enumerate().flat_map(|(i, p)| places_of(&query, i, p)).collect();
    let mut chosen: Vec<Place> = Vec::new();
    let mut best = f32::MIN;
    while chosen.len() < MOST_QUOTES {
        // Of equals the one retrieved and written first is quoted.
        let left = places.iter().filter(|place| !chosen.iter().any(|c| repeats(c, place, passages)));
        let Some(next) = left.reduce(|best, next| if next.worth > best.worth { next } else { best }) else { break };
        if !chosen.is_empty() && next.worth < NEARLY_AS_GOOD * best {
            break;
        }
        best = best.max(next.worth);
        // The passage that was retrieved first speaks first; within a passage, source order.
        let at = chosen.partition_point(|c| (c.passage, c.span) < (next.passage, next.span));
        chosen.insert(at, *next);
    }
    let whole: Vec<Place> = chosen.iter().map(|place| continued(&query, *place, &chosen, passages)).collect();
    write(&whole, passages)
}

/// The place with the sentence after it in its paragraph, where that has a word of the question that neither the
/// place nor its headings have.
fn continued(query: &Query, place: Place, chosen: &[Place], passages: &[Passage]) -> Place {
    let passage = &passages[place.passage];
    let units = query.reading(passage).units;
    let Some((unit, seen)) = units.into_iter().find(|(unit, _)| unit.span.start >= place.span.end) else {
        return place;
    };
    let longer = Place { span: Span { start: place.span.start, end: unit.span.end }, ..place };
    let is_next = unit.kind == UnitKind::Sentence
        && longer.span.len() <= MOST_BYTES_CONTINUED
        && !passage.text[place.span.end..unit.span.start].contains("\n\n")
        && !chosen.iter().any(|other| other.span != place.span && repeats(other, &longer, passages));
    if !is_next {
        return place;
    }
    let mut said = query.terms(&passage.text[place.span.start..place.span.end]);
    said.extend(query.terms(&passage.breadcrumb()));
    let before = query.coverage(&said);
    said.extend(query.terms(&seen));
    if query.coverage(&said) > before { longer } else { place }
}

/// Whether a draft says what its quotes say, and nothing else.
pub(super) fn is_quoted(draft: &Draft, passages: &[Passage]) -> bool {
    let place = |quote: &Quote| Place { passage: quote.passage, span: quote.span, worth: 0.0 };
    let places: Vec<Place> = draft.quotes.iter().map(place).collect();
    !places.is_empty() && write(&places, passages).text == draft.text
}

fn places_of(query: &Query, index: usize, passage: &Passage) -> Vec<Place> {
    let headings = query.terms(&passage.breadcrumb());
    let named = query.coverage(&headings);
    let context = HEADINGS * named + RANK / (1.0 + index as f32);
    let reading = query.reading(passage);
    let units: Vec<Unit> = reading.units.iter().map(|(unit, _)| *unit).collect();
    let place = |(i, (unit, seen)): (usize, &(Unit, String))| {
        let text = &passage.text[unit.span.start..unit.span.end];
        let own = query.terms(seen);
        if !is_quotable(unit) || own.is_empty() || is_pointer(text) {
            return None;
        }
        let cosine = query.cosine(seen).unwrap_or(0.0);
        let worth = OWN_WORDS * query.coverage(&own) + COSINE * cosine + context;
        Some(Place { passage: index, span: with_announced(&units, i, &passage.text), worth })
    };
    let mut places: Vec<Place> = reading.units.iter().enumerate().filter_map(place).collect();
    let best = places.iter().map(|place| place.worth).fold(0.0, f32::max);
    if let Some(span) = opening(&units).filter(|_| named >= NAMED_BY_HEADING) {
        places.insert(0, Place { passage: index, span, worth: best });
    }
    places
}

fn is_quotable(unit: &Unit) -> bool {
    !matches!(unit.kind, UnitKind::Heading | UnitKind::Code)
}

/// The section's beginning up to its first whole sentence: `Default: 30`, then what it is.
fn opening(units: &[Unit]) -> Option<Span> {
    let mut body = units.iter().skip_while(|unit| unit.kind == UnitKind::Heading);
    let first = body.clone().next()?;
    let sentence = body.by_ref().take_while(|unit| is_quotable(unit)).find(|unit| unit.kind == UnitKind::Sentence)?;
    let span = Span { start: first.span.start, end: sentence.span.end };
    (span.len() <= MOST_BYTES_OPENING).then_some(span)
}

/// A line of a table of contents: a lone link, which says where an answer stands but not what it is.
fn is_pointer(text: &str) -> bool {
    let item = text.trim_start_matches(['-', '*', '+', ' ', '\t']);
    item.starts_with('[') && item.ends_with(')') && item.matches("](").count() == 1
}

/// The unit's span, with the units it announces by ending in a colon.
fn with_announced(units: &[Unit], i: usize, text: &str) -> Span {
    let unit = units[i].span;
    if !text[unit.start..unit.end].ends_with(':') {
        return unit;
    }
    let kind = units.get(i + 1).map(|next| next.kind);
    let run = units[i + 1..]
        .iter()
        .take_while(|u| Some(u.kind) == kind && u.kind != UnitKind::Heading && u.kind != UnitKind::Sentence);
    let run = if kind == Some(UnitKind::Code) { run.take(1) } else { run.take(usize::MAX) };
    let end = run.map(|u| u.span.end).take_while(|end| end - unit.start <= MOST_BYTES_ANNOUNCED).last();
    Span { start: unit.start, end: end.unwrap_or(unit.end) }
}

/// Whether two places share text: the same bytes, or the same sentence on another page.
fn repeats(a: &Place, b: &Place, passages: &[Passage]) -> bool {
    let overlap = a.passage == b.passage && a.span.start < b.span.end && b.span.start < a.span.end;
    let text = |place: &Place| &passages[place.passage].text[place.span.start..place.span.end];
    overlap || text(a).split_whitespace().eq(text(b).split_whitespace())
}

/// The quotes, each passage's under its heading: a sentence on an option seldom repeats its name.
fn write(places: &[Place], passages: &[Passage]) -> Draft {
    let mut draft = Draft::default();
    let mut above = None;
    for place in places {
        let Some(passage) = passages.get(place.passage) else { continue };
        let Some(source) = passage.text.get(place.span.start..place.span.end) else { continue };
        let is_new = above.replace(place.passage) != Some(place.passage);
        let heading = passage.headings.last().filter(|_| is_new).map(|heading| format!("**{}**", escaped(heading)));
        draft.quotes.push(Quote { passage: place.passage, span: place.span });
        let gap = if source.ends_with("```") || source.ends_with("~~~") { "\n\n" } else { " " };
        let quoted = format!("{}{gap}[{}]", readable(source), draft.quotes.len());
        for part in heading.into_iter().chain([quoted]) {
            let separator = if draft.text.is_empty() { "" } else { "\n\n" };
            draft.text += separator;
            draft.text += &part;
        }
    }
    draft
}

/// A list item or table row that stands alone reads as a sentence.
fn readable(source: &str) -> String {
    if source.contains('\n') {
        return source.to_owned();
    }
    if let Some(row) = source.trim().strip_prefix('|') {
        let cells: Vec<&str> =
            row.trim_end_matches('|').split('|').map(str::trim).filter(|cell| !cell.is_empty()).collect();
        return cells.join(" — ");
    }
    source.trim_start_matches(['-', '*', '+', ' ']).to_owned()
}

/// Text as Markdown that reads as the text.
fn escaped(text: &str) -> String {
    let mut markdown = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '&') {
            markdown.push('\\');
        }
        markdown.push(c);
    }
    markdown
}
