//! The loop's vectors: see `tests/services/README.md`.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::network::{Asked, Scripted, Sent};
use crate::{ask, corpus, settings};

const VECTORS: &str = include_str!("../services/vectors.json");
const INGREDIENTS: [&str; 4] = ["flour", "water", "yeast", "salt"];
const QUESTION: &str = "What does the dough of bread need?";

/// What the services answer.
fn play(vector: &Value, asked: &Asked) -> Sent {
    let verdict = |field: &str, yes: bool| Sent::words(&json!({ field: if yes { "yes" } else { "no" } }).to_string());
    let nth = |name: &str| {
        let letters = vector[name].as_str().unwrap_or("y");
        letters.chars().nth(asked.n).or(letters.chars().last()) == Some('y')
    };
    match asked.role {
        "grade" => {
            let prompt = asked.body["messages"][1]["content"].as_str().unwrap();
            let is_about = |text: &str, name: &Value| text.contains(&format!("needs {}", name.as_str().unwrap_or("?")));
            let is_relevant = |text: &str| !is_about(text, &vector["irrelevant"]);
            let is_left_out =
                |text: &str| vector["left_out"].as_array().into_iter().flatten().any(|n| is_about(text, n));
            let numbered: Vec<&str> =
                (1..=4).filter_map(|n| prompt.split_once(&format!("\n[{n}]\n"))).map(|(_, text)| text).collect();
            if numbered.is_empty() {
                return verdict("score", is_relevant(prompt));
            }
            let own = |text: &str| text.split("\n\n[").next().unwrap_or_default().to_owned();
            let said = numbered.into_iter().map(own).enumerate().filter(|(_, text)| !is_left_out(text));
            let entry = |(i, text): (usize, String)| json!({ "id": i + 1, "score": if is_relevant(&text) { "yes" } else { "no" } });
            let verdicts: Vec<Value> = said.map(entry).rev().collect();
            Sent::words(&json!({ "verdicts": verdicts }).to_string())
        }
        "grounding" => verdict("grounded", nth("grounded")),
        "usefulness" => verdict("useful", nth("useful")),
        "rewrite" => Sent::words(&format!("ingredients of bread, query {}", asked.n + 2)),
        "generate" => Sent::words(&format!("Draft {}: the dough needs flour [1].", asked.n + 1)),
        _ => {
            let page = |i| {
                let url = format!("https://web.example/{}/{i}", asked.n);
                json!({ "title": "Dough", "url": url, "content": format!("Page {i} of search {}.", asked.n) })
            };
            let found = vector["found"].as_u64().unwrap_or(1);
            Sent::json(&json!({ "results": (0..found).map(page).collect::<Vec<_>>() }))
        }
    }
}

#[test]
fn every_vector_of_the_loop_holds() {
    let vectors: Vec<Value> = serde_json::from_str(VECTORS).unwrap();
    assert!(vectors.len() >= 9);
    for vector in vectors {
        let id = vector["id"].as_str().unwrap();
        let document = |name: &&str| json!({ "id": format!("{name}.md"), "text": format!("# Dough\n\nA dough of bread needs {name}.\n") });
        let documents: Vec<Value> = INGREDIENTS.iter().map(document).collect();
        let documents = if vector["empty"] == json!(true) { corpus(&[]) } else { corpus(&documents) };
        let mut request =
            json!({ "question": QUESTION, "strategy": "self-reflective", "batch": vector["batch"] == json!(true) });
        if !vector["max_retries"].is_null() {
            request["max_retries"] = vector["max_retries"].clone();
        }
        let script = vector.clone();
        let network = Scripted::new(move |asked| play(&script, asked));
        let found = match ask(&settings("k"), &network, &documents, &request) {
            Ok(answer) => answer,
            Err(problem) => json!({ "code": problem.code }),
        };
        for (field, expected) in vector["expect"].as_object().unwrap() {
            assert_eq!(&found[field], expected, "{id}: {field}");
        }
        let expected: BTreeMap<&str, u64> = calls(vector["calls"].as_object().unwrap());
        let sent = expected.keys().map(|role| (*role, network.count(role) as u64)).collect();
        assert_eq!(expected, sent, "{id}: requests");
        if found.get("usage").is_some() {
            let mut booked = found["usage"]["calls"].as_object().unwrap().clone();
            assert_eq!((booked.remove("retrieve"), booked.remove("embed")), (Some(json!(1)), Some(json!(0))), "{id}");
            assert_eq!(calls(&booked), expected, "{id}: calls");
        }
    }
}

/// Calls of every kind.
fn calls(given: &Map<String, Value>) -> BTreeMap<&'static str, u64> {
    let kinds = ["decide", "grade", "rewrite", "web", "generate", "grounding", "usefulness", "segment", "reflect"];
    assert!(given.keys().all(|kind| kinds.contains(&kind.as_str())));
    kinds.into_iter().map(|kind| (kind, given.get(kind).and_then(Value::as_u64).unwrap_or(0))).collect()
}
