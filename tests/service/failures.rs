//! What becomes of a question when a service fails: `tests/services/failures.mjs`, natively, where waits
//! take no time and so are seen in full. W31: no timeouts, retries and limits of rate in the seeds' code.

use std::collections::BTreeSet;

use countercheck::provider::error::ProviderError;
use serde_json::{Value, json};

use crate::files::{all, body, headers, is_visible, text};
use crate::network::{Asked, Scripted, Sent, Then};
use crate::{ask, corpus, settings};

const WELL: &str = "Knead the dough for ten minutes [1].";

/// A fixture as what happens on the network.
fn sent(fixture: &Value) -> Sent {
    if fixture["codec"] == "verdict" {
        return Sent::words(text(fixture, "reply"));
    }
    let then = match fixture["wire"].as_str() {
        Some("refused") => return Sent::Fails(ProviderError::Network { sent: false }),
        Some("reset") => return Sent::Fails(ProviderError::Network { sent: true }),
        Some("no-cors") => return Sent::Fails(ProviderError::CorsOrNetwork),
        Some("silent") => return Sent::Nothing,
        Some("stalled") => Then::Nothing,
        Some("again") => Then::Again,
        Some("cut") => Then::Breaks,
        _ => Then::End,
    };
    let every = if fixture["wire"] == "again" { 100 } else { 0 };
    let size = if fixture["wire"] == "bytes" { 1 } else { 1000 };
    let pieces = body(fixture).chunks(size).map(<[u8]>::to_vec).collect();
    Sent::Reply { status: fixture["status"].as_u64().unwrap() as u16, headers: headers(fixture), pieces, every, then }
}

/// What a fixture is about is answered by it, as often as it says; everything else well.
fn play(fixture: &Value, asked: &Asked, times: usize) -> Sent {
    let about = match text(fixture, "codec") {
        "verdict" => "grade",
        "search" => "web",
        _ => "generate",
    };
    if asked.role == about && asked.n < times {
        return sent(fixture);
    }
    match asked.role {
        "grade" if about == "web" => Sent::words("{\"score\": \"no\"}"),
        "grade" => Sent::words("{\"score\": \"yes\"}"),
        "grounding" => Sent::words("{\"grounded\": \"yes\"}"),
        "usefulness" => Sent::words("{\"useful\": \"yes\"}"),
        "web" => Sent::json(&json!({ "results": [{ "title": "t", "url": "https://web.example/", "content": "c" }] })),
        _ => Sent::words(WELL),
    }
}

fn asked(fixture: &Value, times: usize, strategy: &str) -> (Result<Value, (Value, Value)>, Scripted) {
    let documents = corpus(&[json!({ "id": "bread.md", "text": "# Bread\n\nKnead the dough for ten minutes.\n" })]);
    let script = fixture.clone();
    let network = Scripted::new(move |asked| play(&script, asked, times));
    let request = json!({ "question": "How long do I knead the dough?", "strategy": strategy });
    let found = ask(&settings("k"), &network, &documents, &request).map_err(|problem| {
        assert_eq!(problem.code, "provider_failed");
        for theirs in ["upstream text", "flagged"] {
            assert!(!problem.message.contains(theirs), "{}", problem.message);
        }
        (json!(problem.service_code), json!(problem.retry_after))
    });
    (found, network)
}

/// How often one task calls for it.
fn calls(fixture: &Value) -> usize {
    fixture.get("calls").and_then(Value::as_u64).unwrap_or(1) as usize
}

/// Those that are sent over a connection.
fn playable(codecs: &[&str]) -> Vec<(String, Value)> {
    let sent = |fixture: &Value| codecs.contains(&text(fixture, "codec")) && fixture["limits"].is_null();
    all().into_iter().filter(|(_, fixture)| sent(fixture)).collect()
}

