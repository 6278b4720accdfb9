//! A retriever of the host's own in place of the index: seeds G-10 and G-20.

use countercheck::service::ServiceSettings;
use serde_json::{Value, json};

use crate::network::{Scripted, Sent};
use crate::{ask, corpus};

fn asked(retriever: u32, question: &str, k: usize) -> (Result<Value, countercheck::problem::Problem>, Scripted) {
    let place = json!({ "base_url": "https://services.example/v1", "key": "k" });
    let model = json!({ "kind": "chat", "vendor": "openai", "model": "m", "place": place });
    let settings: ServiceSettings =
        serde_json::from_value(json!({ "grade": model, "generate": model, "check": model, "retriever": retriever }))
            .unwrap();
    let network = Scripted::new(|asked| match asked.role {
        "grade" => Sent::words("{\"score\": \"yes\"}"),
        _ => Sent::words("It is about bread [1]."),
    });
    // What the index holds is not looked at.
    let documents = corpus(&[json!({ "id": "a.md", "text": "# Bread\n\nbread bread\n" })]);
    let request = json!({ "question": question, "strategy": "corrective", "k": k });
    (ask(&settings, &network, &documents, &request), network)
}

#[test]
fn g_10_g_20_what_a_retriever_of_the_hosts_finds_takes_the_same_path() {
    let (answer, network) = asked(0, "bread salt bread flour", 3);
    let answer = answer.unwrap();
    let ids: Vec<&str> =
        answer["sources"].as_array().unwrap().iter().map(|s| s["passage_id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["bread", "salt", "flour"], "in its order, each once, no more than k");
    assert_eq!((network.count("retriever"), network.count("grade")), (1, 3));
    let citation = &answer["citations"][0];
    assert_eq!(json!([citation["quote"], citation["url"]]), json!(["All about bread.", "https://own.example/bread"]));
    assert_eq!(json!([citation["start"], citation["end"], citation["title"]]), json!([0, 16, "bread"]));
    assert_eq!(citation["origin"], "local");
    let (answer, _) = asked(0, "bread salt", 1);
    assert_eq!(answer.unwrap()["sources_used"], 1);
}

#[test]
fn a_retriever_that_throws_is_a_service_that_failed() {
    let (answer, network) = asked(1, "bread", 4);
    let problem = answer.unwrap_err();
    assert_eq!(
        (problem.code, problem.service_code),
        ("provider_failed", Some("function_failed")),
        "{}",
        problem.message
    );
    assert_eq!(network.count("grade"), 0);
}
