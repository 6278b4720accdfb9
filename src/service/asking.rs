//! Puts a task to the solver of its role: what is asked of a model is a request, and its words are read
//! as a reply.

use std::borrow::Cow;
use std::cell::Cell;

use super::call::{Bounds, CallError, Called, call};
use super::exchange::{Chatting, Continuation};
use super::{
    Chat, Continuing, DRAFT_HEADERS, MODEL, OTHER_HEADERS, Performer, Platform, Role, Solver, TimeoutSettings, failure,
};
use crate::driver::{Offline, Told};
use crate::pipeline::budget::{Millis, Tokens};
use crate::pipeline::run::{Outcome, Reply};
use crate::pipeline::segment::GenerateSegment;
use crate::pipeline::task::{Failure, Grade, GradePassages, Task, TaskReply};
use crate::pipeline::verdict::Scale;
use crate::provider::chat::{ChatReply, ChatRequest, Finish, ReplyFormat, Usage};
use crate::provider::completions::{CompletionReply, CompletionRequest};
use crate::provider::error::ProviderError;
use crate::solver::{checkpoint, llm};

impl<N: Platform> Performer<'_, N> {
    /// Puts one task to one solver.
    pub(super) async fn put_to(
        &self,
        solver: &Solver,
        task: &Task,
        may_call: u32,
        deadline: Millis,
        told: &Told,
    ) -> Outcome {
        let role = Role::of(task);
        let bounds = |timeouts: TimeoutSettings| {
            let headers = if role == Role::Generate { DRAFT_HEADERS } else { OTHER_HEADERS };
            Bounds { may_call, deadline, timeouts: timeouts.or(headers), policy: self.policy }
        };
        let stream = matches!(task, Task::Generate(_));
        let put = || {
            let mut put = llm::put(task, self.language);
            put.request.stream = stream;
            put
        };
        // Who tells no probabilities need not be asked for them: a function has none, and some services refuse.
        let silent = match solver {
            Solver::Own(_) => true,
            Solver::Chat(chat) => chat.silent.get(),
            _ => false,
        };
        if silent && matches!(task, Task::Reflect(_)) {
            return Outcome::without_tokens(Reply::Task(TaskReply::Odds(None)), 0);
        }
        if let (Solver::Chat(_) | Solver::Own(_), Some(reply)) = (solver, llm::known(task)) {
            return Outcome::without_tokens(Reply::Task(reply), 0);
        }
        let (put, result, called) = match solver {
            Solver::Builtin => {
                return Offline { corpus: self.corpus }.solve(task, told);
            }
            Solver::Scorer(scorer) => return self.score(*scorer, task).await,
            Solver::Worker(_) if matches!(task, Task::GenerateSegment(_) | Task::Reflect(_)) => {
                return Outcome::without_tokens(Reply::Failed(Failure::NotConfigured { service: MODEL }), 0);
            }
            Solver::Worker(remote) => {
                return remote.ask(task, self.language, self.network, bounds(remote.timeouts), told).await;
            }
            Solver::Own(model) => {
                // A verdict that is written piece by piece is no draft.
                let (silent, put) = (Told::default(), put());
                let told = if put.request.stream { told } else { &silent };
                let result = self.network.own_model(*model, role, &put.request, told).await;
                (put, result.map_err(Into::into), 1)
            }
            Solver::Chat(chat) => {
                let mut put = put();
                put.request.logprobs |= chat.confidence && is_binary_grade(task);
                let called = self.chat(chat, &put.request, bounds(chat.timeouts), told).await;
                (put, called.result, called.called)
            }
            Solver::Completions(model) => {
                if let Task::GenerateSegment(task) = task {
                    return self.segment(model, task, bounds(model.timeouts)).await;
                }
                let put = put();
                let request = checkpoint::as_completion(&put.request);
                let continued = self.continuation(model, &request, bounds(model.timeouts)).await;
                (put, continued.result.map(checkpoint::as_chat), continued.called)
            }
        };
        let tokens = tokens(&result);
        Outcome { reply: read(task, &put, result), called, tokens }
    }

    /// Has the passages of a task scored.
    async fn score(&self, scorer: u32, task: &Task) -> Outcome {
        let Task::GradePassages(GradePassages { question, passages, .. }) = task else {
            return Outcome::without_tokens(Reply::Failed(Failure::NotConfigured { service: MODEL }), 0);
        };
        let reply = match self.network.own_scores(scorer, question, passages).await {
            Ok(given) => {
                Reply::Task(TaskReply::Grades(given.into_iter().map(|score| Grade::scored(Some(score))).collect()))
            }
            Err(error) => Reply::Failed(failure(MODEL, error, None)),
        };
        Outcome::without_tokens(reply, 1)
    }

    /// Asks a chat model; what it refuses besides the words themselves, it is not asked for again.
    async fn chat(&self, chat: &Chat, request: &ChatRequest, bounds: Bounds, told: &Told) -> Called<ChatReply> {
        let mut request = Cow::Borrowed(request);
        let mut sent = 0;
        loop {
            without_refused(chat, &mut request);
            let bounds = Bounds { may_call: bounds.may_call - sent, ..bounds };
            let asked = Chatting { model: &chat.model, circuit: &chat.circuit, request: &request };
            let Called { result, called } = call(self.network, &asked, bounds, told).await;
            sent += called;
            let refused = result.as_ref().err().and_then(|failed| refused(failed.error, chat, &request));
            match refused {
                Some(setting) if called < bounds.may_call => setting.set(true),
                _ => return Called { result, called: sent },
            }
        }
    }

    /// Has a model that continues text write a segment.
    async fn segment(&self, model: &Continuing, task: &GenerateSegment, bounds: Bounds) -> Outcome {
        let request = checkpoint::request(task, self.language);
        let Called { result, called } = self.continuation(model, &request, bounds).await;
        let tokens = result.as_ref().map_or(Some(Tokens::default()), |reply| spent(reply.usage));
        let reply = match result {
            Ok(reply) => Reply::Task(checkpoint::read(task, &reply)),
            Err(failed) => Reply::Failed(failure(MODEL, failed.error, failed.retry_after)),
        };
        Outcome { reply, called, tokens }
    }

    async fn continuation(
        &self,
        model: &Continuing,
        request: &CompletionRequest,
        bounds: Bounds,
    ) -> Called<CompletionReply> {
        let asked = Continuation { codec: &model.codec, circuit: &model.circuit, request };
        call(self.network, &asked, bounds, &Told::default()).await
    }
}

