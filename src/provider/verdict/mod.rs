//! Reads what a model was asked to decide: yes or no, one of some names, a score from 0 to 1, a grade
//! from 1 to 5.
//!
//! Tolerant of form: JSON or a word, a fence or prose around it, reasoning before it. Strict in
//! substance: two answers, an answer out of range, one that was cut off, or anything else gives `None`,
//! which is "unknown" and never a yes or a no. Words are read in English, French, German and Spanish.

mod confidence;
mod copied;
mod list;
mod number;
mod object;

pub use confidence::confidence;
pub use copied::is_copied;
pub use list::{items, number_in, object_with, text_in};
use object::{Field, Objects};

/// Longer replies are not read: a verdict is short.
pub const LONGEST: usize = 8 << 10;

/// Yes or no, alone or before an explanation.
const YES: [&str; 5] = ["yes", "oui", "ja", "sí", "si\u{301}"];
const NO: [&str; 3] = ["no", "non", "nein"];
/// The same, but only as the whole reply: before more words they can mean anything.
const YES_ALONE: [&str; 4] = ["true", "relevant", "grounded", "1"];
const NO_ALONE: [&str; 4] = ["false", "irrelevant", "ungrounded", "0"];
/// Openings of an explanation that takes the verdict back.
const HEDGES: [&str; 21] = [
    "and",
    "or",
    "but",
    "not",
    "maybe",
    "perhaps",
    "however",
    "et",
    "ou",
    "mais",
    "pas",
    "und",
    "oder",
    "aber",
    "nicht",
    "vielleicht",
    "y",
    "o",
    "pero",
    "quizás",
    "if",
];

/// Names of the JSON field, compared without case.
const SCORE: [&str; 2] = ["score", "binary_score"];
const RATING: [&str; 2] = ["usefulness", "score"];

/// Whether the model said yes; the JSON field is `score` or `binary_score`.
pub fn binary(reply: &str) -> Option<bool> {
    binary_in(reply, &SCORE)
}

/// Whether the model said yes, in a JSON field of one of these names.
pub fn binary_in(reply: &str, fields: &[&str]) -> Option<bool> {
    let reply = without_reasoning(reply)?;
    match object::read(reply, fields)? {
        Objects::None => word(reply),
        Objects::One { field, before, after } => {
            let verdict = match field {
                Field::Truth(truth) => truth,
                Field::Number(0.0) => false,
                Field::Number(1.0) => true,
                Field::Number(_) => return None,
                Field::Text(text) => word(&text)?,
            };
            let contradicts =
                |prose: &str| says(prose, !verdict) || word(prose.trim().trim_matches(':')) == Some(!verdict);
            let contradicted = [before, after].into_iter().any(contradicts);
            (!contradicted).then_some(verdict)
        }
    }
}

/// Which of these names the model chose, alone, before an explanation or in that JSON field. In a name
/// `_` may be a blank.
pub fn choice(reply: &str, field: &str, names: &[&str]) -> Option<usize> {
    let reply = without_reasoning(reply)?;
    let (text, around) = match object::read(reply, &[field])? {
        Objects::None => (reply.to_owned(), String::new()),
        Objects::One { field: Field::Text(text), before, after } => (text, [before, "\n", after].concat()),
        Objects::One { .. } => return None,
    };
    let spaced = |text: &str| text.trim_matches(is_wrapping).to_lowercase().replace('_', " ");
    let text = spaced(&text);
    let (chosen, rest) = names.iter().enumerate().find_map(|(at, name)| {
        let rest = text.strip_prefix(&spaced(name))?;
        (rest.is_empty() || explains(rest)).then_some((at, rest))
    })?;
    let words = |text: &str| text.split(|c| !is_letter(c)).filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" ");
    let others = format!(" {} {} ", words(rest), words(&spaced(&around)));
    let another = |(at, name): (usize, &&str)| at != chosen && others.contains(&format!(" {} ", spaced(name)));
    (!names.iter().enumerate().any(another)).then_some(chosen)
}

