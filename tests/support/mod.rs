//! A scripted driver: fixed replies, no network, no clock.
#![allow(dead_code, clippy::panic)] // each test binary uses its part; a broken script must end the test

use countercheck::document::{Hit, Origin, Passage, Span};
use countercheck::pipeline::answer::{Answer, Question, RunError};
use countercheck::pipeline::budget::Limits;
use countercheck::pipeline::run::{Effect, Order, Outcome, Reply, Run, Step};
use countercheck::pipeline::strategy::Strategy;
use countercheck::pipeline::task::{
    CheckClaims, ClaimSaid, ClaimsSaid, Draft, Failure, Grade, Quote, Repair, Task, TaskReply,
};
use countercheck::pipeline::verdict::{Retrieval, Scale, Support, Verdict};

/// What the world says, in the order in which it is asked. The last entry of a list is repeated.
#[derive(Clone)]
pub struct Script {
    /// A letter for each passage: R relevant, I irrelevant, ? unknown, ! a failing grader, L too long for it.
    pub grades: &'static str,
    /// Scores of the passages, where they are graded by degrees; `None` for a reply without one.
    pub scores: &'static [Option<f64>],
    /// Scores of the web's results.
    pub web_scores: &'static [Option<f64>],
    /// The texts of the passages; those beyond them say which they are.
    pub texts: Vec<String>,
    /// Whether to retrieve.
    pub retrieve: Retrieval,
    /// Verdicts of the grounding checks: y, n, ?, L for a request that is too long; by degrees also p,
    /// in part.
    pub grounded: &'static str,
    /// Verdicts of the usefulness checks: y, n, ?; by degrees 1 to 5.
    pub useful: &'static str,
    /// What is said of claims; by default all of them are in the first passage, and the draft is useful.
    pub claims: fn(&CheckClaims) -> ClaimsSaid,
    /// What is written in place of claims; by default nothing.
    pub repairs: fn(&Repair) -> Vec<String>,
    /// What a web search brings: a number of results, `None` for "not configured".
    pub web: Option<Result<usize, ()>>,
    /// The drafts; empty: each differs from the others.
    pub drafts: Vec<Draft>,
    /// Whether writing a draft fails from this attempt on.
    pub generate_fails_from: usize,
    /// The most passages that the generator takes.
    pub generate_takes: usize,
    /// Time that each reply takes.
    pub latency: u64,
    /// Replies are filed in reverse order.
    pub reversed: bool,
    /// What happens to a reply on its way: nothing, or a solver's words and back.
    pub way: fn(&Task, Result<TaskReply, Failure>) -> Result<TaskReply, Failure>,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            grades: "RRRR",
            scores: &[],
            web_scores: &[],
            texts: Vec::new(),
            retrieve: Retrieval::Yes,
            grounded: "y",
            useful: "y",
            claims: |task| said_of(task, |_| Support::Fully),
            repairs: |task| vec![String::new(); task.claims.len()],
            web: Some(Ok(1)),
            drafts: Vec::new(),
            generate_fails_from: usize::MAX,
            generate_takes: usize::MAX,
            latency: 1,
            reversed: false,
            way: |_, reply| reply,
        }
    }
}

pub fn passage(n: usize, origin: Origin) -> Passage {
    let text = format!("Passage number {n}.");
    Passage {
        id: format!("doc#{n}"),
        document: "doc".to_owned(),
        url: String::new(),
        title: "Doc".to_owned(),
        headings: Vec::new(),
        also: Vec::new(),
        span: Span { start: 100 * n, end: 100 * n + text.len() },
        text,
        origin,
    }
}

/// What is said of claims, each with all of the first passage as its quotation.
pub fn said_of(task: &CheckClaims, support: impl Fn(&str) -> Support) -> ClaimsSaid {
    let quote = task.passages[0].text.clone();
    let said = |claim: &String| ClaimSaid { support: support(claim), passage: Some(0), quote: quote.clone() };
    let useful = if task.question.is_some() { Verdict::Yes } else { Verdict::Unknown };
    ClaimsSaid { claims: task.claims.iter().map(said).collect(), useful }
}

/// What a run did, for tests to look at.
#[derive(Default)]
pub struct Log {
    pub effects: Vec<Effect>,
    /// Of each effect, how often it may be called.
    pub may_call: Vec<u32>,
    pub now: u64,
    counts: [usize; 4],
}

pub fn run(script: &Script, strategy: Strategy) -> Result<Answer, RunError> {
    run_logged(script, strategy, Limits::default()).0
}

pub fn run_logged(script: &Script, strategy: Strategy, limits: Limits) -> (Result<Answer, RunError>, Log) {
    let mut log = Log::default();
    let question = Question::new("What are the steps of RAG?").expect("not blank");
    let mut run = Run::new(question, strategy, limits, 0);
    loop {
        match run.next_step() {
            Step::Done(result) => return (*result, log),
            Step::Wait => panic!("nothing is outstanding, yet the run waits"),
            Step::Perform(orders) => {
                let called = |o: &Order| u32::from(!matches!(o.effect, Effect::Retrieve { .. }));
                let outcome = |o: Order| (o.id, Outcome::without_tokens(reply(script, &o, &mut log), called(&o)));
                let mut outcomes: Vec<_> = orders.into_iter().map(outcome).collect();
                if script.reversed {
                    outcomes.reverse();
                }
                for (id, outcome) in outcomes {
                    log.now += script.latency;
                    run.resolve(id, outcome, log.now).expect("each order is resolved once");
                }
            }
        }
    }
}

