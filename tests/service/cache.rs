//! G-18: what models said is kept by everything that could have changed it.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use countercheck::corpus::Corpus;
use countercheck::driver::{Perform, drive};
use countercheck::pipeline::budget::{Limits, Tokens};
use countercheck::pipeline::run::Run;
use countercheck::provider::error::ProviderError;
use countercheck::retry::RetryPolicy;
use countercheck::service::{Cache, Key, Performer, Remembering, ServiceSettings, Services, Store};
use countercheck::wire::{Answer, AskRequest};
use futures_util::future::join;
use serde_json::{Value, json};

use crate::network::{Asked, Scripted, Sent};
use crate::{corpus, settings};

const QUESTION: &str = "What does dough need?";

type Model = fn(&Asked) -> Sent;

/// A store of the host, and how often it was asked.
#[derive(Default)]
struct Shelf {
    values: RefCell<BTreeMap<String, String>>,
    asked: Cell<usize>,
}

impl Store for Shelf {
    async fn recall(&self, key: &str) -> Option<String> {
        self.asked.set(self.asked.get() + 1);
        self.values.borrow().get(key).cloned()
    }

    async fn remember(&self, key: &str, value: &str) {
        self.values.borrow_mut().insert(key.to_owned(), value.to_owned());
    }
}

/// A model that finds everything good; of whatever role it says how a reply is to be written.
fn play(asked: &Asked) -> Sent {
    match asked.role {
        "grade" => Sent::words(&json!({ "score": "yes" }).to_string()),
        "grounding" => Sent::words(&json!({ "grounded": "yes" }).to_string()),
        "usefulness" => Sent::words(&json!({ "useful": "yes" }).to_string()),
        _ => Sent::words("Dough needs flour [1]."),
    }
}

fn guide() -> RefCell<Corpus> {
    corpus(&[json!({ "id": "dough.md", "text": "# Dough\n\nDough needs flour.\n" })])
}

async fn asked<S: Store>(
    network: &Scripted,
    corpus: &RefCell<Corpus>,
    services: &Services,
    cache: Option<&Cache>,
    store: &S,
    request: Value,
) -> Value {
    let asked = AskRequest::from_json(request.to_string().as_bytes()).unwrap().check(Limits::default()).unwrap();
    let (language, policy) = (asked.language, RetryPolicy::default());
    let performer = Performer { corpus, services, network, language, policy };
    let performer = Remembering::new(performer, cache, store);
    let run = Run::new(asked.question, services.followed(asked.strategy).unwrap(), asked.limits, network.time());
    let answer = drive(run, network, &performer, |_| ControlFlow::Continue(())).await.unwrap();
    performer.settle(&answer).await;
    let answer = Answer::new(answer, services.solver(), language).with_remembered(performer.remembered());
    serde_json::to_value(answer).unwrap()
}

fn request() -> Value {
    json!({ "question": QUESTION, "strategy": "self-reflective" })
}

fn sent(network: &Scripted) -> usize {
    network.arrived.borrow().len()
}

fn charged(answer: &Value) -> u64 {
    let calls = answer["usage"]["calls"].as_object().unwrap();
    calls.iter().filter(|(name, _)| *name != "retrieve").map(|(_, count)| count.as_u64().unwrap()).sum()
}

