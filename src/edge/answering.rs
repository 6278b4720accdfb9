//! A question that has been checked goes in, an answer in the words of [`crate::wire`] comes out, each
//! step told as it happens; likewise a task of a loop that runs elsewhere.

use std::future::{Future, poll_fn};
use std::ops::ControlFlow;
use std::pin::pin;

use serde::Serialize;

use crate::document::Hit;
use crate::driver::{Perform, Told, drive};
use crate::edge::events::Events;
use crate::host::Host;
use crate::pipeline::answer::Warning;
use crate::pipeline::run::{Outcome, Reply, Run};
use crate::pipeline::task::Failure;
use crate::pipeline::trace::Event;
use crate::problem::Problem;
use crate::wire::task::TaskResponse;
use crate::wire::web::{WebSearchResponse, WebSearchResult};
use crate::wire::{Answer, Asked, ErrorBody, SearchHit, SearchResponse};

/// Answers; `tell` hears of each step, `solver` is who writes.
pub async fn answer(
    asked: Asked,
    performer: &impl Perform,
    host: &impl Host,
    solver: &str,
    tell: impl Fn(&Event),
) -> Result<Answer, Problem> {
    let run = Run::new(asked.question, asked.strategy, asked.limits, host.now());
    let tell = |event: Event| {
        tell(&event);
        ControlFlow::Continue(())
    };
    let answer = drive(run, host, performer, tell).await.map_err(Problem::from)?;
    performer.settle(&answer).await;
    Ok(Answer::new(answer, solver, asked.language).with_remembered(performer.remembered()))
}

/// Ends a stream with `answer` or `error`.
pub fn conclude(answered: Result<Answer, Problem>, events: &Events) {
    match answered {
        Ok(answer) => events.push("answer", &answer),
        Err(problem) => events.push("error", &ErrorBody::from(&problem)),
    }
}

/// Performs a task or a search into a stream: the text of a draft as it is written, then `reply` or
/// `error`.
pub async fn tell_outcome<T: Serialize>(
    performed: impl Future<Output = Outcome>,
    read: impl Fn(Outcome) -> Result<T, Problem>,
    told: Told,
    events: &Events,
) {
    let mut performed = pin!(performed);
    let outcome = poll_fn(|cx| {
        told.wake_at_text(cx);
        let polled = performed.as_mut().poll(cx);
        for text in told.take() {
            events.push("draft-delta", &Event::DraftDelta { text });
        }
        polled
    });
    match read(outcome.await) {
        Ok(response) => events.push("reply", &response),
        Err(problem) => events.push("error", &ErrorBody::from(&problem)),
    }
}

/// What came of a task.
pub fn task_response(outcome: Outcome) -> Result<TaskResponse, Problem> {
    match outcome.reply {
        Reply::Task(reply) => Ok(TaskResponse::new(reply, outcome.called, outcome.tokens)),
        Reply::Failed(failure) => Err(failure.into()),
        Reply::Hits(_) | Reply::ByWords(..) | Reply::Web(_) => Err(Failure::Malformed { task: "task" }.into()),
    }
}

/// What came of a web search.
pub fn web_response(outcome: Outcome) -> Result<WebSearchResponse, Problem> {
    match outcome.reply {
        Reply::Web(passages) => {
            let results = passages.into_iter().map(WebSearchResult::from).collect();
            Ok(WebSearchResponse { results, called: outcome.called })
        }
        Reply::Failed(failure) => Err(failure.into()),
        Reply::Hits(_) | Reply::ByWords(..) | Reply::Task(_) => Err(Failure::Malformed { task: "web search" }.into()),
    }
}

/// What a search found, and why by words alone if it did.
pub fn found((hits, by_words): (Vec<Hit>, Option<Failure>)) -> SearchResponse {
    let warning = |failure: Failure| Warning { code: "embedding_failed".to_owned(), message: failure.to_string() };
    let warnings = by_words.map(warning).into_iter().collect();
    SearchResponse { hits: hits.into_iter().map(SearchHit::from).collect(), warnings }
}
