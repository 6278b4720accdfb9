//! Several models in order, and the circuit that spares a service which will not serve.

use countercheck::driver::Told;
use countercheck::pipeline::run::Reply;
use countercheck::pipeline::task::{CheckUsefulness, TaskReply};
use countercheck::pipeline::verdict::{Scale, Verdict};
use countercheck::prompt::Language;
use countercheck::retry::RetryPolicy;
use countercheck::service::{Cache, Performer, Remembering, ServiceSettings, Services};
use serde_json::{Value, json};

use crate::network::{Asked, Scripted, Sent, Then};
use crate::{ask, corpus};

const WELL: &str = "Knead the dough for ten minutes [1].";

fn settings(names: &[&str]) -> ServiceSettings {
    let model = |name: &&str| {
        let place = json!({ "base_url": format!("https://{name}.example/v1"), "key": "k", "headers_ms": 500 });
        json!({ "kind": "chat", "vendor": "openai", "model": name, "place": place })
    };
    let all = json!({ "kind": "ordered", "of": names.iter().map(model).collect::<Vec<_>>() });
    serde_json::from_value(json!({ "grade": all, "rewrite": all, "generate": all, "check": all })).unwrap()
}

fn error(status: u16, code: &str) -> Sent {
    let headers = [("content-type", "application/json")].into_iter().collect();
    let body = json!({ "error": { "code": code, "message": "upstream text" } }).to_string().into_bytes();
    Sent::Reply { status, headers, pieces: vec![body], every: 0, then: Then::End }
}

fn well(asked: &Asked) -> Sent {
    Sent::words(match asked.role {
        "grade" => "{\"score\": \"yes\"}",
        "grounding" => "{\"grounded\": \"yes\"}",
        "usefulness" => "{\"useful\": \"yes\"}",
        _ => WELL,
    })
}

/// Asks when the model `first` fails like this and `second` does well. Gives the answer, or the code of the
/// service's failure, and how often each was asked.
fn asked(first: fn() -> Sent, limits: &Value) -> (Result<Value, Value>, [usize; 2]) {
    let counts = std::rc::Rc::new(std::cell::Cell::new([0_usize; 2]));
    let seen = counts.clone();
    let network = Scripted::new(move |asked| {
        let is_second = asked.url.contains("second");
        let mut counts = seen.get();
        counts[usize::from(is_second)] += 1;
        seen.set(counts);
        if is_second { well(asked) } else { first() }
    });
    let document = json!({ "id": "bread.md", "text": "# Bread\n\nKnead the dough for ten minutes.\n" });
    let request =
        json!({ "question": "How long do I knead the dough?", "strategy": "self-reflective", "limits": limits });
    let found = ask(&settings(&["first", "second"]), &network, &corpus(&[document]), &request);
    (found.map_err(|problem| json!(problem.service_code)), counts.get())
}

#[test]
fn the_next_model_answers_when_one_fails() {
    for (first, times) in [
        // What will not change is not asked for again: neither the key nor the account.
        ((|| error(401, "invalid_api_key")) as fn() -> Sent, 1),
        (|| error(429, "insufficient_quota"), 1),
        // One repetition of each task stays for the other.
        (|| error(503, "overloaded"), 8),
        (|| error(404, "model_not_found"), 4),
        (|| Sent::Nothing, 8),
    ] {
        let (answer, counts) = asked(first, &json!({}));
        let answer = answer.unwrap();
        assert_eq!((&answer["outcome"], &answer["text"]), (&json!("answered"), &json!(WELL)));
        assert_eq!((&answer["grounded"], &answer["useful"]), (&json!(true), &json!(true)));
        assert_eq!(counts, [times, 4]);
        // Every one of them is booked.
        let calls: u64 = answer["usage"]["calls"]
            .as_object()
            .unwrap()
            .iter()
            .filter(|(kind, _)| *kind != "retrieve")
            .map(|(_, n)| n.as_u64().unwrap())
            .sum();
        assert_eq!(calls as usize, times + 4);
    }
}

