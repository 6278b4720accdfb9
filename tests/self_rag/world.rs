//! A scripted world: passages, and a model that is two functions.

use std::cell::RefCell;

use countercheck::document::{Hit, Origin, Passage, Span};
use countercheck::pipeline::answer::{Answer, Question, RunError};
use countercheck::pipeline::budget::Limits;
use countercheck::pipeline::reflection::Group;
use countercheck::pipeline::run::{Effect, Order, Outcome, Reply, Run, Step};
use countercheck::pipeline::segment::{Alternative, Candidate, Evidence, GenerateSegment, Reflect, Token};
use countercheck::pipeline::strategy::Strategy;
use countercheck::pipeline::task::{Failure, Task, TaskReply};

pub const QUESTION: &str = "How long is a key valid?";

type Write<'a> = &'a dyn Fn(&GenerateSegment) -> Result<Candidate, Failure>;
type Judge<'a> = &'a dyn Fn(&Reflect) -> Option<Vec<f64>>;

/// What is there to be asked.
#[derive(Clone, Copy)]
pub struct World<'a> {
    /// How many passages are found, whatever is sought.
    pub found: usize,
    /// The model with reflection tokens, or without.
    pub write: Write<'a>,
    /// What a model without them says to their questions.
    pub judge: Judge<'a>,
    /// Time that each reply takes.
    pub latency: u64,
    /// Replies are filed in reverse order.
    pub reversed: bool,
}

impl<'a> World<'a> {
    pub fn new(found: usize, write: Write<'a>) -> Self {
        Self {
            found,
            write,
            judge: &|_| panic!("a model with reflection tokens is asked nothing"),
            latency: 1,
            reversed: false,
        }
    }
}

pub fn failure() -> Failure {
    Failure::Service { service: "the model", code: "upstream_error", detail: "HTTP 500".to_owned(), retry_after: None }
}

pub fn passage(n: usize) -> Passage {
    let text = format!("Text of passage {n}.");
    Passage {
        id: format!("d{n}"),
        document: "doc".to_owned(),
        url: String::new(),
        title: "Doc".to_owned(),
        headings: Vec::new(),
        also: Vec::new(),
        span: Span { start: 100 * n, end: 100 * n + text.len() },
        text,
        origin: Origin::Local,
    }
}

/// The number of the passage that a segment is written from, from 1; 0 for none.
pub fn number(task: &GenerateSegment) -> usize {
    match &task.evidence {
        Evidence::Passage(passage) => passage.id[1..].parse().unwrap(),
        Evidence::None | Evidence::Undecided => 0,
    }
}

pub struct Log {
    pub effects: Vec<Effect>,
    pub now: u64,
}

impl Log {
    pub fn written(&self) -> Vec<&GenerateSegment> {
        let own = self
            .effects
            .iter()
            .filter_map(|e| if let Effect::Ask(Task::GenerateSegment(task)) = e { Some(task) } else { None });
        own.collect()
    }

    pub fn judged(&self) -> Vec<&Reflect> {
        let own = self
            .effects
            .iter()
            .filter_map(|e| if let Effect::Ask(Task::Reflect(task)) = e { Some(task) } else { None });
        own.collect()
    }

    pub fn queries(&self) -> Vec<&str> {
        let own = self
            .effects
            .iter()
            .filter_map(|e| if let Effect::Retrieve { query, .. } = e { Some(query.as_str()) } else { None });
        own.collect()
    }
}

pub fn ask(world: World<'_>, strategy: Strategy) -> (Answer, Log) {
    let (result, log) = try_ask(world, strategy, Limits::default());
    (result.unwrap(), log)
}

