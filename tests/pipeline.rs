//! The path from question to answer under a scripted world. LP-* are the loop vectors of the
//! published tutorial at k = 4 and two retries: the counts of calls are arithmetic on its code.

#[path = "pipeline/budget.rs"]
mod budget;
#[path = "pipeline/countercheck.rs"]
mod countercheck_preset;
#[path = "pipeline/reflective.rs"]
mod reflective;
#[path = "pipeline/scored.rs"]
mod scored;
#[path = "pipeline/speculation.rs"]
mod speculation;
#[path = "pipeline/strategies.rs"]
mod strategies;
mod support;

use countercheck::document::{Hit, Origin, Span};
use countercheck::pipeline::answer::{Answer, Outcome, Question, QuestionError, Reason, RunError};
use countercheck::pipeline::budget::{Calls, Limits};
use countercheck::pipeline::run::{Effect, Outcome as EffectOutcome, Reply, Run, Step};
use countercheck::pipeline::strategy::{OnExhaustion, Options, Strategy, StrategyError};
use countercheck::pipeline::task::{Draft, Failure, Quote, Task};
use countercheck::pipeline::trace::Event;
use countercheck::pipeline::verdict::{Check, Verdict};
use support::{Script, run, run_logged};

fn ask(script: &Script) -> Answer {
    run(script, Strategy::self_reflective()).expect("an answer")
}

fn model_calls(calls: Calls) -> u32 {
    calls.grade + calls.generate + calls.grounding + calls.usefulness
}

#[test]
fn the_loop_vectors_of_the_tutorial_hold() {
    let (yes, no) = (Some(true), Some(false));
    let script = Script::default;
    // id, script, attempts, model calls, web searches, grounded and useful, reason
    let vectors = [
        ("LP-1", script(), 1, 7, 0, (yes, yes), None),
        ("LP-2", Script { grades: "RRIR", ..script() }, 1, 7, 1, (yes, yes), None),
        ("LP-3", Script { grounded: "ny", ..script() }, 2, 9, 0, (yes, yes), None),
        // W20: nothing was ever grounded, so nothing was ever judged useful.
        ("LP-4", Script { grounded: "n", ..script() }, 3, 10, 0, (no, None), Some(Reason::Ungrounded)),
        // W23: no search after the last attempt.
        ("LP-5", Script { useful: "n", ..script() }, 3, 13, 2, (yes, no), Some(Reason::NotUseful)),
        // W21: the first attempt is the best, with its own flags.
        ("LP-6", Script { grounded: "yn", useful: "n", ..script() }, 3, 11, 1, (yes, no), Some(Reason::NotUseful)),
    ];
    for (id, script, attempts, calls, web, flags, reason) in vectors {
        let answer = ask(&script);
        assert_eq!(
            (answer.attempts, model_calls(answer.calls), answer.calls.web),
            (attempts, calls, web),
            "{id}: calls"
        );
        assert_eq!((answer.grounded, answer.useful, answer.reason), (flags.0, flags.1, reason), "{id}");
        assert_eq!(answer.outcome == Outcome::Answered, reason.is_none(), "{id}: outcome");
    }
}

#[test]
fn lp_6_returns_the_text_of_the_first_attempt() {
    let answer = ask(&Script { grounded: "yn", useful: "n", ..Script::default() });
    assert_eq!(answer.text, "Draft 0 [1]");
}

#[test]
fn lp_7_nothing_retrieved_and_no_web_abstains() {
    // W25: from nothing, nothing is written.
    let answer = ask(&Script { grades: "", web: None, ..Script::default() });
    assert_eq!((answer.outcome, answer.reason), (Outcome::Abstained, Some(Reason::NoDocuments)));
    assert_eq!((answer.calls.generate, answer.text.as_str()), (0, ""));
}

#[test]
fn lp_7_nothing_retrieved_is_looked_up_on_the_web() {
    let answer = ask(&Script { grades: "", web: Some(Ok(2)), ..Script::default() });
    assert_eq!((answer.outcome, answer.web_search_used, answer.sources.len()), (Outcome::Answered, true, 2));
}

