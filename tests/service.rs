//! The loop over model and search services, natively: a scripted network in place of connections, and a
//! clock that goes on only when everybody waits. The same fixtures and vectors as in the other hosts.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a panic is how a test fails")]

#[path = "service/batch.rs"]
mod batch;
#[path = "service/cache.rs"]
mod cache;
#[path = "service/embedding.rs"]
mod embedding;
#[path = "service/failures.rs"]
mod failures;
#[path = "service/fallback.rs"]
mod fallback;
#[path = "support/fixtures.rs"]
mod files;
#[path = "service/interrupted.rs"]
mod interrupted;
#[path = "service/loop.rs"]
mod looping;
#[path = "service/network.rs"]
mod network;
#[path = "service/remote.rs"]
mod remote;
#[path = "service/retriever.rs"]
mod retriever;
#[path = "service/roles.rs"]
mod roles;
#[path = "service/scorer.rs"]
mod scorer;
#[path = "service/self_rag.rs"]
mod self_rag;
#[path = "service/speculation.rs"]
mod speculation;
#[path = "service/vendors.rs"]
mod vendors;

use std::cell::RefCell;
use std::ops::ControlFlow;

use countercheck::corpus::Corpus;
use countercheck::document::Document;
use countercheck::driver::drive;
use countercheck::pipeline::budget::Limits;
use countercheck::pipeline::run::Run;
use countercheck::problem::Problem;
use countercheck::retry::RetryPolicy;
use countercheck::service::{Performer, ServiceSettings, Services};
use countercheck::wire::{Answer, AskRequest, DocumentInput};
use serde_json::{Value, json};

use network::Scripted;

/// A model for all roles and a search, as a page sets them.
fn settings(key: &str) -> ServiceSettings {
    let place = |path: &str| {
        let base_url = format!("https://services.example/{path}");
        json!({ "base_url": base_url, "key": key, "headers_ms": 1_000, "idle_ms": 1_000 })
    };
    let model = json!({ "kind": "chat", "vendor": "openai", "model": "m", "place": place("v1") });
    let search = json!({ "kind": "vendor", "vendor": "tavily", "place": place("web") });
    let roles = ["grade", "rewrite", "generate", "check"].map(|role| (role.to_owned(), model.clone()));
    let settings = roles.into_iter().chain([("search".to_owned(), search)]).collect();
    serde_json::from_value(Value::Object(settings)).unwrap()
}

fn corpus(documents: &[Value]) -> RefCell<Corpus> {
    let mut corpus = Corpus::default();
    for document in documents {
        let document: Document = DocumentInput::from_json(document.to_string().as_bytes()).unwrap().into();
        corpus.add(&document).unwrap();
    }
    RefCell::new(corpus)
}

/// Asks, as every host does: a request in, an answer or a problem out, in the words of the wire.
fn ask(
    settings: &ServiceSettings,
    network: &Scripted,
    corpus: &RefCell<Corpus>,
    request: &Value,
) -> Result<Value, Problem> {
    ask_over(&Services::new(settings).unwrap(), network, corpus, request)
}

/// The same over services that may know something from earlier questions.
fn ask_over(
    services: &Services,
    network: &Scripted,
    corpus: &RefCell<Corpus>,
    request: &Value,
) -> Result<Value, Problem> {
    let asked = AskRequest::from_json(request.to_string().as_bytes())?.check(Limits::default())?;
    let (language, policy) = (asked.language, RetryPolicy::default());
    let performer = Performer { corpus, services, network, language, policy };
    let strategy = services.followed(asked.strategy)?;
    let run = Run::new(asked.question, strategy, asked.limits, network.time());
    let answer = network.run(drive(run, network, &performer, |_| ControlFlow::Continue(())));
    assert_eq!(network.open(), 0, "every exchange is ended");
    let answer = answer.map_err(Problem::from)?;
    Ok(serde_json::to_value(Answer::new(answer, services.solver(), language)).unwrap())
}

#[test]
fn no_debug_output_shows_a_key() {
    const CANARY: &str = "canary-7f3a";
    let settings = settings(CANARY);
    let services = Services::new(&settings).unwrap();
    let shown = format!("{settings:#?} {services:#?}");
    assert!(!shown.contains(&CANARY[..6]), "{shown}");
    for (base_url, key) in [
        ("https://user:canary-7f3a@services.example", "k"),
        ("https://services.example/?key=canary-7f3a", "k"),
        ("https://services.example", "canary-7f3a\n2"),
    ] {
        let place = json!({ "base_url": base_url, "key": key });
        let settings = json!({ "generate": { "kind": "chat", "vendor": "openai", "model": "m", "place": place } });
        let settings: ServiceSettings = serde_json::from_value(settings).unwrap();
        let error = Services::new(&settings).unwrap_err();
        let shown = format!("{settings:?} {error:?} {error}");
        assert!(!shown.contains(&CANARY[..6]), "{shown}");
    }
}
