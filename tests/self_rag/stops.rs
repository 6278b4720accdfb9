//! What ends a run early: the budget, the deadline, a model that fails.

use countercheck::pipeline::answer::{Outcome, Reason, RunError};
use countercheck::pipeline::budget::Limits;
use countercheck::pipeline::segment::{Candidate, Evidence, GenerateSegment};
use countercheck::pipeline::self_rag::{SelfRagOptions, When};
use countercheck::pipeline::strategy::{OnExhaustion, Options};

use crate::world::{World, ask, asks, candidate, failure, good, number, opening, try_ask};
use crate::{segments, strategy};

/// Every segment asks for another one.
fn endless(task: &GenerateSegment) -> Candidate {
    if task.evidence == Evidence::Undecided {
        return opening(0.9, 0.1);
    }
    let said = task.written.matches("Segment").count();
    candidate(
        [good(&format!("Segment {said} of {}.", number(task)), 0.5 + 0.1 * number(task) as f64), vec![asks()]].concat(),
    )
}

#[test]
fn a_budget_that_ends_between_two_levels_leaves_the_answer_so_far() {
    let write = |task: &GenerateSegment| Ok(endless(task));
    let options = SelfRagOptions { max_depth: Some(7), ..SelfRagOptions::default() };
    for (max_calls, levels, calls) in [(0, 0, 0), (1, 0, 1), (3, 0, 1), (4, 1, 4), (9, 1, 4), (10, 2, 10), (16, 3, 16)]
    {
        let limits = Limits { max_calls, ..Limits::default() };
        let (result, _) = try_ask(World::new(3, &write), strategy(options.clone()), limits);
        let answer = result.unwrap();
        assert_eq!((answer.calls.charged(), answer.calls.segment), (calls, calls), "{max_calls}");
        assert_eq!(answer.text.matches("Segment").count(), levels, "{max_calls}: {}", answer.text);
        assert!(answer.warnings.iter().any(|warning| warning.code == "budget"), "{max_calls}");
        if levels == 0 {
            assert_eq!((answer.outcome, answer.reason), (Outcome::Abstained, Some(Reason::Budget)), "{max_calls}");
        } else {
            assert_eq!((answer.outcome, answer.grounded), (Outcome::Answered, Some(true)), "with flags of its own");
        }
    }
}

#[test]
fn a_deadline_in_the_middle_of_a_level_leaves_the_levels_before() {
    let write = |task: &GenerateSegment| Ok(endless(task));
    let options = SelfRagOptions { max_depth: Some(7), ..SelfRagOptions::default() };
    // The opening, the search and three candidates take 50; two searches 20 more, and six candidates 60.
    for (deadline, levels) in [(5, 0), (49, 0), (95, 1), (131, 2)] {
        let world = World { latency: 10, ..World::new(3, &write) };
        let limits = Limits { deadline, ..Limits::default() };
        let (result, log) = try_ask(world, strategy(options.clone()), limits);
        let answer = result.unwrap();
        assert_eq!(answer.text.matches("Segment").count(), levels, "{deadline}: {}, {}", answer.text, log.now);
        assert!(answer.warnings.iter().any(|warning| warning.code == "budget"), "{deadline}");
    }
}

#[test]
fn a_candidate_that_fails_leaves_the_others() {
    let write = |task: &GenerateSegment| match number(task) {
        2 => Err(failure()),
        _ => Ok(endless(task)),
    };
    let options = SelfRagOptions { max_depth: Some(1), ..SelfRagOptions::default() };
    let (answer, _) = ask(World::new(3, &write), strategy(options));
    assert_eq!((answer.text.as_str(), answer.outcome), ("Segment 0 of 3 [1].", Outcome::Answered));
    assert_eq!(segments(&answer).len(), 2);
    assert!(answer.warnings.iter().any(|warning| warning.code == "provider_failed"));
}

#[test]
fn a_model_that_fails_from_the_beginning_is_an_error() {
    let write = |_: &GenerateSegment| Err(failure());
    for retrieval in [When::Threshold, When::Always, When::Never] {
        let options = SelfRagOptions { retrieval: Some(retrieval), ..SelfRagOptions::default() };
        let (result, _) = try_ask(World::new(3, &write), strategy(options), Limits::default());
        assert_eq!(result.unwrap_err(), RunError::Failed(failure()), "{retrieval:?}");
    }
}

#[test]
fn a_model_that_fails_later_leaves_the_answer_so_far() {
    let write = |task: &GenerateSegment| if task.written.is_empty() { Ok(endless(task)) } else { Err(failure()) };
    let (answer, _) = ask(World::new(3, &write), strategy(SelfRagOptions::default()));
    assert_eq!((answer.text.as_str(), answer.outcome), ("Segment 0 of 3 [1].", Outcome::Answered));
    assert!(answer.warnings.iter().any(|warning| warning.code == "provider_failed"));
}

/// R-15, W21: what is wrong with the best answer is said, or it is withheld where that was asked for.
#[test]
fn w21_an_answer_that_fails_its_checks_is_partial_or_withheld() {
    let write =
        |_: &GenerateSegment| Ok(candidate(crate::world::segment("Keys glow.", &[1.0], &[0.1, 0.2, 0.7], &[1.0])));
    for (on_exhaustion, outcome) in
        [(OnExhaustion::Best, Outcome::Partial), (OnExhaustion::Abstain, Outcome::Abstained)]
    {
        let options = Options { on_exhaustion: Some(on_exhaustion), ..Options::default() };
        let strategy = strategy(SelfRagOptions { retrieval: Some(When::Always), ..SelfRagOptions::default() });
        let (answer, _) = ask(World::new(1, &write), strategy.with(options).unwrap());
        assert_eq!((answer.outcome, answer.reason), (outcome, Some(Reason::Ungrounded)));
    }
}
