//! The reference's vectors, through the whole path.

use countercheck::pipeline::answer::{Outcome, Reason};
use countercheck::pipeline::beam::Combine;
use countercheck::pipeline::reflection::{Group, Rule};
use countercheck::pipeline::segment::{Evidence, GenerateSegment, Token};
use countercheck::pipeline::self_rag::{Mode, SelfRagOptions, SelfRagWeights, When};
use countercheck::pipeline::verdict::Retrieval;

use crate::world::{World, ask, asks, candidate, good, number, of, opening, segment, token};
use crate::{by_relevance, close, segments, strategy};

const ALWAYS: SelfRagOptions = SelfRagOptions {
    mode: None,
    retrieval: Some(When::Always),
    delta: None,
    weights: None,
    rule: None,
    combine: None,
    beam_width: None,
    max_depth: None,
    hard_constraint: None,
    choices: None,
};

fn weighted(support: f64, usefulness: f64, sequence: bool) -> SelfRagOptions {
    let weights = SelfRagWeights {
        support: Some(support),
        usefulness: Some(usefulness),
        sequence: Some(sequence),
        ..SelfRagWeights::default()
    };
    SelfRagOptions { weights: Some(weights), mode: Some(Mode::Short), ..ALWAYS }
}

/// The two candidates of SR-1 and SR-4, with the mean log probability that each is to have.
fn sr_1_and_4(n: usize, mean: f64) -> Vec<Token> {
    let mut tokens = match n {
        1 => segment("One.", &[0.6, 0.2], &[0.5, 0.3, 0.2], &[0.6, 0.2, 0.1, 0.05, 0.05]),
        _ => segment("Four.", &[0.45, 0.05], &[0.1, 0.2, 0.1], &[0.4, 0.3, 0.2, 0.1, 0.0]),
    };
    let others: f64 = [0, 2, 3].iter().map(|&i| tokens[i].logprob.unwrap()).sum();
    tokens[1].logprob = Some(mean * 4.0 - others);
    tokens
}

/// The scores of both, and which is the answer.
fn both(options: SelfRagOptions) -> ([f64; 2], String) {
    let write =
        |task: &GenerateSegment| Ok(candidate(sr_1_and_4(number(task), if number(task) == 1 { -0.25 } else { -0.1 })));
    let (answer, _) = ask(World::new(2, &write), strategy(options));
    let scores: Vec<f64> = segments(&answer).iter().map(|segment| segment.2.unwrap()).collect();
    ([scores[0], scores[1]], answer.text)
}

fn same(found: [f64; 2], expected: [f64; 2]) -> bool {
    (0..2).all(|i| close(Some(found[i]), expected[i]))
}

#[test]
fn sr_1_to_6_n_06_scores_are_weighed_and_the_better_one_is_the_answer() {
    for (options, expected, text) in [
        (weighted(1.0, 0.5, false), [1.7125, 1.65], "One [1]."),
        (weighted(1.0, 0.5, true), [2.491_300_783, 2.554_837_418], "Four [1]."),
        (weighted(1.0, 1.0, false), [2.025, 1.9], "One [1]."),
        (weighted(2.0, 0.5, false), [2.3625, 2.15], "One [1]."),
    ] {
        let (scores, answer) = both(options.clone());
        assert!(same(scores, expected), "{scores:?} of {options:?}");
        assert_eq!(answer, text, "{options:?}");
    }
}

#[test]
fn sr_7_n_07_n_09_the_ideal_rule_counts_the_best_token_alone() {
    for (weight, expected) in [(1.0, [2.0, 1.5]), (2.0, [2.8, 1.8])] {
        let write = |task: &GenerateSegment| {
            let [rel, sup, use_] = if number(task) == 1 { [0.9, 0.8, 0.6] } else { [0.85, 0.3, 0.7] };
            let text = ["", "First.", "Second."][number(task)];
            Ok(candidate(segment(text, &[rel, 1.0 - rel], &[sup, 1.0 - sup], &[use_, 1.0 - use_])))
        };
        let options = SelfRagOptions { rule: Some(Rule::Ideal), ..weighted(weight, 0.5, false) };
        let (answer, _) = ask(World::new(2, &write), strategy(options));
        let scores: Vec<f64> = segments(&answer).iter().map(|s| s.2.unwrap()).collect();
        assert!(same([scores[0], scores[1]], expected), "{scores:?}");
        assert_eq!(answer.text, "First [1].");
    }
}

