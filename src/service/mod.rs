//! Who performs a run's effects when there is more than the index: a model, a web search, an embedding
//! model, or a Worker of ours that has them.
//!
//! A task goes to the solver of its [`Role`]: the built-in one, a chat model, or a Worker. Codecs and
//! solvers say what to send and what a reply means; `call` sends, waits and repeats.

mod call;
mod embed;
mod exchange;
mod remote;
mod settings;

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::rc::Rc;

pub use call::Timeouts;
pub use settings::{EmbedSettings, Place, ServiceError, ServiceSettings, SolverSettings, WebSettings};

use crate::corpus::Corpus;
use crate::document::{Origin, Passage, Span};
use crate::driver::{Offline, Perform, Told};
use crate::host::Network;
use crate::pipeline::budget::{Millis, Tokens};
use crate::pipeline::run::{Effect, Order, Outcome, Reply};
use crate::pipeline::task::{Failure, Grade, GradePassages, Task, TaskReply};
use crate::pipeline::verdict::Scale;
use crate::prompt::Language;
use crate::provider::chat::openai::OpenAiChat;
use crate::provider::chat::{ChatReply, ChatRequest, Finish, ReplyFormat, Usage};
use crate::provider::error::ProviderError;
use crate::provider::search::tavily::Tavily;
use crate::provider::search::{WebQuery, WebResult};
use crate::retry::RetryPolicy;
use crate::solver::llm;
use call::{Bounds, CallError, Called, call};
use embed::Embedder;
use exchange::{Chatting, Searching};
use remote::Remote;

/// What a solver is asked for; each may be another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Grades passages.
    Grade,
    /// Writes queries.
    Rewrite,
    /// Writes drafts.
    Generate,
    /// Decides whether documents are needed, and checks drafts.
    Check,
}

impl Role {
    /// Whose task it is.
    pub fn of(task: &Task) -> Self {
        match task {
            Task::GradePassages(_) => Self::Grade,
            Task::RewriteQuery(_) => Self::Rewrite,
            Task::Generate(_) => Self::Generate,
            Task::DecideRetrieval(_) | Task::CheckGrounding(_) | Task::CheckUsefulness(_) => Self::Check,
        }
    }

    /// Its name in settings and requests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Grade => "grade",
            Self::Rewrite => "rewrite",
            Self::Generate => "generate",
            Self::Check => "check",
        }
    }
}

/// A network that may also have models and searches of its own: functions of the page.
pub trait Platform: Network {
    /// Puts a request to the model of that number; text goes to `told` as it is written.
    fn own_model(
        &self,
        model: u32,
        role: Role,
        request: &ChatRequest,
        told: &Told,
    ) -> impl Future<Output = Result<ChatReply, ProviderError>>;

    /// Has the scorer of that number score all passages for a question, 0 to 1, in their order.
    fn own_scores(
        &self,
        scorer: u32,
        question: &str,
        passages: &[Passage],
    ) -> impl Future<Output = Result<Vec<f64>, ProviderError>>;

    /// Puts a query to the search of that number.
    fn own_search(&self, search: u32, asked: &WebQuery) -> impl Future<Output = Result<Vec<WebResult>, ProviderError>>;
}

/// The services that are configured.
#[derive(Debug)]
pub struct Services {
    solvers: [Solver; 4],
    web: Option<Web>,
    embed: Option<Embedder>,
}

#[derive(Debug, Clone)]
enum Solver {
    Builtin,
    Chat(Rc<Chat>),
    Worker(Rc<Remote>),
    Own(u32),
    Scorer(u32),
}

/// A chat model, and what was learned of it.
#[derive(Debug)]
struct Chat {
    codec: OpenAiChat,
    timeouts: TimeoutSettings,
    /// Its grades are to have probabilities, and it did not refuse to tell them.
    confidence: Cell<bool>,
    /// It refused a reply format once: it is not asked for one again.
    plain: Cell<bool>,
}

#[derive(Debug)]
enum Web {
    Tavily(Tavily, TimeoutSettings),
    Worker(Rc<Remote>),
    Own(u32),
}