#[test]
fn a_draft_that_fails_has_the_outcome_on_file() {
    for (name, fixture) in playable(&["chat", "chat-stream", "host"]) {
        let (found, network) = asked(&fixture, usize::MAX, "naive");
        let expect = &fixture["expect"];
        let part =
            |answer: &Value, fields: &[&str]| json!(fields.iter().map(|f| answer[f].clone()).collect::<Vec<_>>());
        if let Some(reply) = expect.get("reply") {
            let whole = reply["finish"] == "Stop" && reply["lossy"].is_null();
            let outcome = if whole { json!(["answered", null]) } else { json!(["partial", "truncated"]) };
            let answer = found.unwrap_or_else(|error| panic!("{name}: {error:?}"));
            assert_eq!(part(&answer, &["outcome", "reason"]), outcome, "{name}");
            assert_eq!(answer["text"], reply["text"], "{name}");
        } else if is_visible(&fixture) && !text(expect, "text").trim().is_empty() {
            let answer = found.unwrap_or_else(|error| panic!("{name}: {error:?}"));
            let kept = json!(["partial", "truncated", expect["text"], null, null]);
            assert_eq!(part(&answer, &["outcome", "reason", "text", "grounded", "useful"]), kept, "{name}");
        } else if text(expect, "error").contains("Deadline") {
            let answer = found.unwrap_or_else(|error| panic!("{name}: {error:?}"));
            assert_eq!(part(&answer, &["outcome", "reason"]), json!(["abstained", "budget"]), "{name}");
        } else {
            let (code, hint) = found.expect_err(&name);
            assert_eq!(code, expect["code"], "{name}");
            assert_waited(&name, &fixture, &network);
            // Dates have passed when the last reply comes.
            if text(&fixture, "row") != "F12" {
                assert_eq!(hint, hinted(&fixture), "{name}");
            }
        }
        assert_eq!(network.count("generate"), calls(&fixture), "{name}: calls");
    }
}

/// The time that the service names, where it names one.
fn hinted(fixture: &Value) -> Value {
    let (retry, own) = (&fixture["retry"], json!([250, 500]));
    match &retry["gives_up"] {
        Value::Null if retry["wait"] != own => retry["wait"][0].clone(),
        told => told.clone(),
    }
}

/// A failure that comes at once is followed by the wait on file, and no other.
fn assert_waited(name: &str, fixture: &Value, network: &Scripted) {
    let arrived = network.arrived.borrow();
    let (Some(range), [(_, first), (_, second), ..]) = (fixture["retry"]["wait"].as_array(), &arrived[..]) else {
        return;
    };
    if matches!(fixture["wire"].as_str(), None | Some("refused" | "reset" | "cut")) {
        let wait = second - first;
        assert!((range[0].as_u64()..=range[1].as_u64()).contains(&Some(wait)), "{name} waits {wait}");
    }
}

#[test]
fn what_may_be_repeated_is_taken_when_it_comes() {
    let mut taken = BTreeSet::new();
    for (name, fixture) in playable(&["chat", "chat-stream", "host"]) {
        if fixture["calls"].as_u64().is_some_and(|calls| calls > 1) {
            let (found, network) = asked(&fixture, 1, "naive");
            let answer = found.unwrap_or_else(|error| panic!("{name}: {error:?}"));
            assert_eq!((&answer["outcome"], &answer["text"]), (&json!("answered"), &json!(WELL)), "{name}");
            assert_eq!(answer["usage"]["calls"]["generate"], 2, "{name}");
            assert_eq!(network.count("generate"), 2, "{name}");
            taken.insert(text(&fixture, "row").to_owned());
        }
    }
    assert!(taken.len() >= 20, "{taken:?}");
}

#[test]
fn a_verdict_that_nobody_can_read_is_asked_again_once_and_is_unknown() {
    for (name, fixture) in playable(&["verdict"]) {
        let (found, network) = asked(&fixture, usize::MAX, "self-reflective");
        let answer = found.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        let verdict = text(&fixture["expect"], "binary");
        assert_eq!(answer["verdicts"][0]["verdict"], verdict, "{name}");
        let asked = if verdict == "unknown" { 2 } else { 1 };
        assert_eq!(network.count("grade"), asked * calls(&fixture), "{name}");
        assert_eq!(network.count("web"), usize::from(verdict == "no"), "{name}: an outage buys no search");
        assert_eq!((&answer["grounded"], &answer["useful"]), (&json!(true), &json!(true)), "{name}");
    }
}

#[test]
fn a_search_that_fails_leaves_the_answer_to_the_index() {
    for (name, fixture) in playable(&["search"]) {
        let (found, network) = asked(&fixture, usize::MAX, "self-reflective");
        let answer = found.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        let results = fixture["expect"]["results"].as_array();
        let expected = match results {
            None => json!(["abstained", "web_failed"]),
            Some(results) if results.is_empty() => json!(["abstained", "irrelevant"]),
            Some(_) => json!(["answered", null]),
        };
        assert_eq!(json!([answer["outcome"], answer["reason"]]), expected, "{name}");
        assert_eq!(network.count("web"), calls(&fixture), "{name}: calls");
    }
}
