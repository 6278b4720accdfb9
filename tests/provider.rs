//! Codecs of model and search services, the verdict parser and the retry policy, without a network.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a panic is how a test fails")]

#[path = "provider/batches.rs"]
mod batches;
#[path = "provider/chat.rs"]
mod chat;
#[path = "provider/embedding.rs"]
mod embedding;
#[path = "support/fixtures.rs"]
mod files;
#[path = "provider/fixtures.rs"]
mod fixtures;
#[path = "provider/logprobs.rs"]
mod logprobs;
#[path = "provider/retrying.rs"]
mod retrying;
#[path = "provider/searching.rs"]
mod searching;
#[path = "provider/secrets.rs"]
mod secrets;
#[path = "provider/sse.rs"]
mod sse;
#[path = "provider/verdicts.rs"]
mod verdicts;

use countercheck::provider::chat::openai::OpenAiChat;
use countercheck::provider::http::{Endpoint, Secret};
use proptest::test_runner::{Config, RngSeed};

const CANARY: &str = "canary-7f3a";

fn openai() -> OpenAiChat {
    let key = Secret::parse(CANARY).unwrap();
    OpenAiChat::new(Endpoint::parse("https://api.example.org/v1/", Some(key)).unwrap(), "m")
}

fn cases(cases: u32) -> Config {
    Config { cases, rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..Config::default() }
}
