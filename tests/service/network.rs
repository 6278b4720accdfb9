//! A network whose replies are a script, and a clock that only goes on when everybody waits.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use countercheck::document::Passage;
use countercheck::driver::Told;
use countercheck::host::{Broken, Host, Network, NetworkReply, ReplyBody};
use countercheck::pipeline::budget::Millis;
use countercheck::provider::chat::{ChatReply, ChatRequest};
use countercheck::provider::error::ProviderError;
use countercheck::provider::http::{Headers, HttpRequest, Method};
use countercheck::provider::search::{WebQuery, WebResult};
use countercheck::service::{OwnPassage, Platform, Role};
use serde_json::{Value, json};

use crate::files::NOW;

/// A request that arrived.
pub struct Asked {
    /// `grade`, `rewrite`, `generate`, `grounding`, `usefulness`, `web`, `embed`, `continue` for a text to
    /// be continued, or a Worker's `task`.
    pub role: &'static str,
    /// Its address.
    pub url: String,
    /// The last part of that.
    pub name: String,
    /// Its JSON.
    pub body: Value,
    /// How often this role was asked before.
    pub n: usize,
}

/// What comes of it.
pub enum Sent {
    /// No reply: the connection failed.
    Fails(ProviderError),
    /// No reply, ever.
    Nothing,
    /// What comes after the clock has jumped: the page slept.
    After(Millis, Box<Sent>),
    /// A reply; so much time passes before each of its pieces.
    Reply { status: u16, headers: Headers, pieces: Vec<Vec<u8>>, every: Millis, then: Then },
}

/// What follows the pieces of a body.
#[derive(Clone, Copy)]
pub enum Then {
    /// Its end.
    End,
    /// Nothing, ever.
    Nothing,
    /// The pieces again.
    Again,
    /// The connection breaks.
    Breaks,
}

impl Sent {
    /// A reply of JSON.
    pub fn json(value: &Value) -> Self {
        let headers = [("content-type", "application/json")].into_iter().collect();
        Self::Reply { status: 200, headers, pieces: vec![value.to_string().into_bytes()], every: 0, then: Then::End }
    }

    /// What a model says.
    pub fn words(text: &str) -> Self {
        let message = json!({ "role": "assistant", "content": text });
        Self::json(&json!({ "choices": [{ "index": 0, "finish_reason": "stop", "message": message }] }))
    }
}

type Script = Box<dyn Fn(&Asked) -> Sent>;

/// The network, and what happened on it.
pub struct Scripted {
    script: Script,
    clock: Rc<Clock>,
    /// Each request: its role and when it came.
    pub arrived: RefCell<Vec<(&'static str, Millis)>>,
    open: Rc<Cell<usize>>,
}

#[derive(Default)]
struct Clock {
    now: Cell<Millis>,
    alarms: RefCell<BTreeSet<Millis>>,
}

impl Clock {
    async fn sleep(&self, duration: Millis) {
        let at = self.now.get().saturating_add(duration);
        poll_fn(|_| {
            if self.now.get() >= at {
                return Poll::Ready(());
            }
            self.alarms.borrow_mut().insert(at);
            Poll::Pending
        })
        .await;
    }
}

struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Scripted {
    pub fn new(script: impl Fn(&Asked) -> Sent + 'static) -> Self {
        let clock = Clock { now: Cell::new(NOW), ..Clock::default() };
        Self { script: Box::new(script), clock: Rc::new(clock), arrived: RefCell::default(), open: Rc::default() }
    }

    /// The time of the script.
    pub fn time(&self) -> Millis {
        self.clock.now.get()
    }

    /// How many exchanges are under way.
    pub fn open(&self) -> usize {
        self.open.get()
    }

    /// How often a role was asked.
    pub fn count(&self, role: &str) -> usize {
        self.arrived.borrow().iter().filter(|(arrived, _)| *arrived == role).count()
    }

    /// Runs for so many polls, then drops the future: what became of it by then, if anything.
    pub fn leave<T>(&self, future: impl Future<Output = T>, polls: usize) -> Option<T> {
        let mut future = pin!(future);
        let waker = Waker::from(Arc::new(Flag(AtomicBool::new(false))));
        for _ in 0..polls {
            if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                return Some(value);
            }
            if let Some(next) = self.clock.alarms.borrow_mut().pop_first() {
                self.clock.now.set(self.time().max(next));
            }
        }
        None
    }

    /// Runs to the end; time goes on when nothing else can.
    pub fn run<T>(&self, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        let flag = Arc::new(Flag(AtomicBool::new(false)));
        let waker = Waker::from(flag.clone());
        loop {
            if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                return value;
            }
            if !flag.0.swap(false, Ordering::Relaxed) {
                let next = self.clock.alarms.borrow_mut().pop_first();
                self.clock.now.set(self.time().max(next.expect("somebody waits for what will never come")));
            }
        }
    }
}

