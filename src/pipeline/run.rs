//! The runtime of one run: a mailbox, and a future polled by hand.
//!
//! The contract, for whoever drives it:
//!
//! > Take steps until [`Step::Wait`] or [`Step::Done`]. Perform the effects of each
//! > [`Step::Perform`] in any order and at once. Resolve each exactly once. When the deadline passes,
//! > resolve what is still open with [`Failure::Deadline`]. Give up what is no longer [`Run::is_open`], and
//! > show nothing of a draft that [`Run::is_guess`]. Dropping the run cancels it.
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
use crate::pipeline::bill::Bill;
use crate::pipeline::budget::{Call, Calls, Limits, Millis, Stop, Tokens};
use crate::pipeline::ledger::Ledger;
use crate::pipeline::strategy::Strategy;
use crate::pipeline::task::{Ask, Failure, Generate, Task, TaskReply};
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

    /// Whether the outcome of an effect is still waited for.
    pub fn is_open(&self, id: EffectId) -> bool {
        self.mailbox.borrow().ledger.is_open(id)
    }

    /// Whether an effect is a draft begun before it is known that it is wanted.
    pub fn is_guess(&self, id: EffectId) -> bool {
        self.mailbox.borrow().guess == Some(id)
    }

    /// Whether it was one, and is wanted.
    pub fn is_wanted(&self, id: EffectId) -> bool {
        self.mailbox.borrow().wanted == Some(id)
    }

    /// The moment at which open effects are to be given up.
    pub fn deadline(&self) -> Millis {
        self.mailbox.borrow().ledger.deadline()
    }
}

/// What passes between the path and its driver.
struct Mailbox {
    next_id: u32,
    orders: Vec<Order>,
    /// A handful at the most: a list is a map enough.
    replies: Vec<(EffectId, Reply)>,
    events: Vec<Event>,
    events_taken: usize,
    ledger: Ledger,
    /// A draft that may not be wanted.
    guess: Option<EffectId>,
    /// The one that was.
    wanted: Option<EffectId>,
    now: Millis,
}

impl Mailbox {
    fn new(limits: Limits, now: Millis) -> Self {
        Self {
            next_id: 0,
            orders: Vec::new(),
            replies: Vec::new(),
            events: Vec::new(),
            events_taken: 0,
            ledger: Ledger::new(limits, now),
            guess: None,
            wanted: None,
            now,
        }
    }

    /// Orders effects of one kind, all or none of them.
    fn order(&mut self, effects: Vec<Effect>, call: Call) -> Result<Vec<EffectId>, Stop> {
        self.order_with(effects, call, self.ledger.kept(call))
    }

    fn order_with(&mut self, effects: Vec<Effect>, call: Call, kept: Bill) -> Result<Vec<EffectId>, Stop> {
        let may_call = self.ledger.admit(&effects, call, kept, self.now)?;
        let order = |(effect, may_call)| {
            let id = EffectId(self.next_id);
            self.next_id += 1;
            self.ledger.open(id, &effect, call, may_call);
            self.orders.push(Order { id, effect, may_call });
            id
        };
        Ok(effects.into_iter().zip(may_call).map(order).collect())
    }

