//! The runtime of one run: a mailbox, and a future polled by hand.
//!
//! The contract, for whoever drives it:
//!
//! > Take steps until [`Step::Wait`] or [`Step::Done`]. Perform the effects of each
//! > [`Step::Perform`] in any order and at once. Resolve each exactly once. When the deadline passes,
//! > resolve what is still open with [`Failure::Deadline`]. Dropping the run cancels it.
//!
//! The run reads no clock: `now` comes with each reply. It cannot tell in which order replies
//! arrived, because it joins them by slot.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use crate::document::{Hit, Passage};
use crate::pipeline::answer::{self, Answer, Question, RunError};
use crate::pipeline::budget::{Call, Calls, Limits, Millis, Stop, Tokens};
use crate::pipeline::strategy::Strategy;
use crate::pipeline::task::{Ask, Failure, Task, TaskReply};
use crate::pipeline::trace::Event;

/// Names an effect within its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EffectId(u32);

/// Everything that leaves the core.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Search the index. Reply: [`Reply::Hits`] or [`Reply::ByWords`].
    Retrieve {
        /// The query.
        query: String,
        /// How many passages, at most.
        k: usize,
    },
    /// Search the web. Reply: [`Reply::Web`].
    SearchWeb {
        /// The query.
        query: String,
        /// How many results, at most.
        limit: usize,
    },
    /// Put a task to a solver. Reply: [`Reply::Task`].
    Ask(Task),
}

/// An effect to perform.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    /// To be handed back with the outcome.
    pub id: EffectId,
    /// What to do.
    pub effect: Effect,
    /// How often the driver may call out for it, its own retries included: at least once, at most
    /// 1 + [`Limits::retries`] times. A search of the index calls out for the query's vector alone,
    /// and where no call is free it has none.
    pub may_call: u32,
}

/// What an effect brought.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// To [`Effect::Retrieve`]: passages, best first.
    Hits(Vec<Hit>),
    /// The same, found by words alone because there is no vector of the query.
    ByWords(Vec<Hit>, Failure),
    /// To [`Effect::SearchWeb`]: results as passages of origin web, best first.
    Web(Vec<Passage>),
    /// To [`Effect::Ask`].
    Task(TaskReply),
    /// To any of them.
    Failed(Failure),
}

/// A reply and what it took to get it.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The reply.
    pub reply: Reply,
    /// How often the driver called out for it.
    pub called: u32,
    /// What a model took for the reply; `None`: its service did not say.
    pub tokens: Option<Tokens>,
}

impl Outcome {
    /// What came without a model, or not at all: it took no tokens.
    pub fn without_tokens(reply: Reply, called: u32) -> Self {
        Self { reply, called, tokens: Some(Tokens::default()) }
    }
}

/// What to do next.
#[derive(Debug)]
pub enum Step {
    /// Perform these.
    Perform(Vec<Order>),
    /// Replies are outstanding.
    Wait,
    /// The run is over; later steps say [`Step::Wait`].
    Done(Box<Result<Answer, RunError>>),
}

/// A reply that the run did not expect: a fault of the driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("effect {0:?} is not open: resolve each effect exactly once")]
pub struct ResolveError(pub EffectId);

type Answering = Pin<Box<dyn Future<Output = Result<Answer, RunError>>>>;

/// One question on its way to an answer.
pub struct Run {
    mailbox: Rc<RefCell<Mailbox>>,
    answering: Option<Answering>,
}

impl Run {
    /// Starts a run at the time `now`; nothing happens before the first step.
    pub fn new(question: Question, strategy: Strategy, limits: Limits, now: Millis) -> Self {
        let mailbox = Rc::new(RefCell::new(Mailbox::new(limits, now)));
        let path = Path { mailbox: Rc::clone(&mailbox) };
        let answering = Box::pin(async move { answer::answer(&path, &question, &strategy).await });
        Self { mailbox, answering: Some(answering) }
    }

