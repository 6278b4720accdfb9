//! Demands of the tutorials of Corrective RAG (C-*) and Self-RAG (R-*), by the ids of docs/requirements.md;
//! those that have a test elsewhere are not repeated.
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::cell::RefCell;

use countercheck::corpus::Corpus;
use countercheck::document::{Document, Format, Origin, Passage};
use countercheck::pipeline::answer::{Answer, Outcome};
use countercheck::pipeline::budget::Limits;
use countercheck::pipeline::run::Effect;
use countercheck::pipeline::strategy::{Options, Strategy};
use countercheck::pipeline::task::{
    CheckGrounding, CheckUsefulness, Draft, Generate, GradePassages, RewriteQuery, Task, TaskReply,
};
use countercheck::pipeline::trace::Event;
use countercheck::pipeline::verdict::{Check, Verdict};
use countercheck::prompt::Language;
use countercheck::provider::chat::{ChatReply, ChatRequest, Finish, ReplyFormat};
use countercheck::solver::{builtin, llm};
use support::{Log, Script, passage, run, run_logged};

const QUESTION: &str = "What are the steps of RAG?";

fn passages(n: usize) -> Vec<Passage> {
    (0..n).map(|i| passage(i, Origin::Local)).collect()
}

fn request(task: impl Into<Task>) -> ChatRequest {
    llm::request(&task.into(), Language::En)
}

fn said(task: &Task, text: &str) -> TaskReply {
    let reply = ChatReply {
        text: text.to_owned(),
        finish: Finish::Stop,
        usage: None,
        model: None,
        lossy: false,
        tokens: Vec::new(),
    };
    llm::read(task, &reply)
}

fn grade(passage: Passage) -> GradePassages {
    GradePassages { passages: vec![passage], ..grading() }
}

fn grading() -> GradePassages {
    let Task::GradePassages(task) = tasks(&corrective("R").1).remove(0) else { panic!() };
    GradePassages { passages: passages(1), ..task }
}

/// The tasks that a run put to its solver, in order.
fn tasks(log: &Log) -> Vec<Task> {
    let task = |e: &Effect| if let Effect::Ask(task) = e { Some(task.clone()) } else { None };
    log.effects.iter().filter_map(task).collect()
}

fn corrective(grades: &'static str) -> (Answer, Log) {
    let script = Script { grades, web: Some(Ok(2)), ..Script::default() };
    let (answer, log) = run_logged(&script, Strategy::corrective(), Limits::default());
    (answer.unwrap(), log)
}

fn reflective(script: &Script) -> (Answer, Log) {
    let (answer, log) = run_logged(script, Strategy::self_reflective(), Limits::default());
    (answer.unwrap(), log)
}

fn phase(effect: &Effect) -> &'static str {
    match effect {
        Effect::Retrieve { .. } => "retrieve",
        Effect::SearchWeb { .. } => "web",
        Effect::Ask(Task::GradePassages(_)) => "grade",
        Effect::Ask(Task::Generate(_)) => "generate",
        Effect::Ask(Task::CheckGrounding(_)) => "grounded?",
        Effect::Ask(Task::CheckUsefulness(_)) => "useful?",
        Effect::Ask(_) => "other",
    }
}

fn phases(log: &Log) -> Vec<&'static str> {
    let mut phases: Vec<_> = log.effects.iter().map(phase).collect();
    phases.dedup();
    phases
}

#[test]
fn c_02_four_phases_in_order() {
    assert_eq!(phases(&corrective("RIRR").1), ["retrieve", "grade", "web", "generate"]);
    assert_eq!(phases(&corrective("RRRR").1), ["retrieve", "grade", "generate"]);
}

#[test]
fn c_03_c_04_a_grade_is_yes_or_no_as_json_at_temperature_0_and_only_a_clear_yes_is_one() {
    let asked = request(grading());
    assert_eq!(asked.temperature, Some(0.0));
    let ReplyFormat::Schema { schema, .. } = asked.format else { panic!("no schema") };
    assert_eq!(schema["properties"]["score"]["enum"], serde_json::json!(["yes", "no"]));
    let text: String = asked.messages.iter().map(|message| message.content.as_str()).collect();
    assert!(
        text.contains(QUESTION) && text.contains("Passage number 0.") && text.contains("{\"score\": \"yes\"}"),
        "{text}"
    );
    for (reply, verdict) in [
        ("{\"score\": \"yes\"}", Verdict::Yes),
        ("{\"score\": \"no\"}", Verdict::No),
        ("{}", Verdict::Unknown),
        ("{\"score\": \"yes and no\"}", Verdict::Unknown),
    ] {
        let TaskReply::Grades(grades) = said(&grading().into(), reply) else { panic!() };
        assert_eq!(grades[0].verdict, verdict, "{reply}");
    }
}

