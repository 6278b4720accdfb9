//! A performer that asks nothing twice: what a model said of the very same request is not asked again, now or
//! while it is being asked.
//!
//! Verdicts are kept as they come. Drafts and repairs are kept once the run has come to an answer: a draft that
//! failed its checks must not come back.

use std::cell::{Cell, RefCell};

use super::cache::{Boarding, Cache, Key, Known, Store, is_decided, read, written};
use super::{Performer, Platform};
use crate::driver::{Perform, Told};
use crate::pipeline::answer::{self, Answer};
use crate::pipeline::budget::Millis;
use crate::pipeline::run::{Effect, Order, Outcome, Reply};
use crate::pipeline::task::{Task, TaskReply};

/// Performs for one run, with what was said in earlier ones.
pub struct Remembering<'a, N, S> {
    performer: Performer<'a, N>,
    /// What is in memory; without it everything is asked.
    cache: Option<&'a Cache>,
    store: &'a S,
    remembered: Cell<u32>,
    verdicts: RefCell<Vec<New>>,
    drafts: RefCell<Vec<New>>,
}

/// What was said in this run.
struct New {
    key: Key,
    value: String,
    lasts: bool,
}

impl<'a, N: Platform, S: Store> Remembering<'a, N, S> {
    /// Asks the performer what neither the cache nor the store has.
    pub fn new(performer: Performer<'a, N>, cache: Option<&'a Cache>, store: &'a S) -> Self {
        let (verdicts, drafts) = Default::default();
        Self { performer, cache, store, remembered: Cell::new(0), verdicts, drafts }
    }

    /// Puts one task of a run that goes on elsewhere: its drafts are never kept, since nobody says here what
    /// becomes of them.
    pub async fn put(&self, task: &Task, may_call: u32, deadline: Millis, told: &Told) -> Outcome {
        let outcome = match self.cache {
            Some(cache) => self.ask(cache, task, may_call, deadline, told).await,
            None => self.performer.ask(task, may_call, deadline, told).await,
        };
        self.store_all(self.verdicts.take()).await;
        outcome
    }

    async fn store_all(&self, new: Vec<New>) {
        for New { key, value, .. } in new.into_iter().filter(|new| new.lasts) {
            self.store.remember(&key.text(), &value).await;
        }
    }

    async fn ask(&self, cache: &Cache, task: &Task, may_call: u32, deadline: Millis, told: &Told) -> Outcome {
        let known = self.performer.services.known(task, self.performer.language, &cache.name);
        let Some(Known { key, lasts }) = known else {
            return self.performer.ask(task, may_call, deadline, told).await;
        };
        if let Some(reply) = cache.get(&key).and_then(|value| read(task, &value)) {
            return self.known(reply, told);
        }
        let ahead = match cache.board(key) {
            Boarding::Ahead(ahead) => ahead,
            Boarding::Along(flight) => {
                self.store.meanwhile(flight.landing()).await;
                return match flight.reply() {
                    Some(reply) => self.known(reply, told),
                    // Whoever asked has given up.
                    None => self.performer.ask(task, may_call, deadline, told).await,
                };
            }
        };
        let stored = if lasts { self.store.recall(&key.text()).await } else { None };
        if let Some(value) = stored
            && let Some(reply) = read(task, &value)
        {
            cache.put(key, value);
            ahead.land(&reply);
            return self.known(reply, told);
        }
        let outcome = self.performer.ask(task, may_call, deadline, told).await;
        if let Reply::Task(reply) = &outcome.reply {
            ahead.land(reply);
            if let Some(value) = written(reply).filter(|_| is_decided(task, reply)) {
                let is_draft = matches!(task, Task::Generate(_) | Task::Repair(_));
                if !is_draft {
                    cache.put(key, value.clone());
                }
                let new = if is_draft { &self.drafts } else { &self.verdicts };
                new.borrow_mut().push(New { key, value, lasts });
            }
        }
        outcome
    }

    fn known(&self, reply: TaskReply, told: &Told) -> Outcome {
        self.remembered.set(self.remembered.get() + 1);
        if let TaskReply::Draft(draft) = &reply {
            told.push(draft.text.clone());
        }
        Outcome::without_tokens(Reply::Task(reply), 0)
    }
}

impl<N: Platform, S: Store> Perform for Remembering<'_, N, S> {
    async fn perform(&self, order: Order, deadline: Millis, told: Told) -> Outcome {
        match (self.cache, &order.effect) {
            (Some(cache), Effect::Ask(task)) => self.ask(cache, task, order.may_call, deadline, &told).await,
            _ => self.performer.perform(order, deadline, told).await,
        }
    }

    /// Keeps the drafts of a run that was answered, and hands the store what is new.
    async fn settle(&self, answer: &Answer) {
        let Some(cache) = self.cache else { return };
        let mut new = self.verdicts.take();
        if answer.outcome == answer::Outcome::Answered {
            let drafts = self.drafts.take();
            for draft in &drafts {
                cache.put(draft.key, draft.value.clone());
            }
            new.extend(drafts);
        }
        self.store_all(new).await;
    }

    fn remembered(&self) -> u32 {
        self.remembered.get()
    }
}