    fn file(&mut self, id: EffectId, outcome: Outcome, now: Millis) -> Result<(), ResolveError> {
        if !self.ledger.close(id, &outcome) {
            return Err(ResolveError(id));
        }
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
        Ok(match self.perform(effect, Call::Embed).await? {
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
        let posted = self.post(task)?;
        self.reply_to::<T>(posted).await
    }

    /// Puts a task to the solver without waiting for its reply.
    pub(crate) fn post(&self, task: impl Into<Task>) -> Result<EffectId, Stop> {
        let task: Task = task.into();
        let call = task.call();
        self.order(Effect::Ask(task), call)
    }

    /// The reply to a task that was put.
    pub(crate) async fn reply_to<T: Ask>(&self, posted: EffectId) -> Result<Result<T::Reply, Failure>, Stop> {
        Ok(read::<T>(self.reply(posted).await?))
    }

    /// Has a draft written that may not be wanted, besides what comes next; `None` where that is too much.
    pub(crate) fn guess(&self, task: Generate) -> Option<Guess> {
        let mut mailbox = self.mailbox.borrow_mut();
        let (passages, kept) = (task.passages.clone(), mailbox.ledger.kept_for_guess());
        let id = *mailbox.order_with(vec![Effect::Ask(task.into())], Call::Generate, kept).ok()?.first()?;
        mailbox.guess = Some(id);
        Some(Guess { passages, id, mailbox: Rc::clone(&self.mailbox) })
    }

    /// Says that the draft that was guessed is wanted.
    pub(crate) fn want(&self, guess: &Guess) -> EffectId {
        let mut mailbox = self.mailbox.borrow_mut();
        (mailbox.guess, mailbox.wanted) = (None, Some(guess.id));
        guess.id
    }

    /// Puts tasks of one kind to the solver at once; replies by slot, whatever their order of arrival.
    pub(crate) async fn ask_all<T: Ask>(&self, tasks: Vec<T>) -> Result<Vec<Result<T::Reply, Failure>>, Stop> {
        let tasks: Vec<Task> = tasks.into_iter().map(Into::into).collect();
        let Some(call) = tasks.first().map(Task::call) else { return Ok(Vec::new()) };
        let ids = self.mailbox.borrow_mut().order(tasks.into_iter().map(Effect::Ask).collect(), call)?;
        let mut replies = Vec::with_capacity(ids.len());
        for id in ids {
            replies.push(self.reply(id).await);
        }
        // Only now: a path that stops must leave nothing open.
        replies.into_iter().map(|reply| reply.map(read::<T>)).collect()
    }

    /// Keeps what a draft by this strategy and its checks take, from what steps before it may spend.
    pub(crate) fn keep_for(&self, strategy: &Strategy) {
        self.mailbox.borrow_mut().ledger.keep_for(strategy);
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
        self.mailbox.borrow().ledger.told()
    }

    async fn perform(&self, effect: Effect, call: Call) -> Result<Reply, Stop> {
        let id = self.order(effect, call)?;
        self.reply(id).await
    }

    fn order(&self, effect: Effect, call: Call) -> Result<EffectId, Stop> {
        let ids = self.mailbox.borrow_mut().order(vec![effect], call)?;
        Ok(ids[0])
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

/// A draft under way that nobody has asked for yet. Dropped, it is given up.
pub(crate) struct Guess {
    /// What it is written from.
    pub(crate) passages: Rc<[Passage]>,
    id: EffectId,
    mailbox: Rc<RefCell<Mailbox>>,
}

impl Drop for Guess {
    fn drop(&mut self) {
        let mut mailbox = self.mailbox.borrow_mut();
        mailbox.guess = mailbox.guess.filter(|id| *id != self.id);
        let before = mailbox.orders.len();
        mailbox.orders.retain(|order| order.id != self.id);
        let is_ordered = mailbox.orders.len() == before;
        // What it took is not known: it was cut off.
        let (called, tokens) = if is_ordered { (1, None) } else { (0, Some(Tokens::default())) };
        mailbox.ledger.close(self.id, &Outcome { reply: Reply::Failed(Failure::Deadline), called, tokens });
        _ = mailbox.take_reply(self.id);
    }
}

fn read<T: Ask>(reply: Reply) -> Result<T::Reply, Failure> {
    match reply {
        Reply::Task(reply) => T::read(reply).ok_or(Failure::Malformed { task: T::NAME }),
        Reply::Failed(failure) => Err(failure),
        Reply::Hits(_) | Reply::ByWords(..) | Reply::Web(_) => Err(Failure::Malformed { task: T::NAME }),
    }
}
