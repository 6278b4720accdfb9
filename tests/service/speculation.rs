//! What is shown of a draft that was begun before it was known to be wanted.

use std::cell::RefCell;
use std::ops::ControlFlow;

use countercheck::document::{Hit, Origin, Passage, Span};
use countercheck::driver::{Perform, Told, drive};
use countercheck::host::Host;
use countercheck::pipeline::answer::Question;
use countercheck::pipeline::budget::{Limits, Millis};
use countercheck::pipeline::run::{Effect, Order, Outcome, Reply, Run};
use countercheck::pipeline::strategy::Strategy;
use countercheck::pipeline::task::{ClaimSaid, ClaimsSaid, Draft, Grade, Task, TaskReply};
use countercheck::pipeline::trace::Event;
use countercheck::pipeline::verdict::{Support, Verdict};

use crate::network::Scripted;

/// Grades after .4 s; writes "It " after .1 and "works." after 1 s.
struct Slow<'a> {
    network: &'a Scripted,
    grades: [Verdict; 2],
    /// Drafts that were begun and not finished.
    unfinished: RefCell<u32>,
}

fn passage(n: usize) -> Passage {
    let text = format!("It works, {n}.");
    Passage {
        id: format!("guide#{n}"),
        document: "guide".to_owned(),
        url: String::new(),
        title: "Guide".to_owned(),
        headings: Vec::new(),
        also: Vec::new(),
        span: Span { start: 0, end: text.len() },
        text,
        origin: Origin::Local,
    }
}

impl Perform for Slow<'_> {
    async fn perform(&self, order: Order, _: Millis, told: Told) -> Outcome {
        let hit = |n| Hit { passage: passage(n), score: 1.0, lexical: 1.0, dense: None, explanation: None };
        let task = match order.effect {
            Effect::Retrieve { .. } => return Outcome::without_tokens(Reply::Hits(vec![hit(0), hit(1)]), 0),
            Effect::SearchWeb { .. } => return Outcome::without_tokens(Reply::Web(Vec::new()), 1),
            Effect::Ask(task) => task,
        };
        let reply = match task {
            Task::GradePassages(task) => {
                self.network.sleep(400).await;
                let grade = |p: &Passage| Grade { verdict: self.grades[usize::from(p.id != "guide#0")], score: None };
                TaskReply::Grades(task.passages.iter().map(grade).collect())
            }
            Task::Generate(_) => {
                *self.unfinished.borrow_mut() += 1;
                self.network.sleep(100).await;
                told.push("It ".to_owned());
                self.network.sleep(900).await;
                told.push("works.".to_owned());
                *self.unfinished.borrow_mut() -= 1;
                TaskReply::Draft(Draft { text: "It works.".to_owned(), ..Draft::default() })
            }
            Task::CheckClaims(task) => {
                let said = ClaimSaid { support: Support::Fully, passage: Some(0), quote: "It works, 0.".to_owned() };
                TaskReply::Claims(ClaimsSaid { claims: vec![said; task.claims.len()], useful: Verdict::Yes })
            }
            task => panic!("{task:?}"),
        };
        Outcome::without_tokens(Reply::Task(reply), 1)
    }
}

/// When what was shown, in milliseconds; when the answer was there; and drafts that were never finished.
fn shown(grades: [Verdict; 2]) -> (Vec<(Millis, String)>, Millis, u32) {
    let network = Scripted::new(|asked| panic!("{} is asked", asked.role));
    let begun = network.time();
    let performer = Slow { network: &network, grades, unfinished: RefCell::new(0) };
    let strategy = Strategy { speculates: true, ..Strategy::countercheck() };
    let limits = Limits::of(&strategy);
    let run = Run::new(Question::new("Does it work?").unwrap(), strategy, limits, begun);
    let seen = RefCell::new(Vec::new());
    let tell = |event: Event| {
        let told = match event {
            Event::DraftDelta { text } => text,
            event => event.name().to_owned(),
        };
        if !told.starts_with("grade") && !told.starts_with("check") {
            seen.borrow_mut().push((network.time() - begun, told));
        }
        ControlFlow::Continue(())
    };
    let answer = network.run(drive(run, &network, &performer, tell)).unwrap();
    assert_eq!(answer.text, "It works. [1]");
    (seen.into_inner(), network.time() - begun, performer.unfinished.into_inner())
}

fn expected(events: &[(Millis, &str)]) -> Vec<(Millis, String)> {
    events.iter().map(|(at, told)| (*at, (*told).to_owned())).collect()
}

#[test]
fn a_draft_is_shown_from_the_moment_it_is_wanted() {
    let (events, end, unfinished) = shown([Verdict::Yes, Verdict::Yes]);
    let held = [(0, "retrieve"), (400, "decide"), (400, "draft-start"), (400, "It "), (1_000, "works.")];
    assert_eq!((events, end, unfinished), (expected(&held), 1_000, 0));
}

#[test]
fn a_wrong_guess_is_never_shown_and_its_call_is_ended() {
    let (events, end, unfinished) = shown([Verdict::Yes, Verdict::No]);
    let anew = [(0, "retrieve"), (400, "decide"), (400, "draft-start"), (500, "It "), (1_400, "works.")];
    assert_eq!((events, end, unfinished), (expected(&anew), 1_400, 1));
}
