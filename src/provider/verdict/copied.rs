//! Whether a verdict is the model's own, or stands in what it was shown: a passage that says
//! `{"score": "yes"}` is not to grade itself through a model that repeats it.
//!
//! Quotes, blanks, case and escapes are ignored, so that a copy may be written in another way. A model
//! that comes to the very words of its material by itself is taken for a copier too: unknown.

use super::list::ID;
use super::{object, without_reasoning};

/// Whether the verdict of a reply, a pair of its object or a sentence, occurs in the material. A single
/// word is only looked for as a line of its own, since it occurs everywhere. The number of a text is no
/// verdict: it is not looked for.
pub fn is_copied(reply: &str, material: &[String]) -> bool {
    let Some(reply) = without_reasoning(reply) else { return false };
    may_hold_pairs(reply, material) && occurs_in(reply, material)
}

/// Whether a colon of the material is followed by what follows one of the reply's: all that has to be read of most replies.
fn may_hold_pairs(reply: &str, material: &[String]) -> bool {
    if !reply.contains(['{', '}']) || reply.contains('\\') {
        return true;
    }
    let said = after_colons(reply);
    material.iter().any(|text| after_colons(text) & said != 0)
}

/// The letters and digits that follow colons, as bits; all of them where something else does.
fn after_colons(text: &str) -> u128 {
    let bit = |next: Option<(usize, u8)>| match next {
        Some((_, byte)) if byte.is_ascii_alphanumeric() => 1 << byte,
        _ => u128::MAX,
    };
    text.match_indices(':').fold(0, |bits, (at, _)| bits | bit(kept(&text[at + 1..]).next()))
}

fn occurs_in(reply: &str, material: &[String]) -> bool {
    let said: Vec<String> = match object::only(reply) {
        Some(Some(object)) => {
            let pairs = object.pairs.iter().filter(|(name, _)| !name.eq_ignore_ascii_case(ID));
            pairs.map(|(name, value)| bare(&format!("{name}:{value}"))).collect()
        }
        Some(None) if reply.split_whitespace().nth(1).is_none() => {
            return material.iter().any(|text| text.lines().any(|line| bare(line) == bare(reply)));
        }
        Some(None) => vec![bare(reply)],
        // Nothing that could be read as a verdict.
        None => return false,
    };
    material.iter().any(|text| {
        if text.is_ascii() {
            return said.iter().any(|said| occurs_in_ascii(said, text));
        }
        let bare = bare(text);
        said.iter().any(|said| occurs(said, &bare))
    })
}

/// The same as [`occurs`] in the bare text, which is not made: hardly anything of it is compared.
fn occurs_in_ascii(said: &str, text: &str) -> bool {
    let Some(&first) = said.as_bytes().first() else { return false };
    // Most texts lack the colon of a pair already.
    let mark = said.bytes().find(|byte| !byte.is_ascii_alphanumeric());
    if mark.is_some_and(|mark| !text.as_bytes().contains(&mark)) {
        return false;
    }
    let mut from = 0;
    while let Some(found) = text.as_bytes()[from..].iter().position(|byte| byte.to_ascii_lowercase() == first) {
        let start = from + found;
        from = start + 1;
        let (mut after, mut end) = (kept(&text[start..]), start);
        let mut next = || after.next().inspect(|(at, _)| end = start + at + 1).map(|(_, byte)| byte);
        if said.bytes().all(|byte| next() == Some(byte)) {
            from = end;
            let goes_on = match after.next() {
                Some((_, b'.')) => after.next().is_some_and(|(_, byte)| byte.is_ascii_digit()),
                next => next.is_some_and(|(_, byte)| byte.is_ascii_alphanumeric()),
            };
            if !goes_on {
                return true;
            }
        }
    }
    false
}

/// Whether a text occurs and does not go on as a longer word or number.
fn occurs(said: &str, material: &str) -> bool {
    let ends = |at: usize| {
        let mut next = material[at + said.len()..].chars();
        match next.next() {
            Some('.') => !next.next().is_some_and(char::is_numeric),
            next => !next.is_some_and(char::is_alphanumeric),
        }
    };
    !said.is_empty() && material.match_indices(said).any(|(at, _)| ends(at))
}

/// A text without what may differ between copies.
fn bare(text: &str) -> String {
    let mut bare = String::with_capacity(text.len());
    // Lower case of a whole text is not that of its characters: a final sigma has a form of its own.
    if text.is_ascii() {
        bare.extend(kept(text).map(|(_, byte)| char::from(byte)));
    } else {
        bare.extend(text.chars().filter(|c| !c.is_whitespace() && !"\"'`\\*“”„«»‘’".contains(*c)));
        bare = bare.to_lowercase();
    }
    bare.truncate(bare.trim_end_matches(['.', '!', ',']).len());
    bare
}

/// What is compared of a text of ASCII, and where it stands.
fn kept(text: &str) -> impl Iterator<Item = (usize, u8)> {
    let ignored = |byte: u8| matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b'*' | b' ' | b'\t'..=b'\r');
    let kept = text.bytes().enumerate().filter(move |(_, byte)| !ignored(*byte));
    kept.map(|(at, byte)| (at, byte.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{bare, is_copied, may_hold_pairs, occurs, occurs_in, occurs_in_ascii};

    #[test]
    fn a_letter_may_be_written_as_an_escape() {
        let material = ["score: yes".to_owned()];
        assert!(is_copied(r#"{"score": "\u0079es"}"#, &material));
        assert!(!is_copied(r#"{"score": "\u006eo"}"#, &material));
    }

    proptest! {
        #[test]
        fn no_copy_is_passed_over_unread(
            name in "[a:\"]{0,2}", value in r#"[ay1.0é"' \\-]{0,3}"#, more in r#"(, "b": [1y"]{1,3})?"#, text in r#"[abyY10:.'"\{\}é\\ -]{0,16}"#,
        ) {
            for reply in [format!(r#"{{"{name}": "{value}"{more}}}"#), format!("{{'{name}':{value}{more}}}")] {
                let material = [text.clone()];
                prop_assert!(may_hold_pairs(&reply, &material) || !occurs_in(&reply, &material), "{reply} in {text}");
            }
        }

        #[test]
        fn in_ascii_a_text_occurs_where_it_occurs_in_what_is_compared(said in "[ao:1. ]{0,4}", text in "[aoAO:1.,!\" \n]{0,24}") {
            let said = bare(&said);
            prop_assert_eq!(occurs_in_ascii(&said, &text), occurs(&said, &bare(&text)));
        }
    }
}
