//! The segment beam, the closed set, and the answer's text.

use countercheck::document::{Origin, Passage, Span};
use countercheck::pipeline::beam::{Beam, Combine, Node, Segment, compose, elect};

use crate::close;

fn node(parent: Option<usize>, passage: usize, score: f64, wants_more: bool) -> Node {
    let segment = Segment { text: format!("Segment {passage}."), passage, ..Segment::default() };
    Node { parent, score: Some(score), wants_more, segment }
}

fn names(beam: &Beam) -> Vec<(String, f64)> {
    let name = |&i: &usize| beam.path(i).iter().map(|s| format!("d{}", s.passage)).collect::<Vec<_>>().concat();
    beam.level().iter().map(|i| (name(i), beam.total(*i).unwrap())).collect()
}

/// SR-B: two levels of a beam of two.
fn sr_b(combine: Combine) -> Vec<(String, f64)> {
    let mut beam = Beam::new(2, combine);
    beam.grow(vec![node(None, 1, 2.2, true), node(None, 2, 1.8, true), node(None, 3, 0.9, true)]);
    let open = beam.open();
    assert_eq!(open.len(), 2);
    let level = |parent, scores: [f64; 3]| {
        (1..).zip(scores).map(move |(passage, score)| node(Some(parent), passage, score, false))
    };
    beam.grow(level(open[0], [1.0, 1.5, 0.4]).chain(level(open[1], [2.1, 1.0, 1.9])).collect());
    assert!(beam.open().is_empty());
    names(&beam)
}

fn same(found: &[(String, f64)], expected: &[(&str, f64)]) -> bool {
    found.len() == expected.len() && found.iter().zip(expected).all(|(f, e)| f.0 == e.0 && close(f.1, e.1))
}

#[test]
fn sr_b_products_and_sums_keep_different_answers() {
    let product = sr_b(Combine::Product);
    assert!(same(&product, &[("d2d1", 3.78), ("d2d3", 3.42)]), "{product:?}");
    let sum = sr_b(Combine::Sum);
    assert!(same(&sum, &[("d2d1", 3.9), ("d1d2", 3.7)]), "of the tie the earlier: {sum:?}");
}

/// A better beginning makes a product worse where a step is negative: sums do not turn round.
#[test]
fn sr_n_negative_steps_are_why_scores_are_added() {
    let last = |combine| {
        let mut beam = Beam::new(2, combine);
        beam.grow(vec![node(None, 1, 2.2, true), node(None, 2, 1.8, true)]);
        let open = beam.open();
        beam.grow(vec![node(Some(open[0]), 1, -0.2, false), node(Some(open[1]), 2, -0.1, false)]);
        names(&beam)
    };
    let product = last(Combine::Product);
    assert!(same(&product, &[("d2d2", -0.18), ("d1d1", -0.44)]), "{product:?}");
    let sum = last(Combine::default());
    assert!(same(&sum, &[("d1d1", 2.0), ("d2d2", 1.7)]), "{sum:?}");
}

/// The published code answers from the deepest level alone.
#[test]
fn defect_10_an_answer_that_was_complete_early_is_not_lost() {
    for combine in [Combine::Sum, Combine::Product] {
        let mut beam = Beam::new(2, combine);
        beam.grow(vec![node(None, 1, 2.4, false), node(None, 2, 1.8, true)]);
        let open = beam.open();
        beam.grow(vec![node(Some(open[0]), 1, 0.9, false)]);
        let best = beam.best().unwrap();
        assert_eq!(beam.path(best).len(), 1, "{combine:?}");
        assert!(close(beam.total(best).unwrap(), 2.4));
    }
}

#[test]
fn a_longer_answer_wins_where_its_segments_are_better_on_the_whole() {
    let mut beam = Beam::new(2, Combine::Sum);
    beam.grow(vec![node(None, 1, 2.0, false), node(None, 2, 1.8, true)]);
    beam.grow(vec![node(beam.open().first().copied(), 1, 2.3, false)]);
    assert_eq!(beam.path(beam.best().unwrap()).len(), 2, "a mean of 2.05 against 2.0");
}