/// A score from 0 to 1; the JSON field is `score`. Percentages and fractions of 5, 10 and 100 count.
pub fn score(reply: &str) -> Option<f64> {
    let value = numeric(reply, &SCORE, number::share)?;
    (0.0..=1.0).contains(&value).then_some(value)
}

/// A grade from 1 to 5; the JSON field is `usefulness` or `score`. Only whole ones, alone or "of 5".
pub fn scale(reply: &str) -> Option<u8> {
    let value = numeric(reply, &RATING, number::grade)?;
    ((1.0..=5.0).contains(&value) && value.fract() == 0.0).then_some(value as u8)
}

fn numeric(reply: &str, fields: &[&str], read: fn(&str) -> Option<f64>) -> Option<f64> {
    let reply = without_reasoning(reply)?;
    match object::read(reply, fields)? {
        Objects::None => read(reply),
        Objects::One { field, before, after } => {
            let other = [before, after].into_iter().any(|prose| prose.contains(|c: char| c.is_numeric()));
            match field {
                _ if other => None,
                Field::Number(number) => Some(number),
                Field::Text(text) => read(&text),
                Field::Truth(_) => None,
            }
        }
    }
}

/// What follows the last reasoning; `None` when the reply is too long or the reasoning never ended.
fn without_reasoning(reply: &str) -> Option<&str> {
    if reply.len() > LONGEST {
        return None;
    }
    // Hardly any reply has a tag.
    if !reply.contains('<') {
        return Some(reply);
    }
    let (open, close) = ("<think>", "</think>");
    let rest = reply.rfind(close).map_or(reply, |at| &reply[at + close.len()..]);
    (!rest.contains(open)).then_some(rest)
}

/// Marks around a word that mean nothing.
fn is_wrapping(c: char) -> bool {
    c.is_whitespace() || "*_`\"'“”„«»‘’.!()".contains(c)
}

/// A verdict in words.
fn word(text: &str) -> Option<bool> {
    // Most are one of these, as asked for.
    match text {
        "yes" => return Some(true),
        "no" => return Some(false),
        _ => {}
    }
    // An exclamation mark before a word negates it where models think of code.
    let text = text.trim_start_matches(|c| is_wrapping(c) && c != '!').trim_end_matches(is_wrapping).to_lowercase();
    let all = |names: [&[&str]; 2]| names.into_iter().flatten().any(|name| *name == text);
    if all([&YES, &YES_ALONE]) {
        return Some(true);
    }
    if all([&NO, &NO_ALONE]) {
        return Some(false);
    }
    let end = text.find(|c: char| !is_letter(c)).unwrap_or(text.len());
    let (first, rest) = text.split_at(end);
    let verdict = if YES.contains(&first) {
        true
    } else if NO.contains(&first) {
        false
    } else {
        return None;
    };
    (explains(rest) && !says(rest, !verdict)).then_some(verdict)
}

/// Whether what follows a verdict is an explanation of it, set off by a mark, that does not begin by
/// taking it back.
fn explains(rest: &str) -> bool {
    let closed = rest.trim_start_matches(['*', '_', '`', '"', '\'', '”', '»']);
    let set_off = closed.starts_with(['.', ',', ';', ':', '!', '—', '–', '\n', '\r']);
    let spaced = closed.trim_start_matches(' ');
    let set_off = set_off || (spaced.len() < closed.len() && spaced.starts_with(['-', '—', '–', '(', ':']));
    let next = closed.split(|c| !is_letter(c)).find(|part| !part.is_empty());
    set_off && next.is_none_or(|next| !HEDGES.contains(&next))
}

/// Whether one of the words of a verdict occurs.
fn says(text: &str, verdict: bool) -> bool {
    let names: &[&str] = if verdict { &YES } else { &NO };
    let text = text.to_lowercase();
    text.split(|c| !is_letter(c)).any(|part| names.contains(&part))
}

/// Letters, digits, and the accent of a decomposed `sí`.
fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || c == '\u{301}'
}