fn reply(script: &Script, order: &Order, log: &mut Log) -> Reply {
    log.effects.push(order.effect.clone());
    log.may_call.push(order.may_call);
    match &order.effect {
        Effect::Retrieve { k, .. } => {
            let n = if script.scores.is_empty() { script.grades.len() } else { script.scores.len() }.min(*k);
            let hit = |i| {
                let mut passage = passage(i, Origin::Local);
                if let Some(text) = script.texts.get(i) {
                    passage.text.clone_from(text);
                }
                Hit { passage, score: 1.0, lexical: 1.0, dense: None, explanation: None }
            };
            Reply::Hits((0..n).map(hit).collect())
        }
        Effect::SearchWeb { .. } => match script.web {
            None => Reply::Failed(Failure::NotConfigured { service: "web search" }),
            Some(Err(())) => Reply::Failed(service_failed("web search")),
            Some(Ok(n)) => {
                log.counts[0] += 1;
                let base = 1000 * log.counts[0];
                Reply::Web((base..base + n).map(|i| passage(i, Origin::Web)).collect())
            }
        },
        Effect::Ask(task) => match (script.way)(task, task_reply(script, task, log)) {
            Ok(reply) => Reply::Task(reply),
            Err(failure) => Reply::Failed(failure),
        },
    }
}

fn task_reply(script: &Script, task: &Task, log: &mut Log) -> Result<TaskReply, Failure> {
    let failure = || service_failed("model");
    Ok(match task {
        Task::GradePassages(task) => {
            let grade = |passage: &Passage| {
                let n: usize = passage.id.rsplit('#').next().expect("ordinal").parse().expect("number");
                if task.scale == Scale::Graded {
                    let scores = if n < 1000 { script.scores } else { script.web_scores };
                    return Ok(Grade { verdict: Verdict::Unknown, score: scores.get(n % 1000).copied().flatten() });
                }
                // The web's results are all relevant.
                let letter = script.grades.as_bytes().get(n).copied().unwrap_or(b'R');
                if letter == b'!' { Err(failure()) } else { Ok(Grade { verdict: verdict(letter)?, score: None }) }
            };
            TaskReply::Grades(task.passages.iter().map(grade).collect::<Result<_, _>>()?)
        }
        Task::DecideRetrieval(_) => TaskReply::Retrieval(script.retrieve),
        Task::GenerateSegment(_) | Task::Reflect(_) => panic!("no preset here writes segments"),
        Task::CheckClaims(task) => TaskReply::Claims((script.claims)(task)),
        Task::Repair(task) => TaskReply::Repairs((script.repairs)(task)),
        Task::RewriteQuery(task) => TaskReply::Query(format!("query {}", task.tried.len())),
        Task::Generate(task) => {
            let i = task.rejected.len();
            if i >= script.generate_fails_from {
                return Err(failure());
            }
            if task.passages.len() > script.generate_takes {
                return Err(TOO_LONG);
            }
            let own = Draft {
                text: format!("Draft {i} [1]"),
                quotes: vec![Quote { passage: 0, span: Span { start: 0, end: 7 } }],
                truncated: false,
            };
            TaskReply::Draft(script.drafts.get(i.min(script.drafts.len().saturating_sub(1))).cloned().unwrap_or(own))
        }
        Task::CheckGrounding(task) => match (task.scale, next(script.grounded, &mut log.counts[1])) {
            (Scale::Graded, b'p') => TaskReply::Support(Support::Partially),
            (Scale::Graded, letter) => TaskReply::Support(verdict(letter)?.into()),
            (Scale::Binary, letter) => TaskReply::Verdict(verdict(letter)?),
        },
        Task::CheckUsefulness(_) => match next(script.useful, &mut log.counts[2]) {
            digit @ b'0'..=b'9' => TaskReply::Rating(digit - b'0'),
            letter => TaskReply::Verdict(verdict(letter)?),
        },
    })
}

const TOO_LONG: Failure = Failure::TooLong { service: "model" };

fn service_failed(service: &'static str) -> Failure {
    Failure::Service { service, code: "upstream_error", detail: "HTTP 500".to_owned(), retry_after: None }
}

fn next(script: &str, count: &mut usize) -> u8 {
    let letter = script.as_bytes()[(*count).min(script.len() - 1)];
    *count += 1;
    letter
}

fn verdict(letter: u8) -> Result<Verdict, Failure> {
    match letter {
        b'R' | b'y' => Ok(Verdict::Yes),
        b'I' | b'n' => Ok(Verdict::No),
        b'L' => Err(TOO_LONG),
        _ => Ok(Verdict::Unknown),
    }
}
