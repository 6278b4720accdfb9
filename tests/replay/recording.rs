//! A recorded run as JSON: what was asked and replied, and when. Replaying it takes no world and no
//! clock, so any host that runs the core must come to the same events and the same answer.

use countercheck::document::{Hit, Passage, Span};
use countercheck::pipeline::answer::{Answer, Question, RunError};
use countercheck::pipeline::budget::{Limits, Millis, Tokens};
use countercheck::pipeline::decision::{Grading, Rule, Thresholds};
use countercheck::pipeline::run::{Effect, Outcome, Reply, Run, Step};
use countercheck::pipeline::strategy::{Checks, OnExhaustion, Strategy, WebUse};
use countercheck::pipeline::task::{Draft, Failure, Grade, Quote, TaskReply};
use countercheck::pipeline::trace::Event;
use countercheck::pipeline::verdict::{Check, Retrieval, Scale, Support, Verdict};
use countercheck::prompt::Language;
use countercheck::wire;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Everything that went into a run.
#[derive(Serialize, Deserialize)]
pub struct Recording {
    question: String,
    options: Options,
    max_calls: u32,
    deadline: Millis,
    retries: u32,
    start: Millis,
    /// In the order in which they were ordered.
    orders: Vec<Ordered>,
}

/// The fields of a [`Strategy`].
#[derive(Serialize, Deserialize)]
struct Options {
    name: String,
    decides_retrieval: bool,
    k: usize,
    /// The rule; upper, lower, keep; the fewest relevant passages; in batches.
    grading: Option<Graded>,
    /// Results, graded.
    web: (usize, bool),
    /// Which, by what scale, the floor of usefulness, strict.
    checks: (Vec<Check>, Scale, u8, bool),
    temperature: f32,
    max_retries: u32,
    on_exhaustion: OnExhaustion,
}

type Graded = (Rule, [f64; 3], usize, bool);

/// An order and its outcome.
#[derive(Serialize, Deserialize)]
struct Ordered {
    /// The effect as text: it is compared, never performed.
    effect: String,
    may_call: u32,
    reply: Said,
    called: u32,
    tokens: Option<Tokens>,
    arrives_at: Millis,
}

/// A [`Reply`]. A bad quote may be beyond what wasm can count: its numbers are `u64`.
#[derive(Serialize, Deserialize)]
enum Said {
    Hits(Vec<Found>),
    ByWords(Vec<Found>, Box<Said>),
    Web(Vec<Passage>),
    Grades(Vec<(Verdict, Option<f64>)>),
    Query(String),
    Draft { text: String, quotes: Vec<[u64; 3]>, truncated: bool },
    Verdict(Verdict),
    Support(Support),
    Rating(u8),
    Retrieval(Retrieval),
    NotConfigured { service: String },
    Service { service: String, code: String, detail: String, retry_after: Option<Millis> },
    TooLong { service: String },
    Malformed { task: String },
    Deadline,
}

/// A [`Hit`].
type Found = (Passage, f32, f32, Option<f32>);

/// What came of a run.
#[derive(Debug, PartialEq)]
pub struct Ended {
    pub events: Vec<Event>,
    pub result: Result<Answer, RunError>,
}

impl Recording {
    /// Records a run as it begins.
    pub fn new(question: &str, strategy: &Strategy, limits: Limits, start: Millis) -> Self {
        let Strategy { grading, web, checks, .. } = strategy;
        let graded = |g: &Grading| {
            let Thresholds { upper, lower, keep } = g.thresholds;
            (g.rule, [upper, lower, keep], g.min_relevant, g.batched)
        };
        let options = Options {
            name: strategy.name.to_owned(),
            decides_retrieval: strategy.decides_retrieval,
            k: strategy.k,
            grading: grading.as_ref().map(graded),
            web: (web.results, web.graded),
            checks: (checks.order.to_vec(), checks.scale, checks.usefulness_floor, checks.strict_retry),
            temperature: strategy.temperature,
            max_retries: strategy.max_retries,
            on_exhaustion: strategy.on_exhaustion,
        };
        let Limits { max_calls, deadline, retries, .. } = limits;
        Self { question: question.to_owned(), options, max_calls, deadline, retries, start, orders: Vec::new() }
    }

