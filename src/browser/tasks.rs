//! What is under way in this instance, and who goes on with it: whoever brings what it waits for, then and there.
//!
//! One queue of microtasks for all, as that of wasm-bindgen-futures is, goes on with a question in the asynchronous
//! context of another: a function of the page would find the other's `AsyncLocalStorage`. A trap would be nobody's
//! exception. And a microtask and a promise for each turn take longer than most turns.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use futures_util::future::LocalBoxFuture;

thread_local! {
    static TASKS: RefCell<Tasks> = RefCell::default();
}

#[derive(Default)]
struct Tasks {
    next: u32,
    /// A handful at the most: a list is a map enough.
    open: Vec<Task>,
    ready: VecDeque<u32>,
    /// A turn is under way: what is ready gets its own after it.
    is_busy: bool,
}

struct Task {
    number: u32,
    /// Not there while it has its turn.
    work: Option<LocalBoxFuture<'static, ()>>,
}

impl Tasks {
    fn place(&self, number: u32) -> Option<usize> {
        self.open.iter().position(|task| task.number == number)
    }

    fn next_ready(&mut self) -> Option<(u32, LocalBoxFuture<'static, ()>)> {
        loop {
            let number = self.ready.pop_front()?;
            if let Some(work) = self.place(number).and_then(|at| self.open[at].work.take()) {
                return Some((number, work));
            }
        }
    }
}

/// Takes in work, which is told its number and waits until it is started.
pub(super) fn begin<F: Future<Output = ()> + 'static>(work: impl FnOnce(u32) -> F) -> u32 {
    TASKS.with_borrow_mut(|tasks| {
        let number = tasks.next;
        tasks.next = number.wrapping_add(1);
        tasks.open.push(Task { number, work: Some(Box::pin(work(number))) });
        number
    })
}

/// Gives it its first turn.
pub(super) fn start(number: u32) {
    Ready(number).note();
    advance();
}

/// Whether it has neither come to its end nor been cancelled.
pub(super) fn is_open(number: u32) -> bool {
    TASKS.with_borrow(|tasks| tasks.place(number).is_some())
}

/// Drops it, with all it has under way; what has its turn just now ends with that.
pub(super) fn cancel(number: u32) {
    // What is dropped may call out to JavaScript.
    let dropped = TASKS.with_borrow_mut(|tasks| tasks.place(number).map(|at| tasks.open.swap_remove(at)));
    drop(dropped);
}

/// Gives a turn to all that is ready. Called by whoever may have made something so.
pub(super) fn advance() {
    if TASKS.with_borrow_mut(|tasks| std::mem::replace(&mut tasks.is_busy, true)) {
        return;
    }
    while let Some((number, mut work)) = TASKS.with_borrow_mut(Tasks::next_ready) {
        let waker = Waker::from(Arc::new(Ready(number)));
        let is_over = work.as_mut().poll(&mut Context::from_waker(&waker)).is_ready();
        let rest = TASKS.with_borrow_mut(|tasks| match tasks.place(number) {
            Some(at) if is_over => tasks.open.swap_remove(at).work,
            Some(at) => tasks.open[at].work.replace(work),
            None => Some(work),
        });
        drop(rest);
    }
    TASKS.with_borrow_mut(|tasks| tasks.is_busy = false);
}

/// Wakes a task by its number: wakers may be sent anywhere, which futures of a page may not.
struct Ready(u32);

impl Ready {
    fn note(&self) {
        TASKS.with_borrow_mut(|tasks| {
            if !tasks.ready.contains(&self.0) {
                tasks.ready.push_back(self.0);
            }
        });
    }
}

impl Wake for Ready {
    fn wake(self: Arc<Self>) {
        self.note();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.note();
    }
}
