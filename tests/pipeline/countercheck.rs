//! `countercheck`: all grades in one call, claims that hold by a quotation, repair of those that do not.

use countercheck::pipeline::answer::{Answer, Outcome, Reason};
use countercheck::pipeline::budget::Limits;
use countercheck::pipeline::run::Effect;
use countercheck::pipeline::strategy::{ByClaim, Checks, Strategy};
use countercheck::pipeline::task::{CheckClaims, ClaimSaid, ClaimsSaid, Draft, Task};
use countercheck::pipeline::trace::Event;
use countercheck::pipeline::verdict::{Support, Verdict};

use crate::support::{Log, Script, run_logged, said_of};

fn ask(script: &Script) -> (Answer, Log) {
    let (answer, log) = run_logged(script, Strategy::countercheck(), Limits::default());
    (answer.expect("an answer"), log)
}

fn draft(text: &str) -> Vec<Draft> {
    vec![Draft { text: text.to_owned(), ..Draft::default() }]
}

fn tasks(log: &Log) -> impl Iterator<Item = &Task> {
    log.effects.iter().filter_map(|effect| if let Effect::Ask(task) = effect { Some(task) } else { None })
}

fn checked(log: &Log) -> Vec<&CheckClaims> {
    tasks(log).filter_map(|task| if let Task::CheckClaims(task) = task { Some(task) } else { None }).collect()
}

fn names(answer: &Answer) -> String {
    answer.trace.iter().map(Event::name).collect::<Vec<_>>().join(" ")
}

#[test]
fn four_passages_take_three_calls() {
    let (answer, log) = ask(&Script { drafts: draft("It works. It is fast."), ..Script::default() });
    assert_eq!((answer.outcome, answer.grounded, answer.useful), (Outcome::Answered, Some(true), Some(true)));
    assert_eq!((answer.calls.charged(), log.now), (3, 4), "grade, generate, check, and the search of the index");
    assert_eq!(answer.text, "It works. It is fast. [1]", "neighbours in one place have one mark");
    assert_eq!(answer.citations[0].quote, "Passage number 0.");
    let claims: Vec<_> = answer.claims.iter().map(|claim| (claim.text.as_str(), claim.support)).collect();
    assert_eq!(claims, [("It works.", Support::Fully), ("It is fast.", Support::Fully)]);
    assert_eq!(names(&answer), "retrieve grade grade grade grade decide draft-start check check");
}

#[test]
fn one_relevant_passage_is_enough_and_none_is_searched_for_as_asked() {
    let (answer, _) = ask(&Script { grades: "IIRI", drafts: draft("It works."), ..Script::default() });
    assert_eq!((answer.outcome, answer.calls.web), (Outcome::Answered, 0), "W06: one rejected passage buys no search");
    let (answer, log) = ask(&Script { grades: "IIII", web: Some(Ok(2)), ..Script::default() });
    let queries: Vec<&str> = log
        .effects
        .iter()
        .filter_map(|e| if let Effect::SearchWeb { query, .. } = e { Some(query.as_str()) } else { None })
        .collect();
    assert_eq!(queries, ["What are the steps of RAG?"], "of nothing all is missing");
    assert_eq!((answer.web_search_used, answer.calls.grade, answer.calls.rewrite), (true, 2, 0), "G-21");
}

#[test]
fn what_no_source_has_is_asked_of_nobody() {
    let script = Script { drafts: draft("It works. It takes 4711 ms."), ..Script::default() };
    let (answer, log) = ask(&script);
    assert_eq!(checked(&log)[0].claims, ["It works."], "the number is in no passage");
    assert_eq!((answer.text.as_str(), answer.grounded, answer.attempts), ("It works. [1]", Some(true), 2));
    assert_eq!(answer.calls.generate, 2, "the draft and its repair");
}

#[test]
fn a_claim_without_a_true_quotation_fails() {
    let said = |task: &CheckClaims| ClaimsSaid {
        claims: vec![
            ClaimSaid { support: Support::Fully, passage: Some(0), quote: "Passage number 7.".to_owned() };
            task.claims.len()
        ],
        useful: Verdict::Yes,
    };
    let (answer, _) = ask(&Script { claims: said, drafts: draft("It works."), ..Script::default() });
    assert_eq!((answer.outcome, answer.grounded), (Outcome::Partial, Some(false)));
    assert_eq!((answer.reason, answer.claims[0].support), (Some(Reason::NoProgress), Support::None));
    assert_eq!((answer.text.as_str(), answer.citations.len()), ("It works.", 0), "nothing vouches for it");
}

