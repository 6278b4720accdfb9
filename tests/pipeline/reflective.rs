//! `self-rag-prompted`: four decisions put to a model as questions. G-* are seeds, W* known weaknesses of
//! the article's code.

use countercheck::pipeline::answer::{Answer, Outcome, Reason};
use countercheck::pipeline::budget::Limits;
use countercheck::pipeline::run::Effect;
use countercheck::pipeline::strategy::{OnExhaustion, Options, Strategy};
use countercheck::pipeline::task::Task;
use countercheck::pipeline::trace::Event;
use countercheck::pipeline::verdict::{Retrieval, Support, Verdict};

use crate::support::{Log, Script, run_logged};

fn ask(script: &Script) -> (Answer, Log) {
    let (answer, log) = run_logged(script, Strategy::self_rag_prompted(), Limits::default());
    (answer.expect("an answer"), log)
}

/// Of each request for a draft: how many passages it has, how many drafts were rejected, strict or not.
fn drafts(log: &Log) -> Vec<(usize, usize, bool)> {
    let draft = |e: &Effect| match e {
        Effect::Ask(Task::Generate(task)) => Some((task.passages.len(), task.rejected.len(), task.strict)),
        _ => None,
    };
    log.effects.iter().filter_map(draft).collect()
}

#[test]
fn g_16_the_example_of_the_article_is_told_step_by_step() {
    let (answer, log) = ask(&Script { grades: "RI", useful: "4", ..Script::default() });
    assert_eq!((answer.outcome, answer.grounded, answer.useful), (Outcome::Answered, Some(true), Some(true)));
    let reflection = answer.reflection.expect("G-09: what was reflected on");
    assert_eq!((reflection.retrieve, reflection.support), (Retrieval::Yes, Some(Support::Fully)));
    assert_eq!(reflection.usefulness, Some(4));
    let relevance: Vec<_> = reflection.relevance.iter().map(|r| (r.passage_id.as_str(), r.verdict)).collect();
    assert_eq!(relevance, [("doc#0", Verdict::Yes), ("doc#1", Verdict::No)], "G-12");
    let names: Vec<&str> = answer.trace.iter().map(Event::name).collect();
    assert_eq!(names.join(" "), "decide-retrieval retrieve grade grade decide draft-start check check");
    assert_eq!((drafts(&log), answer.calls.decide, answer.calls.web), (vec![(1, 0, false)], 1, 0));
}

#[test]
fn g_15_only_no_support_and_a_rating_below_three_ask_for_a_strict_draft() {
    // Support and ratings as they come; drafts, flags and reason of the answer.
    let (yes, no) = (Some(true), Some(false));
    let table = [
        ("y", "3", 1, (yes, yes), None),
        ("y", "5", 1, (yes, yes), None),
        ("ny", "4", 2, (yes, yes), None),
        ("y", "24", 2, (yes, yes), None),
        ("y", "1", 2, (yes, no), Some(Reason::NotUseful)),
        ("n", "5", 2, (no, None), Some(Reason::Ungrounded)),
        // W12: the article takes partial support in silence; here it is no new draft, but no grounding.
        ("p", "4", 1, (no, yes), Some(Reason::Ungrounded)),
        ("p", "2", 2, (no, no), Some(Reason::Ungrounded)),
        // An undecided check is no reason to write again.
        ("?", "5", 1, (None, None), Some(Reason::Unchecked)),
        ("y", "?", 1, (yes, None), Some(Reason::Unchecked)),
        // W10: no rating.
        ("y", "9", 1, (yes, None), Some(Reason::Unchecked)),
        ("y", "0", 1, (yes, None), Some(Reason::Unchecked)),
    ];
    for (grounded, useful, attempts, flags, reason) in table {
        let (answer, log) = ask(&Script { grounded, useful, ..Script::default() });
        assert_eq!(answer.attempts, attempts, "{grounded}, {useful}");
        assert_eq!((answer.grounded, answer.useful), flags, "{grounded}, {useful}");
        assert_eq!(answer.reason, reason, "{grounded}, {useful}");
        // W11: the second draft goes through the same checks; it is told what was wrong with the first.
        let expected = [(4, 0, false), (4, 1, true)];
        assert_eq!(drafts(&log), &expected[..attempts as usize], "{grounded}, {useful}");
        assert_eq!(answer.calls.web, 0, "{grounded}, {useful}: there is no web in it");
    }
}

