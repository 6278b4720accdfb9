//! A driver with a virtual clock: it performs orders as a [`Scenario`] says, delivers the replies in
//! one of several orders, and writes down everything that went in and out.

use countercheck::pipeline::answer::{Answer, Question, RunError};
use countercheck::pipeline::budget::{Millis, Tokens};
use countercheck::pipeline::run::{Effect, EffectId, Outcome, Reply, Run, Step};
use countercheck::pipeline::task::Failure;
use countercheck::pipeline::trace::Event;

use crate::recording::{Ended, Recording};
use crate::world::{Fate, KINDS, QUESTION, Scenario, kind};

/// In which order replies are delivered.
#[derive(Clone, Copy)]
pub enum Delivery {
    /// As they arrive, with a step after each.
    Arrival,
    /// The last to arrive first, all at once.
    Reversed,
}

/// An order and what became of it.
#[derive(Debug, Clone)]
pub struct Performed {
    pub effect: Effect,
    pub may_call: u32,
    /// The step that ordered it.
    pub step: usize,
    /// What was delivered; a failure for what was cancelled.
    pub reply: Reply,
    pub called: u32,
    pub tokens: Option<Tokens>,
    /// Calls made before, and those that open orders may make, this one's included.
    pub calls_at_most: u32,
    pub ordered_at: Millis,
    /// When the reply arrives, or is given up.
    pub arrives_at: Millis,
    pub delivered: bool,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant)] // there is one to a run
pub enum End {
    Done(Result<Answer, RunError>),
    Cancelled,
    /// The run broke the contract with its driver.
    Broke(Broken),
}

/// An invariant's name, and how it does not hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Broken(pub &'static str, pub String);

/// Everything that went in and out.
#[derive(Debug, Clone)]
pub struct History {
    /// In the order in which they were ordered.
    pub performed: Vec<Performed>,
    pub events: Vec<Event>,
    pub steps: usize,
    pub clock: Millis,
    pub deadline: Millis,
    pub end: End,
}

impl History {
    /// What went in, to be replayed.
    pub fn recording(&self, scenario: &Scenario) -> Recording {
        let Scenario { strategy, limits, start, .. } = scenario;
        let mut recording = Recording::new(QUESTION, strategy, *limits, *start);
        for one in &self.performed {
            let outcome = Outcome { reply: one.reply.clone(), called: one.called, tokens: one.tokens };
            recording.push(&one.effect, one.may_call, &outcome, one.arrives_at);
        }
        recording
    }

    /// What came out of a run that was not cancelled.
    pub fn ended(&self) -> Option<Ended> {
        let End::Done(result) = &self.end else { return None };
        Some(Ended { events: self.events.clone(), result: result.clone() })
    }
}

/// More orders than any run may need: the decision to retrieve, each passage graded twice, and for each
/// draft its task, two checks asked twice, a rewrite and a search with its results graded twice, and the
/// draft again from half its context.
pub fn most_orders(scenario: &Scenario) -> usize {
    let search = 2 + 2 * scenario.strategy.web.results;
    2 + 2 * scenario.hits + search + (6 + search) * (scenario.strategy.max_retries as usize + 1)
}

/// Runs a scenario to its end.
pub fn drive(scenario: &Scenario, delivery: Delivery) -> History {
    let question = Question::new(QUESTION).expect("a question");
    let run = Run::new(question, scenario.strategy.clone(), scenario.limits, scenario.start);
    let history = History {
        performed: Vec::new(),
        events: Vec::new(),
        steps: 0,
        clock: scenario.start,
        deadline: run.deadline(),
        end: End::Cancelled,
    };
    let mut driver =
        Driver { scenario, delivery, run, open: Vec::new(), counts: [0; KINDS], made: 0, reserved: 0, history };
    driver.history.end = driver.finish();
    driver.history.events.extend(driver.run.take_events());
    driver.history
}

struct Driver<'a> {
    scenario: &'a Scenario,
    delivery: Delivery,
    run: Run,
    open: Vec<(EffectId, usize)>,
    /// Orders of each kind.
    counts: [usize; KINDS],
    /// Calls made and set aside.
    made: u32,
    reserved: u32,
    history: History,
}

