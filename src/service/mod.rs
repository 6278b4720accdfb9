//! Who performs a run's effects when there is more than the index: a model, a web search, an embedding
//! model, or a Worker of ours that has them.
//!
//! A task goes to the solver of its [`Role`]: the built-in one, a chat model, or a Worker. Codecs and
//! solvers say what to send and what a reply means; `call` sends, waits and repeats.

mod asking;
mod cache;
mod call;
mod circuit;
mod embed;
mod exchange;
mod fallback;
mod remembering;
mod remote;
mod retriever;
mod settings;

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::rc::Rc;

pub use cache::{Cache, DEFAULT_BYTES, Key, Store};
pub use call::Timeouts;
pub use remembering::Remembering;
pub use retriever::OwnPassage;
pub use settings::{CacheSettings, EmbedSettings, Place, ServiceError, ServiceSettings, SolverSettings, WebSettings};

use crate::corpus::Corpus;
use crate::document::{Origin, Passage, Span};
use crate::driver::{Perform, Told};
use crate::host::Network;
use crate::pipeline::budget::Millis;
use crate::pipeline::run::{Effect, Order, Outcome, Reply};
use crate::pipeline::strategy::{Strategy, StrategyError};
use crate::pipeline::task::{Failure, Task};
use crate::prompt::Language;
use crate::provider::chat::{ChatModel, ChatReply, ChatRequest};
use crate::provider::completions::Completions;
use crate::provider::error::ProviderError;
use crate::provider::search::{SearchEngine, WebQuery, WebResult};
use crate::retry::RetryPolicy;
use call::{Bounds, CallError, Called, call};
use circuit::Circuit;
use embed::Embedder;
use exchange::Searching;
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
            Task::Generate(_) | Task::GenerateSegment(_) | Task::Repair(_) => Self::Generate,
            Task::DecideRetrieval(_)
            | Task::CheckGrounding(_)
            | Task::CheckUsefulness(_)
            | Task::CheckClaims(_)
            | Task::Reflect(_) => Self::Check,
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

    /// Has the retriever of that number find the best passages, so many at the most.
    fn own_passages(
        &self,
        retriever: u32,
        query: &str,
        k: usize,
    ) -> impl Future<Output = Result<Vec<OwnPassage>, ProviderError>>;

    /// Puts a query to the search of that number.
    fn own_search(&self, search: u32, asked: &WebQuery) -> impl Future<Output = Result<Vec<WebResult>, ProviderError>>;
}

/// The services that are configured.
#[derive(Debug)]
pub struct Services {
    /// Of each role, in the order in which they are asked; none of the lists is empty.
    solvers: [Vec<Solver>; 4],
    web: Option<Web>,
    embed: Option<Embedder>,
    /// The number of a retriever that stands for the index.
    retriever: Option<u32>,
}

#[derive(Debug, Clone)]
enum Solver {
    Builtin,
    Chat(Rc<Chat>),
    Completions(Rc<Continuing>),
    Worker(Rc<Remote>),
    Own(u32),
    Scorer(u32),
}

/// A chat model, and what was learned of it.
#[derive(Debug)]
struct Chat {
    model: ChatModel,
    timeouts: TimeoutSettings,
    /// Its grades are to have probabilities.
    confidence: bool,
    /// It refused a reply format once: it is not asked for one again.
    plain: Cell<bool>,
    /// It refused once to tell probabilities: it is not asked for them again.
    silent: Cell<bool>,
    /// It refused once to be given a temperature: it is given none again.
    own_temperature: Cell<bool>,
    circuit: Circuit,
}

/// A model that continues text.
#[derive(Debug)]
struct Continuing {
    codec: Completions,
    timeouts: TimeoutSettings,
    circuit: Circuit,
}

#[derive(Debug)]
enum Web {
    Vendor(SearchEngine, TimeoutSettings, Circuit),
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
            Solver::Chat(_) | Solver::Completions(_) => "llm",
            Solver::Worker(_) => "remote",
            Solver::Own(_) | Solver::Scorer(_) => "js",
        }
    }

    /// Whether every task is left to the built-in solver.
    pub fn is_builtin(&self) -> bool {
        self.solvers.iter().flatten().all(|solver| matches!(solver, Solver::Builtin))
    }

    /// The strategy as these solvers follow it: a scorer has all passages at once, and what the built-in
    /// solver writes are quotations. For `self-rag` a model must write, and one without reflection tokens be
    /// asked.
    pub fn followed(&self, strategy: Strategy) -> Result<Strategy, StrategyError> {
        let asks = |role| matches!(self.of(role), Solver::Chat(_) | Solver::Completions(_) | Solver::Own(_));
        let writes_tokens = matches!(self.of(Role::Generate), Solver::Completions(_));
        if strategy.self_rag.is_some() && !(asks(Role::Generate) && (writes_tokens || asks(Role::Check))) {
            return Err(StrategyError::NeedsModel);
        }
        let scores = matches!(self.of(Role::Grade), Solver::Scorer(_));
        let strategy = if scores { strategy.in_batches() } else { strategy };
        let quotes = matches!(self.of(Role::Generate), Solver::Builtin);
        if quotes { strategy.of_quotations() } else { Ok(strategy) }
    }

    /// Whether there is a web search.
    pub fn has_web(&self) -> bool {
        self.web.is_some()
    }

    /// Who is asked first.
    fn of(&self, role: Role) -> &Solver {
        self.all_of(role).first().unwrap_or(&Solver::Builtin)
    }

    /// Who is asked, one after the other.
    fn all_of(&self, role: Role) -> &[Solver] {
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
            Some(Web::Vendor(engine, timeouts, circuit)) => {
                let searching = Searching { engine, circuit, asked: &asked };
                call(self.network, &searching, bounds(*timeouts), &Told::default()).await
            }
        };
        let reply = match found.result {
            Ok(results) => Reply::Web(results.into_iter().map(passage).collect()),
            Err(failed) => Reply::Failed(failure(WEB, failed.error, failed.retry_after)),
        };
        Outcome::without_tokens(reply, found.called)
    }
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
        also: result.also,
        span: Span { start: 0, end: result.text.len() },
        text: result.text,
        origin: Origin::Web,
    }
}

/// Why the path has no reply. Nothing of what the service wrote is in it.
pub fn failure(service: &'static str, error: ProviderError, retry_after: Option<Millis>) -> Failure {
    match error {
        ProviderError::TooLong => Failure::TooLong { service },
        _ => Failure::Service { service, code: error.code(), detail: error.to_string(), retry_after },
    }
}
