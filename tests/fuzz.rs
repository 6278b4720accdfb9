//! Everything that reads what strangers send, over any bytes: the corpora are replayed, and so many neighbours
//! of them tried as there is time for.
//!
//! `npm run fuzz` sets `FUZZ_SECONDS`, for each target, and `FUZZ_SEED`; without them a fixed number of inputs is
//! tried. An input that breaks a law is printed as `FOUND` with its hex digits: it belongs into the corpus.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic, reason = "a panic is how a test fails")]
#![allow(clippy::disallowed_methods, reason = "how long it goes on is the caller's to say")]

#[path = "support/events.rs"]
mod events;
#[allow(dead_code, reason = "fixtures have more to them than their bodies")]
#[path = "support/fixtures.rs"]
mod files;
#[path = "fuzz/mutation.rs"]
mod mutation;
#[path = "fuzz/targets.rs"]
mod targets;

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use countercheck::document::{Origin, Passage, Span};
use countercheck::index::{EmbeddingIdentity, Index};
use mutation::{Chance, mutated};
use targets::TARGETS;

/// How many inputs are tried of each target where no time is given.
const USUAL: u64 = 3_000;

fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus").join(target);
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut inputs: Vec<Vec<u8>> = paths.iter().map(|path| std::fs::read(path).unwrap()).collect();
    inputs.extend(known(target));
    inputs
}

/// Inputs that other tests have on file.
fn known(target: &str) -> Vec<Vec<u8>> {
    let vendors = files::of_vendors().into_values().flatten();
    let fixtures: Vec<_> = files::all().into_iter().chain(vendors).map(|(_, fixture)| fixture).collect();
    let bodies = || fixtures.iter().filter(|fixture| fixture.get("status").is_some()).map(files::body);
    let short = |bytes: &Vec<u8>| bytes.len() < 4_000;
    match target {
        "sse" => bodies().filter(short).map(|body| [&[7], &body[..]].concat()).collect(),
        "provider" => (0..=u8::MAX)
            .cycle()
            .zip(bodies().filter(short))
            .map(|(n, body)| [&[n, n % 12], &body[..]].concat())
            .collect(),
        "verdict" => {
            fixtures.iter().filter_map(|fixture| Some(fixture["reply"].as_str()?.as_bytes().to_vec())).collect()
        }
        "snapshot" => vec![index().save(1), linked().save(1), Index::new(None).save(1)],
        _ => Vec::new(),
    }
}

fn index() -> Index {
    let passage = |n: usize, text: &str| Passage {
        id: format!("a#{n}"),
        document: "a".to_owned(),
        url: String::new(),
        title: "T".to_owned(),
        headings: Vec::new(),
        also: Vec::new(),
        span: Span { start: n * 9, end: n * 9 + text.len() },
        text: text.to_owned(),
        origin: Origin::Local,
    };
    let mut index = Index::new(Some(EmbeddingIdentity { model: "m".into(), dimension: 2, normalised: true }));
    index.insert("a", vec![passage(0, "cat dog"), passage(1, "猫の")], vec![Some(vec![0.6, 0.8]), None]).unwrap();
    index
}

fn linked() -> Index {
    let mut index = index();
    index.build_graph(1);
    index
}

/// Tries one input; an input that breaks a law fails the test with its hex digits.
fn attempt(name: &str, target: targets::Target, input: &[u8]) {
    if catch_unwind(AssertUnwindSafe(|| target(input))).is_err() {
        let digits = input.iter().fold(String::new(), |mut digits, byte| {
            let _ = write!(digits, "{byte:02x}");
            digits
        });
        println!("FOUND {name} {digits}");
        panic!("{name} breaks its law; the input is above");
    }
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().and_then(|value| value.parse().ok())
}

#[test]
fn no_input_breaks_a_law() {
    let (seconds, seed) = (number("FUZZ_SECONDS"), number("FUZZ_SEED").unwrap_or(1));
    let mut counts = Vec::new();
    for (name, target) in TARGETS {
        let inputs = corpus(name);
        assert!(inputs.len() > 1, "{name}: {} inputs", inputs.len());
        for input in &inputs {
            attempt(name, target, input);
        }
        let begun = Instant::now();
        let mut chance = Chance::new(seed);
        let mut tried = 0_u64;
        let goes_on = |tried| match seconds {
            Some(seconds) => tried % 256 != 0 || begun.elapsed() < Duration::from_secs(seconds),
            None => tried < USUAL,
        };
        while goes_on(tried) {
            let input = mutated(&inputs[chance.below(inputs.len())], &inputs, &mut chance);
            attempt(name, target, &input);
            tried += 1;
        }
        counts.push(format!("\"{name}\": {{ \"corpus\": {}, \"tried\": {tried} }}", inputs.len()));
    }
    println!("FUZZ {{ {} }}", counts.join(", "));
}

/// The harness sees what it is for: a fault that only another input than those of the corpus has.
#[test]
fn a_planted_fault_is_found() {
    let is_planted = |input: &[u8]| input.windows(3).any(|word| word == b"\xFF,\"" || word == b"}},");
    let inputs = corpus("verdict");
    assert!(!inputs.iter().any(|input| is_planted(input)));
    let mut chance = Chance::new(1);
    let found =
        (0..USUAL * 10).any(|_| is_planted(&mutated(&inputs[chance.below(inputs.len())], &inputs, &mut chance)));
    assert!(found);
}