impl Driver<'_> {
    fn finish(&mut self) -> End {
        let most_orders = most_orders(self.scenario);
        loop {
            if self.scenario.cancelled_at == Some(self.history.steps) {
                return End::Cancelled;
            }
            self.history.steps += 1;
            match self.run.next_step() {
                Step::Done(result) => return self.afterwards(*result),
                Step::Perform(orders) => {
                    for order in orders {
                        self.open.push((order.id, self.history.performed.len()));
                        self.perform(order.effect, order.may_call);
                    }
                    if self.history.performed.len() > most_orders {
                        return End::Broke(Broken("a run ends", format!("more than {most_orders} orders")));
                    }
                }
                Step::Wait => {
                    if let Err(broken) = self.deliver() {
                        return End::Broke(broken);
                    }
                }
            }
            self.history.events.extend(self.run.take_events());
        }
    }

    fn perform(&mut self, effect: Effect, may_call: u32) {
        let History { performed, clock, deadline, steps: step, .. } = &mut self.history;
        let kind = kind(&effect);
        let before = self.counts[usize::from(kind)];
        self.counts[usize::from(kind)] += 1;
        let Fate { mut reply, called, latency } = self.scenario.fate((kind, before), &effect, may_call);
        let arrives_at = latency.map_or(u64::MAX, |latency| clock.saturating_add(latency));
        if arrives_at > *deadline || arrives_at == u64::MAX {
            reply = Reply::Failed(Failure::Deadline);
        }
        let arrives_at = arrives_at.min(*deadline).max(*clock);
        self.reserved += may_call;
        performed.push(Performed {
            effect,
            may_call,
            step: *step,
            reply,
            called,
            tokens: self.scenario.tokens((kind, before)),
            calls_at_most: self.made + self.reserved,
            ordered_at: *clock,
            arrives_at,
            delivered: false,
        });
    }

    /// Delivers what the order of delivery says is next.
    fn deliver(&mut self) -> Result<(), Broken> {
        let performed = &self.history.performed;
        let mut due: Vec<(EffectId, usize)> = self.open.clone();
        due.sort_by_key(|&(_, n)| (performed[n].arrives_at, n));
        match self.delivery {
            Delivery::Arrival => due.truncate(1),
            Delivery::Reversed => due.reverse(),
        }
        if due.is_empty() {
            return Err(Broken("a run never waits with nothing open", format!("step {}", self.history.steps)));
        }
        for (id, n) in due {
            self.open.retain(|open| open.0 != id);
            let performed = &mut self.history.performed[n];
            performed.delivered = true;
            self.reserved -= performed.may_call;
            self.made += performed.called;
            self.history.clock = self.history.clock.max(performed.arrives_at);
            let Performed { reply, called, tokens, .. } = performed.clone();
            let outcome = Outcome { reply, called, tokens };
            if let Err(error) = self.run.resolve(id, outcome, self.history.clock) {
                return Err(Broken("an open effect takes its reply", error.to_string()));
            }
            self.once_more(id)?;
        }
        Ok(())
    }

    /// A reply that comes twice, or late, is refused and changes nothing.
    fn once_more(&mut self, id: EffectId) -> Result<(), Broken> {
        let reply = Reply::Failed(Failure::Malformed { task: "too late" });
        match self.run.resolve(id, Outcome::without_tokens(reply, 1), self.history.clock) {
            Err(_) => Ok(()),
            Ok(()) => Err(Broken("a second reply is refused", format!("{id:?}"))),
        }
    }

    fn afterwards(&mut self, result: Result<Answer, RunError>) -> End {
        if !self.open.is_empty() {
            return End::Broke(Broken("a finished run has nothing open", format!("{:?}", self.open)));
        }
        if !matches!(self.run.next_step(), Step::Wait) {
            return End::Broke(Broken("a finished run stays finished", "it took another step".to_owned()));
        }
        End::Done(result)
    }
}