#[test]
fn no_model_is_asked_what_the_budget_has_no_call_for() {
    for most in 1..=12 {
        let (_, counts) = asked(|| error(503, "overloaded"), &json!({ "max_calls": most }));
        assert!(counts[0] + counts[1] <= most, "{counts:?} of {most}");
    }
}

#[test]
fn what_one_model_declined_is_not_put_to_another() {
    let refusal = || {
        let message = json!({ "role": "assistant", "content": null, "refusal": "upstream text" });
        Sent::json(&json!({ "choices": [{ "index": 0, "finish_reason": "stop", "message": message }] }))
    };
    let (_, counts) = asked(refusal, &json!({}));
    assert_eq!(counts[1], 0, "{counts:?}");
    let (_, counts) = asked(|| error(400, "content_filter"), &json!({}));
    assert_eq!(counts[1], 0, "{counts:?}");
}

#[test]
fn a_draft_of_which_a_part_was_shown_is_not_written_again() {
    let first = || {
        let delta = json!({ "choices": [{ "index": 0, "delta": { "content": "Knead" }, "finish_reason": null }] });
        let headers = [("content-type", "text/event-stream")].into_iter().collect();
        let pieces = vec![format!("data: {delta}\n\n").into_bytes()];
        Sent::Reply { status: 200, headers, pieces, every: 0, then: Then::Breaks }
    };
    let network = Scripted::new(move |asked| if asked.url.contains("second") { well(asked) } else { first() });
    let document = json!({ "id": "bread.md", "text": "# Bread\n\nKnead the dough for ten minutes.\n" });
    let request = json!({ "question": "How long do I knead the dough?", "strategy": "naive" });
    let answer = ask(&settings(&["first", "second"]), &network, &corpus(&[document]), &request).unwrap();
    assert_eq!((&answer["text"], &answer["reason"]), (&json!("Knead"), &json!("truncated")));
    assert_eq!(network.count("generate"), 1);
}

#[test]
fn a_list_is_of_models_alone() {
    let of = |of: Value| {
        let settings = json!({ "grade": { "kind": "ordered", "of": of } });
        Services::new(&serde_json::from_value(settings).unwrap()).map(|_| ()).map_err(|error| error.to_string())
    };
    let own = json!({ "kind": "own", "number": 0 });
    assert_eq!(of(json!([own, own])), Ok(()));
    for refused in [
        json!([]),
        json!([own, { "kind": "builtin" }]),
        json!([{ "kind": "scorer", "number": 0 }]),
        json!([{ "kind": "ordered", "of": [own] }]),
    ] {
        assert!(of(refused).unwrap_err().contains("1 to 8"));
    }
}

#[test]
fn what_a_list_said_is_known_by_the_list() {
    let of = |names: &[&str], cache: &Cache| {
        let network = Scripted::new(|asked| if asked.url.contains("first") { error(404, "gone") } else { well(asked) });
        let services = Services::new(&settings(names)).unwrap();
        let document = json!({ "id": "bread.md", "text": "# Bread\n\nKnead the dough for ten minutes.\n" });
        let (corpus, policy) = (corpus(&[document]), RetryPolicy::default());
        let performer =
            Performer { corpus: &corpus, services: &services, network: &network, language: Language::En, policy };
        let remembering = Remembering::new(performer, Some(cache), &());
        let task =
            CheckUsefulness { question: "How long?".into(), draft: WELL.into(), again: false, scale: Scale::Binary };
        let outcome = network.run(remembering.put(&task.into(), 3, network.time() + 60_000, &Told::default()));
        assert_eq!(outcome.reply, Reply::Task(TaskReply::Verdict(Verdict::Yes)));
        network.arrived.borrow().len()
    };
    let cache = Cache::new(100_000, String::new());
    assert_eq!(of(&["first", "second"], &cache), 2);
    assert_eq!(of(&["first", "second"], &cache), 0, "the same list");
    assert_eq!(of(&["second"], &cache), 1, "another list");
    assert_eq!(of(&["second", "first"], &cache), 1, "another order");
}