    /// Adds the next order with its outcome, which came at that time.
    pub fn push(&mut self, effect: &Effect, may_call: u32, outcome: &Outcome, arrives_at: Millis) {
        let (effect, reply) = (format!("{effect:?}"), Said::from(&outcome.reply));
        let Outcome { called, tokens, .. } = *outcome;
        self.orders.push(Ordered { effect, may_call, reply, called, tokens, arrives_at });
    }

    /// Runs again what was recorded; gives what came of it, or says where it went another way.
    pub fn replay(&self) -> Result<Ended, String> {
        let question = Question::new(&self.question).expect("a question");
        let Self { max_calls, deadline, retries, start, .. } = *self;
        let mut run = Run::new(question, self.options.strategy(), Limits::within(max_calls, deadline, retries), start);
        let (mut open, mut ordered, mut clock, mut events) = (Vec::new(), 0, start, Vec::new());
        loop {
            let step = run.next_step();
            events.extend(run.take_events());
            match step {
                Step::Done(result) => return Ok(Ended { events, result: *result }),
                Step::Perform(orders) => {
                    for order in orders {
                        let (effect, may_call) = (format!("{:?}", order.effect), order.may_call);
                        let same = |then: &Ordered| then.effect == effect && then.may_call == may_call;
                        if !self.orders.get(ordered).is_some_and(same) {
                            return Err(format!("order {ordered} is another: {may_call} calls for {effect}"));
                        }
                        open.push((self.orders[ordered].arrives_at, ordered, order.id));
                        ordered += 1;
                    }
                }
                Step::Wait => {
                    let Some(next) = (0..open.len()).min_by_key(|&i| open[i]) else {
                        return Err("the run waits with nothing open".to_owned());
                    };
                    let (arrives_at, n, id) = open.swap_remove(next);
                    clock = clock.max(arrives_at);
                    let Ordered { reply, called, tokens, .. } = &self.orders[n];
                    let outcome = Outcome { reply: reply.into(), called: *called, tokens: *tokens };
                    run.resolve(id, outcome, clock).expect("it is open");
                }
            }
        }
    }
}

impl Ended {
    /// What a caller gets, as a line of JSON.
    pub fn line(&self) -> String {
        let Self { events, result } = self;
        let json = match result {
            Ok(answer) => {
                json!({ "events": events, "answer": wire::Answer::new(answer.clone(), "recorded", Language::En) })
            }
            Err(error) => json!({ "events": events, "error": format!("{error:?}") }),
        };
        format!("{json}\n")
    }
}

/// Replays a JSON list of recordings: a line for each.
pub fn replay_all(recordings: &[u8]) -> String {
    let recordings: Vec<Recording> = serde_json::from_slice(recordings).expect("recordings");
    recordings.iter().map(|recording| recording.replay().map_or_else(|why| why + "\n", |ended| ended.line())).collect()
}

impl Options {
    fn strategy(&self) -> Strategy {
        let graded = |&(rule, [upper, lower, keep], min_relevant, batched): &Graded| Grading {
            rule,
            thresholds: Thresholds { upper, lower, keep },
            min_relevant,
            batched,
        };
        let (results, graded_web) = self.web;
        let (order, scale, usefulness_floor, strict_retry) = &self.checks;
        Strategy {
            name: Strategy::named(&self.name).expect("a preset").name,
            decides_retrieval: self.decides_retrieval,
            k: self.k,
            grading: self.grading.as_ref().map(graded),
            refines: false,
            speculates: false,
            web: WebUse { results, graded: graded_web, for_the_gap: false },
            checks: Checks {
                order: order.clone().leak(),
                scale: *scale,
                usefulness_floor: *usefulness_floor,
                by_claim: None,
                strict_retry: *strict_retry,
            },
            temperature: self.temperature,
            max_retries: self.max_retries,
            on_exhaustion: self.on_exhaustion,
            self_rag: None,
        }
    }
}