#[test]
fn lp_8_options_out_of_range_are_refused() {
    // W39: a negative number of retries is none of the type, see vectors.json.
    let strategy = || Strategy::self_reflective();
    assert_eq!(
        strategy().with(Options { max_retries: Some(5), ..Options::default() }),
        Err(StrategyError::MaxRetries { max_retries: 5 })
    );
    assert_eq!(strategy().with(Options { k: Some(0), ..Options::default() }), Err(StrategyError::K { k: 0 }));
    assert_eq!(
        strategy().with(Options { k: Some(1_000_000_000), ..Options::default() }),
        Err(StrategyError::K { k: 1_000_000_000 })
    );
    assert_eq!(
        strategy()
            .with(Options { k: Some(50), max_retries: Some(4), ..Options::default() })
            .map(|s| (s.k, s.max_retries)),
        Ok((50, 4))
    );
    assert!(
        Strategy::named("crag").expect_err("no such preset").to_string().contains("naive, corrective, self-reflective")
    );
}

#[test]
fn a_question_is_neither_blank_nor_endless() {
    assert_eq!(Question::new(" \n\t"), Err(QuestionError::Empty));
    assert_eq!(Question::new(&"x".repeat(100_000)), Err(QuestionError::TooLong { bytes: 100_000 }));
    assert_eq!(Question::new("  why? ").expect("fine").as_str(), "why?");
}

#[test]
fn without_a_web_search_the_relevant_passages_must_do() {
    let answer = ask(&Script { grades: "RIRI", web: None, ..Script::default() });
    assert_eq!((answer.outcome, answer.sources.len(), answer.web_search_used), (Outcome::Answered, 2, false));
    assert_eq!(answer.warnings.iter().map(|w| w.code.as_str()).collect::<Vec<_>>(), ["web_not_configured"]);
}

#[test]
fn nothing_relevant_and_no_web_abstains_without_a_draft() {
    let answer = ask(&Script { grades: "IIII", web: None, ..Script::default() });
    assert_eq!(
        (answer.outcome, answer.reason, answer.calls.generate),
        (Outcome::Abstained, Some(Reason::Irrelevant), 0)
    );
    assert_eq!(answer.verdicts.len(), 4);
}

#[test]
fn nothing_relevant_and_a_failing_web_abstains_with_that_reason() {
    // W36: a search that failed is no document.
    let answer = ask(&Script { grades: "IIII", web: Some(Err(())), ..Script::default() });
    assert_eq!((answer.outcome, answer.reason), (Outcome::Abstained, Some(Reason::WebFailed)));
    assert!(!answer.web_search_used);
}

#[test]
fn a_search_that_brings_nothing_is_not_a_used_search() {
    // W37
    let answer = ask(&Script { grades: "RIRR", web: Some(Ok(0)), ..Script::default() });
    assert_eq!((answer.calls.web, answer.web_search_used), (1, false));
    assert!(answer.trace.contains(&Event::WebSearch { query: "What are the steps of RAG?".to_owned(), results: 0 }));
}

#[test]
fn an_unknown_grade_is_asked_again_once_and_ranks_after_the_relevant_ones() {
    let answer = ask(&Script { grades: "?RRR", web: None, ..Script::default() });
    assert_eq!(answer.calls.grade, 5);
    assert_eq!(
        answer.sources.iter().map(|s| s.passage_id.as_str()).collect::<Vec<_>>(),
        ["doc#1", "doc#2", "doc#3", "doc#0"]
    );
    assert_eq!(answer.calls.web, 0, "an unknown grade is no rejection");
}

#[test]
fn an_outage_of_the_grader_buys_no_searches() {
    let answer = ask(&Script { grades: "!!!!", ..Script::default() });
    assert_eq!((answer.calls.grade, answer.calls.web, answer.sources.len()), (8, 0, 4));
    assert_eq!(answer.warnings[0].code, "ungraded");
    assert!(answer.verdicts.iter().all(|v| v.verdict == Verdict::Unknown));
}

#[test]
fn an_undecided_grounding_is_asked_again_once_and_never_regenerated() {
    // W29: what could not be read is no `no`.
    let answer = ask(&Script { grounded: "?", ..Script::default() });
    assert_eq!((answer.outcome, answer.reason), (Outcome::Partial, Some(Reason::Unchecked)));
    assert_eq!((answer.grounded, answer.useful), (None, None));
    assert_eq!((answer.calls.grounding, answer.calls.generate), (2, 1));
}