impl Host for Scripted {
    fn now(&self) -> Millis {
        self.time()
    }

    async fn sleep(&self, duration: Millis) {
        self.clock.sleep(duration).await;
    }
}

impl Network for Scripted {
    type Body = Body;

    async fn fetch(&self, request: HttpRequest) -> Result<NetworkReply<Body>, ProviderError> {
        let exchange = Exchange::new(&self.open);
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let role = match &request.url {
            _ if request.method == Method::Get => "web",
            url if ["/search", "/websearch/", "/conversations"].iter().any(|end| url.ends_with(end)) => "web",
            url if url.ends_with(":batchEmbedContents") => "embed",
            url if url.contains("/v1/tasks/") => "task",
            url if url.ends_with("/embeddings") => "embed",
            url if !url.ends_with("/chat/completions") && url.ends_with("/completions") => "continue",
            _ => role(&body),
        };
        let name = request.url.rsplit('/').next().unwrap().to_owned();
        let asked = Asked { role, url: request.url.clone(), name, body, n: self.count(role) };
        self.arrived.borrow_mut().push((role, self.time()));
        let mut sent = (self.script)(&asked);
        if let Sent::After(jump, then) = sent {
            self.clock.now.set(self.time() + jump);
            sent = *then;
        }
        match sent {
            Sent::After(..) => panic!("one jump is enough"),
            Sent::Fails(error) => Err(error),
            Sent::Nothing => pending().await,
            Sent::Reply { status, headers, pieces, every, then } => {
                let body = Body { pieces, next: 0, every, then, clock: self.clock.clone(), _exchange: exchange };
                Ok(NetworkReply { status, headers, body })
            }
        }
    }
}

/// Verdicts by the JSON that the prompt wants, the others by what they are for.
fn role(body: &Value) -> &'static str {
    let all = body.to_string().replace("\\\"", "\"");
    let system = body["messages"][0]["content"].as_str().filter(|_| body["system"].is_null()).unwrap_or(&all);
    let verdicts = [("\"score\":", "grade"), ("{\"grounded\"", "grounding"), ("{\"useful\"", "usefulness")];
    let verdict = verdicts.into_iter().find(|(json, _)| system.contains(json)).map(|(_, role)| role);
    verdict.unwrap_or(if system.contains("web search") { "rewrite" } else { "generate" })
}

/// An exchange that is under way until it is dropped.
struct Exchange(Rc<Cell<usize>>);

impl Exchange {
    fn new(open: &Rc<Cell<usize>>) -> Self {
        open.set(open.get() + 1);
        Self(open.clone())
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

/// The body of a reply.
pub struct Body {
    pieces: Vec<Vec<u8>>,
    next: usize,
    every: Millis,
    then: Then,
    clock: Rc<Clock>,
    _exchange: Exchange,
}

impl ReplyBody for Body {
    async fn next(&mut self) -> Option<Result<Vec<u8>, Broken>> {
        if self.next == self.pieces.len() {
            match self.then {
                Then::End => return None,
                Then::Breaks => return Some(Err(Broken)),
                Then::Nothing => pending().await,
                Then::Again => self.next = 0,
            }
        }
        self.clock.sleep(self.every).await;
        self.next += 1;
        self.pieces.get(self.next - 1).cloned().map(Ok)
    }
}

impl Platform for Scripted {
    async fn own_model(&self, _: u32, _: Role, _: &ChatRequest, _: &Told) -> Result<ChatReply, ProviderError> {
        panic!("there are no functions here");
    }

    /// The score of a passage is how often its text has the question's first word, in tenths.
    async fn own_scores(&self, scorer: u32, question: &str, passages: &[Passage]) -> Result<Vec<f64>, ProviderError> {
        self.arrived.borrow_mut().push(("scorer", self.time()));
        let word = question.split(' ').next().unwrap();
        let score = |passage: &Passage| passage.text.matches(word).count() as f64 / 10.0;
        if scorer == 0 { Ok(passages.iter().map(score).collect()) } else { Err(ProviderError::Function) }
    }

    /// Retriever 0 knows a page for each word of the query, some of them badly; others throw.
    async fn own_passages(&self, retriever: u32, query: &str, _: usize) -> Result<Vec<OwnPassage>, ProviderError> {
        self.arrived.borrow_mut().push(("retriever", self.time()));
        let page = |word: &str| json!({ "id": word, "text": format!("All about {word}."), "url": format!("https://own.example/{word}") });
        let mut found: Vec<_> = query.split(' ').map(page).collect();
        found.extend([json!({ "id": "blank", "text": " " }), json!({ "id": "", "text": "nameless" })]);
        let found = found.into_iter().map(|page| serde_json::from_value(page).unwrap()).collect();
        if retriever == 0 { Ok(found) } else { Err(ProviderError::Function) }
    }

    async fn own_search(&self, _: u32, _: &WebQuery) -> Result<Vec<WebResult>, ProviderError> {
        panic!("there are no functions here");
    }
}
