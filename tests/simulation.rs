//! Seeded simulation of the loop: each seed is a world with its faults, a virtual clock and a run, and
//! every invariant of `simulation/invariants.rs` must hold of it. `npm run sim -- --seeds N` runs more;
//! `SIM_SEEDS` and `SIM_FROM` say which.
#![allow(missing_docs, clippy::panic, clippy::print_stdout)] // a broken invariant ends the test; totals are printed

#[path = "simulation/driver.rs"]
mod driver;
#[path = "simulation/expected.rs"]
mod expected;
#[path = "simulation/grammar.rs"]
mod grammar;
#[path = "simulation/invariants.rs"]
mod invariants;
#[path = "simulation/model.rs"]
mod model;
#[path = "simulation/random.rs"]
mod random;
#[path = "replay/recording.rs"]
mod recording;
#[path = "simulation/shrink.rs"]
mod shrink;
#[path = "simulation/spending.rs"]
mod spending;
#[path = "simulation/world.rs"]
mod world;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use countercheck::pipeline::answer::{Reason, RunError};
use driver::{Broken, Delivery, End, History, drive};
use grammar::events_follow_their_grammar;
use invariants::{Case, OF_ANSWERS, OF_HISTORIES};
use model::Model;
use serde_json::json;
use world::Scenario;

const SEEDS: u64 = 100_000;

/// How many runs are replayed from JSON.
const RECORDED: usize = 200;

/// An invariant that does not hold.
#[derive(Debug, Clone)]
pub struct Failed {
    pub scenario: Box<Scenario>,
    pub invariant: &'static str,
    pub detail: String,
}

/// Runs a scenario, reverses its replies, replays it; the first invariant that breaks.
fn examine(scenario: &Scenario) -> Result<History, Failed> {
    let failed = |invariant, detail| Failed { scenario: Box::new(scenario.clone()), invariant, detail };
    let panicked = |_| failed("the core never panics", "it did".to_owned());
    let run = |scenario: &Scenario, delivery: Delivery| {
        catch_unwind(AssertUnwindSafe(|| drive(scenario, delivery))).map_err(panicked)
    };
    let history = run(scenario, Delivery::Arrival)?;
    if let End::Broke(Broken(invariant, detail)) = &history.end {
        return Err(failed(invariant, detail.clone()));
    }
    let model = Model::of(&history.performed, scenario);
    let case = Case { scenario, history: &history, model: &model };
    for (invariant, holds) in OF_HISTORIES {
        holds(&case).map_err(|detail| failed(invariant, detail))?;
    }
    if let End::Done(Ok(answer)) = &history.end {
        for (invariant, holds) in OF_ANSWERS {
            holds(&case, answer).map_err(|detail| failed(invariant, detail))?;
        }
    }
    events_follow_their_grammar(&case).map_err(|detail| failed("events follow their grammar", detail))?;
    let Some(ended) = history.ended() else { return Ok(history) };
    let again = catch_unwind(AssertUnwindSafe(|| history.recording(scenario).replay())).map_err(panicked)?;
    if again.as_ref() != Ok(&ended) {
        return Err(failed("a recorded run replays to the same answer", format!("{again:?}, not {ended:?}")));
    }
    // Fewer steps than before: a cancellation would come elsewhere.
    let uncut = Scenario { cancelled_at: None, ..scenario.clone() };
    let again = run(&uncut, Delivery::Reversed)?;
    if again.end != history.end || again.events != history.events {
        let detail = format!("{:?}, not {:?}", again.end, history.end);
        return Err(failed("the order of replies does not matter", detail));
    }
    Ok(history)
}

/// What a range of seeds came to.
#[derive(Default)]
struct Totals {
    steps: u64,
    orders: u64,
    ends: BTreeMap<&'static str, u64>,
    /// How many seeds break each invariant.
    broken: BTreeMap<&'static str, u64>,
    first: Option<Failed>,
}

