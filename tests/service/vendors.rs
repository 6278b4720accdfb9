//! Every vendor of the tables through a whole question: from its settings by name to an answer, over the
//! replies of its own fixtures.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use countercheck::provider::{chat, embed, search};
use countercheck::service::{ServiceSettings, Services};
use serde_json::{Value, json};

use crate::files::{body, headers, of_vendors, text};
use crate::network::{Asked, Scripted, Sent, Then};
use crate::{ask, ask_over, corpus};

const DRAFT: &str = "Knead the dough [1].";
const QUESTION: &str = "How long do I knead the dough?";

type Fixtures = BTreeMap<String, Value>;

fn sent(fixture: &Value) -> Sent {
    let status = fixture["status"].as_u64().unwrap() as u16;
    let pieces = body(fixture).chunks(7).map(<[u8]>::to_vec).collect();
    Sent::Reply { status, headers: headers(fixture), pieces, every: 0, then: Then::End }
}

/// The vendor's reply on file with other words.
fn said(reply: &Value, words: &str) -> Sent {
    let words = serde_json::to_string(words).unwrap();
    let json = reply["json"].to_string();
    let json = json.replace(DRAFT, &words[1..words.len() - 1]);
    let json = json.replace("Knead the ", &words[1..words.len() - 1]).replace("dough [1].", "");
    Sent::json(&serde_json::from_str(&json).unwrap())
}

fn place() -> Value {
    json!({ "base_url": "https://services.example/v1", "key": "k" })
}

fn documents() -> std::cell::RefCell<countercheck::corpus::Corpus> {
    corpus(&[json!({ "id": "bread.md", "text": "# Bread\n\nKnead the dough for ten minutes.\n" })])
}

/// A model of that vendor for every role.
fn with_chat(vendor: &str) -> Value {
    let model = json!({ "kind": "chat", "vendor": vendor, "model": "m", "place": place() });
    json!({ "grade": model, "rewrite": model, "generate": model, "check": model })
}

fn settings(value: &Value) -> ServiceSettings {
    serde_json::from_value(value.clone()).unwrap()
}

#[test]
fn every_vendors_model_grades_and_writes_and_is_asked_once_more_without_a_format_that_it_refuses() {
    let folders = of_vendors();
    let mut refused = 0;
    for vendor in chat::VENDORS {
        let own = folders.get(vendor.name).filter(|files| files.contains_key("chat-stream.json"));
        // Those that are settings of OpenAI's protocol reply as Mistral does.
        let files: Fixtures = own.unwrap_or(&folders["mistral"]).clone();
        let refusal = files.get("chat-error-format.json").cloned();
        let expected = text(&files["chat-stream.json"]["expect"]["reply"], "text").to_owned();
        let calls = 1 + u32::from(refusal.is_some());
        refused += u32::from(refusal.is_some());
        let script = move |asked: &Asked| match (asked.role, &refusal) {
            ("grade", Some(refusal)) if asked.n == 0 => sent(refusal),
            ("grade", _) => said(&files["chat-reply.json"], "{\"score\": \"yes\"}"),
            _ => sent(&files["chat-stream.json"]),
        };
        let network = Scripted::new(script);
        let request = json!({ "question": QUESTION, "strategy": "corrective" });
        let answer = ask(&settings(&with_chat(vendor.name)), &network, &documents(), &request).unwrap();
        assert_eq!((&answer["outcome"], &answer["text"]), (&json!("answered"), &json!(expected)), "{}", vendor.name);
        assert_eq!(answer["verdicts"][0]["verdict"], "yes", "{}: {answer}", vendor.name);
        assert_eq!(answer["usage"]["calls"]["grade"], calls, "{}", vendor.name);
        // A call that was refused took nothing; the two others said what they took.
        assert_eq!(answer["usage"]["tokens"], json!({ "input": 24, "output": 14 }), "{}", vendor.name);
    }
    assert!(refused >= 3, "{refused}");
}

#[test]
fn a_model_that_takes_no_temperature_is_given_none_again_in_any_role() {
    for vendor in ["openai", "anthropic"] {
        let refusal = of_vendors()[vendor]["chat-error-temperature.json"].clone();
        let files = of_vendors()[if vendor == "openai" { "mistral" } else { vendor }].clone();
        let network = Scripted::new(move |asked| match asked.role {
            _ if asked.body.get("temperature").is_some() => sent(&refusal),
            "grade" => said(&files["chat-reply.json"], "{\"score\": \"yes\"}"),
            _ => sent(&files["chat-stream.json"]),
        });
        let request = json!({ "question": QUESTION, "strategy": "corrective" });
        let answer = ask(&settings(&with_chat(vendor)), &network, &documents(), &request).unwrap();
        assert_eq!(answer["outcome"], "answered", "{vendor}");
        assert_eq!((network.count("grade"), network.count("generate")), (2, 1), "{vendor}");
        // It was held to its schema all the same.
        assert_eq!(answer["usage"]["calls"]["grade"], 2, "{vendor}");
    }
}

