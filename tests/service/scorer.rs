//! A scorer of the page's own in the grader's place (seed G-17): one call has all passages.

use countercheck::service::{ServiceSettings, Services};
use serde_json::{Value, json};

use crate::network::{Scripted, Sent};
use crate::{ask, corpus};

fn settings(role: &str, number: u32) -> ServiceSettings {
    serde_json::from_value(json!({ role: { "kind": "scorer", "number": number } })).unwrap()
}

fn answer(strategy: &str, number: u32) -> (Value, usize) {
    let documents = corpus(&[
        json!({ "id": "a.md", "text": "dough dough dough dough dough dough dough dough" }),
        json!({ "id": "b.md", "text": "dough dough dough" }),
        json!({ "id": "c.md", "text": "dough dough dough dough dough dough dough dough dough dough dough dough" }),
    ]);
    let network = Scripted::new(|_| Sent::Nothing);
    let request = json!({ "question": "dough dough", "strategy": strategy });
    let answer = ask(&settings("grade", number), &network, &documents, &request).unwrap();
    (answer, network.count("scorer"))
}

#[test]
fn g_17_one_call_scores_all_passages() {
    let (answer, calls) = answer("corrective-scored", 0);
    let said = |id: &str| {
        let verdicts = answer["verdicts"].as_array().unwrap();
        let own = verdicts.iter().find(|v| v["passage_id"] == format!("{id}.md#0")).unwrap();
        json!([own["verdict"], own["score"]])
    };
    assert_eq!((said("a"), said("b")), (json!(["yes", 0.8]), json!(["no", 0.3])));
    assert_eq!(said("c"), json!(["unknown", null]), "W17: 1.2 is no score");
    assert_eq!((&answer["decision"], calls), (&json!("ambiguous"), 2), "all at once, the open one again");
    assert_eq!(answer["usage"]["calls"]["grade"], 2);
}

#[test]
fn a_scorer_grades_for_strategies_without_scores_too() {
    let (answer, calls) = answer("corrective", 0);
    assert_eq!((answer["decision"].is_null(), calls), (true, 2));
    assert_eq!(answer["sources"][0]["passage_id"], "a.md#0");
}

#[test]
fn a_scorer_that_fails_leaves_unknown_grades() {
    let (answer, _) = answer("corrective-scored", 1);
    assert_eq!(answer["warnings"][0]["code"], "ungraded");
    assert!(answer["verdicts"].as_array().unwrap().iter().all(|v| v["verdict"] == "unknown"));
}

#[test]
fn a_scorer_can_do_nothing_but_grade() {
    for role in ["rewrite", "generate", "check"] {
        let error = Services::new(&settings(role, 0)).unwrap_err().to_string();
        assert_eq!(error, format!("{role}: a scorer can only grade: give it as `grade`"));
    }
}
