//! `corrective-scored`: scores, three actions, graded web results. G-* are seeds, W* known weaknesses of
//! the article's code.

use countercheck::document::Origin;
use countercheck::pipeline::answer::{Answer, Outcome, Reason};
use countercheck::pipeline::budget::Limits;
use countercheck::pipeline::decision::{Decision, Domain, Rule};
use countercheck::pipeline::run::Effect;
use countercheck::pipeline::strategy::{Options, Strategy};
use countercheck::pipeline::task::Task;
use countercheck::pipeline::trace::Event;
use countercheck::pipeline::verdict::{Scale, Verdict};

use crate::support::{Log, Script, run_logged};

const GOOD: Option<f64> = Some(0.9);
const HALF: Option<f64> = Some(0.4);
const BAD: Option<f64> = Some(0.1);

fn ask_with(script: &Script, options: Options) -> (Answer, Log) {
    let strategy = Strategy::corrective_scored().with(options).expect("good options");
    let (answer, log) = run_logged(script, strategy, Limits::default());
    (answer.expect("an answer"), log)
}

fn ask(script: &Script) -> (Answer, Log) {
    ask_with(script, Options::default())
}

fn sources(answer: &Answer) -> Vec<&str> {
    answer.sources.iter().map(|source| source.passage_id.as_str()).collect()
}

#[test]
fn g_01_three_decisions_lead_to_three_sources() {
    // G-06 and G-08: correct is local alone, ambiguous both, incorrect the web alone; W07: what is not
    // relevant is left out.
    type Scores = &'static [Option<f64>];
    let table: [(Scores, Decision, u32, &[&str]); 6] = [
        (&[GOOD, GOOD, GOOD, Some(0.5)], Decision::Correct, 0, &["doc#0", "doc#1", "doc#2"]),
        (&[GOOD, BAD, GOOD, BAD], Decision::Ambiguous, 1, &["doc#0", "doc#2", "doc#1000"]),
        (&[HALF, HALF, BAD, HALF], Decision::Ambiguous, 1, &["doc#0", "doc#1", "doc#3", "doc#1000"]),
        (&[BAD, BAD, BAD, BAD], Decision::Incorrect, 1, &["doc#1000"]),
        (&[Some(1.0), Some(0.0), Some(0.0), Some(0.0)], Decision::Incorrect, 1, &["doc#1000"]),
        (&[GOOD, GOOD, None, GOOD], Decision::Correct, 0, &["doc#0", "doc#1", "doc#3", "doc#2"]),
    ];
    for (scores, decision, searches, expected) in table {
        let (answer, log) = ask(&Script { scores, web_scores: &[GOOD], ..Script::default() });
        assert_eq!(answer.decision, Some(decision), "{scores:?}");
        assert_eq!(answer.calls.web, searches, "{scores:?}");
        assert_eq!(sources(&answer), expected, "{scores:?}");
        assert_eq!((answer.outcome, answer.grounded), (Outcome::Answered, None), "G-03: it checks no draft");
        let told = answer.trace.iter().any(|e| matches!(e, Event::Decide { decision: d, .. } if *d == Some(decision)));
        assert!(told, "{scores:?}: {:?}", answer.trace);
        let by_degrees =
            |e: &Effect| !matches!(e, Effect::Ask(Task::GradePassages(task)) if task.scale != Scale::Graded);
        assert!(log.effects.iter().all(by_degrees), "G-04: scores are asked for");
    }
}

#[test]
fn the_rule_of_the_paper_keeps_one_perfect_passage_among_bad_ones() {
    // W06: the average throws it away. W34: nor do three rejected ones buy a search.
    let script = Script { scores: &[Some(1.0), Some(0.0), Some(0.0), Some(0.0)], ..Script::default() };
    let (answer, _) = ask_with(&script, Options { rule: Some(Rule::Max), ..Options::default() });
    assert_eq!((answer.decision, answer.calls.web), (Some(Decision::Correct), 0));
    assert_eq!(sources(&answer), ["doc#0"]);
}

