//! The timers of a JavaScript host: one function for all of them, which is told whose time it is.
//!
//! A function for each would take longer to make and to take back than the timer itself. It is the client's, which
//! notices when what comes of it is a trap.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use js_sys::Function;
use wasm_bindgen::prelude::*;

use crate::pipeline::budget::Millis;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = setTimeout)]
    fn set_timeout(ring: Option<&Function>, millis: i32, number: u32) -> JsValue;

    #[wasm_bindgen(js_name = clearTimeout)]
    fn clear_timeout(timer: &JsValue);
}

#[derive(Default)]
struct Timers {
    ring: RefCell<Option<Function>>,
    next: Cell<u32>,
    /// A handful at the most: a list is a map enough. A timer that has rung is not there.
    waiting: RefCell<Vec<(u32, Waker)>>,
}

thread_local! {
    static TIMERS: Timers = Timers::default();
}

impl Timers {
    fn take(&self, number: u32) -> Option<Waker> {
        let mut waiting = self.waiting.borrow_mut();
        let at = waiting.iter().position(|(waiting, _)| *waiting == number)?;
        Some(waiting.swap_remove(at).1)
    }
}

/// Sets what timers call.
pub(super) fn set_ring(ring: Function) {
    TIMERS.with(|timers| timers.ring.replace(Some(ring)));
}

/// Wakes who waits for that timer.
pub(super) fn ring(number: u32) {
    TIMERS.with(|timers| timers.take(number)).into_iter().for_each(Waker::wake);
}

/// Waits that long, from the first poll on.
pub(super) fn sleep(duration: Millis) -> Sleep {
    Sleep { duration, timer: None }
}

/// Dropped, its timer is cleared: it would keep Node from exiting.
pub(super) struct Sleep {
    duration: Millis,
    timer: Option<(u32, JsValue)>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        TIMERS.with(|timers| {
            let Some((number, _)) = &self.timer else {
                let number = timers.next.replace(timers.next.get().wrapping_add(1));
                // Timers count in 31 bits: a longer one would ring at once.
                let millis = i32::try_from(self.duration).unwrap_or(i32::MAX);
                let timer = set_timeout(timers.ring.borrow().as_ref(), millis, number);
                timers.waiting.borrow_mut().push((number, cx.waker().clone()));
                self.timer = Some((number, timer));
                return Poll::Pending;
            };
            match timers.waiting.borrow_mut().iter_mut().find(|(waiting, _)| waiting == number) {
                Some((_, waker)) => {
                    waker.clone_from(cx.waker());
                    Poll::Pending
                }
                None => Poll::Ready(()),
            }
        })
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some((number, timer)) = self.timer.take()
            && TIMERS.with(|timers| timers.take(number)).is_some()
        {
            clear_timeout(&timer);
        }
    }
}