#[test]
fn a_wait_that_only_the_body_asks_for_is_kept_or_told() {
    let asking = |delay: &'static str| {
        let mut refusal = of_vendors()["gemini"]["chat-error-rate.json"].clone();
        refusal["json"]["error"]["details"][0]["retryDelay"] = json!(delay);
        let stream = of_vendors()["gemini"]["chat-stream.json"].clone();
        let network = Scripted::new(move |asked| sent(if asked.n == 0 { &refusal } else { &stream }));
        let request = json!({ "question": QUESTION, "strategy": "naive" });
        let began = network.time();
        let found = ask(&settings(&with_chat("gemini")), &network, &documents(), &request);
        (found.map_err(|problem| problem.retry_after), network.count("generate"), network.time() - began)
    };
    let (answer, asked, waited) = asking("2.5s");
    assert_eq!((answer.unwrap()["outcome"].as_str(), asked), (Some("answered"), 2));
    assert!((2_500..=2_750).contains(&waited), "{waited}");
    // Longer than anybody waits.
    let (refused, asked, _) = asking("34s");
    assert_eq!((refused.unwrap_err(), asked), (Some(34_000), 1));
    let (answer, asked, _) = asking("soon");
    assert_eq!((answer.is_ok(), asked), (true, 2));
}

/// The wait beside a day's quota is a minute's: nobody keeps it, nobody is told, and the service is left alone.
#[test]
fn a_daily_quota_is_no_rate_limit() {
    let refusal = of_vendors()["gemini"]["chat-error-day.json"].clone();
    let network = Scripted::new(move |_| sent(&refusal));
    let services = Services::new(&settings(&with_chat("gemini"))).unwrap();
    let request = json!({ "question": QUESTION, "strategy": "naive" });
    for asked in 1..=2 {
        let problem = ask_over(&services, &network, &documents(), &request).unwrap_err();
        assert_eq!((problem.service_code, problem.retry_after), (Some("quota_exhausted"), None));
        assert_eq!(network.count("generate"), 1, "question {asked}");
    }
}

#[test]
fn every_vendors_search_is_asked_where_the_documents_fall_short() {
    let folders = of_vendors();
    for vendor in search::VENDORS.iter().filter(|vendor| vendor.name != "tavily") {
        let files = folders[vendor.name].clone();
        let found = files["search-reply.json"]["expect"]["results"].as_array().unwrap().clone();
        let read = Rc::new(RefCell::new(String::new()));
        let reading = Rc::clone(&read);
        let network = Scripted::new(move |asked| {
            if asked.role == "web" {
                return sent(&files["search-reply.json"]);
            }
            *reading.borrow_mut() += &asked.body.to_string();
            Sent::words(if asked.role == "grade" { "{\"score\": \"no\"}" } else { "Ten minutes [1]." })
        });
        let mut given = with_chat("openai");
        given["search"] = json!({ "kind": "vendor", "vendor": vendor.name, "place": place() });
        let request = json!({ "question": QUESTION, "strategy": "corrective" });
        let answer = ask(&settings(&given), &network, &documents(), &request).unwrap();
        let sources: Vec<_> =
            answer["sources"].as_array().unwrap().iter().map(|source| source["url"].clone()).collect();
        let urls: Vec<_> = found.iter().map(|page| page["url"].clone()).collect();
        assert_eq!(sources, urls, "{}", vendor.name);
        // C-12: of one shape with local passages, and known to be from the web.
        assert!(
            answer["sources"].as_array().unwrap().iter().all(|source| source["origin"] == "web"),
            "{}",
            vendor.name
        );
        assert_eq!((&answer["web_search_used"], network.count("web")), (&json!(true), 1), "{}", vendor.name);
        // C-11: the other addresses of a text are told as such, and no model reads them as its headings.
        for (at, page) in found.iter().enumerate() {
            for told in [&answer["sources"][at], &answer["citations"][at]].into_iter().filter(|told| !told.is_null()) {
                assert_eq!(told["also"], page["also"], "{}", vendor.name);
            }
            for address in page["also"].as_array().into_iter().flatten() {
                assert!(!read.borrow().contains(address.as_str().unwrap()), "{}: {address}", vendor.name);
            }
        }
        assert!(answer["citations"].as_array().unwrap().iter().all(|citation| citation["headings"] == json!([])));
    }
}

#[test]
fn the_vendors_are_known_by_name_and_those_without_an_address_say_so() {
    let of = |value: Value| Services::new(&settings(&value)).map(|_| ()).map_err(|error| error.to_string());
    let model = |vendor: &str, place: Value| json!({ "generate": { "kind": "chat", "vendor": vendor, "model": "m", "place": place } });
    for vendor in chat::VENDORS {
        let made = of(model(vendor.name, json!({ "key": "k" })));
        let expected = if vendor.base.is_some() {
            Ok(())
        } else {
            Err("generate: give the base URL, for instance https://api.openai.com/v1".to_owned())
        };
        let local = vendor.base.is_some_and(|base| base.starts_with("http:"));
        assert_eq!(made, expected, "{}", vendor.name);
        assert_eq!(local, ["ollama", "llama-cpp", "vllm"].contains(&vendor.name));
    }
    let unknown = of(model("nobody", place())).unwrap_err();
    assert!(unknown.contains("generate") && unknown.contains("anthropic") && !unknown.contains("nobody"), "{unknown}");
    let unknown = of(json!({ "search": { "kind": "vendor", "vendor": "nobody" } })).unwrap_err();
    assert!(unknown.contains("searxng"), "{unknown}");
    let unknown = of(json!({ "embed": { "vendor": "nobody", "model": "m" } })).unwrap_err();
    assert!(unknown.contains("gemini"), "{unknown}");
    assert!(embed::VENDORS.iter().all(|vendor| chat::VENDORS.iter().any(|other| other.name == vendor.name)));
}
