//! Grades for all passages in one call, and how sure the model is of each: over a scripted network.

use countercheck::service::ServiceSettings;
use serde_json::{Value, json};

use crate::files::{all, text};
use crate::network::{Asked, Scripted, Sent};
use crate::{ask, corpus, settings};

const QUESTION: &str = "What does the dough of bread need?";
const INGREDIENTS: [&str; 4] = ["flour", "water", "yeast", "salt"];

/// A model that gives all grades alike but for the first call, which has its own reply.
fn graded(first: Sent, settings: &ServiceSettings, passages: usize, batch: bool) -> (Value, Scripted) {
    let document = |name: &&str| json!({ "id": format!("{name}.md"), "text": format!("# Dough\n\nA dough of bread needs {name}.\n") });
    let documents = corpus(&INGREDIENTS.iter().take(passages).map(document).collect::<Vec<_>>());
    let first = std::cell::RefCell::new(Some(first));
    let network = Scripted::new(move |asked: &Asked| match asked.role {
        "grade" => first.borrow_mut().take().unwrap_or_else(|| Sent::words("{\"score\": \"yes\"}")),
        _ => Sent::words("The dough needs it [1]."),
    });
    let request = json!({ "question": QUESTION, "strategy": "corrective", "k": passages, "batch": batch });
    (ask(settings, &network, &documents, &request).unwrap(), network)
}

/// Row F53: what a batch's reply leaves open is asked once more, each by itself, and nothing else is.
#[test]
fn f53_only_what_a_batch_leaves_open_is_asked_again() {
    let mut played = 0;
    for (name, fixture) in all().into_iter().filter(|(_, fixture)| fixture["codec"] == "batch") {
        let Some(expected) = fixture["expect"]["grades"].as_array() else { continue };
        let (answer, network) = graded(Sent::words(text(&fixture, "reply")), &settings("k"), expected.len(), true);
        let open = expected.iter().filter(|grade| **grade == "unknown").count();
        assert_eq!(network.count("grade"), 1 + open, "{name}");
        assert_eq!(answer["usage"]["calls"]["grade"], 1 + open, "{name}");
        let verdicts = answer["verdicts"].as_array().unwrap().iter().map(|graded| &graded["verdict"]);
        let repaired = expected.iter().map(|grade| if grade == "unknown" { "yes" } else { grade.as_str().unwrap() });
        assert!(verdicts.eq(repaired), "{name}: {}", answer["verdicts"]);
        played += 1;
    }
    assert!(played > 12, "{played} fixtures");
}

/// The settings with probabilities asked for.
fn confident() -> ServiceSettings {
    let place = json!({ "base_url": "https://services.example/v1", "key": "k" });
    let model = json!({ "kind": "chat", "vendor": "openai", "model": "m", "place": place, "confidence": true });
    serde_json::from_value(json!({ "grade": model, "rewrite": model, "generate": model, "check": model })).unwrap()
}

fn tokens(parts: &[(&str, f64)]) -> Value {
    let token = |(text, yes): &(&str, f64)| {
        let top =
            [("yes", *yes), ("no", 1.0 - yes)].map(|(token, p)| json!({ "token": token, "logprob": libm::log(p) }));
        let own = if *text == "no" { 1.0 - yes } else { *yes };
        let top = if text.len() < 4 { json!(top) } else { json!([]) };
        json!({ "token": text, "logprob": libm::log(own.max(0.01)), "top_logprobs": top })
    };
    let text: String = parts.iter().map(|(text, _)| *text).collect();
    let message = json!({ "role": "assistant", "content": text });
    let logprobs = json!({ "content": parts.iter().map(token).collect::<Vec<_>>() });
    json!({ "choices": [{ "index": 0, "finish_reason": "stop", "message": message, "logprobs": logprobs }] })
}

fn scores(answer: &Value) -> Vec<Option<f64>> {
    let thousandths = |score: f64| (score * 1000.0).round() / 1000.0;
    answer["verdicts"].as_array().unwrap().iter().map(|graded| graded["score"].as_f64().map(thousandths)).collect()
}

