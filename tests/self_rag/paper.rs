//! What the paper's inference does, and what an answer of it says.

use countercheck::pipeline::answer::{Outcome, Reason};
use countercheck::pipeline::segment::{Candidate, Evidence, GenerateSegment};
use countercheck::pipeline::self_rag::{Mode, SelfRagOptions, When};
use countercheck::pipeline::trace::Event;
use countercheck::pipeline::verdict::{Check, Retrieval, Support, Verdict};

use crate::world::{QUESTION, World, ask, asks, candidate, good, number, opening, segment};
use crate::{segments, strategy};

fn short() -> SelfRagOptions {
    SelfRagOptions { mode: Some(Mode::Short), ..SelfRagOptions::default() }
}

/// A model that is sure to need passages and writes the same good segment from each.
fn sure(task: &GenerateSegment) -> Candidate {
    match &task.evidence {
        Evidence::Undecided => opening(0.9, 0.1),
        _ => candidate(good(&format!("Said by {}.", number(task)), 0.5 + 0.1 * number(task) as f64)),
    }
}

#[test]
fn n_05_each_passage_is_put_to_the_model_apart_and_the_best_candidate_wins() {
    for reversed in [false, true] {
        let write = |task: &GenerateSegment| Ok(sure(task));
        let world = World { reversed, ..World::new(3, &write) };
        let (answer, log) = ask(world, strategy(short()));
        let evidence: Vec<usize> = log.written().into_iter().map(number).collect();
        assert_eq!(evidence, [0, 1, 2, 3], "one candidate for each passage, after the decision");
        assert!(log.written().iter().all(|task| task.question == QUESTION));
        assert_eq!(answer.text, "Said by 3 [1].");
        assert_eq!((answer.outcome, answer.grounded, answer.useful), (Outcome::Answered, Some(true), Some(true)));
        assert_eq!((answer.calls.segment, answer.calls.reflect, answer.calls.retrieve), (4, 0, 1));
        assert_eq!(answer.citations[0].passage_id, "d3");
        assert_eq!((answer.attempts, answer.strategy, answer.sources.len()), (1, "self-rag", 3));
    }
}

#[test]
fn n_03_n_19_the_four_decisions_stand_in_the_answer() {
    let write = |task: &GenerateSegment| match &task.evidence {
        Evidence::Undecided => Ok(opening(0.9, 0.1)),
        _ if number(task) == 1 => Ok(candidate(good("Keys expire.", 0.9))),
        _ => Ok(candidate(segment("Dough rises.", &[0.2, 0.8], &[0.1, 0.1, 0.8], &[0.0, 0.0, 0.2, 0.0, 0.8]))),
    };
    let (answer, _) = ask(World::new(2, &write), strategy(short()));
    let reflection = answer.reflection.unwrap();
    assert_eq!((reflection.retrieve, reflection.support), (Retrieval::Yes, Some(Support::Fully)));
    assert_eq!((reflection.usefulness, reflection.approximated), (Some(5), false));
    let relevance: Vec<_> = reflection.relevance.iter().map(|v| (v.passage_id.as_str(), v.verdict, v.score)).collect();
    assert_eq!(relevance, [("d1", Verdict::Yes, Some(0.9)), ("d2", Verdict::No, Some(0.2))]);
    let names: Vec<&str> = answer.trace.iter().map(Event::name).collect();
    let expected =
        ["decide-retrieval", "retrieve", "grade", "grade", "draft-start", "segment", "segment", "check", "check"];
    assert_eq!(names, expected);
}

#[test]
fn n_05_a_segment_that_asks_retrieves_again_by_what_it_said() {
    let write = |task: &GenerateSegment| {
        if task.written.is_empty() {
            let mut tokens = good(&format!("First {}.", number(task)), 0.9);
            tokens.extend([asks()]);
            return Ok(candidate(tokens));
        }
        Ok(candidate(good(&format!("Then {}.", number(task)), 0.5 + 0.1 * number(task) as f64)))
    };
    let options = SelfRagOptions { retrieval: Some(When::Always), beam_width: Some(1), ..SelfRagOptions::default() };
    let (answer, log) = ask(World::new(2, &write), strategy(options));
    assert_eq!(log.queries(), [QUESTION, &format!("{QUESTION} First 1.")]);
    assert_eq!(answer.text, "First 1 [1]. Then 2 [2].");
    let cited: Vec<&str> = answer.citations.iter().map(|citation| citation.passage_id.as_str()).collect();
    assert_eq!(cited, ["d1", "d2"], "each segment cites its own passage");
    assert_eq!(answer.citations[1].quote, "Text of passage 2.");
}