#[test]
fn what_the_web_cannot_replace_stays_if_it_is_relevant() {
    // W19: what goes wrong with the web is told, and is no end.
    for (web, warning) in [(None, "web_not_configured"), (Some(Err(())), "web_failed"), (Some(Ok(0)), "")] {
        let scores = &[Some(1.0), Some(0.0), Some(0.0), Some(0.0)];
        let (answer, _) = ask(&Script { scores, web, ..Script::default() });
        assert_eq!((answer.decision, sources(&answer)), (Some(Decision::Incorrect), vec!["doc#0"]), "{web:?}");
        assert!(warning.is_empty() || answer.warnings.iter().any(|w| w.code == warning), "{:?}", answer.warnings);
        let (answer, _) = ask(&Script { scores: &[BAD, BAD], web, ..Script::default() });
        assert_eq!((answer.outcome, answer.calls.generate), (Outcome::Abstained, 0), "{web:?}: from nothing, nothing");
    }
}

#[test]
fn g_21_results_of_the_web_are_graded_too() {
    // W15: the article asks for it and its code does not. W26: what the web says is known as such. W18: each
    // passage keeps its score.
    let script = |web_scores| Script { scores: &[BAD, BAD], web: Some(Ok(3)), web_scores, ..Script::default() };
    let (answer, _) = ask(&script(&[BAD, GOOD, None]));
    assert_eq!((sources(&answer), answer.web_search_used), (vec!["doc#1001", "doc#1002"], true));
    assert_eq!(answer.verdicts.len(), 5, "{:?}", answer.verdicts);
    assert_eq!((answer.verdicts[2].verdict, answer.verdicts[3].verdict), (Verdict::No, Verdict::Yes));
    assert_eq!(answer.calls.grade, 2 + 3 + 1);
    assert!(answer.sources.iter().all(|source| source.origin == Origin::Web));
    let names: Vec<&str> = answer.trace.iter().map(Event::name).collect();
    assert_eq!(names.join(" "), "retrieve grade grade decide web-search grade grade grade draft-start");

    let (answer, _) = ask(&script(&[BAD, BAD, BAD]));
    assert_eq!((answer.outcome, answer.reason), (Outcome::Abstained, Some(Reason::Irrelevant)));
    assert_eq!((answer.calls.generate, answer.web_search_used), (0, false), "nothing reliable was found");
}

#[test]
fn an_outage_of_the_scorer_buys_no_search() {
    let (answer, _) = ask(&Script { scores: &[None, None, None], ..Script::default() });
    assert_eq!((answer.decision, answer.calls.web, answer.calls.grade), (None, 0, 6));
    assert_eq!(sources(&answer), ["doc#0", "doc#1", "doc#2"]);
    assert_eq!(answer.warnings[0].code, "ungraded");
}

#[test]
fn g_02_without_passages_the_web_is_asked() {
    let (answer, _) = ask(&Script { grades: "", web_scores: &[GOOD], ..Script::default() });
    assert_eq!((answer.decision, sources(&answer)), (Some(Decision::Incorrect), vec!["doc#1000"]));
    let (answer, _) = ask(&Script { grades: "", web: None, ..Script::default() });
    assert_eq!((answer.outcome, answer.reason), (Outcome::Abstained, Some(Reason::NoDocuments)));
}

#[test]
fn g_19_a_strict_domain_completes_what_one_passage_says() {
    // W16: the profiles of the article are used by no code there.
    let script = Script { scores: &[GOOD], web_scores: &[BAD], ..Script::default() };
    let (answer, _) = ask_with(&script, Options { domain: Some(Domain::Medical), ..Options::default() });
    assert_eq!((answer.decision, answer.calls.web), (Some(Decision::Ambiguous), 1));
    let warnings: Vec<_> = answer.warnings.iter().map(|w| (w.code.as_str(), w.message.as_str())).collect();
    assert_eq!(warnings, [("few_relevant", "1 relevant passages were found: 2 are asked for")]);
    let (answer, _) = ask_with(&script, Options { domain: Some(Domain::Ecommerce), ..Options::default() });
    assert_eq!((answer.decision, answer.warnings.len()), (Some(Decision::Correct), 0));
}

