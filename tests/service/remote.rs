//! A Worker as solver: what a page makes of its waits and of what it says of the service behind it.

use countercheck::document::{Origin, Passage, Span};
use countercheck::pipeline::strategy::NAMES;
use countercheck::pipeline::task::{
    CheckClaims, CheckGrounding, CheckUsefulness, ClaimSaid, ClaimsSaid, DecideRetrieval, Draft, Generate, Grade,
    GradePassages, Quote, Rejected, Repair, RewriteQuery, Task, TaskReply,
};
use countercheck::pipeline::verdict::{Check, Retrieval, Scale, Support, Verdict};
use countercheck::prompt::Language;
use countercheck::provider::http::Headers;
use countercheck::service::ServiceSettings;
use countercheck::solver::builtin;
use countercheck::wire::task::{self, TaskPassage, TaskRequest, TaskResponse};
use serde_json::{Value, json};

use crate::network::{Scripted, Sent, Then};
use crate::{ask, corpus};

const TEXT: &str = "Ten minutes.";
const COMMENT: &str = ": keep-alive\n\n";

fn settings() -> ServiceSettings {
    let worker = json!({ "kind": "worker", "place": { "base_url": "https://worker.example" } });
    let roles = ["grade", "rewrite", "generate", "check"].map(|role| (role.to_owned(), worker.clone()));
    serde_json::from_value(Value::Object(roles.into_iter().collect())).unwrap()
}

/// Asks for a draft, to which the Worker replies with these pieces, one a second.
fn drafted(status: u16, media_type: &'static str, pieces: Vec<String>) -> (Result<Value, (Value, Value)>, usize) {
    let documents = corpus(&[json!({ "id": "bread.md", "text": "# Bread\n\nKnead the dough for ten minutes.\n" })]);
    let network = Scripted::new(move |_| {
        let headers: Headers = [("content-type", media_type)].into_iter().collect();
        let pieces = pieces.iter().map(|piece| piece.clone().into_bytes()).collect();
        Sent::Reply { status, headers, pieces, every: 1_000, then: Then::End }
    });
    let request = json!({ "question": "How long do I knead the dough?", "strategy": "naive" });
    let found = ask(&settings(), &network, &documents, &request);
    (found.map_err(|problem| (json!(problem.service_code), json!(problem.retry_after))), network.count("task"))
}

fn events(comments: usize, events: &[(&str, Value)]) -> Vec<String> {
    let frames = events.iter().map(|(name, data)| format!("event: {name}\ndata: {data}\n\n"));
    std::iter::repeat_n(COMMENT.to_owned(), comments).chain(frames).collect()
}

fn whole() -> Value {
    json!({ "draft": { "text": TEXT, "quotes": [], "truncated": false }, "called": 2 })
}

#[test]
fn a_worker_that_waits_for_its_model_is_waited_for() {
    let pieces = events(25, &[("draft-delta", json!({ "text": TEXT })), ("reply", whole())]);
    let answer = drafted(200, "text/event-stream", pieces).0.unwrap();
    assert_eq!((&answer["outcome"], &answer["text"]), (&json!("answered"), &json!(TEXT)));
    assert_eq!(answer["usage"]["calls"]["generate"], 2, "as often as the Worker called");
}

#[test]
fn a_worker_that_says_nothing_is_waited_for_as_long_as_the_run_may_take() {
    let (found, asked) = drafted(200, "text/event-stream", events(90, &[("reply", whole())]));
    assert_eq!((&found.unwrap()["reason"], asked), (&json!("budget"), 1));
}

