//! What models said before, by everything that could have changed it.
//!
//! A key is the SHA-256 of the whole request: who is asked, the prompt as it is sent, with question, passages,
//! draft and language in it, and how the reply is read, each with its length before it. So another word in a
//! passage, another version of a prompt or another model is another key, and nothing has to be thrown away by
//! hand. Only what was decided is kept: nothing unknown, cut off or failed. Least recently used goes first.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::rc::Rc;
use std::task::{Poll, Waker};

use lru::LruCache;
use sha2::{Digest, Sha256};

use super::asking::is_binary_grade;
use super::{Role, Services, Solver};
use crate::pipeline::task::{Task, TaskReply};
use crate::pipeline::verdict::{Retrieval, Support, Verdict};
use crate::prompt::Language;
use crate::provider::http::HttpRequest;
use crate::solver::{checkpoint, llm};
use crate::wire::task::{self, TaskResponse};

/// The content of a request, in 256 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key([u8; 32]);

impl Key {
    /// The key of parts: their lengths tell where each ends.
    pub fn of<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Self(hash.finalize().into())
    }

    /// The key as text: 64 hexadecimal digits.
    pub fn text(&self) -> String {
        use std::fmt::Write;
        self.0.iter().fold(String::with_capacity(64), |mut text, byte| {
            _ = write!(text, "{byte:02x}");
            text
        })
    }
}

/// A request as it is known.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    pub(super) key: Key,
    /// Whether it means the same in another page or isolate.
    pub(super) lasts: bool,
}

impl Services {
    /// What a task is known by when these put it to a model. Nothing for what needs none, or goes to one
    /// whose prompts are not made here.
    pub(super) fn known(&self, task: &Task, language: Language, name: &str) -> Option<Known> {
        if matches!(task, Task::GenerateSegment(_) | Task::Reflect(_)) {
            return None;
        }
        let put = || llm::put(task, language).request;
        let head = [env!("CARGO_PKG_VERSION"), name, task::name(task)].map(str::as_bytes);
        let sent = |request: &HttpRequest, confidence: bool| {
            let body = [request.url.as_bytes(), &[u8::from(confidence)], &request.body];
            Known { key: Key::of(head.into_iter().chain(body)), lasts: true }
        };
        let of = |solver: &Solver| match solver {
            Solver::Chat(chat) => Some(sent(&chat.model.request(&put()), chat.confidence && is_binary_grade(task))),
            Solver::Completions(model) => Some(sent(&model.codec.request(&checkpoint::as_completion(&put())), false)),
            Solver::Own(number) => {
                let request = put();
                let format = format!("{:?} {:?} {}", request.format, request.temperature, request.max_tokens);
                let said = request.messages.iter().map(|message| message.content.as_bytes());
                let own = [&number.to_le_bytes()[..], format.as_bytes()];
                // A function has no name of its own.
                Some(Known { key: Key::of(head.into_iter().chain(own).chain(said)), lasts: !name.is_empty() })
            }
            Solver::Builtin | Solver::Scorer(_) | Solver::Worker(_) => None,
        };
        // Whoever of a list replied: it is the list that is known.
        let all = self.all_of(Role::of(task)).iter().map(of).collect::<Option<Vec<Known>>>()?;
        match &all[..] {
            [one] => Some(*one),
            all => {
                let key = Key::of(all.iter().map(|known| &known.key.0[..]));
                Some(Known { key, lasts: all.iter().all(|known| known.lasts) })
            }
        }
    }
}

/// A place that outlives the page or the isolate: the host's. What it loses or breaks is asked again.
pub trait Store {
    /// The value of a key, if it is there.
    fn recall(&self, key: &str) -> impl Future<Output = Option<String>>;

    /// Keeps a value.
    fn remember(&self, key: &str, value: &str) -> impl Future<Output = ()>;

    /// Waits for what another run brings. Where there are asynchronous contexts, a run goes on in its own.
    fn meanwhile(&self, other: impl Future<Output = ()>) -> impl Future<Output = ()> {
        other
    }
}

/// Nowhere.
impl Store for () {
    async fn recall(&self, _: &str) -> Option<String> {
        None
    }

    async fn remember(&self, _: &str, _: &str) {}
}

/// What was said, in memory, and what is being asked right now.
#[derive(Debug)]
pub struct Cache {
    entries: RefCell<LruCache<Key, String, BuildHasherDefault<DefaultHasher>>>,
    bytes: Cell<usize>,
    max_bytes: usize,
    /// What the host calls the models that are its own functions.
    pub(super) name: String,
    /// Whether who asks the same at the same time waits for one reply.
    joins: bool,
    flights: RefCell<BTreeMap<Key, Rc<Flight>>>,
}

/// What an entry takes besides its value: its key and its place in the list, about.
const ENTRY: usize = 128;

/// How much a cache holds where nobody says: some 20,000 verdicts.
pub const DEFAULT_BYTES: usize = 4 << 20;

impl Cache {
    /// An empty one of that size. Without a name for them, what functions of the host said is not stored.
    pub fn new(max_bytes: usize, name: String) -> Self {
        let entries = RefCell::new(LruCache::unbounded_with_hasher(BuildHasherDefault::default()));
        Self { entries, bytes: Cell::new(0), max_bytes, name, joins: true, flights: RefCell::default() }
    }

