//! What a caller may set, and what is refused.

use countercheck::pipeline::budget::Limits;
use countercheck::pipeline::reflection::{Rule, Weights};
use countercheck::pipeline::self_rag::{MAX_BEAM_WIDTH, MAX_DEPTH, MostCalls, SelfRag, SelfRagOptions, When};
use countercheck::pipeline::strategy::Strategy;
use countercheck::problem::Problem;
use countercheck::wire::AskRequest;
use serde_json::{Value, json};

use crate::strategy;

fn checked(self_rag: &Value) -> Result<SelfRag, Problem> {
    let body = json!({ "question": "q", "strategy": "self-rag", "self_rag": self_rag });
    let asked = AskRequest::from_json(body.to_string().as_bytes())?.check(Limits::default())?;
    Ok(asked.strategy.self_rag.unwrap())
}

#[test]
fn n_08_the_defaults_are_the_papers() {
    let own = strategy(SelfRagOptions::default()).self_rag.unwrap();
    assert_eq!(own.weights, Weights { relevance: 1.0, support: 1.0, usefulness: 0.5, sequence: true });
    assert_eq!((own.beam_width, own.delta, own.rule, own.hard_constraint), (2, 0.2, Rule::Appendix, false));
    assert_eq!(Strategy::named("self-rag").unwrap().k, SelfRag::K);
}

#[test]
fn every_option_is_read() {
    let given = json!({
        "mode": "short", "retrieval": "always", "rule": "ideal", "combine": "product", "beam_width": 8,
        "max_depth": 7, "hard_constraint": true, "choices": [" yes ", "no"],
        "weights": { "relevance": 0, "support": 2, "usefulness": 0.25, "sequence": false },
    });
    let own = checked(&given).unwrap();
    assert_eq!((own.beam_width, own.max_depth, own.retrieval), (MAX_BEAM_WIDTH, MAX_DEPTH, When::Always));
    assert_eq!(own.weights, Weights { relevance: 0.0, support: 2.0, usefulness: 0.25, sequence: false });
    assert_eq!(
        (own.rule, own.hard_constraint, own.choices),
        (Rule::Ideal, true, vec!["yes".to_owned(), "no".to_owned()])
    );
    assert!(checked(&json!({ "delta": 0 })).unwrap().delta.abs() < f64::EPSILON, "as for ALCE");
}

#[test]
fn what_is_out_of_range_is_refused_with_the_range() {
    let many: Vec<String> = (0..27).map(|n| format!("answer {n}")).collect();
    for (given, message) in [
        (json!({ "delta": 1.5 }), "self_rag.delta must be 0 to 1"),
        (json!({ "delta": -0.1 }), "self_rag.delta must be 0 to 1"),
        (
            json!({ "delta": 0.5, "retrieval": "token" }),
            "self_rag.delta must be left out where the model's own token decides",
        ),
        (json!({ "weights": { "support": -1 } }), "self_rag.weights.support must be 0 to 100"),
        (json!({ "weights": { "relevance": 101 } }), "self_rag.weights.relevance must be 0 to 100"),
        (json!({ "weights": { "usefulness": 1e9 } }), "self_rag.weights.usefulness must be 0 to 100"),
        (json!({ "beam_width": 0 }), "self_rag.beam_width must be 1 to 8"),
        (json!({ "beam_width": 9 }), "self_rag.beam_width must be 1 to 8"),
        (json!({ "max_depth": 0 }), "self_rag.max_depth must be 1 to 7"),
        (json!({ "max_depth": 8 }), "self_rag.max_depth must be 1 to 7"),
        (json!({ "choices": ["yes"] }), "self_rag.choices must be 2 to 26 answers"),
        (json!({ "choices": many }), "self_rag.choices must be 2 to 26 answers"),
        (json!({ "choices": ["yes", " "] }), "self_rag.choices must be answers of 1 to 500 bytes"),
        (json!({ "choices": ["Yes.", "yes "] }), "self_rag.choices must be answers that differ"),
        (
            json!({ "choices": ["yes", "no"], "mode": "long" }),
            "self_rag.mode must be left out where there are choices: one of them is the whole answer",
        ),
    ] {
        let problem = checked(&given).unwrap_err();
        assert_eq!(
            (problem.code, problem.status, problem.message.as_str()),
            ("invalid_option", 400, message),
            "{given}"
        );
    }
    for (given, code) in [
        (json!({ "depth": 1 }), "unknown_field"),
        (json!({ "weights": { "sup": 1 } }), "unknown_field"),
        (json!({ "mode": "medium" }), "invalid_request"),
        (json!({ "beam_width": -1 }), "invalid_request"),
        (json!({ "beam_width": 1.5 }), "invalid_request"),
        (json!({ "choices": "yes" }), "invalid_request"),
    ] {
        assert_eq!(checked(&given).unwrap_err().code, code, "{given}");
    }
}

#[test]
fn options_of_self_rag_are_for_no_other_strategy() {
    for strategy in ["naive", "self-rag-prompted"] {
        let body = json!({ "question": "q", "strategy": strategy, "self_rag": {} });
        let request = AskRequest::from_json(body.to_string().as_bytes()).unwrap();
        let problem = request.check(Limits::default()).unwrap_err();
        assert_eq!(problem.code, "invalid_option", "{strategy}");
        assert!(problem.message.contains("ask for that"), "{}", problem.message);
    }
    for other in ["rule", "domain"] {
        let value = if other == "rule" { "max" } else { "legal" };
        let body = json!({ "question": "q", "strategy": "self-rag", other: value });
        let request = AskRequest::from_json(body.to_string().as_bytes()).unwrap();
        assert_eq!(request.check(Limits::default()).unwrap_err().code, "invalid_option", "{other}");
    }
}

#[test]
fn the_most_calls_are_those_of_the_widest_beam() {
    let most = |options: SelfRagOptions, k| strategy(options).self_rag.unwrap().most_calls(k);
    let calls =
        |searches, segments, reflections_of_a_chat_model| MostCalls { searches, segments, reflections_of_a_chat_model };
    let default = SelfRagOptions::default;
    assert_eq!(most(default(), 3), calls(3, 10, 30), "the beginning takes a chat model no call");
    assert_eq!(most(SelfRagOptions { max_depth: Some(1), ..default() }, 3), calls(1, 4, 10));
    assert_eq!(most(SelfRagOptions { beam_width: Some(1), max_depth: Some(3), ..default() }, 2), calls(3, 7, 21));
    // A beam is no wider than what there is to keep: one answer after one passage.
    assert_eq!(most(SelfRagOptions { beam_width: Some(8), max_depth: Some(2), ..default() }, 1), calls(2, 3, 8));
    assert_eq!(most(SelfRagOptions { retrieval: Some(When::Never), ..default() }, 5), calls(0, 1, 0));
    assert_eq!(most(SelfRagOptions { retrieval: Some(When::Always), ..default() }, 3), calls(3, 9, 29));
    let choices = Some(vec!["yes".to_owned(), "no".to_owned()]);
    assert_eq!(most(SelfRagOptions { choices, max_depth: Some(7), ..default() }, 4), calls(1, 5, 13));
}
