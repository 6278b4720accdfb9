//! Finds the one JSON object of a reply and the verdict's field in it.
//!
//! Anchored on brackets, not on fences: a backtick inside a value is no fence. Single quotes and a
//! comma before a bracket are forgiven, nothing else.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

/// What a reply holds.
pub(super) enum Objects<'a> {
    /// No bracket at all.
    None,
    /// One object with one verdict, and the prose around it.
    One { field: Field, before: &'a str, after: &'a str },
}

/// The only object of a reply, and the prose around it.
pub(super) struct Only<'a> {
    pub(super) pairs: Vec<(String, Value)>,
    before: &'a str,
    after: &'a str,
}

/// The field's value.
pub(super) enum Field {
    Truth(bool),
    Number(f64),
    Text(String),
}

/// `None` for several objects, a broken one, or one without exactly one verdict.
pub(super) fn read<'a>(reply: &'a str, fields: &[&str]) -> Option<Objects<'a>> {
    let Some(Only { pairs, before, after }) = only(reply)? else { return Some(Objects::None) };
    let mut found = pairs.into_iter().filter(|(name, _)| fields.iter().any(|field| field.eq_ignore_ascii_case(name)));
    let (Some((_, value)), None) = (found.next(), found.next()) else { return None };
    let field = match value {
        Value::Bool(truth) => Field::Truth(truth),
        Value::Number(number) => Field::Number(number.as_f64()?),
        Value::String(text) => Field::Text(text),
        _ => return None,
    };
    Some(Objects::One { field, before, after })
}

/// `None` for several objects or a broken one; inside, `None` without any bracket.
#[expect(clippy::option_option, reason = "a reply without an object is one in words, a broken object is none")]
pub(super) fn only(reply: &str) -> Option<Option<Only<'_>>> {
    let Some(start) = reply.find(['{', '}']) else { return Some(None) };
    let end = start + length(&reply[start..])?;
    let (before, after) = (&reply[..start], &reply[end..]);
    if after.contains(['{', '}']) {
        return None;
    }
    let text = &reply[start..end];
    let pairs = serde_json::from_str::<Pairs>(text).or_else(|_| serde_json::from_str(&forgiven(text))).ok()?;
    Some(Some(Only { pairs: pairs.0, before, after }))
}

/// The length of the object at the beginning of a text, if it is closed.
fn length(text: &str) -> Option<usize> {
    let (mut depth, mut quote, mut escaped) = (0_usize, None, false);
    for (at, byte) in text.bytes().enumerate() {
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if byte == b'\\' => escaped = true,
            Some(mark) if byte == mark => quote = None,
            Some(_) => (),
            None => match byte {
                b'"' | b'\'' => quote = Some(byte),
                b'{' => depth += 1,
                b'}' => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(at + 1);
                    }
                }
                _ => (),
            },
        }
    }
    None
}

/// Single quotes made double, and no comma before a closing bracket.
fn forgiven(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut quote, mut escaped) = (None, false);
    for c in text.chars() {
        match quote {
            Some(mark) => {
                let ends = c == mark && !escaped;
                escaped = c == '\\' && !escaped;
                match c {
                    _ if ends => {
                        quote = None;
                        out.push('"');
                    }
                    '"' if mark == '\'' => out.push_str("\\\""),
                    _ => out.push(c),
                }
            }
            None if matches!(c, '"' | '\'') => {
                quote = Some(c);
                out.push('"');
            }
            None => {
                if matches!(c, '}' | ']') && out.trim_end().ends_with(',') {
                    out.truncate(out.trim_end().len() - 1);
                }
                out.push(c);
            }
        }
    }
    out
}

/// An object with all its pairs: a map would hide that a name occurs twice.
struct Pairs(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Pairs;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }

        deserializer.deserialize_map(Reader)
    }
}