/// N-04: the width bounds what is continued, the depth how far.
#[test]
fn n_08_width_and_depth_bound_the_beam() {
    for (width, depth, expected) in [(1, 1, 3), (2, 1, 3), (1, 2, 6), (2, 2, 9), (3, 2, 12), (2, 4, 21), (8, 3, 36)] {
        let write = |task: &GenerateSegment| {
            let said = task.written.matches("So").count();
            let mut tokens = good(&format!("So {said} from {}.", number(task)), 0.9);
            tokens.push(asks());
            Ok(candidate(tokens))
        };
        let options = SelfRagOptions {
            retrieval: Some(When::Always),
            beam_width: Some(width),
            max_depth: Some(depth),
            ..SelfRagOptions::default()
        };
        let strategy = strategy(options);
        let bound = strategy.self_rag.as_ref().unwrap().most_calls(strategy.k);
        let (answer, log) = ask(World::new(3, &write), strategy);
        assert_eq!(log.written().len(), expected, "width {width}, depth {depth}");
        assert_eq!(bound.segments, expected, "and no model asks for more");
        let deepest = segments(&answer).iter().map(|segment| segment.0).max();
        assert_eq!(deepest, Some(depth));
        assert!(answer.warnings.iter().any(|warning| warning.code == "max_depth"));
    }
}

#[test]
fn n_10_w12_the_hard_constraint_drops_what_is_unsupported() {
    let contradicts = |text: &str| candidate(segment(text, &[1.0], &[0.1, 0.1, 0.8], &[1.0]));
    let write = |task: &GenerateSegment| match number(task) {
        1 => Ok(contradicts("Keys never expire.")),
        _ => Ok(candidate(segment("Keys expire.", &[0.1, 0.9], &[0.6, 0.4], &[0.2, 0.2, 0.6]))),
    };
    let options = |hard| SelfRagOptions { hard_constraint: Some(hard), retrieval: Some(When::Always), ..short() };
    let (soft, _) = ask(World::new(2, &write), strategy(options(false)));
    assert_eq!(soft.text, "Keys never expire [1].", "its relevance and its rating outweigh its support");
    assert_eq!((soft.outcome, soft.reason, soft.grounded), (Outcome::Partial, Some(Reason::Ungrounded), Some(false)));
    let (hard, _) = ask(World::new(2, &write), strategy(options(true)));
    assert_eq!(hard.text, "Keys expire [1].");
    assert!(!segments(&hard)[0].3 && segments(&hard)[1].3);

    let all = |_: &GenerateSegment| Ok(contradicts("Keys never expire."));
    let (none, _) = ask(World::new(2, &all), strategy(options(true)));
    assert_eq!((none.outcome, none.reason), (Outcome::Abstained, Some(Reason::Ungrounded)));
    assert_eq!((none.text.as_str(), none.attempts), ("", 0));
}

#[test]
fn n_10_what_is_dropped_later_leaves_the_answer_so_far() {
    let write = |task: &GenerateSegment| {
        if task.written.is_empty() {
            let mut tokens = good("Keys expire.", 0.9);
            tokens.push(asks());
            return Ok(candidate(tokens));
        }
        Ok(candidate(segment("They never do.", &[1.0], &[0.0, 0.1, 0.9], &[1.0])))
    };
    let options =
        SelfRagOptions { hard_constraint: Some(true), retrieval: Some(When::Always), ..SelfRagOptions::default() };
    let (answer, _) = ask(World::new(1, &write), strategy(options));
    assert_eq!((answer.text.as_str(), answer.outcome), ("Keys expire [1].", Outcome::Answered));
}

#[test]
fn n_11_the_lower_the_threshold_the_more_is_retrieved_and_the_token_goes_by_itself() {
    let retrieves = |options: SelfRagOptions, yes: f64| {
        let write = |task: &GenerateSegment| match &task.evidence {
            Evidence::Undecided => Ok(opening(yes, 1.0 - yes)),
            _ => Ok(candidate(good("Keys expire.", 0.9))),
        };
        let (answer, _) = ask(World::new(1, &write), strategy(options));
        answer.reflection.unwrap().retrieve == Retrieval::Yes
    };
    let shares = [0.05, 0.15, 0.3, 0.6, 0.95];
    let count = |options: SelfRagOptions| shares.into_iter().filter(|&yes| retrieves(options.clone(), yes)).count();
    let above = |delta| count(SelfRagOptions { delta: Some(delta), ..short() });
    assert_eq!([0.0, 0.1, 0.2, 0.5, 0.9, 1.0].map(above), [5, 4, 3, 2, 1, 0]);
    let token = SelfRagOptions { retrieval: Some(When::Token), ..short() };
    assert_eq!(count(token), 2, "where the model's own token asks for it");
    for (when, asked) in [(When::Always, 5), (When::Never, 0)] {
        assert_eq!(count(SelfRagOptions { retrieval: Some(when), ..short() }), asked);
    }
}

