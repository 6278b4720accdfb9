//! How sure a model is of a yes or a no that it wrote: the probability of yes at the place of its word,
//! against that of no, over all ways to write them.
//!
//! A score to compare passages by, no verdict: at which score a model's yes begins differs from model to
//! model, prompt to prompt and language to language.

use std::ops::Range;

use super::{NO, NO_ALONE, YES, YES_ALONE, object};
use crate::provider::logprobs::{Token, of_answers};

/// The probability of yes, 0…1, in the part of a reply that holds one verdict: an object with one of these
/// fields, or words. `None` where the tokens tell nothing of it. An answer that is not among a token's
/// alternatives counts next to nothing, but it counts: with `yes` alone the score is 1.
pub fn confidence(reply: &str, tokens: &[Token], place: Range<usize>, fields: &[&str]) -> Option<f64> {
    let said = reply.get(place.clone())?;
    let text: String = tokens.iter().map(|token| token.text.as_str()).collect();
    // Reasoning may stand before the reply, and the mark of its end after it.
    let word = text.rfind(reply)? + place.start + first_word(said, fields)?;
    let mut end = 0;
    let token = tokens.iter().find(|token| {
        end += token.text.len();
        end > word
    })?;
    let answers = [[&YES[..], &YES_ALONE].concat(), [&NO[..], &NO_ALONE].concat()];
    match of_answers(std::slice::from_ref(token), &[&answers[0], &answers[1]])?[..] {
        [yes, no] => Some(yes / (yes + no)),
        _ => None,
    }
}

/// Where the word of a verdict begins: the first of an object's field, or of a text.
fn first_word(said: &str, fields: &[&str]) -> Option<usize> {
    let value = match object::only(said)? {
        None => 0,
        Some(_) => fields.iter().find_map(|field| after_name(said, field))?,
    };
    said[value..].find(char::is_alphanumeric).map(|at| value + at)
}

/// Where the value of a field begins, in whatever case and quotes its name stands.
fn after_name(object: &str, field: &str) -> Option<usize> {
    let lower = object.to_ascii_lowercase();
    lower.match_indices(field).find_map(|(at, _)| {
        let before = lower[..at].ends_with(['"', '\'']);
        let rest = lower[at + field.len()..].strip_prefix(['"', '\''])?.trim_start();
        (before && rest.starts_with(':')).then(|| object.len() - rest.len() + 1)
    })
}