#[test]
fn an_undecided_usefulness_ends_the_loop() {
    let answer = ask(&Script { useful: "?", ..Script::default() });
    assert_eq!((answer.reason, answer.grounded, answer.useful), (Some(Reason::Unchecked), Some(true), None));
    assert_eq!((answer.calls.usefulness, answer.calls.generate, answer.calls.web), (2, 1, 0));
}

#[test]
fn a_cut_off_draft_is_shown_without_flags() {
    let draft = Draft { text: "Half a sent".to_owned(), truncated: true, quotes: Vec::new() };
    let answer = ask(&Script { drafts: vec![draft], ..Script::default() });
    assert_eq!((answer.outcome, answer.reason), (Outcome::Partial, Some(Reason::Truncated)));
    assert_eq!((answer.grounded, answer.useful, answer.calls.grounding), (None, None, 0));
}

#[test]
fn a_generator_that_repeats_itself_is_stopped() {
    let draft = Draft { text: "The same.".to_owned(), ..Draft::default() };
    let answer = ask(&Script { drafts: vec![draft], grounded: "n", ..Script::default() });
    assert_eq!((answer.reason, answer.attempts, answer.calls.generate), (Some(Reason::NoProgress), 1, 2));
    assert_eq!(answer.grounded, Some(false));
}

#[test]
fn a_retry_carries_what_failed() {
    // W22
    let (_, log) =
        run_logged(&Script { grounded: "ny", ..Script::default() }, Strategy::self_reflective(), Limits::default());
    let rejected: Vec<_> = log
        .effects
        .iter()
        .filter_map(|e| match e {
            Effect::Ask(Task::Generate(task)) => {
                Some(task.rejected.iter().map(|r| (r.text.clone(), r.check)).collect::<Vec<_>>())
            }
            _ => None,
        })
        .collect();
    assert_eq!(rejected, [vec![], vec![("Draft 0 [1]".to_owned(), Check::Grounding)]]);
}

#[test]
fn the_same_query_is_never_searched_twice() {
    // W24; W19: later queries are rewritten.
    let (_, log) = run_logged(
        &Script { grades: "RRRI", useful: "n", ..Script::default() },
        Strategy::self_reflective(),
        Limits::default(),
    );
    let queries: Vec<&str> = log
        .effects
        .iter()
        .filter_map(|e| if let Effect::SearchWeb { query, .. } = e { Some(query.as_str()) } else { None })
        .collect();
    assert_eq!(queries, ["What are the steps of RAG?", "query 1", "query 2"]);
}

#[test]
fn a_provider_that_fails_before_any_draft_is_an_error() {
    let error = run(&Script { generate_fails_from: 0, ..Script::default() }, Strategy::self_reflective())
        .expect_err("no draft");
    assert!(matches!(error, RunError::Failed(_)), "{error}");
}

#[test]
fn a_provider_that_fails_after_a_draft_leaves_the_draft() {
    let answer = ask(&Script { grounded: "n", generate_fails_from: 1, ..Script::default() });
    assert_eq!(
        (answer.outcome, answer.reason, answer.grounded),
        (Outcome::Partial, Some(Reason::ProviderFailed), Some(false))
    );
}

#[test]
fn a_context_that_is_too_long_is_cut_to_its_better_half_once() {
    // W33
    let script = Script { generate_takes: 2, grounded: "ny", grades: "?RRR", web: None, ..Script::default() };
    let (answer, log) = run_logged(&script, Strategy::self_reflective(), Limits::default());
    let answer = answer.expect("an answer");
    assert_eq!((answer.outcome, answer.attempts, answer.calls.generate), (Outcome::Answered, 2, 3));
    let sources: Vec<&str> = answer.sources.iter().map(|s| s.passage_id.as_str()).collect();
    assert_eq!(sources, ["doc#1", "doc#2"], "those that were given");
    let warnings: Vec<_> = answer.warnings.iter().map(|w| (w.code.as_str(), w.message.as_str())).collect();
    assert_eq!(warnings, [("context_trimmed", "the model takes less than was found: it got 2 of 4 passages")]);
    let checked = log.effects.iter().filter_map(|e| match e {
        Effect::Ask(Task::CheckGrounding(task)) => Some(task.passages.len()),
        _ => None,
    });
    assert_eq!(checked.collect::<Vec<_>>(), [2, 2]);
}