/// How long a service may take, where it was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TimeoutSettings {
    /// See [`Timeouts::headers`]; by default 25 s for a draft, 10 s for a query's vector, 120 s for a
    /// batch of documents' vectors, else 20 s.
    pub headers: Option<Millis>,
    /// See [`Timeouts::idle`]; by default 15 s.
    pub idle: Option<Millis>,
}

impl TimeoutSettings {
    fn or(self, headers: Millis) -> Timeouts {
        Timeouts { headers: self.headers.unwrap_or(headers), idle: self.idle.unwrap_or(15_000) }
    }
}

/// Two attempts fit into a run of a minute.
const DRAFT_HEADERS: Millis = 25_000;
const OTHER_HEADERS: Millis = 20_000;

/// The most characters of a web result that are read.
const WEB_TEXT: usize = 2_000;

impl Services {
    /// Who writes the drafts, as answers name it.
    pub fn solver(&self) -> &'static str {
        match self.of(Role::Generate) {
            Solver::Builtin => crate::solver::builtin::NAME,
            Solver::Chat(_) => "llm",
            Solver::Worker(_) => "remote",
            Solver::Own(_) | Solver::Scorer(_) => "js",
        }
    }

    /// Whether every task is left to the built-in solver.
    pub fn is_builtin(&self) -> bool {
        self.solvers.iter().all(|solver| matches!(solver, Solver::Builtin))
    }

    /// Whether passages are scored, which is best done all at once.
    pub fn scores_passages(&self) -> bool {
        matches!(self.of(Role::Grade), Solver::Scorer(_))
    }

    /// Whether there is a web search.
    pub fn has_web(&self) -> bool {
        self.web.is_some()
    }

    fn of(&self, role: Role) -> &Solver {
        &self.solvers[role as usize]
    }
}

/// Performs the effects of one run.
pub struct Performer<'a, N> {
    /// The index.
    pub corpus: &'a RefCell<Corpus>,
    /// Who is asked.
    pub services: &'a Services,
    /// The way to them.
    pub network: &'a N,
    /// The language of the prompts.
    pub language: Language,
    /// Which calls are repeated; how often also depends on the run's budget.
    pub policy: RetryPolicy,
}

impl<N: Platform> Perform for Performer<'_, N> {
    async fn perform(&self, order: Order, deadline: Millis, told: Told) -> Outcome {
        let may_call = order.may_call;
        match order.effect {
            Effect::SearchWeb { query, limit } => self.search(query, limit, may_call, deadline).await,
            Effect::Ask(task) => self.ask(&task, may_call, deadline, &told).await,
            Effect::Retrieve { query, k } => self.retrieve(&query, k, may_call, deadline).await,
        }
    }
}