#[test]
fn g_06_of_passages_that_begin_alike_the_first_is_kept() {
    let beginning =
        "A heading that stands above each and every passage of this manual, whatever it says further down. ";
    assert!(beginning.chars().count() >= 98, "{}", beginning.chars().count());
    let texts = [format!("{beginning}é0 one"), format!("{beginning}é0 two"), format!("{beginning}x0 three")];
    let script = Script { scores: &[GOOD, GOOD, GOOD], texts: texts.to_vec(), ..Script::default() };
    let (answer, _) = ask(&script);
    assert_eq!(sources(&answer), ["doc#0", "doc#2"], "W42: a hundred characters, not bytes");
    // W05: that can take what only shares a heading, so it is told.
    assert_eq!(answer.warnings.iter().map(|w| w.code.as_str()).collect::<Vec<_>>(), ["repeats"]);
    let (answer, _) = run_logged(&script, Strategy::corrective(), Limits::default());
    assert_eq!(answer.expect("an answer").sources.len(), 3, "other presets keep them");
}

#[test]
fn g_17_a_scorer_may_have_all_passages_at_once() {
    let batched = Options { batch: Some(true), ..Options::default() };
    let script = Script { scores: &[GOOD, None, BAD, GOOD], web_scores: &[GOOD], ..Script::default() };
    let (answer, log) = ask_with(&script, batched);
    assert_eq!(batches(&log), [(4, false), (1, true), (1, false)], "all, the open one, the web's");
    let scores: Vec<_> = answer.verdicts.iter().map(|v| v.score).collect();
    assert_eq!(scores, [GOOD, None, BAD, GOOD, GOOD], "in the order of the passages");
    assert_eq!(answer.decision, Some(Decision::Ambiguous));
}

/// How many passages each grading asks about, and whether again.
fn batches(log: &Log) -> Vec<(usize, bool)> {
    let batch = |e: &Effect| match e {
        Effect::Ask(Task::GradePassages(task)) => Some((task.passages.len(), task.again)),
        _ => None,
    };
    log.effects.iter().filter_map(batch).collect()
}

#[test]
fn w30_what_a_batch_leaves_open_is_asked_once_more_each_by_itself() {
    let batched = Options { batch: Some(true), ..Options::default() };
    let script = Script { scores: &[GOOD, None, None, GOOD], ..Script::default() };
    let (answer, log) = ask_with(&script, batched);
    assert_eq!((batches(&log), answer.calls.grade), (vec![(4, false), (1, true), (1, true)], 3));
    for grades in ["RRRR", "RIRI", "R?R?"] {
        let script = Script { grades, web: None, ..Script::default() };
        let strategy = |options| Strategy::corrective().with(options).expect("it grades");
        let (alone, _) = run_logged(&script, strategy(Options::default()), Limits::default());
        let (answer, log) = run_logged(&script, strategy(batched), Limits::default());
        let open = grades.matches('?').count();
        assert_eq!(batches(&log).len(), 1 + open, "B51: one call for all of {grades}, and one for each open one");
        let (alone, answer) = (alone.expect("an answer"), answer.expect("an answer"));
        assert_eq!((sources(&answer), &answer.verdicts), (sources(&alone), &alone.verdicts), "{grades}");
    }
    let failing = Script { grades: "!!!!", ..Script::default() };
    let (answer, log) = run_logged(&failing, Strategy::corrective().in_batches(), Limits::default());
    let answer = answer.expect("an answer");
    assert_eq!(batches(&log), [(4, false), (1, true), (1, true), (1, true), (1, true)]);
    assert_eq!((answer.calls.web, answer.warnings[0].code.as_str()), (0, "ungraded"), "an outage buys no search");
}

#[test]
fn no_batch_is_larger_than_a_worker_takes() {
    const SCORES: &[Option<f64>] = &[GOOD; 50];
    let options = Options { batch: Some(true), k: Some(50), ..Options::default() };
    let (answer, log) = ask_with(&Script { scores: SCORES, ..Script::default() }, options);
    assert_eq!(batches(&log), [(20, false), (20, false), (10, false)]);
    assert_eq!(answer.verdicts.len(), 50);
}
