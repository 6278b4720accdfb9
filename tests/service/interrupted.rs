//! Runs that something outside ends: a page that slept (F77), a reader who leaves (F78). That an instance traps
//! is F79 and tested in tests/node/trap.test.mjs and tests/worker/adversity.test.mjs; that a Worker is evicted
//! (F80) is a stream that is cut off for whoever reads it: tests/service/remote.rs and F57.

use std::cell::Cell;
use std::ops::ControlFlow;

use countercheck::driver::drive;
use countercheck::pipeline::budget::{Limits, Millis};
use countercheck::pipeline::run::Run;
use countercheck::prompt::Language;
use countercheck::retry::RetryPolicy;
use countercheck::service::{Performer, Services};
use countercheck::wire::AskRequest;
use serde_json::{Value, json};

use crate::network::{Asked, Scripted, Sent};
use crate::{ask, corpus, settings};

const HOUR: Millis = 3_600_000;

fn well(asked: &Asked) -> Sent {
    Sent::words(match asked.role {
        "grade" => "{\"score\": \"yes\"}",
        "grounding" => "{\"grounded\": \"yes\"}",
        "usefulness" => "{\"useful\": \"yes\"}",
        _ => "Knead the dough [1].",
    })
}

fn document() -> Value {
    json!({ "id": "bread.md", "text": "# Bread\n\nKnead the dough for ten minutes.\n" })
}

#[test]
fn f77_a_page_that_slept_past_the_deadline_asks_nothing_more() {
    for slept_in in ["grade", "generate", "grounding", "usefulness"] {
        let network =
            Scripted::new(
                move |asked| {
                    if asked.role == slept_in { Sent::After(HOUR, Box::new(well(asked))) } else { well(asked) }
                },
            );
        let request = json!({ "question": "How long do I knead the dough?", "strategy": "self-reflective" });
        let answer = ask(&settings("k"), &network, &corpus(&[document()]), &request).unwrap();
        let last = network.arrived.borrow().last().unwrap().0;
        assert_eq!(last, slept_in, "nothing is asked after the deadline");
        let whole = slept_in == "usefulness" && answer["outcome"] == "answered";
        assert!(whole || answer["reason"] == "budget", "{slept_in}: {answer}");
    }
}

#[test]
fn f78_a_reader_who_leaves_at_any_moment_ends_every_exchange_and_hears_nothing_more() {
    let request = json!({ "question": "How long do I knead the dough?", "strategy": "self-reflective" });
    let mut left = 0;
    for polls in 1.. {
        let slow = |asked: &Asked| match well(asked) {
            Sent::Reply { status, headers, pieces, then, .. } => {
                Sent::Reply { status, headers, pieces, every: 50, then }
            }
            other => other,
        };
        let (network, documents) = (Scripted::new(slow), corpus(&[document()]));
        let services = Services::new(&settings("k")).unwrap();
        let (language, policy) = (Language::default(), RetryPolicy::default());
        let performer = Performer { corpus: &documents, services: &services, network: &network, language, policy };
        let asked = AskRequest::from_json(request.to_string().as_bytes()).unwrap().check(Limits::default()).unwrap();
        let run = Run::new(asked.question, asked.strategy, asked.limits, network.time());
        let told = Cell::new(0);
        let driven = drive(run, &network, &performer, |_| {
            told.set(told.get() + 1);
            ControlFlow::Continue(())
        });
        let ended = network.leave(driven, polls).is_some();
        let (heard, arrived) = (told.get(), network.arrived.borrow().len());
        assert_eq!(network.open(), 0, "after {polls} polls");
        assert_eq!((told.get(), network.arrived.borrow().len()), (heard, arrived));
        if ended {
            break;
        }
        left += 1;
    }
    assert!(left >= 4, "{left} moments to leave at");
}
