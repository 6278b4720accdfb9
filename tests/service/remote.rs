//! A Worker as solver: what a page makes of its waits and of what it says of the service behind it.

use countercheck::provider::http::Headers;
use countercheck::service::ServiceSettings;
use serde_json::{Value, json};

use crate::network::{Scripted, Sent, Then};
use crate::{ask, corpus};

const TEXT: &str = "Ten minutes.";
const COMMENT: &str = ": keep-alive\n\n";

fn settings() -> ServiceSettings {
    let worker = json!({ "kind": "worker", "place": { "base_url": "https://worker.example" } });
    let roles = ["grade", "rewrite", "generate", "check"].map(|role| (role.to_owned(), worker.clone()));
    serde_json::from_value(Value::Object(roles.into_iter().collect())).unwrap()
}

/// Asks for a draft, to which the Worker replies with these pieces, one a second.
fn drafted(status: u16, media_type: &'static str, pieces: Vec<String>) -> (Result<Value, (Value, Value)>, usize) {
    let documents = corpus(&[json!({ "id": "bread.md", "text": "# Bread\n\nKnead the dough for ten minutes.\n" })]);
    let network = Scripted::new(move |_| {
        let headers: Headers = [("content-type", media_type)].into_iter().collect();
        let pieces = pieces.iter().map(|piece| piece.clone().into_bytes()).collect();
        Sent::Reply { status, headers, pieces, every: 1_000, then: Then::End }
    });
    let request = json!({ "question": "How long do I knead the dough?", "strategy": "naive" });
    let found = ask(&settings(), &network, &documents, &request);
    (found.map_err(|problem| (json!(problem.service_code), json!(problem.retry_after))), network.count("task"))
}

fn events(comments: usize, events: &[(&str, Value)]) -> Vec<String> {
    let frames = events.iter().map(|(name, data)| format!("event: {name}\ndata: {data}\n\n"));
    std::iter::repeat_n(COMMENT.to_owned(), comments).chain(frames).collect()
}

fn whole() -> Value {
    json!({ "draft": { "text": TEXT, "quotes": [], "truncated": false }, "called": 2 })
}

#[test]
fn a_worker_that_waits_for_its_model_is_waited_for() {
    let pieces = events(25, &[("draft-delta", json!({ "text": TEXT })), ("reply", whole())]);
    let answer = drafted(200, "text/event-stream", pieces).0.unwrap();
    assert_eq!((&answer["outcome"], &answer["text"]), (&json!("answered"), &json!(TEXT)));
    assert_eq!(answer["usage"]["calls"]["generate"], 2, "as often as the Worker called");
}

#[test]
fn a_worker_that_says_nothing_is_waited_for_as_long_as_the_run_may_take() {
    let (found, asked) = drafted(200, "text/event-stream", events(90, &[("reply", whole())]));
    assert_eq!((&found.unwrap()["reason"], asked), (&json!("budget"), 1));
}

#[test]
fn what_the_worker_says_of_its_service_is_said_of_it_and_nothing_is_asked_twice() {
    let service = json!({ "error": {
        "code": "provider_failed", "message": "m", "service_code": "rate_limited", "retry_after_ms": 86_400_000
    } });
    let own = json!({ "error": { "code": "rate_limited", "message": "m" } }).to_string();
    for (status, media_type, pieces, code, wait) in [
        (200, "text/event-stream", events(2, &[("error", service)]), "rate_limited", json!(86_400_000)),
        (429, "application/json", vec![own], "rate_limited", Value::Null),
        (502, "text/html", vec!["<html>".to_owned()], "upstream_error", Value::Null),
        (200, "text/html", vec!["<html>".to_owned()], "bad_response", Value::Null),
    ] {
        let (found, asked) = drafted(status, media_type, pieces);
        assert_eq!((found.unwrap_err(), asked), ((json!(code), wait), 1), "{status} {media_type}");
    }
}

#[test]
fn a_draft_that_breaks_off_is_kept_as_one_cut_off() {
    let answer = drafted(200, "text/event-stream", events(0, &[("draft-delta", json!({ "text": "Ten" }))])).0.unwrap();
    assert_eq!(json!([answer["outcome"], answer["reason"], answer["text"]]), json!(["partial", "truncated", "Ten"]));
}
