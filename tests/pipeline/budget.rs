//! What is given up where not all fits into the limits, and in which order.

use countercheck::pipeline::answer::{Answer, Outcome, Reason};
use countercheck::pipeline::bill::{Bill, most, tokens_of};
use countercheck::pipeline::budget::{Limits, Prices};
use countercheck::pipeline::run::Effect;
use countercheck::pipeline::strategy::Strategy;
use countercheck::pipeline::task::{CheckClaims, Draft, Task};
use countercheck::pipeline::verdict::Support;

use crate::support::{Log, Script, run_logged, said_of};

fn within(script: &Script, strategy: Strategy, change: impl Fn(&mut Limits)) -> (Answer, Log) {
    let mut limits = Limits { retries: 0, ..Limits::of(&strategy) };
    change(&mut limits);
    let (answer, log) = run_logged(script, strategy, limits);
    (answer.expect("an answer"), log)
}

/// The calls by kind: decide, grade, rewrite, web, generate, grounding, usefulness.
fn calls(answer: &Answer) -> [u32; 7] {
    let calls = answer.calls;
    [calls.decide, calls.grade, calls.rewrite, calls.web, calls.generate, calls.grounding, calls.usefulness]
}

fn budget_warnings(answer: &Answer) -> Vec<&str> {
    answer.warnings.iter().filter(|w| w.code == "budget").map(|w| w.message.as_str()).collect()
}

#[test]
fn with_fewer_calls_less_is_asked_and_the_checks_go_last() {
    // max_calls, calls, outcome, reason.
    let (answered, partial) = ((Outcome::Answered, None), (Outcome::Partial, Some(Reason::Budget)));
    let good = Script { web: None, ..Script::default() };
    for (max_calls, expected, end) in [
        (7, [0, 4, 0, 0, 1, 1, 1], answered),
        (6, [0, 1, 0, 0, 1, 1, 1], answered), // one call grades all
        (4, [0, 1, 0, 0, 1, 1, 1], answered),
        (3, [0, 0, 0, 0, 1, 1, 1], answered), // ungraded, and says so
        (2, [0, 0, 0, 0, 1, 1, 0], partial),
        (1, [0, 0, 0, 0, 1, 0, 0], partial),
        (0, [0, 0, 0, 0, 0, 0, 0], (Outcome::Abstained, Some(Reason::Budget))),
    ] {
        let (answer, _) = within(&good, Strategy::self_reflective(), |limits| limits.max_calls = max_calls);
        assert_eq!(calls(&answer), expected, "of {max_calls}");
        assert_eq!((answer.outcome, answer.reason), end, "of {max_calls}");
        assert_eq!(budget_warnings(&answer).is_empty(), max_calls == 7, "of {max_calls}: {:?}", answer.warnings);
        let ungraded = answer.warnings.iter().any(|w| w.code == "ungraded");
        assert_eq!(ungraded, max_calls < 4, "of {max_calls}");
    }
}

#[test]
fn the_web_goes_before_grades_and_a_second_question_to_a_grader_before_the_web() {
    let unsure = Script { grades: "R?I?", web: Some(Ok(1)), ..Script::default() };
    for (max_calls, expected) in [
        (10, [0, 6, 0, 1, 1, 1, 1]),
        // The second round of two does not fit beside what is kept.
        (8, [0, 4, 0, 1, 1, 1, 1]),
        (7, [0, 4, 0, 0, 1, 1, 1]),
    ] {
        let (answer, _) = within(&unsure, Strategy::self_reflective(), |limits| limits.max_calls = max_calls);
        assert_eq!((calls(&answer), answer.outcome), (expected, Outcome::Answered), "of {max_calls}");
    }
}

#[test]
fn a_decision_that_cannot_be_afforded_is_one_for_documents() {
    let (answer, _) = within(&Script::default(), Strategy::self_rag_prompted(), |limits| limits.max_calls = 3);
    assert_eq!(calls(&answer), [0, 0, 0, 0, 1, 1, 1]);
    assert!(budget_warnings(&answer)[0].starts_with("it was not asked whether documents are needed"));
}

