//! Functions of the page that stand for a model, a scorer, a retriever or a web search, and those that reach its
//! network: how they are called, and how their replies come back.
//!
//! A promise for each call, awaited from here, would take longer than all else about it: two functions made
//! for JavaScript and taken back. So calls have numbers, and one function takes the replies of all. Whoever waits for
//! a reply goes on with it at once.
#![allow(clippy::too_many_arguments)] // each a value by itself: an object would be made one member at a time

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::ptr;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use js_sys::JsString;
use serde::Serialize;
use serde_json::Value;
use wasm_bindgen::prelude::*;
use web_sys::{ReadableStreamDefaultReader, Request};

use super::tasks;
use crate::driver::Told;
use crate::provider::chat::{ChatRequest, ReplyFormat, Role as Speaker};
use crate::service::Role;

#[wasm_bindgen]
extern "C" {
    /// The functions, as JavaScript calls them. None of these throws.
    pub type PageFunctions;

    /// Says who takes replies, by the number of their call, and texts of drafts while they are written.
    #[wasm_bindgen(method)]
    fn connect(this: &PageFunctions, settle: &JsValue, told: &JsValue);

    /// Asks a model; the prompt is what the system says, so many units of UTF-16, and then what the user does.
    #[wasm_bindgen(method)]
    fn ask(
        this: &PageFunctions,
        call: u32,
        model: u32,
        role: &JsString,
        prompt: &str,
        system: u32,
        temperature: Option<f64>,
        max_tokens: u32,
        schema: Option<&JsString>,
    );

    /// Has a scorer score.
    #[wasm_bindgen(method)]
    pub(super) fn score(this: &PageFunctions, call: u32, scorer: u32, request: &JsValue);

    /// Searches.
    #[wasm_bindgen(method)]
    pub(super) fn search(this: &PageFunctions, call: u32, search: u32, query: &str, limit: u32);

    /// Has a retriever find passages.
    #[wasm_bindgen(method)]
    pub(super) fn retrieve(this: &PageFunctions, call: u32, retriever: u32, query: &str, k: u32);

    /// Gives back what was kept.
    #[wasm_bindgen(method)]
    pub(super) fn recall(this: &PageFunctions, call: u32, key: &str);

    /// Keeps something.
    #[wasm_bindgen(method)]
    pub(super) fn remember(this: &PageFunctions, call: u32, key: &str, value: &str);

    /// Sends a request: the response, or what `fetch` rejected with.
    #[wasm_bindgen(method)]
    pub(super) fn fetch(this: &PageFunctions, call: u32, request: &Request);

    /// Reads the next piece of a body: its bytes, or nothing after the last.
    #[wasm_bindgen(method)]
    pub(super) fn read(this: &PageFunctions, call: u32, reader: &ReadableStreamDefaultReader);

    /// Waits until it is released, to come back in the asynchronous context of this call.
    #[wasm_bindgen(method)]
    pub(super) fn hold(this: &PageFunctions, call: u32);

    /// Lets a call that is held come back.
    #[wasm_bindgen(method)]
    fn release(this: &PageFunctions, call: u32);

    /// Says that nobody waits for a call any longer.
    #[wasm_bindgen(method)]
    fn abort(this: &PageFunctions, call: u32);
}

/// What the reply should fit.
#[derive(Serialize)]
struct FunctionSchema<'a> {
    name: &'a str,
    schema: &'a Value,
}

/// What JavaScript has been told already, and need not be told again with each call: a text that goes there is made
/// there anew. There are four roles and a few dozen schemas.
#[derive(Default)]
struct Texts {
    roles: [OnceCell<JsString>; 4],
    /// Room for a prompt.
    prompt: RefCell<String>,
    schemas: RefCell<Vec<(&'static Value, JsString)>>,
}

impl Texts {
    fn role(&self, role: Role) -> &JsString {
        self.roles[role as usize].get_or_init(|| role.name().into())
    }

    fn schema(&self, format: &ReplyFormat) -> Option<JsString> {
        let ReplyFormat::Schema { name, schema } = format else { return None };
        let Cow::Borrowed(schema) = schema else { return text(name, schema) };
        let known =
            self.schemas.borrow().iter().find(|(known, _)| ptr::eq(*known, *schema)).map(|(_, text)| text.clone());
        known.or_else(|| text(name, schema).inspect(|text| self.schemas.borrow_mut().push((schema, text.clone()))))
    }
}

fn text(name: &str, schema: &Value) -> Option<JsString> {
    serde_json::to_string(&FunctionSchema { name, schema }).ok().map(Into::into)
}

/// The functions, and the calls that are under way.
pub(super) struct Functions {
    page: PageFunctions,
    texts: Texts,
    open: Rc<RefCell<Open>>,
    _settle: Closure<dyn Fn(u32, bool, JsValue)>,
    _told: Closure<dyn Fn(u32, String)>,
}

/// A handful at the most: a list is a map enough.
#[derive(Default)]
struct Open {
    next: u32,
    calls: Vec<Call>,
}

struct Call {
    number: u32,
    /// Who shows what is written.
    told: Option<Told>,
    reply: Option<Result<JsValue, JsValue>>,
    waker: Option<Waker>,
}

impl Open {
    fn call(&mut self, number: u32) -> Option<&mut Call> {
        self.calls.iter_mut().find(|call| call.number == number)
    }

