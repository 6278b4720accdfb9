//! The critique scores and the decision to retrieve.

use countercheck::pipeline::reflection::{
    Critique, FLOOR, Group, Rule, Weights, likeliest, retrieval, retrieval_within,
};
use countercheck::pipeline::segment::{Candidate, wants_passages, wants_passages_soon};

use crate::{close, token};

const SR_1: ([f64; 2], [f64; 3], [f64; 5]) = ([0.6, 0.2], [0.5, 0.3, 0.2], [0.6, 0.2, 0.1, 0.05, 0.05]);
const SR_4: ([f64; 2], [f64; 3], [f64; 5]) = ([0.45, 0.05], [0.1, 0.2, 0.1], [0.4, 0.3, 0.2, 0.1, 0.0]);

fn critique((relevance, support, usefulness): ([f64; 2], [f64; 3], [f64; 5]), mean: Option<f64>) -> Critique {
    Critique {
        relevance: Some(relevance.to_vec()),
        support: Some(support.to_vec()),
        usefulness: Some(usefulness.to_vec()),
        mean_logprob: mean,
    }
}

fn silent() -> Weights {
    Weights { sequence: false, ..Weights::default() }
}

fn appendix(critique: &Critique, weights: Weights) -> f64 {
    critique.score(Rule::Appendix, &weights).unwrap()
}

#[test]
fn n_03_tokens_are_spelled_as_the_checkpoints_spell_them() {
    assert_eq!(Group::Retrieve.tokens(), ["[Retrieval]", "[No Retrieval]", "[Continue to Use Evidence]"]);
    assert_eq!(Group::Relevance.tokens(), ["[Relevant]", "[Irrelevant]"]);
    assert_eq!(Group::Support.tokens(), ["[Fully supported]", "[Partially supported]", "[No support / Contradictory]"]);
    assert_eq!(Group::Usefulness.tokens(), ["[Utility:5]", "[Utility:4]", "[Utility:3]", "[Utility:2]", "[Utility:1]"]);
}

#[test]
fn sr_1_to_sr_6_scores_and_weights() {
    let score = |group: Group, p: &[f64]| group.score(Rule::Appendix, p).unwrap();
    let (relevance, support, usefulness) = SR_1;
    assert!(close(score(Group::Relevance, &relevance), 0.75), "SR-1");
    assert!(close(score(Group::Support, &support), 0.65), "SR-1");
    assert!(close(score(Group::Usefulness, &usefulness), 0.625), "SR-1");

    let heavy_use = Weights { usefulness: 1.0, ..silent() };
    let heavy_support = Weights { support: 2.0, ..silent() };
    let (first, second) = (critique(SR_1, None), critique(SR_4, None));
    let vectors = [
        ("SR-1", appendix(&first, silent()), 1.7125),
        ("SR-2", appendix(&critique(SR_1, Some(-0.25)), Weights::default()), 2.491_300_783),
        ("SR-3", appendix(&first, heavy_use), 2.025),
        ("SR-4", appendix(&second, silent()), 1.65),
        ("SR-5", appendix(&critique(SR_4, Some(-0.1)), Weights::default()), 2.554_837_418),
        ("SR-6", appendix(&first, heavy_support), 2.3625),
        ("SR-6", appendix(&second, heavy_support), 2.15),
    ];
    for (id, found, expected) in vectors {
        assert!((found - expected).abs() < 1e-9, "{id}: {found}, not {expected}");
    }
    assert!(vectors[0].1 > vectors[3].1, "SR-1 wins over SR-4");
    assert!(vectors[4].1 > vectors[1].1, "SR-5: with the segment's own probability SR-4 wins");
}

/// N-06, N-07, N-08, N-09: the example's numbers are the probabilities of the most desirable tokens.
#[test]
fn sr_7_n_09_the_worked_example_by_the_ideal_rule() {
    let example = |[relevant, fully, five]: [f64; 3]| Critique {
        relevance: Some(vec![relevant, 1.0 - relevant]),
        support: Some(vec![fully, (1.0 - fully) / 2.0, (1.0 - fully) / 2.0]),
        usefulness: Some(vec![five, 1.0 - five, 0.0, 0.0, 0.0]),
        mean_logprob: None,
    };
    let ideal = |critique: &Critique, support| critique.score(Rule::Ideal, &Weights { support, ..silent() }).unwrap();
    let (first, second) = (example([0.90, 0.80, 0.60]), example([0.85, 0.30, 0.70]));
    let found = [ideal(&first, 1.0), ideal(&second, 1.0), ideal(&first, 2.0), ideal(&second, 2.0)];
    for (found, expected) in found.into_iter().zip([2.0, 1.5, 2.8, 1.8]) {
        assert!(close(found, expected), "{found}, not {expected}");
    }
}