#[test]
fn c_05_the_same_question_and_passage_get_the_same_grade() {
    assert_eq!(request(grading()), request(grading()), "nothing in a request depends on chance or time");
    let corpus = cooking();
    let again = || builtin::solve(&grade(passages(1).remove(0)).into(), &corpus.borrow());
    assert_eq!(again(), again());
}

fn cooking() -> RefCell<Corpus> {
    let mut corpus = Corpus::default();
    let source = "# Tiramisu\n\nThe steps: whip the mascarpone, dip the biscuits in coffee, and layer both.\n";
    let document = Document {
        id: "tiramisu.md".into(),
        url: String::new(),
        title: String::new(),
        format: Format::Markdown,
        source: source.into(),
    };
    corpus.add(&document).unwrap();
    RefCell::new(corpus)
}

#[test]
fn c_06_the_nearest_passage_is_rejected_when_it_is_about_something_else() {
    let corpus = cooking();
    let verdict = |text: &str| {
        let task = grade(Passage { text: text.to_owned(), ..passages(1).remove(0) });
        let TaskReply::Grades(grades) = builtin::solve(&task.into(), &corpus.borrow()) else { panic!() };
        grades[0].verdict
    };
    let nearest = corpus.borrow().search(QUESTION, 4).unwrap().remove(0).passage;
    assert!(nearest.text.contains("mascarpone"), "search always finds something");
    assert_eq!(verdict(&nearest.text), Verdict::No);
    assert_eq!(verdict("RAG has three steps: retrieval, augmentation and generation."), Verdict::Yes);
}

#[test]
fn c_14_c_15_c_16_four_passages_with_their_sources() {
    let (answer, log) = corrective("RRRR");
    assert_eq!(log.effects[0], Effect::Retrieve { query: QUESTION.to_owned(), k: 4 });
    assert!(answer.sources.iter().all(|source| source.origin == Origin::Local && !source.passage_id.is_empty()));
}

#[test]
fn c_18_the_draft_is_written_from_every_passage_and_the_question() {
    let task = Generate { question: QUESTION.to_owned(), passages: passages(3).into(), ..generating() };
    assert_eq!(request(task.clone()).temperature, Some(0.1));
    let text: String = request(task).messages.iter().map(|message| message.content.as_str()).collect();
    assert!((0..3).all(|i| text.contains(&format!("Passage number {i}."))) && text.contains(QUESTION), "{text}");
}

fn generating() -> Generate {
    draft_of(&corrective("R").1)
}

fn draft_of(log: &Log) -> Generate {
    let draft = |task| if let Task::Generate(task) = task { Some(task) } else { None };
    tasks(log).into_iter().find_map(draft).unwrap()
}

#[test]
fn c_19_r_18_each_step_is_told() {
    let (answer, _) = reflective(&Script { grades: "RIRR", grounded: "ny", ..Script::default() });
    let name = |event: &Event| match event {
        Event::Grade { n, of, .. } => format!("grade {n} of {of}"),
        event => event.name().to_owned(),
    };
    let told: Vec<_> = answer.trace.iter().map(name).collect();
    let steps = "retrieve, grade 1 of 4, grade 2 of 4, grade 3 of 4, grade 4 of 4, decide, web-search, draft-start, check, \
                 draft-reject, draft-start, check, check";
    assert_eq!(told.join(", "), steps);
}

#[test]
fn r_01_r_02_two_checks_and_which_of_them_failed_decides_what_follows() {
    let path = |grounded, useful| phases(&reflective(&Script { grounded, useful, ..Script::default() }).1).join(" ");
    assert_eq!(path("y", "y"), "retrieve grade generate grounded? useful?");
    // the model's fault, so from the same passages.
    assert_eq!(path("ny", "y"), "retrieve grade generate grounded? generate grounded? useful?");
    // the passages' fault, so more of them.
    assert_eq!(path("y", "ny"), "retrieve grade generate grounded? useful? web generate grounded? useful?");
}

#[test]
fn r_03_r_04_grounding_is_in_the_passages_it_is_given_and_nothing_else() {
    let draft = Draft { text: "Water boils at 100 °C.".to_owned(), ..Draft::default() };
    let checks = tasks(&reflective(&Script::default()).1);
    let Some(Task::CheckGrounding(asked)) = checks.into_iter().find(|t| matches!(t, Task::CheckGrounding(_))) else {
        panic!()
    };
    let task = CheckGrounding { draft, passages: passages(2).into(), ..asked };
    let text: String = request(task.clone()).messages.iter().map(|message| message.content.as_str()).collect();
    assert!(text.contains("Passage number 1.") && text.contains("{\"grounded\": \"yes\"}"), "{text}");
    // True in the world, and in none of the passages.
    let TaskReply::Verdict(verdict) = builtin::solve(&task.into(), &cooking().borrow()) else { panic!() };
    assert_eq!(verdict, Verdict::No);
}

