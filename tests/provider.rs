//! Codecs of model and search services, the verdict parser and the retry policy, without a network.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a panic is how a test fails")]

#[path = "provider/batches.rs"]
mod batches;
#[path = "provider/chat.rs"]
mod chat;
#[path = "provider/embedding.rs"]
mod embedding;
#[path = "support/events.rs"]
mod events;
#[path = "support/fixtures.rs"]
mod files;
#[path = "provider/fixtures.rs"]
mod fixtures;
#[path = "provider/logprobs.rs"]
mod logprobs;
#[path = "provider/readme.rs"]
mod readme;
#[path = "provider/retrying.rs"]
mod retrying;
#[path = "provider/searching.rs"]
mod searching;
#[path = "provider/secrets.rs"]
mod secrets;
#[path = "provider/sse.rs"]
mod sse;
#[path = "provider/vendors.rs"]
mod vendors;
#[path = "provider/verdicts.rs"]
mod verdicts;

use countercheck::provider::chat::{ChatModel, VENDORS};
use countercheck::provider::http::{Endpoint, Secret};
use countercheck::provider::vendor::vendor;
use proptest::test_runner::{Config, RngSeed};

const CANARY: &str = "canary-7f3a";

fn endpoint() -> Endpoint {
    Endpoint::parse("https://api.example.org/v1/", Some(Secret::parse(CANARY).unwrap())).unwrap()
}

fn model(name: &str) -> ChatModel {
    let codec = vendor(VENDORS, name).unwrap().codec;
    ChatModel { codec, endpoint: endpoint(), model: "m".to_owned() }
}

fn openai() -> ChatModel {
    model("openai")
}

fn cases(cases: u32) -> Config {
    Config { cases, rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..Config::default() }
}