impl<N: Platform> Performer<'_, N> {
    /// Puts one task to its solver.
    pub async fn ask(&self, task: &Task, may_call: u32, deadline: Millis, told: &Told) -> Outcome {
        let role = Role::of(task);
        let bounds = |timeouts: TimeoutSettings| {
            let headers = if role == Role::Generate { DRAFT_HEADERS } else { OTHER_HEADERS };
            Bounds { may_call, deadline, timeouts: timeouts.or(headers), policy: self.policy }
        };
        let request = || ChatRequest { stream: role == Role::Generate, ..llm::request(task, self.language) };
        let (result, called) = match self.services.of(role) {
            Solver::Builtin => {
                return Offline { corpus: self.corpus }.solve(task, told);
            }
            Solver::Scorer(scorer) => return self.score(*scorer, task).await,
            Solver::Worker(remote) => {
                return remote.ask(task, self.language, self.network, bounds(remote.timeouts), told).await;
            }
            Solver::Own(model) => {
                // A verdict that is written piece by piece is no draft.
                let (silent, request) = (Told::default(), request());
                let told = if request.stream { told } else { &silent };
                (self.network.own_model(*model, role, &request, told).await.map_err(Into::into), 1)
            }
            Solver::Chat(chat) => {
                let logprobs = chat.confidence.get() && is_binary_grade(task);
                let request = ChatRequest { logprobs, ..request() };
                let called = self.chat(chat, request, bounds(chat.timeouts), told).await;
                (called.result, called.called)
            }
        };
        let tokens = tokens(&result);
        Outcome { reply: read(task, result), called, tokens }
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

    /// Asks a chat model; what it refuses to give besides its words, it is not asked for again.
    async fn chat(&self, chat: &Chat, mut request: ChatRequest, bounds: Bounds, told: &Told) -> Called<ChatReply> {
        if chat.plain.get() {
            request.format = ReplyFormat::Text;
        }
        let mut sent = 0;
        loop {
            let bounds = Bounds { may_call: bounds.may_call - sent, ..bounds };
            let asked = Chatting { codec: &chat.codec, request: &request };
            let Called { result, called } = call(self.network, &asked, bounds, told).await;
            sent += called;
            let is_refused = matches!(&result, Err(failed) if failed.error == ProviderError::FormatRefused);
            if !is_refused || called >= bounds.may_call {
                return Called { result, called: sent };
            }
            // Services do not say reliably which of the two it was.
            if request.logprobs {
                chat.confidence.set(false);
                request.logprobs = false;
            } else if request.format != ReplyFormat::Text {
                chat.plain.set(true);
                request.format = ReplyFormat::Text;
            } else {
                return Called { result, called: sent };
            }
        }
    }

    /// Searches the web.
    pub async fn search(&self, query: String, limit: usize, may_call: u32, deadline: Millis) -> Outcome {
        let asked = WebQuery { query, limit, text_limit: WEB_TEXT };
        let bounds = |timeouts: TimeoutSettings| Bounds {
            may_call,
            deadline,
            timeouts: timeouts.or(OTHER_HEADERS),
            policy: self.policy,
        };
        let found = match &self.services.web {
            None => {
                let failure = Failure::NotConfigured { service: WEB };
                return Outcome::without_tokens(Reply::Failed(failure), 0);
            }
            Some(Web::Own(search)) => {
                let result = self.network.own_search(*search, &asked).await.map_err(CallError::from);
                Called { result, called: 1 }
            }
            Some(Web::Worker(remote)) => remote.search(&asked, self.network, bounds(remote.timeouts)).await,
            Some(Web::Tavily(codec, timeouts)) => {
                call(self.network, &Searching { codec, asked: &asked }, bounds(*timeouts), &Told::default()).await
            }
        };
        let reply = match found.result {
            Ok(results) => Reply::Web(results.into_iter().map(passage).collect()),
            Err(failed) => Reply::Failed(failure(WEB, failed.error, failed.retry_after)),
        };
        Outcome::without_tokens(reply, found.called)
    }
}

/// Whether a yes or a no is asked for about passages: of these alone the probability is told.
fn is_binary_grade(task: &Task) -> bool {
    matches!(task, Task::GradePassages(GradePassages { scale: Scale::Binary, .. }))
}

const MODEL: &str = "the model";
const WEB: &str = "web search";

/// A web result as a passage; it is its own document.
fn passage(result: WebResult) -> Passage {
    Passage {
        id: result.url.clone(),
        document: result.url.clone(),
        url: result.url,
        title: result.title,
        headings: Vec::new(),
        span: Span { start: 0, end: result.text.len() },
        text: result.text,
        origin: Origin::Web,
    }
}

/// What a reply took. No service says what a call without a reply did: nothing, unless text had come.
fn tokens(result: &Result<ChatReply, CallError>) -> Option<Tokens> {
    match result {
        Ok(reply) => {
            let Usage { input_tokens, output_tokens } = reply.usage?;
            Some(Tokens { input: input_tokens.try_into().ok()?, output: output_tokens.try_into().ok()? })
        }
        Err(failed) => failed.text.is_empty().then(Tokens::default),
    }
}

/// What a model's reply says on the task. A draft that broke off after it was begun is a draft cut off.
fn read(task: &Task, result: Result<ChatReply, CallError>) -> Reply {
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
        Ok(reply) => Reply::Task(llm::read(task, &reply)),
        Err(failed) => Reply::Failed(failure(MODEL, failed.error, failed.retry_after)),
    }
}

/// Why the path has no reply. Nothing of what the service wrote is in it.
pub fn failure(service: &'static str, error: ProviderError, retry_after: Option<Millis>) -> Failure {
    match error {
        ProviderError::TooLong => Failure::TooLong { service },
        _ => Failure::Service { service, code: error.code(), detail: error.to_string(), retry_after },
    }
}
