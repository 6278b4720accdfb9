//! Numbers as models write them: `0.8`, `0,8`, `Score: 0.8`, `8/10`, `80 %`, `4 - very useful`.

use super::is_wrapping;

/// What may stand before a number.
const LABELS: [&str; 11] = [
    "score",
    "grade",
    "rating",
    "note",
    "nota",
    "bewertung",
    "punktzahl",
    "wert",
    "puntuación",
    "relevance",
    "usefulness",
];

/// A number as a share of 1.
pub(super) fn share(text: &str) -> Option<f64> {
    let (value, of) = read(text)?;
    match of {
        None => Some(value),
        Some(Of::Hundred) => Some(value / 100.0),
        Some(Of::Number(whole)) => [1.0, 5.0, 10.0, 100.0].contains(&whole).then_some(value / whole),
    }
}

/// A number, possibly "of 5".
pub(super) fn grade(text: &str) -> Option<f64> {
    match read(text)? {
        (value, None | Some(Of::Number(5.0))) => Some(value),
        _ => None,
    }
}

/// What a number is a part of.
enum Of {
    Hundred,
    Number(f64),
}

/// The one number of a text and what it is a part of. An explanation may follow, without digits.
fn read(text: &str) -> Option<(f64, Option<Of>)> {
    let text = text.to_lowercase();
    let text = text.trim_matches(|c| is_wrapping(c) && c != '.').trim_end_matches(is_wrapping);
    let (value, rest) = digits(unlabelled(text))?;
    let spaced = rest.trim_start();
    let (of, rest) = if let Some(rest) = spaced.strip_prefix('%') {
        (Some(Of::Hundred), rest)
    } else if let Some(rest) = spaced.strip_prefix('/') {
        let (whole, rest) = digits(rest.trim_start())?;
        (Some(Of::Number(whole)), rest)
    } else {
        (None, rest)
    };
    explains(rest).then_some((value, of))
}

/// Without a label and its colon.
fn unlabelled(text: &str) -> &str {
    let label = LABELS.into_iter().find_map(|label| text.strip_prefix(label));
    let after = label.map(|rest| rest.trim_start_matches(is_wrapping)).and_then(|rest| rest.strip_prefix([':', '=']));
    after.map_or(text, |rest| rest.trim_start_matches(|c| is_wrapping(c) && c != '.'))
}

/// Digits with at most one point or comma among or before them, and what follows.
fn digits(text: &str) -> Option<(f64, &str)> {
    let run = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let whole = run(text);
    let fraction = text[whole..].strip_prefix(['.', ',']).map_or(0, run);
    let end = if fraction == 0 { whole } else { whole + 1 + fraction };
    if whole + fraction == 0 || end > 9 {
        return None;
    }
    let value = format!("0{}", text[..end].replace(',', ".")).parse().ok()?;
    Some((value, &text[end..]))
}

/// Whether the rest is nothing, or an explanation set off by a mark and without another number.
fn explains(rest: &str) -> bool {
    let closed = rest.trim_start_matches(['*', '_', '`', '"', '\'', '”', '»']);
    if closed.is_empty() {
        return true;
    }
    let spaced = closed.trim_start_matches(' ');
    let set_off = closed.starts_with([':', ';', ',', '\n', '\r'])
        || closed.starts_with(". ")
        || closed.starts_with(".\n")
        || (spaced.len() < closed.len() && spaced.starts_with(['-', '—', '–', '(', ':']));
    set_off && !closed.contains(|c: char| c.is_numeric())
}
