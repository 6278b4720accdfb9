//! Completions, and the probabilities of tokens in the shapes that servers have.
//!
//! `logprobs/llama-cpp-*.json` are replies of llama.cpp's server with SmolLM2-135M, shortened;
//! `logprobs/older-completion.json` is written by hand in the shape of vLLM and of the older `OpenAI`
//! completions, with the tokens of the Self-RAG checkpoints, which do not run where this is tested.

use countercheck::provider::chat::Finish;
use countercheck::provider::completions::{CompletionReply, CompletionRequest, Completions};
use countercheck::provider::error::{Fault, ProviderError};
use countercheck::provider::http::{Endpoint, Headers, HttpResponse, Secret};
use countercheck::provider::logprobs::{Token, of_answers};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{CANARY, cases, openai};

fn completions() -> Completions {
    let key = Secret::parse(CANARY).unwrap();
    let endpoint = Endpoint::parse("https://api.example.org/v1", Some(key)).unwrap();
    Completions { endpoint, model: "m".to_owned() }
}

fn response(status: u16, body: impl Into<Vec<u8>>) -> HttpResponse {
    let headers: Headers = [("content-type", "application/json")].into_iter().collect();
    HttpResponse { status, headers, body: body.into() }
}

fn read(body: &Value) -> Result<CompletionReply, ProviderError> {
    completions().reply(&response(200, body.to_string()))
}

fn recorded(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/provider/logprobs/{name}.json", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn texts(tokens: &[Token]) -> Vec<&str> {
    tokens.iter().map(|token| token.text.as_str()).collect()
}

#[test]
fn what_is_sent_asks_for_special_tokens_and_probabilities() {
    let asked = CompletionRequest {
        prompt: "### Instruction:\nq\n\n### Response:\n".to_owned(),
        max_tokens: 300,
        stop: vec!["<paragraph>"],
        largest_reply: 1 << 20,
    };
    let request = completions().request(&asked);
    assert_eq!(request.url, "https://api.example.org/v1/completions");
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    let expected = json!({
        "model": "m", "prompt": asked.prompt, "max_tokens": 300, "temperature": 0.0, "logprobs": 20,
        "skip_special_tokens": false, "stop": ["<paragraph>"],
    });
    assert_eq!(body, expected);
}

#[test]
fn the_older_lists_are_read() {
    let reply = completions().reply(&response(200, recorded("older-completion"))).unwrap();
    assert_eq!(texts(&reply.tokens).concat(), "[Relevant]Keys expire after 90 days.[Fully supported][Utility:5]</s>");
    assert_eq!(reply.text, texts(&reply.tokens).concat());
    let support = &reply.tokens[7];
    assert_eq!((support.logprob, support.top.len()), (Some(-0.2), 3));
    assert!(support.top.contains(&("[No support / Contradictory]".to_owned(), -4.5)));
    assert_eq!((reply.finish, reply.usage.unwrap().output_tokens), (Finish::Stop, 10));
    assert_eq!(reply.model.as_deref(), Some("selfrag/selfrag_llama2_7b"));
}

#[test]
fn the_shape_of_chat_is_read_for_completions_too() {
    let reply = completions().reply(&response(200, recorded("llama-cpp-completion"))).unwrap();
    assert_eq!((reply.text.as_str(), reply.finish), ("The keys are valid", Finish::Length));
    assert_eq!(texts(&reply.tokens), ["The", " keys", " are", " valid"]);
    assert_eq!(reply.tokens[0].top.len(), 6);
    assert!((reply.tokens[0].logprob.unwrap() + 1.347).abs() < 1e-3);
}

#[test]
fn both_shapes_say_the_same() {
    let lists =
        json!({ "tokens": ["a", "b"], "token_logprobs": [null, -0.5], "top_logprobs": [null, {"b": -0.5, "c": -1.0}] });
    let content = json!({ "content": [
        { "token": "a" },
        { "token": "b", "logprob": -0.5, "top_logprobs": [{ "token": "b", "logprob": -0.5 }, { "token": "c", "logprob": -1.0 }] },
    ] });
    let of = |logprobs: Value| read(&json!({ "choices": [{ "text": "ab", "logprobs": logprobs }] })).unwrap().tokens;
    assert_eq!(of(lists.clone()), of(content));
    assert_eq!(of(lists)[0], Token { text: "a".to_owned(), logprob: None, top: Vec::new() });
}

