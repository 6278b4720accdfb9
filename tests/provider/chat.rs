//! Laws of the chat codec.

use countercheck::provider::chat::{ChatDelta, ChatStream};
use countercheck::provider::error::ProviderError;
use countercheck::provider::http::{Headers, HttpResponse};
use countercheck::provider::sse::SseLimits;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{cases, openai};

/// JSON of any shape under the names that the codec reads.
fn anything() -> impl Strategy<Value = Value> {
    let names = [
        "choices",
        "message",
        "delta",
        "content",
        "error",
        "code",
        "type",
        "usage",
        "finish_reason",
        "index",
        "text",
        "model",
        "refusal",
        "tool_calls",
        "prompt_tokens",
        "completion_tokens",
        "detail",
        "param",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0..700_u16).prop_map(Value::from),
        "[a-z<>/ 0-9]{0,12}".prop_map(Value::from),
        Just(json!("stop")),
        Just(json!("error")),
    ];
    leaf.prop_recursive(5, 40, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(prop::sample::select(names.to_vec()), inner, 0..5)
                .prop_map(|map| map.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()),
        ]
    })
}

proptest! {
    #![proptest_config(cases(3000))]

    #[test]
    fn no_json_is_a_panic_and_no_reply_is_blank(value in anything(), status in 100..600_u16) {
        let body = serde_json::to_vec(&value).unwrap();
        let response = HttpResponse { status, headers: Headers::default(), body };
        if let Ok(reply) = openai().reply(&response) {
            prop_assert!(!reply.text.trim().is_empty());
            prop_assert!((200..300).contains(&status) && value.get("error").is_none_or(|error| error.is_null() || *error == false));
        }
        let mut stream = ChatStream::new(openai().codec, SseLimits::default());
        let mut deltas = Vec::new();
        let read = stream.feed(format!("data: {value}\n\n").as_bytes(), &mut deltas);
        prop_assert!(deltas.iter().all(|delta| *delta != ChatDelta::Text(String::new())));
        let end = stream.end();
        prop_assert!(read.is_ok() || end == Err(read.unwrap_err()));
    }

    /// A prefix is the whole reply, or was cut off: never a shorter reply that claims to be whole.
    #[test]
    fn a_stream_that_is_cut_anywhere_before_its_reason_is_truncated(words in prop::collection::vec("[a-zé数 ]{1,9}x", 1..9), at in any::<prop::sample::Index>()) {
        let chunk = |word: &String| format!("data: {}\n\n", json!({ "choices": [{ "delta": { "content": word }, "finish_reason": null }] }));
        let body: String = words.iter().map(chunk).collect();
        let mut stream = ChatStream::new(openai().codec, SseLimits::default());
        let mut deltas = Vec::new();
        stream.feed(&body.as_bytes()[..at.index(body.len() + 1)], &mut deltas).unwrap();
        prop_assert_eq!(stream.end(), Err(ProviderError::Truncated));
        prop_assert!(words.concat().trim_start().starts_with(stream.text()));
    }
}