    /// Goes on as far as it can without a reply.
    pub fn next_step(&mut self) -> Step {
        let Some(answering) = self.answering.as_mut() else { return Step::Wait };
        if let Poll::Ready(result) = answering.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            self.answering = None;
            return Step::Done(Box::new(result));
        }
        let orders = std::mem::take(&mut self.mailbox.borrow_mut().orders);
        if orders.is_empty() { Step::Wait } else { Step::Perform(orders) }
    }

    /// Files the outcome of an effect that arrived at the time `now`.
    pub fn resolve(&mut self, id: EffectId, outcome: Outcome, now: Millis) -> Result<(), ResolveError> {
        self.mailbox.borrow_mut().file(id, outcome, now)
    }

    /// The events since the last call.
    pub fn take_events(&mut self) -> Vec<Event> {
        let mut mailbox = self.mailbox.borrow_mut();
        let new = mailbox.events[mailbox.events_taken..].to_vec();
        mailbox.events_taken = mailbox.events.len();
        new
    }

    /// The moment at which open effects are to be given up.
    pub fn deadline(&self) -> Millis {
        self.mailbox.borrow().deadline
    }
}

/// What passes between the path and its driver.
struct Mailbox {
    next_id: u32,
    orders: Vec<Order>,
    /// A handful at the most: a list is a map enough.
    open: Vec<Open>,
    replies: Vec<(EffectId, Reply)>,
    events: Vec<Event>,
    events_taken: usize,
    calls: Calls,
    tokens: Option<Tokens>,
    max_calls: u32,
    retries: u32,
    deadline: Millis,
    now: Millis,
}

/// An effect without a reply, and the calls set aside for it.
#[derive(Clone, Copy)]
struct Open {
    id: EffectId,
    call: Call,
    may_call: u32,
}

impl Mailbox {
    fn new(limits: Limits, now: Millis) -> Self {
        Self {
            next_id: 0,
            orders: Vec::new(),
            open: Vec::new(),
            replies: Vec::new(),
            events: Vec::new(),
            events_taken: 0,
            calls: Calls::default(),
            tokens: Some(Tokens::default()),
            max_calls: limits.max_calls,
            retries: limits.retries,
            deadline: now.saturating_add(limits.deadline),
            now,
        }
    }

    /// Calls neither made nor set aside.
    fn free_calls(&self) -> u32 {
        let reserved = self.open.iter().map(|open| open.may_call).fold(0, u32::saturating_add);
        self.max_calls.saturating_sub(self.calls.charged()).saturating_sub(reserved)
    }

    /// Whether `count` more effects may begin, each with one call; says how many calls are free besides,
    /// for retries.
    fn admit(&self, count: usize) -> Result<u32, Stop> {
        if self.now >= self.deadline {
            return Err(Stop::Deadline);
        }
        self.free_calls().checked_sub(count as u32).ok_or(Stop::Calls)
    }

    /// Orders an effect. Its retries are taken from the spare calls, so of a batch the first have them.
    fn post(&mut self, effect: Effect, call: Call, spare: &mut u32) -> EffectId {
        let retries = self.retries.min(*spare);
        *spare -= retries;
        let may_call = 1 + retries;
        self.order(effect, call, may_call)
    }

    /// Orders a search of the index. It needs no call, so the query's vector gets what is free.
    fn post_search(&mut self, effect: Effect, free: u32) -> EffectId {
        self.calls.retrieve += 1;
        let may_call = self.retries.saturating_add(1).min(free);
        self.order(effect, Call::Embed, may_call)
    }

    fn order(&mut self, effect: Effect, call: Call, may_call: u32) -> EffectId {
        let id = EffectId(self.next_id);
        self.next_id += 1;
        self.open.push(Open { id, call, may_call });
        self.orders.push(Order { id, effect, may_call });
        id
    }

    fn file(&mut self, id: EffectId, outcome: Outcome, now: Millis) -> Result<(), ResolveError> {
        let at = self.open.iter().position(|open| open.id == id).ok_or(ResolveError(id))?;
        let open = self.open.swap_remove(at);
        self.calls.book(open.call, outcome.called);
        self.tokens = self.tokens.zip(outcome.tokens).map(|(before, more)| before.plus(more));
        self.replies.push((id, outcome.reply));
        self.now = self.now.max(now);
        Ok(())
    }

    fn take_reply(&mut self, id: EffectId) -> Option<Reply> {
        let at = self.replies.iter().position(|reply| reply.0 == id)?;
        Some(self.replies.swap_remove(at).1)
    }
}

/// What a search of the index found, and why the query had no vector if it should have had one.
pub(crate) type Found = (Vec<Hit>, Option<Failure>);

/// What the path sees: typed calls that read as if they were local.
pub(crate) struct Path {
    mailbox: Rc<RefCell<Mailbox>>,
}