#[test]
fn sr_8_sr_9_what_is_missing_adds_nothing_and_what_is_alone_is_all() {
    let without = segment("One.", &[0.6, 0.2], &[], &[]);
    let alone = segment("One.", &[0.6, 0.2], &[0.4], &[]);
    for (tokens, expected) in [(without, 0.75), (alone, 1.75)] {
        let write = |_: &GenerateSegment| Ok(candidate(tokens.clone()));
        let (answer, _) = ask(World::new(1, &write), strategy(weighted(1.0, 0.5, false)));
        assert!(close(segments(&answer)[0].2, expected), "{:?}", segments(&answer));
        assert_eq!((answer.outcome, answer.reason, answer.useful), (Outcome::Partial, Some(Reason::Unchecked), None));
    }
}

/// In the long form the published code takes −100 for a probability.
#[test]
fn defect_6_sr_m_a_token_that_is_missing_is_improbable_and_no_number_in_a_sum() {
    let write = |_: &GenerateSegment| Ok(candidate(segment("One.", &[0.9], &[0.9, 0.1], &[])));
    let options = SelfRagOptions { retrieval: Some(When::Always), ..by_relevance() };
    let (answer, _) = ask(World::new(1, &write), strategy(options));
    assert!(close(segments(&answer)[0].2, 2.5), "{:?}", segments(&answer));
}

#[test]
fn sr_c_a_closed_set_is_decided_by_sums_and_an_open_question_by_the_best() {
    let votes = [("A", 1.9), ("B: the port", 2.0), ("a.", 1.2), ("c", 0.5), ("(B)", 0.0)];
    let write = |task: &GenerateSegment| {
        let (text, score) = votes[number(task) - 1];
        Ok(candidate(segment(text, &[score / 2.5, 1.0 - score / 2.5], &[1.0], &[1.0])))
    };
    let choices = ["90 days", "the port", "nothing"].map(str::to_owned).to_vec();
    let world = World::new(5, &write);
    let closed = SelfRagOptions { choices: Some(choices), retrieval: Some(When::Always), ..by_relevance() };
    let mut closed = strategy(closed);
    closed.k = 5;
    let (answer, log) = ask(world, closed);
    assert_eq!((answer.text.as_str(), answer.outcome), ("90 days [1]", Outcome::Answered), "A has 3.1");
    assert_eq!(answer.citations[0].passage_id, "d1", "the best of those that say A");
    assert_eq!(segments(&answer).iter().filter(|segment| segment.3).count(), 1);
    assert_eq!(log.written().len(), 5);
    let open = SelfRagOptions { mode: Some(Mode::Short), retrieval: Some(When::Always), ..by_relevance() };
    let mut open = strategy(open);
    open.k = 5;
    assert_eq!(ask(world, open).0.citations[0].passage_id, "d2", "B has the best score");
}

/// Two levels of a beam of two over three passages.
fn sr_b(combine: Combine) -> Vec<(u32, String, bool)> {
    let write = |task: &GenerateSegment| {
        let first = [2.2, 1.8, 0.9];
        let n = number(task);
        let (score, then) = match task.written.as_str() {
            "" => (first[n - 1], true),
            written if written.contains("of 1") => ([1.0, 1.5, 0.4][n - 1], false),
            _ => ([2.1, 1.0, 1.9][n - 1], false),
        };
        let text = if then { format!("of {n}.") } else { format!("then {n}.") };
        let mut tokens = segment(&text, &[score / 2.5, 1.0 - score / 2.5], &[1.0], &[1.0]);
        tokens.extend(then.then(asks));
        Ok(candidate(tokens))
    };
    let options = SelfRagOptions { combine: Some(combine), retrieval: Some(When::Always), ..by_relevance() };
    let (answer, _) = ask(World::new(3, &write), strategy(options));
    let segments: Vec<_> =
        segments(&answer).into_iter().map(|(level, id, _, kept)| (level, id.to_owned(), kept)).collect();
    assert_eq!(segments.len(), 9, "three, then two times three");
    segments
}

