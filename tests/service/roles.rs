//! Who is asked what: each role its own model at its own temperature, and the web for five pages.

use std::cell::RefCell;
use std::rc::Rc;

use countercheck::service::ServiceSettings;
use serde_json::{Value, json};

use crate::network::{Asked, Scripted, Sent};
use crate::{ask, corpus};

/// A critic that grades, decides and checks, a writer, and a search.
fn settings() -> ServiceSettings {
    let place = |path: &str| json!({ "base_url": format!("https://services.example/{path}"), "key": "k" });
    let model = |name: &str| json!({ "kind": "chat", "vendor": "openai", "model": name, "place": place("v1") });
    let (critic, writer) = (model("critic"), model("writer"));
    let search = json!({ "kind": "vendor", "vendor": "tavily", "place": place("web") });
    let roles = json!({ "grade": critic, "check": critic, "rewrite": writer, "generate": writer, "search": search });
    serde_json::from_value(roles).unwrap()
}

/// Asks with that strategy; a passage of the index has this score. Gives the answer and all that was sent.
fn asked(strategy: &str, relevance: &'static str) -> (Value, Vec<(&'static str, Value)>) {
    let sent = Rc::new(RefCell::new(Vec::new()));
    let log = sent.clone();
    let network = Scripted::new(move |asked: &Asked| {
        log.borrow_mut().push((asked.role, asked.body.clone()));
        let system = asked.body["messages"][0]["content"].as_str().unwrap_or_default();
        let user = asked.body["messages"][1]["content"].as_str().unwrap_or_default();
        let page = |n| json!({ "title": format!("Page {n}"), "url": format!("https://web.example/{n}"), "content": format!("The dough, page {n}.") });
        match asked.role {
            "web" => Sent::json(&json!({ "results": (1..=9).map(page).collect::<Vec<_>>() })),
            "grade" if user.contains("page ") => Sent::words("{\"score\": 0.9}"),
            "grade" => Sent::words(relevance),
            _ if system.contains("\"retrieve\"") => Sent::words("{\"retrieve\": \"yes\"}"),
            _ if system.contains("\"support\"") => Sent::words("{\"support\": \"fully_supported\"}"),
            _ if system.contains("\"usefulness\"") => Sent::words("{\"usefulness\": 4}"),
            _ => Sent::words("It needs flour [1]."),
        }
    });
    let documents = corpus(&[json!({ "id": "a.md", "text": "# Dough\n\nA dough of bread needs flour.\n" })]);
    let answer =
        ask(&settings(), &network, &documents, &json!({ "question": "What does dough need?", "strategy": strategy }));
    let sent = sent.borrow().clone();
    (answer.unwrap(), sent)
}

#[test]
fn g_05_the_web_is_asked_for_five_results_that_are_told_from_local_passages() {
    let (answer, sent) = asked("corrective-scored", "{\"score\": 0.1}");
    let searches: Vec<&Value> = sent.iter().filter(|(role, _)| *role == "web").map(|(_, body)| body).collect();
    assert_eq!(searches.len(), 1);
    assert_eq!((&searches[0]["max_results"], &searches[0]["query"]), (&json!(5), &json!("What does dough need?")));
    let sources = answer["sources"].as_array().unwrap();
    let urls: Vec<&str> = sources.iter().map(|source| source["url"].as_str().unwrap()).collect();
    assert_eq!(urls, (1..=5).map(|n| format!("https://web.example/{n}")).collect::<Vec<_>>(), "five, though nine came");
    assert!(sources.iter().all(|source| source["origin"] == "web" && source["passage_id"] == source["url"]));
    let citation = &answer["citations"][0];
    assert_eq!(
        json!([citation["url"], citation["origin"], citation["quote"]]),
        json!([urls[0], "web", "The dough, page 1."])
    );
    let (answer, _) = asked("corrective-scored", "{\"score\": 0.9}");
    assert_eq!(json!([answer["sources"][0]["origin"], answer["citations"][0]["origin"]]), json!(["local", "local"]));
}

/// W44: who writes need not be who judges.
#[test]
fn g_10_critic_and_writer_are_two_models_each_at_its_temperature() {
    for (strategy, roles) in [
        ("corrective-scored", vec![("grade", "critic", 0.0), ("generate", "writer", 0.1)]),
        (
            "self-rag-prompted",
            vec![
                ("decide", "critic", 0.0),
                ("grade", "critic", 0.0),
                ("generate", "writer", 0.1),
                ("support", "critic", 0.0),
                ("usefulness", "critic", 0.0),
            ],
        ),
        ("corrective", vec![("grade", "critic", 0.0), ("generate", "writer", 0.1)]),
    ] {
        let relevance = if strategy == "corrective-scored" { "{\"score\": 0.9}" } else { "{\"score\": \"yes\"}" };
        let (_, sent) = asked(strategy, relevance);
        let seen: Vec<(&str, &str, f64)> = sent
            .iter()
            .map(|(role, body)| {
                let system = body["messages"][0]["content"].as_str().unwrap();
                let named = ["retrieve", "support", "usefulness"]
                    .into_iter()
                    .find(|name| system.contains(&format!("{{\"{name}\"")));
                let role = named.map_or(*role, |name| if name == "retrieve" { "decide" } else { name });
                let temperature = (body["temperature"].as_f64().unwrap() * 1000.0).round() / 1000.0;
                (role, body["model"].as_str().unwrap(), temperature)
            })
            .collect();
        assert_eq!(seen, roles, "{strategy}");
    }
}