#[test]
fn what_the_worker_says_of_its_service_is_said_of_it_and_nothing_is_asked_twice() {
    let service = json!({ "error": {
        "code": "provider_failed", "message": "m", "service_code": "rate_limited", "retry_after_ms": 86_400_000
    } });
    let own = json!({ "error": { "code": "rate_limited", "message": "m" } }).to_string();
    let unset = |code: &str| vec![json!({ "error": { "code": code, "message": "m" } }).to_string()];
    for (status, media_type, pieces, code, wait) in [
        (200, "text/event-stream", events(2, &[("error", service)]), "rate_limited", json!(86_400_000)),
        (429, "application/json", vec![own], "rate_limited", Value::Null),
        (503, "application/json", unset("misconfigured"), "misconfigured", Value::Null),
        (503, "application/json", unset("not_configured"), "misconfigured", Value::Null),
        (503, "application/json", unset("of_tomorrow"), "overloaded", Value::Null),
        (502, "text/html", vec!["<html>".to_owned()], "upstream_error", Value::Null),
        (200, "text/html", vec!["<html>".to_owned()], "bad_response", Value::Null),
    ] {
        let (found, asked) = drafted(status, media_type, pieces);
        assert_eq!((found.unwrap_err(), asked), ((json!(code), wait), 1), "{status} {media_type}");
    }
}

/// A Worker whose model is the built-in solver over the same documents.
fn solving(documents: &[Value]) -> Scripted {
    let own = corpus(documents);
    Scripted::new(move |asked| {
        let task = TaskRequest::from_json(asked.body.to_string().as_bytes()).unwrap().task(&asked.name).unwrap();
        let reply = builtin::solve(&task, &own.borrow());
        Sent::json(&serde_json::to_value(TaskResponse::new(reply, 1, None)).unwrap())
    })
}

#[test]
fn a_loop_over_a_worker_comes_to_the_answer_of_one_without() {
    let documents = [
        json!({ "id": "bread.md", "text": "# Bread\n\nKnead the dough for ten minutes.\n\nBake it for an hour.\n" }),
        json!({ "id": "tea.md", "text": "# Tea\n\nSteep the leaves for three minutes.\n" }),
    ];
    // A Worker as solver is refused for the one that is left out.
    for strategy in NAMES.into_iter().filter(|name| *name != "self-rag") {
        for question in ["How long do I knead the dough?", "Knead tea?", "Who painted the Mona Lisa?"] {
            let network = solving(&documents);
            let asked = |settings: &ServiceSettings| {
                let request = json!({ "question": question, "strategy": strategy });
                let mut answer = ask(settings, &network, &corpus(&documents), &request).unwrap();
                answer["solver"].take();
                answer["usage"]["tokens"].take();
                answer
            };
            let mut remote = asked(&settings());
            let before = network.count("task");
            let mut own = asked(&ServiceSettings::default());
            if strategy == "countercheck" {
                // What a Worker writes is checked claim by claim, what the built-in solver writes is quoted.
                for answer in [&mut remote, &mut own] {
                    for field in ["claims", "trace", "usage"] {
                        answer[field].take();
                    }
                }
            }
            assert_eq!(remote, own, "{strategy}, {question}");
            assert_eq!(network.count("task"), before, "{strategy}: only the first asks the Worker");
            assert!(before > 0 || remote["reason"] == "no_documents", "{strategy}, {question}: {remote}");
        }
    }
}

/// A passage as it arrives at a Worker.
fn passage(id: &str, text: &str) -> Passage {
    let (id, title) = (id.to_owned(), "Page".to_owned());
    TaskPassage { id, title, headings: vec!["Part".to_owned()], text: text.to_owned(), origin: Origin::Web }.into()
}