pub fn try_ask(world: World<'_>, strategy: Strategy, limits: Limits) -> (Result<Answer, RunError>, Log) {
    let log = RefCell::new(Log { effects: Vec::new(), now: 0 });
    let mut run = Run::new(Question::new(QUESTION).unwrap(), strategy, limits, 0);
    loop {
        match run.next_step() {
            Step::Done(result) => return (*result, log.into_inner()),
            Step::Wait => panic!("nothing is outstanding, yet the run waits"),
            Step::Perform(orders) => {
                let mut outcomes: Vec<_> =
                    orders.into_iter().map(|order| (order.id, perform(world, &order, &log))).collect();
                if world.reversed {
                    outcomes.reverse();
                }
                for (id, mut outcome) in outcomes {
                    log.borrow_mut().now += world.latency;
                    if log.borrow().now > limits.deadline {
                        outcome = Outcome::without_tokens(Reply::Failed(Failure::Deadline), 1);
                    }
                    run.resolve(id, outcome, log.borrow().now).unwrap();
                }
            }
        }
    }
}

fn perform(world: World<'_>, order: &Order, log: &RefCell<Log>) -> Outcome {
    log.borrow_mut().effects.push(order.effect.clone());
    let reply = match &order.effect {
        Effect::Retrieve { k, .. } => {
            let hit = |n| Hit { passage: passage(n), score: 1.0, lexical: 1.0, dense: None, explanation: None };
            return Outcome::without_tokens(Reply::Hits((1..=world.found.min(*k)).map(hit).collect()), 0);
        }
        Effect::Ask(Task::GenerateSegment(task)) => match (world.write)(task) {
            Ok(candidate) => Reply::Task(TaskReply::Candidate(candidate)),
            Err(failure) => Reply::Failed(failure),
        },
        Effect::Ask(Task::Reflect(task)) => Reply::Task(TaskReply::Odds((world.judge)(task))),
        other => panic!("no other effect is expected: {other:?}"),
    };
    Outcome::without_tokens(reply, 1)
}

/// A token, and what else might have stood there, by probability; the first is the one written.
pub fn token(probabilities: &[(&str, f64)]) -> Token {
    let top: Vec<Alternative> = probabilities
        .iter()
        .map(|(text, p)| Alternative { text: (*text).to_owned(), logprob: libm::log(*p) })
        .collect();
    Token { text: top[0].text.clone(), logprob: Some(top[0].logprob), top }
}

/// A token of a group with the probabilities of all of the group's; the greatest is the one written.
pub fn of(group: Group, probabilities: &[f64]) -> Token {
    let mut pairs: Vec<(&str, f64)> = group.tokens().iter().copied().zip(probabilities.iter().copied()).collect();
    pairs.sort_by(|a, b| b.1.total_cmp(&a.1));
    pairs.retain(|(_, p)| *p > 0.0);
    token(&pairs)
}

pub fn candidate(tokens: Vec<Token>) -> Candidate {
    let text = tokens.iter().map(|token| token.text.as_str()).collect();
    Candidate { text, tokens, ..Candidate::default() }
}

/// An opening that asks for passages, or for none.
pub fn opening(yes: f64, no: f64) -> Candidate {
    candidate(vec![of(Group::Retrieve, &[yes, no])])
}

/// The end of a segment that asks for other passages.
pub fn asks() -> Token {
    token(&[("[Retrieval]", 0.9), ("[No Retrieval]", 0.1)])
}

/// A segment: relevance, a sentence, support, usefulness.
pub fn segment(text: &str, relevance: &[f64], support: &[f64], usefulness: &[f64]) -> Vec<Token> {
    let mut tokens = vec![of(Group::Relevance, relevance), token(&[(text, 1.0)])];
    for (group, probabilities) in [(Group::Support, support), (Group::Usefulness, usefulness)] {
        if !probabilities.is_empty() {
            tokens.push(of(group, probabilities));
        }
    }
    tokens
}

/// A good segment of that relevance.
pub fn good(text: &str, relevance: f64) -> Vec<Token> {
    segment(text, &[relevance, 1.0 - relevance], &[0.9, 0.1, 0.0], &[0.9, 0.1, 0.0, 0.0, 0.0])
}
