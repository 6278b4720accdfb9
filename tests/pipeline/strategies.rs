//! What the presets without checks do and leave out. C-* are seeds.

use countercheck::pipeline::answer::{Outcome, Reason};
use countercheck::pipeline::budget::Limits;
use countercheck::pipeline::run::Effect;
use countercheck::pipeline::strategy::Strategy;
use countercheck::pipeline::task::Draft;

use crate::model_calls;
use crate::support::{Script, run, run_logged};

#[test]
fn naive_generates_from_all_that_was_retrieved_and_checks_nothing() {
    let answer = run(&Script { grades: "IIII", ..Script::default() }, Strategy::naive()).expect("an answer");
    assert_eq!((answer.outcome, answer.grounded, answer.useful), (Outcome::Answered, None, None));
    assert_eq!((model_calls(answer.calls), answer.sources.len(), answer.calls.web), (1, 4, 0));
}

#[test]
fn corrective_grades_looks_up_what_is_missing_and_checks_nothing() {
    // C-22: a grade for each passage before the one draft. C-07 and C-17: one rejection is enough for
    // the web; C-20: the sources are what was given, web results after the relevant passages. W14: they come
    // with flags and counts.
    for (grades, web, used, sources) in [
        ("RRRR", Some(Ok(2)), false, vec!["doc#0", "doc#1", "doc#2", "doc#3"]),
        ("RRIR", Some(Ok(2)), true, vec!["doc#0", "doc#1", "doc#3", "doc#1000", "doc#1001"]),
        ("IIII", Some(Ok(1)), true, vec!["doc#1000"]),
        ("", Some(Ok(1)), true, vec!["doc#1000"]),
        ("RIII", Some(Ok(0)), false, vec!["doc#0"]),
        ("RIII", Some(Err(())), false, vec!["doc#0"]),
        ("RIII", None, false, vec!["doc#0"]),
        ("?RRR", Some(Ok(1)), false, vec!["doc#1", "doc#2", "doc#3", "doc#0"]),
    ] {
        let (answer, log) =
            run_logged(&Script { grades, web, ..Script::default() }, Strategy::corrective(), Limits::default());
        let answer = answer.expect("an answer");
        let again = grades.matches('?').count();
        assert_eq!(answer.calls.grade as usize, grades.len() + again, "{grades}");
        assert_eq!(model_calls(answer.calls), answer.calls.grade + 1, "{grades}: no checks");
        assert_eq!((answer.outcome, answer.grounded, answer.useful), (Outcome::Answered, None, None), "{grades}");
        assert_eq!(answer.sources.iter().map(|s| s.passage_id.as_str()).collect::<Vec<_>>(), sources, "{grades}");
        assert_eq!(answer.web_search_used, used, "{grades}, {web:?}");
        let query = |e: &Effect| if let Effect::SearchWeb { query, .. } = e { Some(query.clone()) } else { None };
        let queries: Vec<String> = log.effects.iter().filter_map(query).collect();
        assert!(queries.iter().all(|query| query == "What are the steps of RAG?"), "the question itself: {queries:?}");
        assert_eq!(queries.len(), usize::from(grades.contains('I') || grades.is_empty()), "{grades}");
    }
}

#[test]
fn corrective_abstains_from_what_it_could_not_correct() {
    for (grades, web, reason) in [
        ("IIII", None, Reason::Irrelevant),
        ("IIII", Some(Ok(0)), Reason::Irrelevant),
        ("IIII", Some(Err(())), Reason::WebFailed),
        ("", None, Reason::NoDocuments),
    ] {
        let answer = run(&Script { grades, web, ..Script::default() }, Strategy::corrective()).expect("an answer");
        assert_eq!((answer.outcome, answer.reason), (Outcome::Abstained, Some(reason)), "C-01: {grades}, {web:?}");
        assert_eq!(answer.calls.generate, 0, "{grades}, {web:?}");
    }
    let draft = Draft { text: "Half a sent".to_owned(), truncated: true, quotes: Vec::new() };
    let answer = run(&Script { drafts: vec![draft], ..Script::default() }, Strategy::corrective()).expect("an answer");
    assert_eq!((answer.outcome, answer.reason), (Outcome::Partial, Some(Reason::Truncated)));
}