#[test]
fn g_18_the_same_question_costs_nothing_and_is_answered_the_same() {
    let (network, guide, cache) = (Scripted::new(play), guide(), Cache::new(1 << 20, String::new()));
    let services = Services::new(&settings("k")).unwrap();
    let ask = |request| network.run(asked(&network, &guide, &services, Some(&cache), &(), request));
    let first = ask(request());
    assert_eq!((charged(&first), sent(&network)), (4, 4), "a grade, a draft, two checks");
    assert!(first["usage"].get("remembered").is_none(), "{first}");
    let second = ask(request());
    assert_eq!((charged(&second), sent(&network)), (0, 4));
    assert_eq!(second["usage"]["remembered"], 4);
    assert_eq!(second["usage"]["tokens"], json!(Tokens::default()));
    for field in ["text", "citations", "outcome", "grounded", "useful", "verdicts", "trace"] {
        assert_eq!(second[field], first[field], "{field}");
    }
    // Anything that changes the request changes the key.
    let french = ask(json!({ "question": QUESTION, "strategy": "self-reflective", "language": "fr" }));
    assert_eq!(charged(&french), 4);
    let asked_otherwise = ask(json!({ "question": "What else does dough need?", "strategy": "self-reflective" }));
    assert_eq!(charged(&asked_otherwise), 3, "whether the same draft is grounded does not depend on the question");
    let other = corpus(&[json!({ "id": "dough.md", "text": "# Dough\n\nDough needs flour!\n" })]);
    let answer = network.run(asked(&network, &other, &services, Some(&cache), &(), request()));
    assert_eq!(charged(&answer), 4 - 1, "the draft's words are the same, and so is whether they are useful");
}

#[test]
fn g_18_another_model_or_place_is_asked_for_itself() {
    let (network, guide, cache) = (Scripted::new(play), guide(), Cache::new(1 << 20, String::new()));
    let of = |change: &dyn Fn(&mut Value)| {
        let place = json!({ "base_url": "https://services.example/v1", "key": "k" });
        let mut model = json!({ "kind": "chat", "vendor": "openai", "model": "m", "place": place });
        change(&mut model);
        let all = ["grade", "rewrite", "generate", "check"].map(|role| (role.to_owned(), model.clone()));
        let settings: ServiceSettings = serde_json::from_value(Value::Object(all.into_iter().collect())).unwrap();
        Services::new(&settings).unwrap()
    };
    let ask =
        |services: &Services| charged(&network.run(asked(&network, &guide, services, Some(&cache), &(), request())));
    assert_eq!(ask(&of(&|_| ())), 4);
    assert_eq!(ask(&of(&|model| model["place"]["key"] = json!("another-key"))), 0, "a key changes no reply");
    assert_eq!(ask(&of(&|model| model["model"] = json!("n"))), 4);
    assert_eq!(ask(&of(&|model| model["place"]["base_url"] = json!("https://other.example/v1"))), 4);
    assert_eq!(ask(&of(&|model| model["confidence"] = json!(true))), 1, "a grade with a score is another");
}

#[test]
fn g_18_nothing_undecided_is_kept_and_no_draft_that_failed() {
    let unsure = |asked: &Asked| if asked.role == "grade" { Sent::words("Perhaps.") } else { play(asked) };
    let ungrounded = |asked: &Asked| match asked.role {
        "grounding" => Sent::words(&json!({ "grounded": "no" }).to_string()),
        "generate" => Sent::words(&format!("Dough needs flour, {} [1].", asked.n)),
        _ => play(asked),
    };
    let failing = |asked: &Asked| {
        if asked.role == "usefulness" { Sent::Fails(ProviderError::Network { sent: true }) } else { play(asked) }
    };
    let services = Services::new(&settings("k")).unwrap();
    let scripts: [(Model, &str); 3] = [(unsure, "grade"), (ungrounded, "generate"), (failing, "usefulness")];
    for (script, role) in scripts {
        let (network, guide, cache) = (Scripted::new(script), guide(), Cache::new(1 << 20, String::new()));
        let store = Shelf::default();
        let ask = || network.run(asked(&network, &guide, &services, Some(&cache), &store, request()));
        ask();
        let first = network.count(role);
        ask();
        assert_eq!(network.count(role), 2 * first, "{role} is asked again");
    }
}

