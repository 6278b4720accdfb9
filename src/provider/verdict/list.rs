//! The verdicts of a reply about several texts, paired by the numbers that it names, never by their order.
//!
//! What stands around the verdicts is ignored, and so is whatever is no object with a number and a
//! verdict: it takes nothing from the others. A reply that breaks off has the verdicts that it closed.

use std::ops::Range;

use serde_json::Value;

use super::{object, without_reasoning};

/// The name of the number's field, compared without case.
pub(super) const ID: &str = "id";

/// Where in the reply the verdict on each text stands, of texts numbered from 1. `None` for those that
/// no verdict names, or more than one: of two, nobody knows which is meant.
pub fn items(reply: &str, count: usize) -> Vec<Option<Range<usize>>> {
    let mut found: Vec<Vec<Range<usize>>> = vec![Vec::new(); count];
    let Some(read) = without_reasoning(reply) else { return vec![None; count] };
    let offset = reply.len() - read.len();
    for place in flat_objects(read) {
        let own = number_in(&read[place.clone()], ID).and_then(|n| found.get_mut(n.checked_sub(1)?));
        if let Some(own) = own {
            own.push(offset + place.start..offset + place.end);
        }
    }
    found.into_iter().map(|mut places| places.pop().filter(|_| places.is_empty())).collect()
}

/// Where in the reply the one object stands that has a field of this name and no object in it.
pub fn object_with(reply: &str, field: &str) -> Option<Range<usize>> {
    let read = without_reasoning(reply)?;
    let offset = reply.len() - read.len();
    let has = |place: &Range<usize>| value(&read[place.clone()], field).is_some();
    let mut found = flat_objects(read).into_iter().filter(has);
    let place = found.next().filter(|_| found.next().is_none())?;
    Some(offset + place.start..offset + place.end)
}

/// The number in a field of an object.
pub fn number_in(object: &str, field: &str) -> Option<usize> {
    match value(object, field)? {
        Value::Number(number) => number.as_u64()?.try_into().ok(),
        Value::String(text) => text.trim_matches(['[', ']', '#', ' ']).parse().ok(),
        _ => None,
    }
}

/// The text in a field of an object.
pub fn text_in(object: &str, field: &str) -> Option<String> {
    if let Value::String(text) = value(object, field)? { Some(text) } else { None }
}

/// The value of a field that the object has once.
fn value(object: &str, field: &str) -> Option<Value> {
    let pairs = object::only(object)??.pairs;
    let mut named = pairs.into_iter().filter(|(name, _)| name.eq_ignore_ascii_case(field));
    named.next().filter(|_| named.next().is_none()).map(|(_, value)| value)
}

/// The objects of a text that hold no other, from bracket to bracket. Outside of all objects a quotation
/// mark is prose.
fn flat_objects(text: &str) -> Vec<Range<usize>> {
    let (mut open, mut found) = (Vec::new(), Vec::<Range<usize>>::new());
    let (mut quote, mut escaped) = (None, false);
    for (at, byte) in text.bytes().enumerate() {
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if byte == b'\\' => escaped = true,
            Some(mark) if byte == mark => quote = None,
            Some(_) => (),
            None => match byte {
                b'"' | b'\'' if !open.is_empty() => quote = Some(byte),
                b'{' => open.push(at),
                b'}' => match open.pop() {
                    Some(start) if found.last().is_none_or(|last| last.start < start) => found.push(start..at + 1),
                    _ => (),
                },
                _ => (),
            },
        }
    }
    found
}