#[test]
fn sr_b_n_08_a_beam_of_two_keeps_other_answers_by_products_than_by_sums() {
    let kept = |combine| {
        let all = sr_b(combine);
        let at: Vec<usize> = (3..9).filter(|&i| all[i].2).collect();
        assert!(all[0].2 && all[1].2 && !all[2].2, "of the first level d1 and d2");
        at
    };
    // The second level: d1d1, d1d2, d1d3, d2d1, d2d2, d2d3.
    assert_eq!(kept(Combine::Product), [6, 8]);
    assert_eq!(kept(Combine::Sum), [4, 6], "of the tie the earlier");
}

#[test]
fn sr_n_a_negative_step_does_not_turn_the_order_round() {
    let write = |task: &GenerateSegment| {
        let (n, step) = (number(task), |score: f64| vec![0.5 + score / 5.0, 0.0, 0.0, 0.0, 0.5 - score / 5.0]);
        let score = match task.written.as_str() {
            "" => [2.2, 1.8][n - 1],
            written if written.contains("of 1") => [-0.2, -2.0][n - 1],
            _ => [-2.0, -0.1][n - 1],
        };
        let text = format!("{} {n}.", if task.written.is_empty() { "of" } else { "then" });
        let mut tokens = segment(&text, &[1.0], &[1.0], &step(score));
        tokens.extend(task.written.is_empty().then(asks));
        Ok(candidate(tokens))
    };
    let answered = |combine| {
        let weights =
            SelfRagWeights { relevance: Some(0.0), support: Some(0.0), usefulness: Some(2.5), sequence: Some(false) };
        let options = SelfRagOptions { combine: Some(combine), weights: Some(weights), ..ALWAYS };
        let (answer, _) = ask(World::new(2, &write), strategy(options));
        answer.citations.iter().map(|citation| citation.passage_id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(answered(Combine::Product), ["d2"], "−.18 against −.44: the worse beginning wins");
    assert_eq!(answered(Combine::Sum), ["d1"], "2.0 against 1.7");
}

/// The published code divides logarithms: it retrieves where it should not.
#[test]
fn defect_1_sr_d_n_11_retrieval_is_decided_by_probabilities() {
    let table = [
        (0.9, 0.1, true),
        (0.1, 0.9, false),
        (0.5, 0.5, true),
        (0.2, 0.7, true),
        (0.15, 0.85, false),
        (0.19, 0.76, false),
    ];
    for (yes, no, retrieves) in table {
        let write = |task: &GenerateSegment| match &task.evidence {
            Evidence::Undecided => Ok(opening(yes, no)),
            _ => Ok(candidate(good("Keys expire.", 0.9))),
        };
        let options = SelfRagOptions { mode: Some(Mode::Short), delta: Some(0.2), ..SelfRagOptions::default() };
        let (answer, log) = ask(World::new(1, &write), strategy(options));
        let expected = if retrieves { Retrieval::Yes } else { Retrieval::No };
        assert_eq!(answer.reflection.unwrap().retrieve, expected, "{yes} against {no}");
        assert_eq!(log.queries().len(), usize::from(retrieves), "{yes} against {no}");
    }
}

#[test]
fn sr_p_inside_an_answer_a_refusal_that_was_close_retrieves() {
    for (yes, no, proceed, goes_on) in [(0.1, 0.6, 0.3, true), (0.05, 0.9, 0.05, false), (0.02, 0.9, 0.5, true)] {
        let write = |task: &GenerateSegment| {
            let first = task.written.is_empty();
            let mut tokens = good(if first { "Keys expire." } else { "Rotate them." }, 0.9);
            if first {
                let refusal = [("[No Retrieval]", no), ("[Retrieval]", yes), ("[Continue to Use Evidence]", proceed)];
                tokens.extend([token(&refusal), token(&[("Unread.", 1.0)])]);
            }
            Ok(candidate(tokens))
        };
        let options = SelfRagOptions { retrieval: None, delta: Some(0.2), ..ALWAYS };
        let write_all = |task: &GenerateSegment| match &task.evidence {
            Evidence::Undecided => Ok(candidate(vec![of(Group::Retrieve, &[0.9, 0.1])])),
            _ => write(task),
        };
        let (answer, log) = ask(World::new(1, &write_all), strategy(options));
        let expected = if goes_on { "Keys expire [1]. Rotate them [1]." } else { "Keys expire. Unread [1]." };
        assert_eq!(answer.text, expected, "{yes} {no} {proceed}");
        assert_eq!(log.queries().len(), 1 + usize::from(goes_on));
    }
}
