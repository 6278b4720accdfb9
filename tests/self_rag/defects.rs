//! Defects of the code that was published with the paper, which a loop could have; the others are in
//! `vectors.rs` and in `tests/reflection`.

use std::cell::RefCell;

use countercheck::pipeline::answer::{Outcome, Reason};
use countercheck::pipeline::budget::Limits;
use countercheck::pipeline::segment::{Candidate, Evidence, GenerateSegment};
use countercheck::pipeline::self_rag::{Mode, SelfRagOptions, SelfRagWeights, When};
use countercheck::pipeline::verdict::Retrieval;
use countercheck::wire::AskRequest;

use crate::world::{World, ask, asks, candidate, good, number, opening, segment, token, try_ask};
use crate::{by_relevance, close, segments, strategy};

fn always(options: SelfRagOptions) -> SelfRagOptions {
    SelfRagOptions { retrieval: Some(When::Always), ..options }
}

#[test]
fn defect_2_a_short_answer_takes_a_depth_and_makes_no_use_of_it() {
    let write = |_: &GenerateSegment| Ok(candidate([good("Keys expire.", 0.9), vec![asks()]].concat()));
    let options = always(SelfRagOptions { mode: Some(Mode::Short), max_depth: Some(7), ..SelfRagOptions::default() });
    let (answer, log) = ask(World::new(2, &write), strategy(options));
    assert_eq!((log.written().len(), answer.text.as_str()), (2, "Keys expire [1]."));
}

#[test]
fn defect_3_an_opening_without_a_token_for_retrieval_is_an_answer_like_any_other() {
    for (mode, expected) in [(Mode::Short, Retrieval::Yes), (Mode::Long, Retrieval::No)] {
        let write = |task: &GenerateSegment| match &task.evidence {
            Evidence::Undecided => Ok(candidate(vec![token(&[("Keys", 0.9), ("A", 0.1)])])),
            _ => Ok(candidate(good("Keys expire.", 0.9))),
        };
        let options = SelfRagOptions { mode: Some(mode), ..SelfRagOptions::default() };
        let (answer, _) = ask(World::new(1, &write), strategy(options));
        assert_eq!(answer.reflection.unwrap().retrieve, expected, "{mode:?}");
    }
}

/// Without a threshold the published code knows a name that is nowhere defined.
#[test]
fn defect_4_b06_without_delta_the_usual_one_holds() {
    for body in [
        r#"{"question":"q","strategy":"self-rag","self_rag":{"delta":null}}"#,
        r#"{"question":"q","strategy":"self-rag","self_rag":{}}"#,
        r#"{"question":"q","strategy":"self-rag"}"#,
    ] {
        let request = AskRequest::from_json(body.as_bytes()).unwrap();
        let asked = request.check(Limits::default()).unwrap();
        assert_eq!(asked.strategy, strategy(SelfRagOptions::default()), "{body}");
        let write = |task: &GenerateSegment| match &task.evidence {
            Evidence::Undecided => Ok(opening(0.3, 0.7)),
            _ => Ok(candidate(good("Keys expire.", 0.9))),
        };
        let (answer, _) = ask(World::new(1, &write), asked.strategy.clone());
        assert_eq!(answer.text, "Keys expire [1].", "{body}");
    }
}

#[test]
fn defect_5_one_passage_is_enough_and_none_is_an_abstention() {
    for mode in [Mode::Long, Mode::Short] {
        let write = |_: &GenerateSegment| Ok(candidate(good("Keys expire.", 0.9)));
        let options = always(SelfRagOptions { mode: Some(mode), ..SelfRagOptions::default() });
        let (one, _) = ask(World::new(1, &write), strategy(options.clone()));
        assert_eq!((one.outcome, one.text.as_str()), (Outcome::Answered, "Keys expire [1]."));
        let (none, log) = ask(World::new(0, &write), strategy(options));
        assert_eq!((none.outcome, none.reason), (Outcome::Abstained, Some(Reason::NoDocuments)));
        assert_eq!(log.written().len(), 0, "B43: nothing is written from memory");
    }
}

#[test]
fn defect_7_a_long_answer_is_scored_by_its_rating_too() {
    let write = |task: &GenerateSegment| {
        let rating: &[f64] = if number(task) == 1 { &[0.0, 0.0, 0.0, 0.0, 1.0] } else { &[1.0] };
        Ok(candidate(segment(&format!("Said by {}.", number(task)), &[0.9, 0.1], &[1.0], rating)))
    };
    let (answer, _) = ask(World::new(2, &write), strategy(always(SelfRagOptions::default())));
    let scores: Vec<f64> = segments(&answer).iter().map(|segment| segment.2.unwrap()).collect();
    assert_eq!(answer.text, "Said by 2 [1].");
    assert!(close(Some(scores[1] - scores[0]), 1.0), "half of 1 − (−1): {scores:?}");
}