#[test]
fn n_07_the_rules_differ_where_a_lesser_value_is_worth_something() {
    // W45: equation 4 is the ideal rule; the appendix and the code weigh lesser values too.
    assert!(close(Group::Support.score(Rule::Ideal, &[0.5, 0.3, 0.2]).unwrap(), 0.5));
    assert!(close(Group::Usefulness.score(Rule::Ideal, &[0.6, 0.2, 0.1, 0.05, 0.05]).unwrap(), 0.6));
}

#[test]
fn n_08_default_weights() {
    assert_eq!(Weights::default(), Weights { relevance: 1.0, support: 1.0, usefulness: 0.5, sequence: true });
}

#[test]
fn sr_8_a_segment_without_support_and_usefulness_has_its_relevance() {
    let critique = Critique::of(&[token(&[("[Relevant]", 0.6), ("[Irrelevant]", 0.2)]), token(&[("Yes", 0.9)])]);
    assert_eq!((critique.support.clone(), critique.usefulness.clone()), (None, None));
    assert!(close(appendix(&critique, silent()), 0.75));
}

#[test]
fn sr_9_a_support_token_alone_in_the_list_is_certain() {
    let p = Group::Support.read(&token(&[("[Fully supported]", 0.3), (" the", 0.7)])).unwrap();
    assert!(close(Group::Support.score(Rule::Appendix, &p).unwrap(), 1.0));
}

/// The published long form takes the floor for a number: 0.9 / (0.9 − 100).
#[test]
fn sr_m_defect_6_a_missing_relevance_token_is_a_floor_and_no_number() {
    let p = Group::Relevance.read(&token(&[("[Relevant]", 0.9)])).unwrap();
    assert!(close(p[1], libm::exp(FLOOR)) && p[1] > 0.0);
    assert!(close(Group::Relevance.score(Rule::Appendix, &p).unwrap(), 1.0));
}

#[test]
fn what_is_not_listed_has_no_score_and_that_is_not_zero() {
    assert_eq!(Group::Relevance.read(&token(&[("The", 0.9)])), None);
    let critique = Critique::of(&[token(&[("The", 0.9)]), token(&[("[Fully supported]", 0.9)])]);
    assert_eq!(critique.score(Rule::Appendix, &silent()), None);
    assert_eq!(Critique::of(&[]).score(Rule::Appendix, &Weights::default()), None);
    let unknown = Critique { relevance: Some(vec![0.5, 0.5]), ..Critique::default() };
    assert_eq!(unknown.score(Rule::Appendix, &Weights::default()), None, "its own probability is not known");
    assert_eq!(Group::Support.score(Rule::Appendix, &[0.0, 0.0, 0.0]), None);
}

/// Relevance is read where the segment begins, support at the first token of its group.
#[test]
fn scores_are_read_at_their_positions() {
    let tokens = [
        token(&[("[Relevant]", 0.8), ("[Irrelevant]", 0.2)]),
        token(&[("Text", 1.0), ("[Fully supported]", 0.001)]),
        token(&[("[Partially supported]", 0.5), ("[Fully supported]", 0.25), ("[No support / Contradictory]", 0.25)]),
        token(&[("[Fully supported]", 1.0)]),
        token(&[("[Utility:4]", 0.5), ("[Utility:5]", 0.5)]),
    ];
    let Critique { relevance, support, usefulness, .. } = Critique::of(&tokens);
    assert!(close(Group::Relevance.score(Rule::Appendix, &relevance.unwrap()).unwrap(), 0.8));
    assert!(close(Group::Support.score(Rule::Appendix, &support.unwrap()).unwrap(), 0.5));
    assert!(close(Group::Usefulness.score(Rule::Appendix, &usefulness.unwrap()).unwrap(), 0.75));
}

/// The published long form looks for usefulness among three support tokens, and never finds any.
#[test]
fn defect_7_usefulness_has_five_values_and_counts() {
    let p = Group::Usefulness.read(&token(&[("[Utility:5]", 0.9), ("[Utility:1]", 0.1)])).unwrap();
    assert_eq!(p.len(), 5);
    assert!(close(Group::Usefulness.score(Rule::Appendix, &p).unwrap(), 0.8));
}

/// The published long form never hands its flag to the step that scores.
#[test]
fn defect_8_the_segments_own_probability_counts_when_asked_to() {
    let tokens = [token(&[("[Relevant]", 0.5), ("[Irrelevant]", 0.5)]), token(&[("Yes", 0.5)])];
    let critique = Critique::of(&tokens);
    let difference = appendix(&critique, Weights::default()) - appendix(&critique, silent());
    assert!(close(difference, 0.5), "exp of the mean of two ln ½: {difference}");
}

