//! The JSON schemas that replies must fit. There are a few dozen at the most, each made when it is first asked for:
//! to make one takes longer than all else about a request.

use std::borrow::Cow;
use std::sync::{LazyLock, OnceLock};

use serde_json::{Value, json};

use super::{claims, llm};
use crate::pipeline::task::{CheckClaims, MAX_BATCH};
use crate::pipeline::verdict::Scale;

/// A schema.
pub(super) type Schema = LazyLock<Value>;

/// Whether to retrieve.
pub(super) static RETRIEVE: Schema = LazyLock::new(|| with("retrieve", &one_of(&["yes", "no", "continue"])));
/// Whether a draft is grounded.
pub(super) static GROUNDED: Schema = LazyLock::new(|| with("grounded", &yes_or_no()));
/// How far it is supported.
pub(super) static SUPPORTED: Schema = LazyLock::new(|| with("support", &one_of(&llm::SUPPORT.map(|(name, _)| name))));
/// Whether it is useful.
pub(super) static USEFUL: Schema = LazyLock::new(|| with("useful", &yes_or_no()));
/// How useful it is.
pub(super) static USEFULNESS: Schema =
    LazyLock::new(|| with("usefulness", &json!({ "type": "integer", "enum": [1, 2, 3, 4, 5] })));
/// What stands in place of claims.
pub(super) static STATEMENTS: Schema = LazyLock::new(|| {
    let statement = object(&json!({ "id": { "type": "integer" }, "text": { "type": "string" } }));
    object(&json!({ "statements": { "type": "array", "items": statement } }))
});

/// The grade of one passage.
pub(super) fn score(scale: Scale) -> &'static Value {
    static BINARY: Schema = LazyLock::new(|| with("score", &graded(Scale::Binary)));
    static GRADED: Schema = LazyLock::new(|| with("score", &graded(Scale::Graded)));
    match scale {
        Scale::Binary => &BINARY,
        Scale::Graded => &GRADED,
    }
}

/// The grades of so many passages.
pub(super) fn verdicts(count: usize, scale: Scale) -> Cow<'static, Value> {
    type Counts = [OnceLock<Value>; MAX_BATCH + 1];
    static BINARY: Counts = [const { OnceLock::new() }; MAX_BATCH + 1];
    static GRADED: Counts = [const { OnceLock::new() }; MAX_BATCH + 1];
    let counts = match scale {
        Scale::Binary => &BINARY,
        Scale::Graded => &GRADED,
    };
    let made = || {
        let numbers: Vec<usize> = (1..=count).collect();
        let properties = json!({ "id": { "type": "integer", "enum": numbers }, "score": graded(scale) });
        with("verdicts", &json!({ "type": "array", "items": object(&properties) }))
    };
    counts.get(count).map_or_else(|| Cow::Owned(made()), |known| Cow::Borrowed(known.get_or_init(made)))
}

/// What is said of claims.
pub(super) fn claims(task: &CheckClaims) -> &'static Value {
    static ALONE: Schema = LazyLock::new(|| object(&json!({ "claims": checked() })));
    static USEFUL: Schema = LazyLock::new(|| {
        let useful = with("useful", &yes_or_no());
        object(&json!({ "claims": checked(), "answer": useful }))
    });
    if task.question.is_some() { &USEFUL } else { &ALONE }
}

fn checked() -> Value {
    let claim = object(&json!({
        "id": { "type": "integer" },
        "support": one_of(&claims::SUPPORT.map(|(name, _)| name)),
        "document": { "type": "integer" },
        "quote": { "type": "string" },
    }));
    json!({ "type": "array", "items": claim })
}

fn graded(scale: Scale) -> Value {
    match scale {
        Scale::Binary => yes_or_no(),
        Scale::Graded => json!({ "type": "number" }),
    }
}

fn yes_or_no() -> Value {
    one_of(&["yes", "no"])
}

fn one_of(names: &[&str]) -> Value {
    json!({ "type": "string", "enum": names })
}

/// An object with one field.
fn with(field: &str, value: &Value) -> Value {
    object(&json!({ field: value }))
}

/// An object with just these fields.
fn object(properties: &Value) -> Value {
    let names: Vec<&String> = properties.as_object().into_iter().flat_map(|fields| fields.keys()).collect();
    json!({ "type": "object", "properties": properties, "required": names, "additionalProperties": false })
}