#[test]
fn every_task_and_every_reply_crosses_as_it_is() {
    let (question, text) = ("Why?".to_owned(), "Because.".to_owned());
    let passages = vec![passage("a#0", "One."), passage("b#1", "Two.")];
    let draft = Draft { text: text.clone(), ..Draft::default() };
    let rejected = vec![Rejected { text: "No.".to_owned(), check: Check::Usefulness, claims: vec!["No.".to_owned()] }];
    let generate = Generate {
        question: question.clone(),
        passages: passages.as_slice().into(),
        rejected,
        strict: true,
        temperature: 0.1,
    };
    let passages = || passages.clone();
    let mut tasks: Vec<Task> = vec![
        DecideRetrieval { question: question.clone() }.into(),
        RewriteQuery { question: question.clone(), tried: vec!["why".to_owned()], held: passages() }.into(),
        generate.clone().into(),
        Generate { passages: [].into(), rejected: Vec::new(), strict: false, ..generate.clone() }.into(),
    ];
    for (asked, again) in [(Some(question.clone()), true), (None, false)] {
        let claims = vec!["One.".to_owned(), "Two.".to_owned()];
        tasks.push(CheckClaims { question: asked, draft: text.clone(), claims, passages: passages(), again }.into());
    }
    let claims = vec!["One.".to_owned()];
    tasks.push(Repair { question: question.clone(), draft: text.clone(), claims, passages: passages() }.into());
    for (scale, again) in [(Scale::Binary, true), (Scale::Graded, false)] {
        tasks.push(GradePassages { question: question.clone(), passages: passages(), scale, again }.into());
        tasks.push(CheckGrounding { draft: draft.clone(), passages: passages().into(), scale, again }.into());
        tasks.push(CheckUsefulness { question: question.clone(), draft: text.clone(), scale, again }.into());
    }
    for task in tasks {
        let body = serde_json::to_vec(&TaskRequest::new(&task, Language::Fr)).unwrap();
        let request = TaskRequest::from_json(&body).unwrap();
        assert_eq!((request.language, request.task(task::name(&task)).unwrap()), (Language::Fr, task));
    }
    let quotes = vec![Quote { passage: 1, span: Span { start: 0, end: 3 } }];
    for reply in [
        TaskReply::Retrieval(Retrieval::Continue),
        TaskReply::Claims(ClaimsSaid {
            claims: vec![
                ClaimSaid { support: Support::Partially, passage: Some(1), quote: "Two.".to_owned() },
                ClaimSaid::default(),
            ],
            useful: Verdict::No,
        }),
        TaskReply::Repairs(vec!["Two.".to_owned(), String::new()]),
        TaskReply::Grades(vec![Grade::scored(Some(0.25)), Grade::default()]),
        TaskReply::Query("why".to_owned()),
        TaskReply::Draft(Draft { text, quotes, truncated: true }),
        TaskReply::Verdict(Verdict::Unknown),
        TaskReply::Support(Support::Partially),
        TaskReply::Rating(4),
    ] {
        let body = serde_json::to_vec(&TaskResponse::new(reply.clone(), 3, None)).unwrap();
        let response: TaskResponse = serde_json::from_slice(&body).unwrap();
        assert_eq!((response.called, response.reply()), (3, Some(reply)));
    }
    let two: TaskResponse = serde_json::from_value(json!({ "rating": 4, "verdict": "yes", "called": 1 })).unwrap();
    assert_eq!(two.reply(), None, "two replies are none");
}

#[test]
fn a_task_has_its_own_fields_and_no_others() {
    let refused = |name: &str, body: Value| {
        let request = TaskRequest::from_json(body.to_string().as_bytes()).unwrap();
        request.task(name).unwrap_err().message
    };
    let question = json!({ "question": "Why?", "scale": "graded" });
    assert_eq!(refused("decide-retrieval", question.clone()), "the task decide-retrieval has no `scale`");
    assert_eq!(
        refused("rewrite-query", json!({ "question": "Why?", "strict": true })),
        "the task rewrite-query has no `strict`"
    );
    assert_eq!(refused("generate", json!({ "question": "Why?", "temperature": 1.5 })), "temperature must be 0 to 1");
    assert_eq!(refused("grade-passages", question), "the task grade-passages needs `passages`");
    let error = TaskRequest::from_json(br#"{ "question": "Why?", "scale": "stars" }"#).unwrap_err();
    assert!(error.message.contains("`binary` or `graded`"), "{}", error.message);
}

#[test]
fn a_draft_that_breaks_off_is_kept_as_one_cut_off() {
    let answer = drafted(200, "text/event-stream", events(0, &[("draft-delta", json!({ "text": "Ten" }))])).0.unwrap();
    assert_eq!(json!([answer["outcome"], answer["reason"], answer["text"]]), json!(["partial", "truncated", "Ten"]));
}