/// Takes what the model refused out of a request.
fn without_refused(chat: &Chat, request: &mut Cow<'_, ChatRequest>) {
    if chat.plain.get() && request.format != ReplyFormat::Text {
        request.to_mut().format = ReplyFormat::Text;
    }
    if chat.silent.get() && request.logprobs {
        request.to_mut().logprobs = false;
    }
    if chat.own_temperature.get() && request.temperature.is_some() {
        request.to_mut().temperature = None;
    }
}

/// Which part of a request was refused, if it is one that the request can do without. Services do not say
/// reliably whether they refuse a format or probabilities: the latter go first.
fn refused<'a>(error: ProviderError, chat: &'a Chat, request: &ChatRequest) -> Option<&'a Cell<bool>> {
    match error {
        ProviderError::TemperatureRefused if request.temperature.is_some() => Some(&chat.own_temperature),
        ProviderError::FormatRefused if request.logprobs => Some(&chat.silent),
        ProviderError::FormatRefused if request.format != ReplyFormat::Text => Some(&chat.plain),
        _ => None,
    }
}

pub(super) fn is_binary_grade(task: &Task) -> bool {
    matches!(task, Task::GradePassages(GradePassages { scale: Scale::Binary, .. }))
}

/// What a reply took. No service says what a call without a reply did: nothing, unless text had come.
fn tokens(result: &Result<ChatReply, CallError>) -> Option<Tokens> {
    match result {
        Ok(reply) => spent(reply.usage),
        Err(failed) => failed.text.is_empty().then(Tokens::default),
    }
}

fn spent(usage: Option<Usage>) -> Option<Tokens> {
    let Usage { input_tokens, output_tokens } = usage?;
    Some(Tokens { input: input_tokens.try_into().ok()?, output: output_tokens.try_into().ok()? })
}

/// What a model's reply says on the task. A draft that broke off after it was begun is a draft cut off.
fn read(task: &Task, put: &llm::Put<'_>, result: Result<ChatReply, CallError>) -> Reply {
    let result = match result {
        Err(failed) if matches!(task, Task::Generate(_)) && !failed.text.trim().is_empty() => Ok(ChatReply {
            text: failed.text,
            finish: Finish::Other,
            usage: None,
            model: None,
            lossy: false,
            tokens: Vec::new(),
        }),
        result => result,
    };
    match result {
        Ok(reply) => Reply::Task(put.read(&reply)),
        Err(failed) => Reply::Failed(failure(MODEL, failed.error, failed.retry_after)),
    }
}
