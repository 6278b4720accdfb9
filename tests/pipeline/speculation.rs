//! A draft begun before it is known that it is wanted.

use countercheck::document::{Hit, Origin, Passage};
use countercheck::pipeline::answer::{Answer, Outcome, Question};
use countercheck::pipeline::budget::Limits;
use countercheck::pipeline::run::{Effect, Order, Outcome as Performed, Reply, Run, Step};
use countercheck::pipeline::strategy::{ByClaim, Options, Strategy, StrategyError};
use countercheck::pipeline::task::{Draft, Grade, Task, TaskReply};
use countercheck::pipeline::trace::Event;
use countercheck::pipeline::verdict::{Support, Verdict};

use crate::support::{passage, said_of};

fn names(answer: &Answer) -> String {
    answer.trace.iter().map(Event::name).collect::<Vec<_>>().join(" ")
}

fn speculating() -> Strategy {
    Strategy { speculates: true, ..Strategy::countercheck() }
}

/// The effects of each step, by name, and the answer.
fn steps(strategy: Strategy, grades: &[Verdict], limits: Limits) -> (Vec<String>, Answer) {
    let mut run = Run::new(Question::new("How do I rotate a key?").expect("fine"), strategy, limits, 0);
    let (mut steps, mut open) = (Vec::new(), Vec::<Order>::new());
    loop {
        let step = run.next_step();
        open.retain(|order| {
            let is_open = run.is_open(order.id);
            if !is_open {
                steps.push("given up".to_owned());
            }
            is_open
        });
        match step {
            Step::Done(answer) => return (steps, answer.expect("an answer")),
            Step::Perform(orders) => {
                let name = |order: &Order| match &order.effect {
                    Effect::Ask(task) => format!("{:?}{}", task.call(), if run.is_guess(order.id) { "?" } else { "" }),
                    Effect::Retrieve { .. } => "Retrieve".to_owned(),
                    Effect::SearchWeb { .. } => "Web".to_owned(),
                };
                steps.push(orders.iter().map(name).collect::<Vec<_>>().join("+"));
                open.extend(orders);
            }
            Step::Wait => {
                // Grades come before the draft.
                let order = open.remove(open.len() - 1);
                let reply = match &order.effect {
                    Effect::Retrieve { .. } => {
                        let hit = |n| Hit {
                            passage: passage(n, Origin::Local),
                            score: 1.0,
                            lexical: 1.0,
                            dense: None,
                            explanation: None,
                        };
                        Reply::Hits((0..grades.len()).map(hit).collect())
                    }
                    Effect::SearchWeb { .. } => Reply::Web(Vec::new()),
                    Effect::Ask(Task::GradePassages(task)) => {
                        let grade = |p: &Passage| Grade { verdict: grades[p.span.start / 100], score: None };
                        Reply::Task(TaskReply::Grades(task.passages.iter().map(grade).collect()))
                    }
                    Effect::Ask(Task::Generate(task)) => {
                        let text =
                            format!("It works with {}.", ["none", "one", "two", "more"][task.passages.len().min(3)]);
                        Reply::Task(TaskReply::Draft(Draft { text, ..Draft::default() }))
                    }
                    Effect::Ask(Task::CheckClaims(task)) => {
                        Reply::Task(TaskReply::Claims(said_of(task, |_| Support::Fully)))
                    }
                    effect @ Effect::Ask(_) => unreachable!("{effect:?}"),
                };
                let called = u32::from(!matches!(order.effect, Effect::Retrieve { .. }));
                run.resolve(order.id, Performed::without_tokens(reply, called), 1).expect("it is open");
            }
        }
    }
}

#[test]
fn a_guessed_draft_is_kept_where_every_passage_is() {
    let (steps, answer) = steps(speculating(), &[Verdict::Yes; 2], Limits::of(&speculating()));
    assert_eq!(steps, ["Retrieve", "Generate?+Grade", "Grounding"], "two rounds of calls");
    assert_eq!((answer.outcome, answer.calls.generate, answer.attempts), (Outcome::Answered, 1, 1));
    assert_eq!(names(&answer), "retrieve grade grade decide draft-start check check", "no draft before the decision");
}

#[test]
fn a_wrong_guess_is_given_up_at_once_and_charged() {
    let (steps, answer) = steps(speculating(), &[Verdict::Yes, Verdict::No], Limits::of(&speculating()));
    assert_eq!(steps, ["Retrieve", "Generate?+Grade", "given up", "Generate", "Grounding"]);
    assert_eq!((answer.calls.generate, answer.attempts), (2, 1));
    assert_eq!((answer.text.as_str(), answer.tokens), ("It works with one. [1]", None), "what it took is not known");
    let (steps, answer) = self::steps(speculating(), &[Verdict::No; 2], Limits::of(&speculating()));
    assert_eq!(steps, ["Retrieve", "Generate?+Grade", "given up", "Web"], "it would only be in the way");
    assert_eq!((answer.outcome, answer.calls.generate), (Outcome::Abstained, 1));
}

#[test]
fn nothing_is_guessed_with_calls_that_the_path_needs() {
    // Grade, draft, check, and the guess.
    for (max_calls, guesses) in [(4, true), (3, false)] {
        let limits = Limits { max_calls, retries: 0, ..Limits::default() };
        let (steps, answer) = steps(speculating(), &[Verdict::Yes; 2], limits);
        assert_eq!(steps[1].contains('?'), guesses, "of {max_calls}: {steps:?}");
        assert_eq!(answer.outcome, Outcome::Answered);
        let limits = Limits { max_calls, retries: 0, ..Limits::default() };
        let (_, answer) = self::steps(speculating(), &[Verdict::Yes, Verdict::No], limits);
        assert_eq!(answer.outcome, Outcome::Answered, "of {max_calls}: {:?}", answer.calls);
    }
}

#[test]
fn usefulness_is_isolated_or_guessing_begun_where_the_strategy_has_them() {
    let options = |speculate, usefulness| Options { speculate, usefulness, ..Options::default() };
    let isolated = options(Some(true), Some(ByClaim::Isolated));
    let strategy = Strategy::countercheck().with(isolated).expect("both are its own");
    assert_eq!((strategy.speculates, strategy.checks.by_claim), (true, Some(ByClaim::Isolated)));
    let error = Strategy::naive().with(options(Some(true), None)).expect_err("it grades nothing");
    assert_eq!(error, StrategyError::NoGrades { strategy: "naive", option: "speculate" });
    let error = Strategy::corrective().with(isolated).expect_err("it has no claims");
    assert_eq!(error, StrategyError::NoClaims { strategy: "corrective" });
    let quoting = strategy.of_quotations().expect("it writes no segments");
    assert!(!quoting.speculates, "to quote takes no time");
    assert_eq!(Strategy::self_rag().expect("a preset").of_quotations(), Err(StrategyError::NeedsModel));
}