impl Path {
    /// Searches the index.
    pub(crate) async fn retrieve(&self, query: &str, k: usize) -> Result<Result<Found, Failure>, Stop> {
        let effect = Effect::Retrieve { query: query.to_owned(), k };
        let free = self.mailbox.borrow().admit(0)?;
        let id = self.mailbox.borrow_mut().post_search(effect, free);
        Ok(match self.reply(id).await? {
            Reply::Hits(hits) => Ok((hits, None)),
            Reply::ByWords(hits, failure) => Ok((hits, Some(failure))),
            Reply::Failed(failure) => Err(failure),
            Reply::Web(_) | Reply::Task(_) => Err(Failure::Malformed { task: "retrieve" }),
        })
    }

    /// Searches the web.
    pub(crate) async fn search_web(&self, query: &str, limit: usize) -> Result<Result<Vec<Passage>, Failure>, Stop> {
        let effect = Effect::SearchWeb { query: query.to_owned(), limit };
        Ok(match self.perform(effect, Call::Web).await? {
            Reply::Web(passages) => Ok(passages),
            Reply::Failed(failure) => Err(failure),
            Reply::Hits(_) | Reply::ByWords(..) | Reply::Task(_) => Err(Failure::Malformed { task: "web search" }),
        })
    }

    /// Puts a task to the solver. A failure is a reply; only an exhausted budget stops the path.
    pub(crate) async fn ask<T: Ask>(&self, task: T) -> Result<Result<T::Reply, Failure>, Stop> {
        let task: Task = task.into();
        let call = task.call();
        Ok(read::<T>(self.perform(Effect::Ask(task), call).await?))
    }

    /// Puts tasks of one kind to the solver at once; replies by slot, whatever their order of arrival.
    pub(crate) async fn ask_all<T: Ask>(&self, tasks: Vec<T>) -> Result<Vec<Result<T::Reply, Failure>>, Stop> {
        let tasks: Vec<Task> = tasks.into_iter().map(Into::into).collect();
        let Some(call) = tasks.first().map(Task::call) else { return Ok(Vec::new()) };
        let mut spare = self.mailbox.borrow().admit(tasks.len())?;
        let post = |task| self.mailbox.borrow_mut().post(Effect::Ask(task), call, &mut spare);
        let ids: Vec<EffectId> = tasks.into_iter().map(post).collect();
        let mut replies = Vec::with_capacity(ids.len());
        for id in ids {
            replies.push(self.reply(id).await);
        }
        // Only now: a path that stops must leave nothing open.
        replies.into_iter().map(|reply| reply.map(read::<T>)).collect()
    }

    /// Tells an event.
    pub(crate) fn emit(&self, event: Event) {
        self.mailbox.borrow_mut().events.push(event);
    }

    /// Everything told so far.
    pub(crate) fn trace(&self) -> Vec<Event> {
        self.mailbox.borrow().events.clone()
    }

    /// The calls made so far, and the tokens that their replies took, if all of them say.
    pub(crate) fn spent(&self) -> (Calls, Option<Tokens>) {
        let mailbox = self.mailbox.borrow();
        (mailbox.calls, mailbox.tokens)
    }

    async fn perform(&self, effect: Effect, call: Call) -> Result<Reply, Stop> {
        let mut spare = self.mailbox.borrow().admit(1)?;
        let id = self.mailbox.borrow_mut().post(effect, call, &mut spare);
        self.reply(id).await
    }

    /// An effect given up at the deadline is the time that is up, whatever it was for.
    async fn reply(&self, id: EffectId) -> Result<Reply, Stop> {
        let reply =
            std::future::poll_fn(|_| self.mailbox.borrow_mut().take_reply(id).map_or(Poll::Pending, Poll::Ready));
        match reply.await {
            Reply::Failed(Failure::Deadline) => Err(Stop::Deadline),
            reply => Ok(reply),
        }
    }
}

fn read<T: Ask>(reply: Reply) -> Result<T::Reply, Failure> {
    match reply {
        Reply::Task(reply) => T::read(reply).ok_or(Failure::Malformed { task: T::NAME }),
        Reply::Failed(failure) => Err(failure),
        Reply::Hits(_) | Reply::ByWords(..) | Reply::Web(_) => Err(Failure::Malformed { task: T::NAME }),
    }
}