#[test]
fn g_18_two_that_ask_the_same_at_once_make_one_call() {
    let slow = |asked: &Asked| match play(asked) {
        Sent::Reply { status, headers, pieces, then, .. } => Sent::Reply { status, headers, pieces, every: 100, then },
        sent => sent,
    };
    let (network, guide, cache) = (Scripted::new(slow), guide(), Cache::new(1 << 20, String::new()));
    let services = Services::new(&settings("k")).unwrap();
    let ask = || asked(&network, &guide, &services, Some(&cache), &(), request());
    let (one, other) = network.run(join(ask(), ask()));
    assert_eq!((sent(&network), charged(&one) + charged(&other)), (4, 4));
    assert_eq!(one["text"], other["text"]);
    // Who goes ahead may give up: the other one asks for itself.
    let (network, cache) = (Scripted::new(slow), Cache::new(1 << 20, String::new()));
    let ask = |deadline_ms| {
        let mut request = request();
        request["limits"] = json!({ "deadline_ms": deadline_ms });
        asked(&network, &guide, &services, Some(&cache), &(), request)
    };
    let (one, other) = network.run(join(ask(50), ask(60_000)));
    assert_eq!((one["reason"].as_str(), other["outcome"].as_str()), (Some("budget"), Some("answered")));
}

#[test]
fn g_18_a_store_of_the_host_outlives_the_cache_and_may_hold_anything() {
    let (network, guide, store) = (Scripted::new(play), guide(), Shelf::default());
    let services = Services::new(&settings("k")).unwrap();
    let ask = |cache: &Cache| network.run(asked(&network, &guide, &services, Some(cache), &store, request()));
    let fresh = || Cache::new(1 << 20, String::new());
    ask(&fresh());
    assert_eq!((store.values.borrow().len(), sent(&network)), (4, 4));
    let again = ask(&fresh());
    assert_eq!((charged(&again), sent(&network), again["usage"]["remembered"].as_u64()), (0, 4, Some(4)));
    assert!(store.values.borrow().keys().all(|key| key.len() == 64 && key.bytes().all(|b| b.is_ascii_hexdigit())));
    for nonsense in ["", "{", "{}", "null", r#"{"verdict":"unknown","called":0}"#, r#"{"query":"x","called":0}"#] {
        store.values.borrow_mut().values_mut().for_each(|value| nonsense.clone_into(value));
        let before = sent(&network);
        assert_eq!(charged(&ask(&fresh())), 4, "{nonsense:?} says nothing");
        assert_eq!(sent(&network), before + 4);
    }
    let cache = fresh();
    ask(&cache);
    let before = store.asked.get();
    ask(&cache);
    assert_eq!(store.asked.get(), before, "what is in memory is not looked for");
    network.run(asked(&network, &guide, &services, None, &store, request()));
    assert_eq!(store.asked.get(), before, "without a cache nobody looks");
}

#[test]
fn g_18_the_least_recently_used_goes_first_and_bytes_are_bounded() {
    let key = |n: usize| Key::of([n.to_string().as_bytes()]);
    let value = "v".repeat(72);
    let cache = Cache::new(1_000, String::new());
    (0..5).for_each(|n| cache.put(key(n), value.clone()));
    assert_eq!(cache.bytes(), 1_000);
    assert!(cache.get(&key(0)).is_some());
    cache.put(key(5), value.clone());
    let kept: Vec<usize> = (0..6).filter(|n| cache.get(&key(*n)).is_some()).collect();
    assert_eq!((kept, cache.bytes()), (vec![0, 2, 3, 4, 5], 1_000), "0 was used, 1 was not");
    cache.put(key(2), String::new());
    assert_eq!(cache.bytes(), 928, "in place of the old value");
    cache.put(key(9), "v".repeat(10_000));
    assert!(cache.get(&key(9)).is_none() && cache.bytes() == 928, "what is larger than all of it is not kept");
}

#[test]
fn g_18_lengths_part_what_runs_together() {
    let mut keys = BTreeSet::new();
    let letters = ["", "a", "b", "ab", "ba", "aa", "\0", "1a"];
    for first in letters {
        for second in letters {
            for third in letters {
                assert!(
                    keys.insert(Key::of([first, second, third].map(str::as_bytes))),
                    "{first:?} {second:?} {third:?}"
                );
            }
            assert!(keys.insert(Key::of([first, second].map(str::as_bytes))), "{first:?} {second:?}");
        }
    }
}