#[test]
fn r_05_usefulness_never_sees_a_passage() {
    let checks = tasks(&reflective(&Script::default()).1);
    let Some(Task::CheckUsefulness(task)) = checks.into_iter().find(|t| matches!(t, Task::CheckUsefulness(_))) else {
        panic!()
    };
    assert_eq!((task.question.as_str(), task.draft.as_str()), (QUESTION, "Draft 0 [1]"));
    let asked = request(task);
    assert_eq!(asked.temperature, Some(0.0));
    assert!(asked.messages.iter().all(|message| !message.content.contains("Passage number")));
}

#[test]
fn r_06_grounded_and_yet_not_useful() {
    let checks = tasks(&reflective(&Script::default()).1);
    let Some(Task::CheckUsefulness(asked)) = checks.into_iter().find(|t| matches!(t, Task::CheckUsefulness(_))) else {
        panic!()
    };
    let question = "How many dimensions has the embedding model?".to_owned();
    let draft = "An embedding turns a text into numbers, so that texts can be compared.".to_owned();
    let task = CheckUsefulness { question, draft, ..asked };
    let TaskReply::Verdict(verdict) = builtin::solve(&task.into(), &cooking().borrow()) else { panic!() };
    assert_ne!(verdict, Verdict::Yes);
    let (answer, _) = reflective(&Script { useful: "n", ..Script::default() });
    assert_eq!((answer.grounded, answer.useful), (Some(true), Some(false)));
}

#[test]
fn r_07_r_08_r_09_four_passages_two_retries_and_the_rule_of_the_web() {
    let strategy = Strategy::self_reflective();
    assert_eq!((strategy.k, strategy.max_retries), (4, 2));
    let (answer, log) = reflective(&Script { grades: "RIRR", ..Script::default() });
    assert_eq!(log.effects[0], Effect::Retrieve { query: QUESTION.to_owned(), k: 4 });
    let decided = answer.trace.iter().find(|event| matches!(event, Event::Decide { .. }));
    assert_eq!(decided, Some(&Event::Decide { relevant: 3, rejected: 1, unknown: 0, need_web: true, decision: None }));
}

#[test]
fn r_10_drafts_are_written_at_temperature_0_2_and_queries_too() {
    assert_eq!(request(draft_of(&reflective(&Script::default()).1)).temperature, Some(0.2));
    let task = RewriteQuery { question: QUESTION.to_owned(), tried: vec![QUESTION.to_owned()], held: Vec::new() };
    assert_eq!(request(task).temperature, Some(0.2));
}

#[test]
fn r_11_r_14_r_15_an_attempt_more_than_retries_and_the_flags_of_the_draft_that_is_returned() {
    for retries in 0..=4 {
        let strategy =
            Strategy::self_reflective().with(Options { max_retries: Some(retries), ..Options::default() }).unwrap();
        let exhausted = run(&Script { grounded: "n", ..Script::default() }, strategy).unwrap();
        assert_eq!((exhausted.attempts, exhausted.outcome), (retries + 1, Outcome::Partial), "it never throws");
        assert_eq!((exhausted.grounded, exhausted.useful), (Some(false), None));
        assert!(!exhausted.text.is_empty());
    }
    let (passed, _) = reflective(&Script { grounded: "ny", ..Script::default() });
    assert_eq!((passed.attempts, passed.grounded, passed.useful), (2, Some(true), Some(true)));
}

#[test]
fn r_12_r_13_a_retry_has_the_same_passages_or_more() {
    let contexts = |script: &Script| -> Vec<usize> {
        let drafts = tasks(&reflective(script).1);
        drafts.iter().filter_map(|t| if let Task::Generate(t) = t { Some(t.passages.len()) } else { None }).collect()
    };
    assert_eq!(contexts(&Script { grounded: "ny", ..Script::default() }), [4, 4]);
    assert_eq!(contexts(&Script { useful: "ny", ..Script::default() }), [4, 5]);
    let (answer, _) = reflective(&Script { useful: "ny", ..Script::default() });
    assert!(answer.trace.contains(&Event::DraftReject { attempt: 1, check: Check::Usefulness }));
}

#[test]
fn r_19_r_20_the_demonstration_in_three_languages() {
    for (question, language) in [
        ("What are the advantages of RAG over fine-tuning?", Language::En),
        ("Quels sont les avantages du RAG par rapport au fine-tuning ?", Language::Fr),
        ("Welche Vorteile hat RAG gegenüber dem Fine-Tuning?", Language::De),
    ] {
        assert_eq!(Language::detect(question), language, "{question}");
        let task = Generate { question: question.to_owned(), ..generating() };
        let asked = llm::request(&task.into(), language);
        assert!(asked.messages.iter().any(|message| message.content.contains(question)));
    }
}