#[test]
fn the_better_of_two_failed_drafts_is_returned_unless_the_last_is_asked_for() {
    let script = Script { grounded: "yn", useful: "2", ..Script::default() };
    let (answer, _) = ask(&script);
    assert_eq!((answer.text.as_str(), answer.grounded, answer.useful), ("Draft 0 [1]", Some(true), Some(false)));
    let reflection = answer.reflection.expect("a reflection");
    assert_eq!((reflection.support, reflection.usefulness), (Some(Support::Fully), Some(2)), "its own");
    let last = Options { on_exhaustion: Some(OnExhaustion::Last), ..Options::default() };
    let strategy = Strategy::self_rag_prompted().with(last).expect("good options");
    let answer = run_logged(&script, strategy, Limits::default()).0.expect("an answer");
    assert_eq!((answer.text.as_str(), answer.grounded, answer.useful), ("Draft 1 [1]", Some(false), None));
    let reflection = answer.reflection.expect("a reflection");
    assert_eq!((reflection.support, reflection.usefulness), (Some(Support::None), None), "no stale rating");
}

#[test]
fn g_11_a_question_that_needs_no_documents_gets_an_answer_that_says_so() {
    let (answer, log) = ask(&Script { retrieve: Retrieval::No, drafts: vec![plain("Hello.")], ..Script::default() });
    assert_eq!(log.effects.len(), 2, "one decision, one draft: {:?}", log.effects);
    assert_eq!(drafts(&log), [(0, 0, false)]);
    // W13: the article returns it unchecked and without a label.
    assert_eq!((answer.outcome, answer.reason), (Outcome::Partial, Some(Reason::Unchecked)));
    assert_eq!((answer.grounded, answer.useful, answer.sources.len()), (None, None, 0));
    assert_eq!(answer.warnings[0].code, "no_retrieval");
    assert_eq!(answer.reflection.map(|r| (r.retrieve, r.support)), Some((Retrieval::No, None)));
}

#[test]
fn g_11_whatever_else_is_said_is_looked_up() {
    for retrieve in [Retrieval::Yes, Retrieval::Continue, Retrieval::Unknown] {
        let (answer, _) = ask(&Script { retrieve, ..Script::default() });
        assert_eq!((answer.outcome, answer.calls.retrieve), (Outcome::Answered, 1), "{retrieve:?}");
        assert_eq!(answer.reflection.map(|r| r.retrieve), Some(retrieve), "W13: {retrieve:?} is told");
    }
}

#[test]
fn g_15_without_a_relevant_passage_there_is_no_draft() {
    let (answer, log) = ask(&Script { grades: "IIII", ..Script::default() });
    assert_eq!((answer.outcome, answer.reason), (Outcome::Abstained, Some(Reason::Irrelevant)));
    assert_eq!((drafts(&log).len(), answer.calls.web), (0, 0));
    let reflection = answer.reflection.expect("a reflection");
    assert_eq!((reflection.relevance.len(), reflection.support), (4, None));
}

#[test]
fn a_draft_without_documents_cites_nothing() {
    let (result, _) = run_logged(
        &Script { retrieve: Retrieval::No, ..Script::default() },
        Strategy::self_rag_prompted(),
        Limits::default(),
    );
    assert!(result.is_err(), "a quote of nothing is no quote: {result:?}");
}

fn plain(text: &str) -> countercheck::pipeline::task::Draft {
    countercheck::pipeline::task::Draft { text: text.to_owned(), ..Default::default() }
}