#[test]
fn defect_15_a_model_with_nothing_to_say_has_said_nothing() {
    let reply = read(&json!({ "choices": [{ "text": "", "finish_reason": "stop" }] })).unwrap();
    assert_eq!((reply.text.as_str(), reply.tokens.len()), ("", 0));
}

#[test]
fn what_is_no_completion_is_an_error() {
    let cases = [
        (json!({}), Fault::Shape.into()),
        (json!({ "choices": [] }), Fault::Empty.into()),
        (json!({ "choices": [{ "message": { "content": "a chat" } }] }), Fault::Shape.into()),
        (json!({ "choices": [{ "text": "", "finish_reason": "content_filter" }] }), ProviderError::ContentFiltered),
        (json!({ "choices": [{ "text": "a", "finish_reason": "error" }] }), ProviderError::Upstream { status: 200 }),
        (json!({ "error": { "message": "upstream text", "code": 503 } }), ProviderError::Overloaded),
    ];
    for (body, expected) in cases {
        assert_eq!(read(&body), Err(expected), "{body}");
    }
    let refused =
        json!({ "error": { "message": "logprobs is not supported by this model", "type": "invalid_request_error" } });
    assert_eq!(completions().reply(&response(400, refused.to_string())), Err(ProviderError::FormatRefused));
    let cut = completions().reply(&response(200, r#"{"choices":[{"text":"a","#));
    assert_eq!(cut, Err(ProviderError::Truncated));
}

/// A first token that ends the turn leaves no probabilities: that is no score, and not a score of 0.
#[test]
fn absent_probabilities_are_no_score() {
    let chat = |logprobs: Value| {
        let mut choice = json!({ "message": { "content": "yes" }, "finish_reason": "stop" });
        if !logprobs.is_null() {
            choice["logprobs"] = logprobs;
        }
        openai().reply(&response(200, json!({ "choices": [choice] }).to_string())).unwrap().tokens
    };
    for none in [Value::Null, json!(null), json!({}), json!({ "content": null }), json!({ "content": [] })] {
        assert_eq!(of_answers(&chat(none.clone()), &[YES, NO]), None, "{none}");
    }
    let bare = json!({ "content": [{ "token": "yes" }] });
    assert_eq!(of_answers(&chat(bare), &[YES, NO]), None, "a token without its probability");
}

const YES: &[&str] = &["yes", "oui", "ja", "sí"];
const NO: &[&str] = &["no", "non", "nein"];

fn token(text: &str, others: &[(&str, f64)]) -> Token {
    let top: Vec<(String, f64)> = others.iter().map(|(text, p)| ((*text).to_owned(), libm::log(*p))).collect();
    let logprob = top.iter().find(|(other, _)| other == text).map(|(_, logprob)| *logprob);
    Token { text: text.to_owned(), logprob, top }
}

#[test]
fn a_verdict_in_json_is_found_where_it_stands() {
    let reply = openai().reply(&response(200, recorded("llama-cpp-chat"))).unwrap();
    assert_eq!(reply.text, r#"{"score": "yes"}"#);
    let shares = of_answers(&reply.tokens, &[YES, NO]).unwrap();
    let (yes, no) = (libm::exp(-0.159) + libm::exp(-4.34), libm::exp(-2.46) + libm::exp(-5.47));
    assert!((shares[0] - yes).abs() < 0.01 && (shares[1] - no).abs() < 0.01, "{shares:?}");
}

#[test]
fn casing_blanks_quotes_and_languages_are_one_answer() {
    let said = token(
        " Yes",
        &[
            (" Yes", 0.3),
            ("YES", 0.1),
            ("yes", 0.1),
            ("oui", 0.05),
            ("\"ja", 0.05),
            ("No", 0.2),
            (" nein", 0.05),
            ("not", 0.1),
        ],
    );
    let shares = of_answers(&[said], &[YES, NO]).unwrap();
    assert!((shares[0] - 0.6).abs() < 1e-9 && (shares[1] - 0.25).abs() < 1e-9, "{shares:?}");
}

#[test]
fn an_answer_that_is_not_listed_has_the_floor() {
    let shares = of_answers(&[token("yes", &[("yes", 0.9), ("well", 0.1)])], &[YES, NO]).unwrap();
    assert!((shares[0] - 0.9).abs() < 1e-9 && shares[1] > 0.0 && shares[1] < 1e-40, "{shares:?}");
}

#[test]
fn half_a_word_is_the_beginning_of_one_and_other_words_are_none() {
    let support: [&[&str]; 3] = [&["fully_supported"], &["partially_supported"], &["no_support"]];
    let said =
        [token("{\"", &[]), token("support", &[]), token("part", &[("part", 0.5), ("full", 0.3), ("none", 0.1)])];
    let shares = of_answers(&said, &support).unwrap();
    assert!((shares[0] - 0.3).abs() < 1e-9 && (shares[1] - 0.5).abs() < 1e-9 && shares[2] < 1e-40, "{shares:?}");
    assert_eq!(of_answers(&[token("maybe", &[("maybe", 0.6), ("yes", 0.4)])], &[YES, NO]), None);
}

#[test]
fn reasoning_before_the_reply_is_no_answer() {
    let no = token("no", &[("no", 1.0)]);
    let yes = token("yes", &[("yes", 0.8), ("no", 0.2)]);
    let word = |text: &str| token(text, &[(text, 1.0)]);
    let thought = [word("<th"), word("ink>"), no.clone(), word("</think>"), word("\n"), yes];
    assert!((of_answers(&thought, &[YES, NO]).unwrap()[0] - 0.8).abs() < 1e-9);
    assert_eq!(of_answers(&[word("<think>"), no], &[YES, NO]), None, "it never ended");
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(|n| json!(n)),
        "(yes|no|a|<think>|\u{1F9E0}| )".prop_map(Value::from),
    ];
    let names = "(choices|text|logprobs|content|token|tokens|logprob|token_logprobs|top_logprobs|finish_reason|error)";
    leaf.prop_recursive(5, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((names, inner), 0..5).prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(cases(500))]

    #[test]
    fn no_body_makes_it_panic_and_no_error_repeats_it(mut choice in any_json(), outer in any_json(), whole in any::<bool>()) {
        if let (Some(choice), true) = (choice.as_object_mut(), whole) {
            choice.insert("text".to_owned(), json!("upstream text"));
        }
        let body = if whole { json!({ "choices": [choice] }) } else { outer };
        match read(&body) {
            Ok(reply) => {
                let shares = of_answers(&reply.tokens, &[YES, NO]);
                prop_assert!(shares.is_none_or(|shares| shares.iter().all(|share| *share > 0.0 && share.is_finite())));
            }
            Err(error) => prop_assert!(!error.to_string().contains("upstream")),
        }
    }

    /// What servers say of a token is read alike from either shape.
    #[test]
    fn shapes_are_interchangeable(tokens in prop::collection::vec(("[a-z\\[\\]:5 ]{1,8}", -30.0..0.0_f64, prop::collection::btree_map("[a-zé]{1,4}", -30.0..0.0_f64, 0..4)), 0..6)) {
        let lists = json!({
            "tokens": tokens.iter().map(|t| &t.0).collect::<Vec<_>>(),
            "token_logprobs": tokens.iter().map(|t| t.1).collect::<Vec<_>>(),
            "top_logprobs": tokens.iter().map(|t| &t.2).collect::<Vec<_>>(),
        });
        let top = |t: &std::collections::BTreeMap<String, f64>| t.iter().map(|(token, logprob)| json!({ "token": token, "logprob": logprob })).collect::<Vec<_>>();
        let content: Vec<Value> = tokens.iter().map(|t| json!({ "token": t.0, "logprob": t.1, "top_logprobs": top(&t.2) })).collect();
        let of = |logprobs: Value| read(&json!({ "choices": [{ "text": "x", "logprobs": logprobs }] })).unwrap().tokens;
        let found = of(lists);
        prop_assert_eq!(&found, &of(json!({ "content": content })));
        prop_assert_eq!(found.len(), tokens.len());
    }
}