#[test]
fn a_later_draft_needs_calls_for_its_checks_too() {
    let bad = Script { grounded: "ny", ..Script::default() };
    for (max_calls, drafts) in [(9, 2), (8, 1)] {
        let (answer, _) = within(&bad, Strategy::self_reflective(), |limits| limits.max_calls = max_calls);
        assert_eq!(answer.calls.generate, drafts, "of {max_calls}");
        let reason = if drafts == 1 { Some(Reason::Budget) } else { None };
        assert_eq!(answer.reason, reason, "of {max_calls}: {:?}", answer.calls);
    }
}

#[test]
fn tokens_and_money_bound_a_run_and_what_is_unpriced_is_not_used() {
    let prices = Prices { input: Some(1.0), output: Some(4.0), web_search: None, embedding: Some(0.0) };
    let rejected = Script { grades: "RIRR", web: Some(Ok(1)), ..Script::default() };
    let (answer, _) = within(&rejected, Strategy::self_reflective(), |limits| {
        limits.max_cost = Some(1.0);
        limits.prices = prices;
    });
    assert_eq!(calls(&answer), [0, 4, 0, 0, 1, 1, 1], "a search has no price");
    assert!(budget_warnings(&answer)[0].starts_with("the web was not searched"), "{:?}", answer.warnings);
    let (answer, _) = within(&rejected, Strategy::self_reflective(), |limits| {
        limits.max_cost = Some(1.0);
        limits.prices = Prices { web_search: Some(0.01), ..prices };
    });
    assert_eq!(answer.calls.web, 1);
    for bound in [
        Limits { max_tokens: Some(100), ..Limits::default() },
        Limits { max_cost: Some(0.0), prices, ..Limits::default() },
    ] {
        let (answer, _) = run_logged(&Script::default(), Strategy::countercheck(), bound);
        let answer = answer.expect("an answer");
        assert_eq!((answer.calls.charged(), answer.reason), (0, Some(Reason::Budget)), "not even a draft fits");
    }
}

#[test]
fn a_draft_gets_as_many_passages_as_its_tokens_allow() {
    let long = "A sentence of some length about rotating keys. ".repeat(60);
    let long_texts = Script { texts: vec![long; 4], ..Script::default() };
    let given = |max_tokens| {
        let (answer, seen) = within(&long_texts, Strategy::naive(), |limits| limits.max_tokens = max_tokens);
        let passages = seen.effects.iter().find_map(|effect| match effect {
            Effect::Ask(Task::Generate(task)) => Some(task.passages.len()),
            _ => None,
        });
        (passages, budget_warnings(&answer).len())
    };
    assert_eq!(given(None), (Some(4), 0));
    assert_eq!(given(Some(1_000_000)), (Some(4), 0));
    assert_eq!(given(Some(4_000)), (Some(2), 1));
    assert_eq!(given(Some(3_000)), (Some(1), 1));
    assert_eq!(given(Some(2_000)), (None, 2), "one passage and the longest draft are more");
}

#[test]
fn tokens_are_reckoned_by_script() {
    assert_eq!(tokens_of("three bytes in a token of code"), 10);
    assert_eq!(tokens_of("日本語"), 6);
    assert_eq!(tokens_of(""), 0);
    let bill = Bill { calls: 2, input: 1_000_000, output: 500_000, searches: 3, vectors: 0 };
    let prices = Prices { input: Some(1.0), output: Some(2.0), web_search: Some(0.5), embedding: None };
    assert!((bill.cost(&prices) - 3.5).abs() < 1e-9);
    assert!(Bill { vectors: 1, ..bill }.cost(&prices).is_infinite());
    assert_eq!(most(&Effect::SearchWeb { query: String::new(), limit: 1 }).searches, 1);
}

#[test]
fn a_repair_that_cannot_be_afforded_is_not_told_and_what_fails_is_left_out() {
    let claims =
        |task: &CheckClaims| said_of(task, |claim| if claim.contains("fast") { Support::None } else { Support::Fully });
    let drafts = vec![Draft { text: "It works. It is fast.".to_owned(), ..Draft::default() }];
    let script = Script { claims, drafts, ..Script::default() };
    let told = |max_calls| {
        let (answer, _) = within(&script, Strategy::countercheck(), |limits| limits.max_calls = max_calls);
        let repairs = answer.trace.iter().filter(|event| event.name() == "repair").count();
        (answer.text, answer.calls.generate, repairs)
    };
    assert_eq!(told(3), ("It works. [1]".to_owned(), 1, 1), "grade, draft and check are all there is");
    assert_eq!(told(40), ("It works. [1]".to_owned(), 2, 1), "written anew, to nothing");
}