/// The long form looks at more than the first token.
#[test]
fn n_11_a_long_answer_may_ask_for_passages_a_little_later() {
    let write = |task: &GenerateSegment| match &task.evidence {
        Evidence::Undecided => Ok(candidate(vec![crate::world::token(&[("Well, ", 1.0)]), asks()])),
        _ => Ok(candidate(good("Keys expire.", 0.9))),
    };
    let (answer, _) = ask(World::new(1, &write), strategy(SelfRagOptions::default()));
    assert_eq!(answer.reflection.unwrap().retrieve, Retrieval::Yes);
}

#[test]
fn w13_an_answer_without_passages_is_no_supported_one() {
    let write = |task: &GenerateSegment| match &task.evidence {
        Evidence::Undecided => Ok(opening(0.05, 0.95)),
        Evidence::None => Ok(candidate(segment("Hello!", &[1.0], &[], &[0.9, 0.1])[1..].to_vec())),
        Evidence::Passage(_) => panic!("nothing was retrieved"),
    };
    let (answer, log) = ask(World::new(3, &write), strategy(SelfRagOptions::default()));
    assert_eq!((answer.text.as_str(), answer.outcome), ("Hello!", Outcome::Partial));
    assert_eq!((answer.reason, answer.grounded, answer.useful), (Some(Reason::Unchecked), None, Some(true)));
    assert_eq!((log.queries().len(), answer.sources.len(), answer.calls.segment), (0, 0, 2));
    assert!(answer.warnings.iter().any(|warning| warning.code == "no_retrieval"));
}

#[test]
fn w12_support_in_part_is_told_and_is_not_grounded() {
    let write = |task: &GenerateSegment| {
        if task.written.is_empty() {
            let mut tokens = good("Keys expire.", 0.9);
            tokens.push(asks());
            return Ok(candidate(tokens));
        }
        Ok(candidate(segment("They glow.", &[1.0], &[0.2, 0.7, 0.1], &[0.0, 1.0])))
    };
    let options = SelfRagOptions { retrieval: Some(When::Always), ..SelfRagOptions::default() };
    let (answer, _) = ask(World::new(1, &write), strategy(options));
    assert_eq!(answer.text, "Keys expire [1]. They glow [1].");
    assert_eq!((answer.outcome, answer.grounded), (Outcome::Partial, Some(false)));
    let reflection = answer.reflection.unwrap();
    assert_eq!((reflection.support, reflection.usefulness), (Some(Support::Partially), Some(4)), "of all, of the last");
    let checks = answer
        .trace
        .iter()
        .filter(|event| matches!(event, Event::Check { check: Check::Grounding, verdict: Verdict::No, .. }));
    assert_eq!(checks.count(), 1);
}

#[test]
fn b02_b03_no_query_is_sent_twice_and_what_repeats_itself_ends() {
    let write = |_: &GenerateSegment| Ok(candidate([good("Keys expire.", 0.9), vec![asks()]].concat()));
    let options = SelfRagOptions { retrieval: Some(When::Always), max_depth: Some(7), ..SelfRagOptions::default() };
    let (answer, log) = ask(World::new(2, &write), strategy(options));
    assert_eq!(answer.text, "Keys expire [1].");
    assert_eq!(segments(&answer).len(), 2, "the second level says nothing new");
    assert!(answer.warnings.is_empty(), "no depth would have helped: {:?}", answer.warnings);
    let mut queries = log.queries();
    queries.sort_unstable();
    queries.dedup();
    assert_eq!(queries.len(), log.queries().len());
}

#[test]
fn what_was_cut_off_is_truncated_unless_it_asked_for_passages_before() {
    for (asks_first, outcome, reason) in
        [(true, Outcome::Answered, None), (false, Outcome::Partial, Some(Reason::Truncated))]
    {
        let write = |task: &GenerateSegment| {
            if !task.written.is_empty() {
                return Ok(candidate(good("Rotate them.", 0.9)));
            }
            let mut tokens = good("Keys expire.", 0.9);
            tokens.extend(asks_first.then(asks));
            Ok(Candidate { truncated: true, ..candidate(tokens) })
        };
        let options = SelfRagOptions { retrieval: Some(When::Always), ..SelfRagOptions::default() };
        let (answer, _) = ask(World::new(1, &write), strategy(options));
        assert_eq!((answer.outcome, answer.reason), (outcome, reason), "{}", answer.text);
    }
}