impl From<&Reply> for Said {
    fn from(reply: &Reply) -> Self {
        let quote = |q: &Quote| [q.passage as u64, q.span.start as u64, q.span.end as u64];
        let found = |hit: &Hit| (hit.passage.clone(), hit.score, hit.lexical, hit.dense);
        match reply {
            Reply::Hits(hits) => Self::Hits(hits.iter().map(found).collect()),
            Reply::ByWords(hits, failure) => {
                Self::ByWords(hits.iter().map(found).collect(), Box::new(Self::from(failure)))
            }
            Reply::Web(passages) => Self::Web(passages.clone()),
            Reply::Task(TaskReply::Grades(grades)) => {
                Self::Grades(grades.iter().map(|grade| (grade.verdict, grade.score)).collect())
            }
            Reply::Task(TaskReply::Query(query)) => Self::Query(query.clone()),
            Reply::Task(TaskReply::Draft(Draft { text, quotes, truncated })) => {
                let quotes = quotes.iter().map(quote).collect();
                Self::Draft { text: text.clone(), quotes, truncated: *truncated }
            }
            Reply::Task(TaskReply::Verdict(verdict)) => Self::Verdict(*verdict),
            Reply::Task(TaskReply::Support(support)) => Self::Support(*support),
            Reply::Task(TaskReply::Rating(rating)) => Self::Rating(*rating),
            Reply::Task(TaskReply::Retrieval(retrieval)) => Self::Retrieval(*retrieval),
            Reply::Task(
                TaskReply::Candidate(_) | TaskReply::Odds(_) | TaskReply::Claims(_) | TaskReply::Repairs(_),
            ) => unreachable!("no preset here writes segments or checks claims"),
            Reply::Failed(failure) => Self::from(failure),
        }
    }
}

impl From<&Failure> for Said {
    fn from(failure: &Failure) -> Self {
        match failure.clone() {
            Failure::NotConfigured { service } => Self::NotConfigured { service: service.to_owned() },
            Failure::Service { service, code, detail, retry_after } => {
                Self::Service { service: service.to_owned(), code: code.to_owned(), detail, retry_after }
            }
            Failure::TooLong { service } => Self::TooLong { service: service.to_owned() },
            Failure::Malformed { task } => Self::Malformed { task: task.to_owned() },
            Failure::Deadline => Self::Deadline,
            other => unreachable!("{other:?} cannot be recorded"),
        }
    }
}

impl From<&Said> for Reply {
    fn from(said: &Said) -> Self {
        let at = |byte: u64| usize::try_from(byte).unwrap_or(usize::MAX);
        let fixed = |text: &String| &*text.clone().leak();
        let hit = |(passage, score, lexical, dense): &Found| Hit {
            passage: passage.clone(),
            score: *score,
            lexical: *lexical,
            dense: *dense,
            explanation: None,
        };
        let task = match said {
            Said::Hits(hits) => return Self::Hits(hits.iter().map(hit).collect()),
            Said::ByWords(hits, why) => {
                let Self::Failed(failure) = Self::from(&**why) else {
                    unreachable!("{hits:?} by words without a reason")
                };
                return Self::ByWords(hits.iter().map(hit).collect(), failure);
            }
            Said::Web(passages) => return Self::Web(passages.clone()),
            Said::Grades(grades) => {
                TaskReply::Grades(grades.iter().map(|&(verdict, score)| Grade { verdict, score }).collect())
            }
            Said::Query(query) => TaskReply::Query(query.clone()),
            Said::Draft { text, quotes, truncated } => {
                let quote = |&[passage, start, end]: &[u64; 3]| Quote {
                    passage: at(passage),
                    span: Span { start: at(start), end: at(end) },
                };
                let quotes = quotes.iter().map(quote).collect();
                TaskReply::Draft(Draft { text: text.clone(), quotes, truncated: *truncated })
            }
            Said::Verdict(verdict) => TaskReply::Verdict(*verdict),
            Said::Support(support) => TaskReply::Support(*support),
            Said::Rating(rating) => TaskReply::Rating(*rating),
            Said::Retrieval(retrieval) => TaskReply::Retrieval(*retrieval),
            Said::NotConfigured { service } => {
                return Self::Failed(Failure::NotConfigured { service: fixed(service) });
            }
            Said::Service { service, code, detail, retry_after } => {
                return Self::Failed(Failure::Service {
                    service: fixed(service),
                    code: fixed(code),
                    detail: detail.clone(),
                    retry_after: *retry_after,
                });
            }
            Said::TooLong { service } => return Self::Failed(Failure::TooLong { service: fixed(service) }),
            Said::Malformed { task } => return Self::Failed(Failure::Malformed { task: fixed(task) }),
            Said::Deadline => return Self::Failed(Failure::Deadline),
        };
        Self::Task(task)
    }
}