#[test]
fn what_is_too_long_even_then_is_a_failure_of_the_generator() {
    for (grades, generate_takes, calls) in [("RRRR", 1, 2), ("RRR", 0, 2), ("R", 0, 1)] {
        let script = Script { grades, generate_takes, ..Script::default() };
        let (result, log) = run_logged(&script, Strategy::self_reflective(), Limits::default());
        assert!(matches!(result, Err(RunError::Failed(Failure::TooLong { .. }))), "{grades}: {result:?}");
        let drafts = log.effects.iter().filter(|e| matches!(e, Effect::Ask(Task::Generate(_)))).count();
        assert_eq!(drafts, calls, "{grades}: the same request is not sent twice");
    }
}

#[test]
fn a_grade_or_a_check_that_is_too_long_is_unknown() {
    let answer = ask(&Script { grades: "LRRR", grounded: "L", ..Script::default() });
    assert_eq!((answer.verdicts[0].verdict, answer.sources.len(), answer.calls.web), (Verdict::Unknown, 4, 0));
    assert_eq!((answer.outcome, answer.reason), (Outcome::Partial, Some(Reason::Unchecked)));
    assert_eq!((answer.grounded, answer.calls.grounding, answer.calls.generate), (None, 2, 1));
}

#[test]
fn an_exhausted_run_abstains_when_asked_to() {
    let strategy = Strategy { on_exhaustion: OnExhaustion::Abstain, ..Strategy::self_reflective() };
    let answer = run(&Script { grounded: "n", ..Script::default() }, strategy).expect("an answer");
    assert_eq!((answer.outcome, answer.reason), (Outcome::Abstained, Some(Reason::Ungrounded)));
    assert_eq!((answer.text.as_str(), answer.grounded, answer.citations.len()), ("", None, 0));
}

#[test]
fn a_run_never_makes_more_calls_than_it_may() {
    let script = Script { grades: "RIR?", grounded: "ny", useful: "ny", ..Script::default() };
    for max_calls in 0..20 {
        let limits = Limits { max_calls, ..Limits::default() };
        let (answer, _) = run_logged(&script, Strategy::self_reflective(), limits);
        let answer = answer.expect("an answer");
        assert!(answer.calls.charged() <= max_calls, "{} calls of {max_calls}", answer.calls.charged());
        if answer.outcome != Outcome::Answered {
            assert_eq!(answer.reason, Some(Reason::Budget), "with {max_calls} calls");
        }
    }
}

#[test]
fn retries_are_given_out_in_order_as_long_as_calls_are_free() {
    // The search of the index, four grades, a draft and its two checks; max_calls, then what each may call.
    for (max_calls, may_call) in [
        (40, vec![3, 3, 3, 3, 3, 3, 3, 3]),
        (9, vec![3, 3, 1, 1, 1, 3, 3, 3]),
        (7, vec![3, 1, 1, 1, 1, 3, 2, 1]),
        // One call grades all; then what is kept for the draft and its checks is all there is.
        (6, vec![3, 3, 3, 3, 3]),
        (4, vec![1, 1, 3, 2, 1]),
        (3, vec![0, 3, 2, 1]),
        (2, vec![0, 2, 1]),
        (1, vec![0, 1]),
        (0, vec![0]),
    ] {
        let limits = Limits { max_calls, retries: 2, ..Limits::default() };
        let (_, log) = run_logged(&Script::default(), Strategy::self_reflective(), limits);
        assert_eq!(log.may_call, may_call, "of {max_calls} calls");
    }
    let limits = Limits { retries: 0, ..Limits::default() };
    let (_, log) = run_logged(&Script::default(), Strategy::self_reflective(), limits);
    assert_eq!(log.may_call, [1; 8], "without retries");
}

