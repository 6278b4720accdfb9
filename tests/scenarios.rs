//! The scenario files on the native core: see `tests/scenarios/README.md`.
#![allow(clippy::panic, clippy::unwrap_used)] // what a test reads is there, or the test has failed

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use countercheck::corpus::{Corpus, CorpusError};
use countercheck::document::Document;
use countercheck::driver::{Offline, drive};
use countercheck::embedding::StaticEmbedder;
use countercheck::host::Host;
use countercheck::pipeline::budget::{Limits, Millis};
use countercheck::pipeline::run::Run;
use countercheck::problem::Problem;
use countercheck::solver::builtin;
use countercheck::wire::{Answer, AskRequest, DocumentInput, SearchHit, SearchRequest, SearchResponse};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Serialize, Deserialize)]
struct Scenario {
    documents: Vec<Value>,
    cases: Vec<Case>,
    answers: BTreeMap<String, Value>,
}

#[derive(Serialize, Deserialize)]
struct Case {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    ask: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    search: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expect: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

struct Still;

impl Host for Still {
    fn now(&self) -> Millis {
        0
    }

    async fn sleep(&self, _: Millis) {
        std::future::pending::<()>().await;
    }
}

fn corpus(documents: &[Value]) -> Corpus {
    let table = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/embedder.bin")).unwrap();
    let mut corpus = Corpus::default();
    corpus.set_embedder(StaticEmbedder::parse(table).unwrap()).unwrap();
    for document in documents {
        let document: Document = DocumentInput::from_json(expanded(document).to_string().as_bytes()).unwrap().into();
        corpus.add(&document).unwrap();
    }
    corpus
}

fn ask(corpus: &RefCell<Corpus>, request: &Value) -> Result<Value, Problem> {
    let asked = AskRequest::from_json(request.to_string().as_bytes())?.check(Limits::default())?;
    let run = Run::new(asked.question, asked.strategy.of_quotations()?, asked.limits, 0);
    let performer = Offline { corpus };
    let mut driving = pin!(drive(run, &Still, &performer, |_| ControlFlow::Continue(())));
    // The builtin solver replies at once, so one poll is the whole run.
    let Poll::Ready(answer) = driving.as_mut().poll(&mut Context::from_waker(Waker::noop())) else {
        panic!("the run waits for something");
    };
    Ok(serde_json::to_value(Answer::new(answer.unwrap(), builtin::NAME, asked.language)).unwrap())
}

fn search(corpus: &Corpus, request: &Value) -> Result<Value, Problem> {
    let (query, k) = SearchRequest::from_json(request.to_string().as_bytes())?.check()?;
    let hits = corpus.search(query.as_str(), k).map_err(CorpusError::from)?;
    Ok(serde_json::to_value(SearchResponse {
        hits: hits.into_iter().map(SearchHit::from).collect(),
        warnings: Vec::new(),
    })
    .unwrap())
}

fn expanded(value: &Value) -> Value {
    match value {
        Value::Object(fields) => match fields.get("$repeat").and_then(Value::as_array).map(Vec::as_slice) {
            Some([Value::String(text), Value::Number(times)]) => text.repeat(times.as_u64().unwrap() as usize).into(),
            _ => fields.iter().map(|(k, v)| (k.clone(), expanded(v))).collect(),
        },
        Value::Array(items) => items.iter().map(expanded).collect(),
        other => other.clone(),
    }
}

/// Every field that `expected` names is so in `found`; lists have the same length.
fn matches(expected: &Value, found: &Value) -> bool {
    match (expected, found) {
        (Value::Object(e), Value::Object(f)) => e.iter().all(|(k, v)| f.get(k).is_some_and(|found| matches(v, found))),
        (Value::Array(e), Value::Array(f)) => e.len() == f.len() && e.iter().zip(f).all(|(e, f)| matches(e, f)),
        (e, f) => e == f,
    }
}

fn files() -> Vec<PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/scenarios");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|e| e == "json"));
    files.sort();
    assert!(files.len() >= 4, "only {} scenario files in {folder}", files.len());
    files
}

#[test]
fn the_native_core_gives_the_answers_of_the_scenarios() {
    let update = std::env::var_os("UPDATE_SCENARIOS").is_some();
    let mut wrong = Vec::new();
    for file in files() {
        let mut scenario: Scenario = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        let corpus = RefCell::new(corpus(&scenario.documents));
        let mut answers = BTreeMap::new();
        for case in &scenario.cases {
            let result = match (&case.ask, &case.search) {
                (Some(request), None) => ask(&corpus, &expanded(request)),
                (None, Some(request)) => search(&corpus.borrow(), &expanded(request)),
                _ => panic!("{}: either ask or search", case.name),
            };
            match (result, &case.expect, &case.error) {
                (Ok(found), Some(expected), None) => {
                    if !matches(expected, &found) {
                        wrong.push(format!("{}: expected {expected}, got {found:#}", case.name));
                    }
                    if !update && scenario.answers.get(&case.name) != Some(&found) {
                        wrong.push(format!("{}: not the answer on file, but {found:#}", case.name));
                    }
                    answers.insert(case.name.clone(), found);
                }
                (Err(problem), None, Some(code)) if problem.code == code => {}
                (result, ..) => wrong.push(format!("{}: {result:?}", case.name)),
            }
        }
        if update {
            scenario.answers = answers;
            std::fs::write(&file, serde_json::to_string_pretty(&scenario).unwrap() + "\n").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn citations_of_the_scenarios_quote_their_documents() {
    let mut quotes = 0;
    for file in files() {
        let scenario: Scenario = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        for answer in scenario.answers.values() {
            for citation in answer["citations"].as_array().into_iter().flatten() {
                let id = citation["passage_id"].as_str().unwrap().rsplit_once('#').unwrap().0;
                let source = scenario.documents.iter().rfind(|d| d["id"] == id).unwrap()["text"].as_str().unwrap();
                let at = |field: &str| citation[field].as_u64().unwrap() as usize;
                assert_eq!(&source[at("start")..at("end")], citation["quote"].as_str().unwrap());
                quotes += 1;
            }
        }
    }
    assert!(quotes >= 6, "{quotes} citations");
}