    fn take(&mut self, number: u32) -> Option<Call> {
        let at = self.calls.iter().position(|call| call.number == number)?;
        Some(self.calls.swap_remove(at))
    }
}

impl Functions {
    pub(super) fn new(page: PageFunctions) -> Self {
        let open = Rc::new(RefCell::new(Open::default()));
        let calls = Rc::clone(&open);
        // A reply that nobody waits for any longer finds no call.
        let settle = Closure::<dyn Fn(u32, bool, JsValue)>::new(move |number, fulfilled, reply| {
            let mut open = calls.borrow_mut();
            let Some(call) = open.call(number) else { return };
            call.reply = Some(if fulfilled { Ok(reply) } else { Err(reply) });
            let waker = call.waker.take();
            drop(open);
            waker.into_iter().for_each(Waker::wake);
            tasks::advance();
        });
        let calls = Rc::clone(&open);
        let told = Closure::<dyn Fn(u32, String)>::new(move |number, text| {
            let told = calls.borrow_mut().call(number).and_then(|call| call.told.clone());
            if let Some(told) = told {
                told.push(text);
                tasks::advance();
            }
        });
        page.connect(settle.as_ref(), told.as_ref());
        Self { page, texts: Texts::default(), open, _settle: settle, _told: told }
    }

    /// Puts a request to a model.
    pub(super) fn ask(&self, model: u32, role: Role, request: &ChatRequest, told: Option<Told>) -> Calling<'_> {
        let said = |speaker| request.messages.iter().find(|message| message.role == speaker);
        let said = |speaker| said(speaker).map_or("", |message| message.content.as_str());
        let (system, user) = (said(Speaker::System), said(Speaker::User));
        let mut prompt = self.texts.prompt.take();
        prompt.clear();
        prompt += system;
        prompt += user;
        let system = if system.is_ascii() { system.len() } else { system.encode_utf16().count() };
        let (role, schema) = (self.texts.role(role), self.texts.schema(&request.format));
        let ChatRequest { temperature, max_tokens, .. } = *request;
        // As it is written: 0.7 and not the double that is nearest to a float of it.
        let temperature = temperature.map(|temperature| (f64::from(temperature) * 1e6).round() / 1e6);
        let calling = self.call(told, |page, call| {
            page.ask(call, model, role, &prompt, system as u32, temperature, max_tokens, schema.as_ref());
        });
        self.texts.prompt.replace(prompt);
        calling
    }

    /// Calls a function and waits for what it gives. What functions of the page throw stays with it.
    pub(super) fn call(&self, told: Option<Told>, begin: impl FnOnce(&PageFunctions, u32)) -> Calling<'_> {
        let mut open = self.open.borrow_mut();
        let number = open.next;
        open.next = number.wrapping_add(1);
        open.calls.push(Call { number, told, reply: None, waker: None });
        drop(open);
        begin(&self.page, number);
        Calling { of: self, number }
    }
}

/// A call under way; dropped before its end it is aborted.
pub(super) struct Calling<'a> {
    of: &'a Functions,
    number: u32,
}

impl Calling<'_> {
    /// Lets it come back, if it is held.
    pub(super) fn release(&self) {
        self.of.page.release(self.number);
    }
}

impl Future for Calling<'_> {
    type Output = Result<JsValue, JsValue>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut open = self.of.open.borrow_mut();
        let Some(call) = open.call(self.number) else { return Poll::Pending };
        let Some(reply) = call.reply.take() else {
            call.waker = Some(cx.waker().clone());
            return Poll::Pending;
        };
        open.take(self.number);
        Poll::Ready(reply)
    }
}

impl Drop for Calling<'_> {
    fn drop(&mut self) {
        // Nothing may be borrowed while JavaScript is called.
        let call = self.of.open.borrow_mut().take(self.number);
        if call.is_some_and(|call| call.reply.is_none()) {
            self.of.page.abort(self.number);
        }
    }
}