#[test]
fn the_calls_for_a_query_s_vector_are_charged_and_without_one_words_must_do() {
    let failure = Failure::NotConfigured { service: "embedding model" };
    for (called, vector, charged) in [(0, true, 0), (2, true, 2), (3, false, 3)] {
        let limits = Limits { max_calls: 3, ..Limits::default() };
        let mut run = Run::new(Question::new("?").expect("fine"), Strategy::naive(), limits, 0);
        let Step::Perform(orders) = run.next_step() else { panic!("a search is due") };
        let hit = Hit {
            passage: support::passage(0, Origin::Local),
            score: 1.0,
            lexical: 1.0,
            dense: None,
            explanation: None,
        };
        let reply = if vector { Reply::Hits(vec![hit]) } else { Reply::ByWords(vec![hit], failure.clone()) };
        run.resolve(orders[0].id, EffectOutcome::without_tokens(reply, called), 1).expect("it is open");
        let answer = match run.next_step() {
            Step::Done(result) => result.expect("an answer"),
            Step::Perform(orders) => {
                assert_eq!(orders[0].may_call, 3 - charged, "the draft has what is left");
                let reply = Reply::Failed(Failure::Deadline);
                run.resolve(orders[0].id, EffectOutcome::without_tokens(reply, 0), 2).expect("it is open");
                let Step::Done(result) = run.next_step() else { panic!("the time is up") };
                result.expect("an answer")
            }
            Step::Wait => panic!("nothing is open"),
        };
        assert_eq!((answer.calls.embed, answer.calls.retrieve, answer.calls.charged()), (called, 1, charged));
        let told =
            answer.warnings.iter().any(|w| w.code == "embedding_failed" && w.message.contains("embedding model"));
        assert_eq!(told, !vector);
        assert_eq!(answer.reason, Some(Reason::Budget));
    }
}

#[test]
fn a_passed_deadline_returns_what_there_is() {
    let script = Script { latency: 100, ..Script::default() };
    for (deadline, outcome, attempts) in [
        (0, Outcome::Abstained, 0),
        (500, Outcome::Abstained, 0),
        (600, Outcome::Partial, 1),
        (10_000, Outcome::Answered, 1),
    ] {
        let limits = Limits { deadline, ..Limits::default() };
        let (answer, _) = run_logged(&script, Strategy::self_reflective(), limits);
        let answer = answer.expect("an answer");
        assert_eq!((answer.outcome, answer.attempts), (outcome, attempts), "deadline {deadline}");
        if outcome != Outcome::Answered {
            assert_eq!(answer.reason, Some(Reason::Budget), "deadline {deadline}");
        }
    }
}

#[test]
fn the_order_in_which_replies_arrive_changes_nothing() {
    let script = Script { grades: "R?IR", grounded: "ny", ..Script::default() };
    let reversed = Script { reversed: true, ..script.clone() };
    assert_eq!(ask(&script), ask(&reversed));
}

#[test]
fn citations_carry_offsets_into_the_document() {
    let draft = Draft {
        text: "Number one [1].".to_owned(),
        quotes: vec![Quote { passage: 1, span: Span { start: 8, end: 16 } }],
        truncated: false,
    };
    let answer = ask(&Script { drafts: vec![draft], ..Script::default() });
    let citation = &answer.citations[0];
    assert_eq!((citation.n, citation.passage_id.as_str(), citation.quote.as_str()), (1, "doc#1", "number 1"));
    assert_eq!((citation.start, citation.end), (108, 116));
}

#[test]
fn a_draft_that_quotes_what_it_was_not_given_is_a_failure_of_the_generator() {
    for quote in
        [Quote { passage: 4, span: Span { start: 0, end: 1 } }, Quote { passage: 0, span: Span { start: 3, end: 900 } }]
    {
        let draft = Draft { text: "Made up [1].".to_owned(), quotes: vec![quote], truncated: false };
        let result = run(&Script { drafts: vec![draft], ..Script::default() }, Strategy::self_reflective());
        assert!(matches!(result, Err(RunError::Failed(_))));
    }
}

#[test]
fn an_effect_is_resolved_once() {
    let mut run = Run::new(Question::new("?").expect("fine"), Strategy::naive(), Limits::default(), 0);
    let Step::Perform(orders) = run.next_step() else { panic!("a search is due") };
    let outcome = EffectOutcome::without_tokens(Reply::Hits(Vec::new()), 1);
    assert!(run.resolve(orders[0].id, outcome.clone(), 1).is_ok());
    assert!(run.resolve(orders[0].id, outcome, 1).is_err());
    assert!(matches!(run.next_step(), Step::Done(_)));
    assert!(matches!(run.next_step(), Step::Wait), "a finished run stays finished");
}

#[test]
fn the_trace_tells_the_steps_in_order() {
    let answer = ask(&Script { grades: "RI", grounded: "ny", ..Script::default() });
    let names: Vec<&str> = answer.trace.iter().map(Event::name).collect();
    let expected = "retrieve grade grade decide web-search draft-start check draft-reject draft-start check check";
    assert_eq!(names.join(" "), expected);
}