/// N-11: δ is compared with the normalised probability; lower δ, more retrieval.
#[test]
fn sr_d_defect_1_retrieval_divides_probabilities_and_not_their_logarithms() {
    let rows = [
        (0.9, 0.1, true),
        (0.1, 0.9, false),
        (0.5, 0.5, true),
        (0.2, 0.7, true),
        (0.15, 0.85, false),
        (0.19, 0.76, false),
    ];
    for (yes, no, expected) in rows {
        let opening = |first: &str, other: &str, p, q| Candidate {
            text: first.to_owned(),
            tokens: vec![token(&[(first, p), (other, q)])],
            ..Candidate::default()
        };
        let opening = if yes > no {
            opening("[Retrieval]", "[No Retrieval]", yes, no)
        } else {
            opening("[No Retrieval]", "[Retrieval]", no, yes)
        };
        assert_eq!(wants_passages(&opening, Some(0.2)), expected, "{yes} to {no}");
        assert_eq!(retrieval(&[yes, no, 0.0]).unwrap() > 0.2, expected, "{yes} to {no}");
    }
    let wanted = |delta: f64| rows.iter().filter(|(yes, no, _)| retrieval(&[*yes, *no, 0.0]).unwrap() > delta).count();
    assert_eq!([0.0, 0.2, 0.5, 0.9].map(wanted), [6, 3, 1, 0]);
}

#[test]
fn sr_p_inside_a_long_answer_going_on_counts_above_the_line() {
    // The third row is no distribution; it is normalised as the formula says.
    let rows = [([0.1, 0.6, 0.3], 0.5714, true), ([0.05, 0.9, 0.05], 0.1053, false), ([0.02, 0.9, 0.5], 0.5652, true)];
    for (p, expected, wanted) in rows {
        let share = retrieval_within(&p).unwrap();
        assert!((share - expected).abs() < 5e-5, "{share}, not {expected}");
        assert_eq!(share > 0.2, wanted);
    }
    assert_eq!(retrieval_within(&[0.0, 0.0, 1.0]), None);
}

#[test]
fn defect_3_a_missing_retrieval_token_is_a_floor() {
    let opening = |probabilities: &[(&str, f64)]| Candidate {
        text: probabilities[0].0.to_owned(),
        tokens: vec![token(probabilities)],
        ..Candidate::default()
    };
    assert!(wants_passages(&opening(&[("[Retrieval]", 0.3), ("It", 0.2)]), Some(0.2)));
    assert!(!wants_passages(&opening(&[("[No Retrieval]", 0.3), ("It", 0.2)]), Some(0.2)));
    assert!(wants_passages(&opening(&[("It", 1.0)]), Some(0.2)), "what cannot be told is answered from passages");
    assert!(!wants_passages_soon(&opening(&[("It", 1.0)]), Some(0.2)));
}

/// N-11: without δ the model's own token decides.
#[test]
fn defect_4_without_a_threshold_the_token_that_was_written_decides() {
    let opening = |first: &str| Candidate {
        text: first.to_owned(),
        tokens: vec![token(&[(first, 0.4), ("[Retrieval]", 0.39), ("[No Retrieval]", 0.39)])],
        ..Candidate::default()
    };
    assert!(wants_passages(&opening("[Retrieval]"), None) && wants_passages_soon(&opening("[Retrieval]"), None));
    assert!(!wants_passages(&opening("[No Retrieval]"), None));
    assert!(!wants_passages_soon(&opening("[No Retrieval]"), None));
}

/// The long form looks at 25 tokens, not at the first alone.
#[test]
fn a_long_answer_may_ask_for_passages_a_little_later() {
    let opening = |at: usize, yes: f64| {
        let mut tokens = vec![token(&[("word", 1.0)]); at];
        tokens.push(token(&[("[Retrieval]", yes), ("[No Retrieval]", 1.0 - yes)]));
        let text = tokens.iter().map(|token| token.text.as_str()).collect();
        Candidate { text, tokens, ..Candidate::default() }
    };
    assert!(wants_passages_soon(&opening(24, 0.6), Some(0.2)));
    assert!(!wants_passages_soon(&opening(25, 0.6), Some(0.2)), "too late");
    assert!(!wants_passages_soon(&opening(3, 0.6), Some(0.7)), "not firmly enough");
}

#[test]
fn n_10_a_contradicted_segment_is_known_as_such() {
    let supported = |p: [f64; 3]| Critique { support: Some(p.to_vec()), ..Critique::default() };
    assert!(supported([0.2, 0.2, 0.6]).is_unsupported());
    assert!(!supported([0.4, 0.2, 0.4]).is_unsupported(), "of equals the more desirable");
    assert!(!Critique::default().is_unsupported());
    assert_eq!(likeliest(&[]), None);
}