#[test]
fn a_grade_has_the_probability_of_yes_as_its_score_where_that_is_asked_for() {
    let one = tokens(&[("{\"score\": \"", 0.0), ("yes", 0.8), ("\"}", 0.0)]);
    let (answer, _) = graded(Sent::json(&one), &confident(), 1, false);
    assert_eq!((&answer["verdicts"][0]["verdict"], scores(&answer)), (&json!("yes"), vec![Some(0.8)]));
    // What was written counts, even where its probability says otherwise.
    let doubtful = tokens(&[("{\"score\": \"", 0.0), ("yes", 0.1), ("\"}", 0.0)]);
    let (answer, _) = graded(Sent::json(&doubtful), &confident(), 1, false);
    assert_eq!((&answer["verdicts"][0]["verdict"], scores(&answer)), (&json!("yes"), vec![Some(0.1)]));
    let two = [
        ("[{\"id\": 2, \"score\": \"", 0.0),
        ("no", 0.3),
        ("\"}, {\"id\": 1, \"score\": \"", 0.0),
        ("yes", 0.9),
        ("\"}]", 0.0),
    ];
    let (answer, network) = graded(Sent::json(&tokens(&two)), &confident(), 2, true);
    assert_eq!((scores(&answer), network.count("grade")), (vec![Some(0.9), Some(0.3)], 1));
}

#[test]
fn without_probabilities_a_verdict_stands_and_has_no_score() {
    let (answer, _) = graded(Sent::words("{\"score\": \"yes\"}"), &confident(), 1, false);
    assert_eq!(answer["verdicts"], json!([{ "passage_id": "flour.md#0", "verdict": "yes" }]));
    // Nobody reads them who did not ask.
    let one = tokens(&[("{\"score\": \"", 0.0), ("maybe", 0.8), ("\"}", 0.0)]);
    let (answer, network) = graded(Sent::json(&one), &confident(), 1, false);
    assert_eq!((scores(&answer), network.count("grade")), (vec![None], 2), "an unread verdict has no score either");
}

#[test]
fn probabilities_are_asked_of_grades_alone_and_not_again_where_they_are_refused() {
    for (settings, expected) in [(confident(), json!(true)), (settings("k"), Value::Null)] {
        let asked = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
        let seen = asked.clone();
        let documents = corpus(&[json!({ "id": "a.md", "text": "# Dough\n\nA dough of bread needs flour.\n" })]);
        let network = Scripted::new(move |asked: &Asked| {
            seen.borrow_mut().push((asked.role, asked.body["logprobs"].clone(), asked.body["response_format"].clone()));
            match asked.role {
                "grade" => Sent::words("{\"score\": \"yes\"}"),
                "grounding" => Sent::words("{\"grounded\": \"yes\"}"),
                "usefulness" => Sent::words("{\"useful\": \"yes\"}"),
                _ => Sent::words("The dough needs flour [1]."),
            }
        });
        ask(&settings, &network, &documents, &json!({ "question": QUESTION })).unwrap();
        for (role, logprobs, _) in asked.borrow().iter() {
            assert_eq!(logprobs, if *role == "grade" { &expected } else { &Value::Null }, "{role}");
        }
    }
    let refused = json!({ "error": { "message": "logprobs is not supported", "type": "invalid_request_error" } });
    let refused = Sent::Reply {
        status: 400,
        headers: [("content-type", "application/json")].into_iter().collect(),
        pieces: vec![refused.to_string().into_bytes()],
        every: 0,
        then: crate::network::Then::End,
    };
    // The other passages were asked about at the same time.
    let (answer, network) = graded(refused, &confident(), 2, false);
    assert_eq!((network.count("grade"), scores(&answer)), (3, vec![None, None]));
    assert!(answer["verdicts"].as_array().unwrap().iter().all(|graded| graded["verdict"] == "yes"));
}