#[test]
fn what_could_not_be_continued_stays_an_answer() {
    let mut beam = Beam::new(2, Combine::Sum);
    assert_eq!(beam.best(), None);
    beam.grow(vec![node(None, 1, 2.0, true)]);
    beam.grow(Vec::new());
    assert!(beam.open().is_empty());
    assert_eq!(beam.path(beam.best().unwrap()).len(), 1);
}

#[test]
fn a_segment_without_a_score_ranks_after_those_that_have_one() {
    let mut beam = Beam::new(2, Combine::Sum);
    let unscored = |passage| Node { score: None, ..node(None, passage, 0.0, false) };
    beam.grow(vec![unscored(1), node(None, 2, -1.5, false), unscored(3)]);
    let kept: Vec<usize> = beam.level().iter().map(|&i| beam.path(i)[0].passage).collect();
    assert_eq!(kept, [2, 1]);
}

#[test]
fn sr_c_a_closed_set_adds_the_scores_of_equal_answers() {
    let answers = [("A", Some(1.9)), ("B", Some(2.0)), (" a.", Some(1.2)), ("C", Some(0.5)), ("B", Some(-0.3))];
    assert_eq!(elect(&answers), Some(0), "A has 3.1");
    let mut open = Beam::new(1, Combine::Sum);
    open.grow(answers.iter().enumerate().map(|(i, (_, score))| node(None, i, score.unwrap(), false)).collect());
    assert_eq!(open.path(open.best().unwrap())[0].passage, 1, "an open answer is the best one: B");
    assert_eq!(elect(&[]), None);
    assert_eq!(elect(&[("A", None), ("B", Some(-2.0))]), Some(1));
}

fn passages() -> Vec<Passage> {
    let passage = |n: usize| Passage {
        id: format!("doc#{n}"),
        document: "doc".to_owned(),
        url: String::new(),
        title: "Doc".to_owned(),
        headings: Vec::new(),
        also: Vec::new(),
        span: Span { start: 0, end: 10 },
        text: "0123456789".to_owned(),
        origin: Origin::Local,
    };
    (0..3).map(passage).collect()
}

fn composed(segments: &[(&str, usize)]) -> (String, Vec<usize>) {
    let segments: Vec<Segment> = segments
        .iter()
        .map(|(text, passage)| Segment { text: (*text).to_owned(), passage: *passage, ..Segment::default() })
        .collect();
    let draft = compose(&segments.iter().collect::<Vec<_>>(), &passages());
    assert!(draft.quotes_from(&passages()));
    (draft.text, draft.quotes.iter().map(|quote| quote.passage).collect())
}

/// The published code numbers before it skips: "A [1]. B [3]." with two documents.
#[test]
fn defect_11_a_repeated_segment_leaves_no_gap_in_the_numbers() {
    assert_eq!(
        composed(&[("A.", 2), ("A.", 1), ("B.", 0), ("C.", 2)]),
        ("A [1]. B [2]. C [1].".to_owned(), vec![2, 0])
    );
}

/// The published code drops the last character, whatever it is.
#[test]
fn defect_12_a_segment_without_a_full_stop_keeps_its_last_letter() {
    assert_eq!(composed(&[("Keys expire", 0)]).0, "Keys expire [1]");
    assert_eq!(composed(&[("Is it 90 days?!", 0)]).0, "Is it 90 days [1]?!");
    assert_eq!(composed(&[("鍵は失効する。", 0)]).0, "鍵は失効する [1]。");
    assert_eq!(
        composed(&[("Run\n```sh\nrotate\n```", 0), ("Done.", 1)]).0,
        "Run\n```sh\nrotate\n```\n\n[1]\n\nDone [2]."
    );
}

#[test]
fn defect_15_an_empty_prediction_is_an_empty_draft() {
    assert_eq!(composed(&[]), (String::new(), vec![]));
    assert_eq!(composed(&[("", 1)]), (String::new(), vec![]));
}

#[test]
fn a_segment_that_was_cut_off_makes_a_draft_that_is() {
    let whole = Segment { text: "A.".to_owned(), ..Segment::default() };
    let cut = Segment { truncated: true, ..whole.clone() };
    assert!(compose(&[&whole, &cut], &passages()).truncated);
    assert!(!compose(&[&cut, &whole], &passages()).truncated);
}