#[test]
fn defect_8_a_long_answer_is_scored_by_its_own_probability_too() {
    let score = |sequence| {
        let write = |_: &GenerateSegment| {
            let mut tokens = good("Keys expire.", 1.0);
            tokens[1].logprob = Some(-2.0);
            Ok(candidate(tokens))
        };
        let weights = SelfRagWeights { sequence: Some(sequence), ..SelfRagWeights::default() };
        let options = always(SelfRagOptions { weights: Some(weights), ..SelfRagOptions::default() });
        segments(&ask(World::new(1, &write), strategy(options)).0)[0].2.unwrap()
    };
    let mean = (-2.0 + 2.0 * libm::log(0.9)) / 4.0;
    assert!(close(Some(score(true) - score(false)), libm::exp(mean)));
}

/// The published code writes candidate 1 into the prompt of candidate 2.
#[test]
fn defect_9_a_candidate_goes_on_from_its_own_answer_alone() {
    let write = |task: &GenerateSegment| {
        let n = number(task);
        if task.written.is_empty() {
            return Ok(candidate([good(&format!("First {n}."), 0.9), vec![asks()]].concat()));
        }
        Ok(candidate(good(&format!("Then {n}."), 0.9)))
    };
    let (_, log) = ask(World::new(2, &write), strategy(always(SelfRagOptions::default())));
    let written: Vec<&str> = log.written().iter().map(|task| task.written.as_str()).collect();
    let first = |n| format!("[Relevant]First {n}.[Fully supported][Utility:5]");
    assert_eq!(written, ["", "", &first(1), &first(1), &first(2), &first(2)]);
}

#[test]
fn defect_10_an_answer_that_is_complete_early_stays_in_the_contest() {
    let write = |task: &GenerateSegment| {
        let n = number(task);
        let (text, share, goes_on) = match (task.written.is_empty(), n) {
            (true, 1) => ("Complete.".to_owned(), 0.96, false),
            (true, _) => ("Begun.".to_owned(), 0.72, true),
            (false, _) => (format!("Worse {n}."), 0.2, false),
        };
        let mut tokens = segment(&text, &[share, 1.0 - share], &[1.0], &[1.0]);
        tokens.extend(goes_on.then(asks));
        Ok(candidate(tokens))
    };
    let (answer, log) = ask(World::new(2, &write), strategy(always(by_relevance())));
    assert_eq!((answer.text.as_str(), log.written().len()), ("Complete [1].", 4));
}

#[test]
fn defect_11_12_numbers_have_no_gaps_and_no_letter_is_lost() {
    let write = |task: &GenerateSegment| {
        let text = match task.written.matches("[Relevant]").count() {
            1 => "They rotate",
            _ => "Keys expire",
        };
        let n = number(task);
        Ok(candidate([good(text, 0.5 + 0.1 * n as f64), vec![asks()]].concat()))
    };
    let options = always(SelfRagOptions { max_depth: Some(3), beam_width: Some(1), ..SelfRagOptions::default() });
    let (answer, _) = ask(World::new(2, &write), strategy(options));
    assert_eq!(answer.text, "Keys expire [1] They rotate [1]");
    assert_eq!(answer.citations.len(), 1);
}

#[test]
fn defect_13_b07_an_answer_without_passages_has_the_shape_of_all_others() {
    let write = |_: &GenerateSegment| Ok(candidate(vec![token(&[("Hello!", 1.0)])]));
    for mode in [Mode::Long, Mode::Short] {
        let options = SelfRagOptions { retrieval: Some(When::Never), mode: Some(mode), ..SelfRagOptions::default() };
        let (answer, log) = ask(World::new(2, &write), strategy(options));
        assert_eq!((answer.text.as_str(), answer.attempts, answer.outcome), ("Hello!", 1, Outcome::Partial));
        assert!(answer.citations.is_empty() && answer.sources.is_empty() && answer.verdicts.is_empty());
        assert_eq!(answer.reflection.unwrap().retrieve, Retrieval::No);
        assert_eq!(log.effects.len(), 1);
    }
}

/// The published code divides by the number of keys of a dictionary: here each search is counted.
#[test]
fn defect_14_every_retrieval_is_counted() {
    let write = |task: &GenerateSegment| {
        let n = number(task);
        let mut tokens = good(&format!("{} {n}.", if task.written.is_empty() { "First" } else { "Then" }), 0.9);
        tokens.extend(task.written.is_empty().then(asks));
        Ok(candidate(tokens))
    };
    let (answer, log) = ask(World::new(2, &write), strategy(always(SelfRagOptions::default())));
    assert_eq!((answer.calls.retrieve as usize, log.queries().len()), (3, 3));
}

#[test]
fn defect_15_a_model_with_nothing_to_say_is_an_abstention() {
    let said = RefCell::new(0);
    for empty in ["", "[Relevant][Fully supported][Utility:5]", "</s>"] {
        let write = |_: &GenerateSegment| {
            *said.borrow_mut() += 1;
            Ok(Candidate { text: empty.to_owned(), ..Candidate::default() })
        };
        let (result, _) =
            try_ask(World::new(2, &write), strategy(always(SelfRagOptions::default())), Limits::default());
        let answer = result.unwrap();
        assert_eq!((answer.outcome, answer.reason), (Outcome::Abstained, Some(Reason::Irrelevant)), "{empty:?}");
    }
    assert_eq!(*said.borrow(), 6);
}