    /// The same where nobody may wait for what another one began: requests to a Worker end on their own.
    #[must_use]
    pub fn without_waiting(mut self) -> Self {
        self.joins = false;
        self
    }

    /// What was said, and from now on the most recently used.
    pub fn get(&self, key: &Key) -> Option<String> {
        self.entries.borrow_mut().get(key).cloned()
    }

    /// Keeps a value; what does not fit beside it goes, the least recently used first.
    pub fn put(&self, key: Key, value: String) {
        let size = |value: &String| value.len() + ENTRY;
        if size(&value) > self.max_bytes {
            return;
        }
        let mut entries = self.entries.borrow_mut();
        let mut bytes = self.bytes.get() + size(&value);
        bytes -= entries.put(key, value).as_ref().map_or(0, size);
        while bytes > self.max_bytes {
            let Some((_, gone)) = entries.pop_lru() else { break };
            bytes -= size(&gone);
        }
        self.bytes.set(bytes);
    }

    /// The bytes that its entries take.
    pub fn bytes(&self) -> usize {
        self.bytes.get()
    }

    /// The first to ask for a key goes ahead; who asks meanwhile waits for what comes of it.
    pub(super) fn board(&self, key: Key) -> Boarding<'_> {
        let flight = self.flights.borrow().get(&key).cloned();
        if let Some(flight) = flight {
            return Boarding::Along(flight);
        }
        let flight = Rc::<Flight>::default();
        if self.joins {
            self.flights.borrow_mut().insert(key, Rc::clone(&flight));
        }
        Boarding::Ahead(Ahead { cache: self, key, flight })
    }
}

/// One request under way.
#[derive(Debug, Default)]
pub(super) struct Flight {
    reply: RefCell<Option<TaskReply>>,
    landed: Cell<bool>,
    waiting: RefCell<Vec<Waker>>,
}

impl Flight {
    /// Comes back once the request has its reply, or was given up.
    pub(super) async fn landing(&self) {
        poll_fn(|cx| {
            if self.landed.get() {
                return Poll::Ready(());
            }
            self.waiting.borrow_mut().push(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// What it got; nothing where it was given up or failed.
    pub(super) fn reply(&self) -> Option<TaskReply> {
        self.reply.borrow().clone()
    }
}

/// Who asks, and who waits.
pub(super) enum Boarding<'a> {
    /// Asks.
    Ahead(Ahead<'a>),
    /// Waits for what the other one gets.
    Along(Rc<Flight>),
}

/// Asks for others too. Dropped, with a reply or without, it lets them go on.
pub(super) struct Ahead<'a> {
    cache: &'a Cache,
    key: Key,
    flight: Rc<Flight>,
}

impl Ahead<'_> {
    pub(super) fn land(&self, reply: &TaskReply) {
        *self.flight.reply.borrow_mut() = Some(reply.clone());
    }
}

impl Drop for Ahead<'_> {
    fn drop(&mut self) {
        self.cache.flights.borrow_mut().remove(&self.key);
        self.flight.landed.set(true);
        self.flight.waiting.take().into_iter().for_each(Waker::wake);
    }
}

/// A reply as it is kept.
pub(super) fn written(reply: &TaskReply) -> Option<String> {
    serde_json::to_string(&TaskResponse::new(reply.clone(), 0, None)).ok()
}

/// What was kept, if it is a reply to the task and decided.
pub(super) fn read(task: &Task, value: &str) -> Option<TaskReply> {
    let reply = serde_json::from_str::<TaskResponse>(value).ok()?.reply()?;
    is_decided(task, &reply).then_some(reply)
}

/// Whether a reply says all that its task asks.
pub(super) fn is_decided(task: &Task, reply: &TaskReply) -> bool {
    match (task, reply) {
        (Task::DecideRetrieval(_), TaskReply::Retrieval(said)) => *said != Retrieval::Unknown,
        (Task::GradePassages(task), TaskReply::Grades(grades)) => {
            grades.len() == task.passages.len() && grades.iter().all(|grade| grade.verdict != Verdict::Unknown)
        }
        (Task::RewriteQuery(_), TaskReply::Query(query)) => !query.trim().is_empty(),
        (Task::CheckGrounding(_) | Task::CheckUsefulness(_), TaskReply::Verdict(said)) => *said != Verdict::Unknown,
        (Task::CheckGrounding(_), TaskReply::Support(said)) => *said != Support::Unknown,
        (Task::CheckUsefulness(_), TaskReply::Rating(rating)) => (1..=5).contains(rating),
        (Task::CheckClaims(task), TaskReply::Claims(said)) => {
            said.claims.len() == task.claims.len()
                && said.claims.iter().all(|claim| claim.support != Support::Unknown)
                && (task.question.is_none() || said.useful != Verdict::Unknown)
        }
        (Task::Generate(_), TaskReply::Draft(draft)) => !draft.truncated && !draft.text.trim().is_empty(),
        (Task::Repair(task), TaskReply::Repairs(repairs)) => repairs.len() == task.claims.len(),
        _ => false,
    }
}
