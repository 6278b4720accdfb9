//! From scores to decisions: CR-* are vectors of the published code of CRAG (maximum rule, thresholds of
//! its data sets), G-* seeds of the article that goes by the average.

use countercheck::pipeline::decision::{Decision, Domain, Grading, Rule, Thresholds};
use countercheck::pipeline::strategy::{Options, Strategy, StrategyError};
use countercheck::pipeline::task::Grade;
use countercheck::pipeline::verdict::{Scale, Verdict};

use Decision::{Ambiguous, Correct, Incorrect};

fn by(rule: Rule, (upper, lower): (f64, f64), keep: f64) -> Grading {
    Grading { thresholds: Thresholds { upper, lower, keep }, ..Grading::by(rule) }
}

#[test]
fn the_maximum_rule_decides_as_the_published_code() {
    const POP_QA: (f64, f64) = (0.592, -0.995);
    const PUB_HEALTH: (f64, f64) = (0.5, -0.915);
    type Vector = (&'static str, &'static [f64], (f64, f64), Decision);
    let vectors: [Vector; 9] = [
        ("CR-1", &[0.6, -1.0, -1.0], POP_QA, Correct),
        ("CR-2", &[0.5919, -0.999, -1.0], POP_QA, Ambiguous),
        ("CR-3", &[-0.996, -1.0, -0.9951], POP_QA, Incorrect),
        ("CR-4", &[-0.995, -1.0], POP_QA, Ambiguous),
        ("CR-5", &[0.592], POP_QA, Correct),
        ("CR-6", &[-1.0; 10], POP_QA, Incorrect),
        ("CR-7", &[0.49, -0.5], PUB_HEALTH, Ambiguous),
        ("CR-8", &[-0.92, -0.93], PUB_HEALTH, Incorrect),
        ("CR-9", &[0.94, -1.0], (0.95, -0.91), Ambiguous),
    ];
    for (id, scores, thresholds, decision) in vectors {
        assert_eq!(by(Rule::Max, thresholds, -0.5).decide(scores), decision, "{id}");
    }
}

#[test]
fn average_and_maximum_part_where_the_table_says() {
    // G-02: strictly above 0.7 correct, strictly above 0.3 ambiguous, nothing at all incorrect.
    let table: [(&[f64], Decision, Decision); 9] = [
        (&[1.0, 0.0, 0.0, 0.0], Incorrect, Correct),
        (&[1.0, 0.2, 0.2], Ambiguous, Correct),
        (&[0.9, 0.9, 0.2, 0.1], Ambiguous, Correct),
        (&[0.7], Ambiguous, Correct),
        (&[0.7, 0.7, 0.7], Ambiguous, Correct),
        (&[0.71], Correct, Correct),
        (&[0.3], Incorrect, Ambiguous),
        (&[0.31], Ambiguous, Ambiguous),
        (&[], Incorrect, Incorrect),
    ];
    for (scores, average, max) in table {
        assert_eq!(Grading::by(Rule::Average).decide(scores), average, "average of {scores:?}");
        assert_eq!(Grading::by(Rule::Max).decide(scores), max, "maximum of {scores:?}");
    }
}

#[test]
fn equal_scores_average_to_themselves() {
    // As floats six times 0.7 average to more than 0.7, and three times to less.
    for n in 1..=50 {
        for (score, decision) in [(0.7, Ambiguous), (0.3, Incorrect)] {
            assert_eq!(Grading::by(Rule::Average).decide(&vec![score; n]), decision, "{n} times {score}");
        }
    }
}

#[test]
fn g_19_a_domain_has_its_own_thresholds_and_number_of_relevant_passages() {
    let profiles = [
        (Domain::Medical, 0.85, 0.50, 2),
        (Domain::Legal, 0.80, 0.45, 2),
        (Domain::General, 0.70, 0.30, 1),
        (Domain::Ecommerce, 0.60, 0.25, 1),
    ];
    for (domain, upper, lower, min_relevant) in profiles {
        let options = Options { domain: Some(domain), ..Options::default() };
        let strategy = Strategy::corrective_scored().with(options).expect("it goes by scores");
        let grading = strategy.grading.expect("it grades");
        assert_eq!(grading.thresholds, Thresholds { upper, lower, keep: 0.5 }, "{domain:?}");
        assert_eq!(grading.min_relevant, min_relevant, "{domain:?}");
        let above = upper + 0.01;
        let alone = if min_relevant == 1 { Correct } else { Ambiguous };
        assert_eq!(grading.decide(&[above]), alone, "{domain:?}: one passage");
        assert_eq!(grading.decide(&[above, above]), Correct, "{domain:?}: two passages");
        assert_eq!(grading.decide(&[lower + 0.01]), Ambiguous, "{domain:?}");
        assert_eq!(grading.decide(&[lower]), Incorrect, "{domain:?}");
    }
}

#[test]
fn g_17_a_passage_is_relevant_strictly_above_one_half() {
    let grading = Grading::by(Rule::Average);
    let judge = |score| grading.judge(Grade { verdict: Verdict::Unknown, score });
    for (score, verdict) in [(0.51, Verdict::Yes), (0.5, Verdict::No), (0.0, Verdict::No), (1.0, Verdict::Yes)] {
        assert_eq!(judge(Some(score)), Grade { verdict, score: Some(score) }, "{score}");
    }
    // W17: what a cross-encoder gives may be logits. W08: and a model may give anything.
    for score in [None, Some(f64::NAN), Some(f64::INFINITY), Some(1.7), Some(-0.2), Some(8.0)] {
        assert_eq!(judge(score), Grade::default(), "{score:?}");
    }
}

#[test]
fn a_rule_and_a_batch_need_grades_and_a_domain_scores() {
    let rule = |rule| Options { rule: Some(rule), ..Options::default() };
    let domain = Options { domain: Some(Domain::Legal), ..Options::default() };
    let none = |option| Err(StrategyError::NoGrades { strategy: "naive", option });
    assert_eq!(Strategy::naive().with(rule(Rule::Max)), none("rule"));
    let batch = |batch| Options { batch: Some(batch), ..Options::default() };
    assert_eq!(Strategy::naive().with(batch(true)), none("batch"));
    assert_eq!(Strategy::naive().with(batch(false)), Ok(Strategy::naive()));
    let batched = |strategy: Strategy| strategy.grading.map(|grading| grading.batched);
    for given in [true, false] {
        assert_eq!(Strategy::corrective().with(batch(given)).map(batched), Ok(Some(given)));
        let scored = Strategy::corrective_scored().in_batches().with(batch(given)).map(batched);
        assert_eq!(scored, Ok(Some(given)), "what is said last holds");
    }
    assert_eq!(Strategy::corrective().with(Options::default()).map(batched), Ok(Some(false)));
    assert_eq!(Strategy::corrective().with(domain), Err(StrategyError::NoScores));
    let scored = Strategy::corrective().with(rule(Rule::Max)).expect("corrective grades");
    assert_eq!(scored.grading.map(|grading| grading.scale()), Some(Scale::Graded));
    let legal = Strategy::corrective().with(Options { domain: Some(Domain::Legal), ..rule(Rule::Average) });
    assert_eq!(legal.expect("it has scores").grading.map(|grading| grading.min_relevant), Some(2));
}
