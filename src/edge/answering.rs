//! A question that has been checked goes in, an answer in the words of [`crate::wire`] comes out,
//! either at once or told step by step.

use std::cell::RefCell;
use std::future::Future;
use std::ops::ControlFlow;
use std::rc::Rc;

use crate::corpus::Corpus;
use crate::driver::drive;
use crate::edge::events::Events;
use crate::host::Host;
use crate::pipeline::answer::Question;
use crate::pipeline::run::Run;
use crate::pipeline::trace::Event;
use crate::problem::Problem;
use crate::solver::builtin;
use crate::wire::{Answer, Asked, ErrorBody, SearchHit, SearchResponse};

/// Answers; `tell` hears of each step.
pub async fn answer(
    asked: Asked,
    corpus: &RefCell<Corpus>,
    host: &impl Host,
    tell: impl Fn(&Event),
) -> Result<Answer, Problem> {
    let run = Run::new(asked.question, asked.strategy, asked.limits, host.now());
    let tell = |event: Event| {
        tell(&event);
        ControlFlow::Continue(())
    };
    let answer = drive(run, host, corpus, tell).await.map_err(Problem::from)?;
    Ok(Answer::new(answer, builtin::NAME, asked.language))
}

/// Answers into a stream: each step, then `answer` or `error`.
///
/// The corpus is awaited here rather than before, so that the stream can begin while it is loaded.
pub async fn tell(
    asked: Asked,
    corpus: impl Future<Output = Result<Rc<RefCell<Corpus>>, Problem>>,
    host: impl Host,
    events: Events,
) {
    let answered = match corpus.await {
        Ok(corpus) => answer(asked, &corpus, &host, |event| events.push(event.name(), event)).await,
        Err(problem) => Err(problem),
    };
    match answered {
        Ok(answer) => events.push("answer", &answer),
        Err(problem) => events.push("error", &ErrorBody::from(&problem)),
    }
}

/// Searches; the number of hits has been checked.
pub fn search(query: &Question, k: usize, corpus: &Corpus) -> Result<SearchResponse, Problem> {
    // The query and k are good, so what is left is a fault of our own.
    let hits = corpus.search(query.as_str(), k).map_err(|e| Problem::new("internal", 500, e.to_string()))?;
    Ok(SearchResponse { hits: hits.into_iter().map(SearchHit::from).collect() })
}