#[test]
fn a_quotation_counts_wherever_it_stands() {
    let said = |task: &CheckClaims| ClaimsSaid {
        claims: vec![
            ClaimSaid { support: Support::Fully, passage: Some(9), quote: "passage number 2".to_owned() };
            task.claims.len()
        ],
        useful: Verdict::Yes,
    };
    let (answer, _) = ask(&Script { claims: said, drafts: draft("It works."), ..Script::default() });
    assert_eq!((answer.grounded, answer.citations[0].passage_id.as_str()), (Some(true), "doc#2"));
    assert_eq!(answer.citations[0].quote, "Passage number 2");
}

#[test]
fn only_failing_claims_are_written_anew() {
    let good = "- It works, *always*.\n- ";
    let fails = |task: &CheckClaims| {
        said_of(task, |claim| if claim.contains("wrong") { Support::None } else { Support::Fully })
    };
    let script = Script {
        claims: fails,
        repairs: |_| vec!["It is slow.".to_owned()],
        drafts: draft(&[good, "It is wrong."].concat()),
        ..Script::default()
    };
    let (answer, log) = ask(&script);
    assert_eq!(answer.outcome, Outcome::Answered);
    assert!(answer.text.starts_with("- It works, *always*. [1]\n- It is slow."), "{}", answer.text);
    assert_eq!(checked(&log)[1].claims, ["It is slow."], "what held is not asked again");
    assert_eq!(names(&answer).split(" decide ").nth(1), Some("draft-start check draft-reject repair check check"));
}

#[test]
fn what_cannot_be_mended_is_left_out_and_usefulness_asked_again() {
    let fails = |task: &CheckClaims| {
        said_of(task, |claim| if claim.contains("wrong") { Support::Partially } else { Support::Fully })
    };
    let script = Script {
        claims: fails,
        repairs: |_| vec!["It is still wrong.".to_owned()],
        drafts: draft("It works. It is wrong."),
        ..Script::default()
    };
    let (answer, _) = ask(&script);
    assert_eq!((answer.text.as_str(), answer.outcome, answer.attempts), ("It works. [1]", Outcome::Answered, 2));
    assert_eq!(answer.calls.usefulness, 1, "what is left is another answer");
    let (answer, _) = ask(&Script { useful: "n", ..script });
    let flags = (answer.grounded, answer.useful, answer.reason);
    assert_eq!(flags, (Some(false), Some(true), Some(Reason::Ungrounded)), "of equals the earlier one, as it is");
}

#[test]
fn nobody_knows_is_no_verdict() {
    let unknown =
        |task: &CheckClaims| ClaimsSaid { claims: vec![ClaimSaid::default(); task.claims.len()], useful: Verdict::Yes };
    let (answer, log) = ask(&Script { claims: unknown, drafts: draft("It works."), ..Script::default() });
    assert_eq!((answer.outcome, answer.reason, answer.grounded), (Outcome::Partial, Some(Reason::Unchecked), None));
    assert_eq!(checked(&log).iter().map(|task| task.again).collect::<Vec<_>>(), [false, true], "asked once more");
}

#[test]
fn usefulness_by_itself_sees_no_passage() {
    let isolated = Strategy {
        checks: Checks { by_claim: Some(ByClaim::Isolated), ..Strategy::countercheck().checks },
        ..Strategy::countercheck()
    };
    let (answer, log) = run_logged(&Script::default(), isolated, Limits::default());
    assert_eq!((answer.expect("an answer").calls.charged(), checked(&log)[0].question.as_deref()), (4, None), "R-05");
}

#[test]
fn what_is_not_useful_has_the_web_asked_for_what_is_missing() {
    let useless = |task: &CheckClaims| ClaimsSaid { useful: Verdict::No, ..said_of(task, |_| Support::Fully) };
    let (answer, log) = ask(&Script { claims: useless, ..Script::default() });
    let held: Vec<usize> =
        tasks(&log).filter_map(|t| if let Task::RewriteQuery(t) = t { Some(t.held.len()) } else { None }).collect();
    assert_eq!(
        (held, answer.calls.web, answer.calls.generate),
        (vec![4], 1, 2),
        "the query is written from what there is"
    );
    assert_eq!((answer.grounded, answer.useful, answer.reason), (Some(true), Some(false), Some(Reason::NotUseful)));
}