impl Totals {
    fn of(seeds: impl Iterator<Item = u64>) -> Self {
        let mut totals = Self::default();
        for seed in seeds {
            match examine(&Scenario::new(seed)) {
                Ok(history) => {
                    totals.steps += history.steps as u64;
                    totals.orders += history.performed.len() as u64;
                    *totals.ends.entry(kind(&history.end)).or_default() += 1;
                }
                Err(failed) => {
                    *totals.broken.entry(failed.invariant).or_default() += 1;
                    totals.first.get_or_insert(failed);
                }
            }
        }
        totals
    }

    fn add(mut self, other: Self) -> Self {
        self.steps += other.steps;
        self.orders += other.orders;
        for (end, count) in other.ends {
            *self.ends.entry(end).or_default() += count;
        }
        for (invariant, count) in other.broken {
            *self.broken.entry(invariant).or_default() += count;
        }
        self.first = self.first.into_iter().chain(other.first).min_by_key(|failed| failed.scenario.seed);
        self
    }
}

fn kind(end: &End) -> &'static str {
    match end {
        End::Done(Ok(answer)) => answer.reason.map_or("answered", Reason::code),
        End::Done(Err(RunError::Failed(_))) => "error",
        End::Done(Err(_)) => "another error",
        End::Cancelled => "cancelled",
        End::Broke(..) => "broke",
    }
}

fn variable(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |value| value.parse().unwrap_or_else(|_| panic!("{name} is {value:?}")))
}

#[test]
fn every_seed_keeps_every_invariant() {
    let (seeds, from) = (variable("SIM_SEEDS", SEEDS), variable("SIM_FROM", 0));
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let totals = std::thread::scope(|scope| {
        let part =
            |thread| move || Totals::of((from..from.saturating_add(seeds)).skip(thread).step_by(threads as usize));
        let parts: Vec<_> = (0..threads as usize).map(|thread| scope.spawn(part(thread))).collect();
        parts.into_iter().map(|p| p.join().expect("a thread ends")).fold(Totals::default(), Totals::add)
    });
    let Totals { steps, orders, ends, broken, first } = &totals;
    let failures: u64 = broken.values().sum();
    let sum = json!({
        "seeds": seeds, "from": from, "steps": steps, "orders": orders, "failures": failures,
        "broken": broken, "first": first.as_ref().map(|failed| failed.scenario.seed), "ends": ends,
    });
    println!("SIM {sum}");
    if let Some(first) = first {
        panic!("{failures} of {seeds} seeds break an invariant\n{}", shrink::describe(first, &shrink::shortest(first)));
    }
    // A simulation that never gets somewhere says nothing about it.
    if seeds >= SEEDS {
        let all = "answered no_documents irrelevant web_failed ungrounded not_useful unchecked no_progress \
                   provider_failed budget truncated error cancelled";
        let missing: Vec<&str> = all.split_whitespace().filter(|end| !ends.contains_key(end)).collect();
        assert!(missing.is_empty(), "no run ended as {missing:?}: {ends:?}");
    }
}

/// Runs of the first worlds as JSON, replayed from it. With `SIM_RECORDINGS`, a folder, both are left
/// there for another host to do the same.
#[test]
fn recorded_runs_replay_from_json() {
    let histories =
        (0..2 * RECORDED as u64).map(|seed| (Scenario::new(seed), drive(&Scenario::new(seed), Delivery::Arrival)));
    let (recordings, ends): (Vec<_>, Vec<_>) = histories
        .filter_map(|(scenario, history)| Some((history.recording(&scenario), history.ended()?.line())))
        .take(RECORDED)
        .unzip();
    assert_eq!(recordings.len(), RECORDED, "too few runs end");
    let recordings = serde_json::to_vec(&recordings).expect("JSON");
    let replays = recording::replay_all(&recordings);
    assert_eq!(replays, ends.concat());
    if let Some(folder) = std::env::var_os("SIM_RECORDINGS") {
        let folder = PathBuf::from(folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("recordings.json"), recordings).expect("written");
        std::fs::write(folder.join("replays.jsonl"), replays).expect("written");
    }
}
