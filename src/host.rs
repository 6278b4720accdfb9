//! All of the outside world, as a driver sees it.

use std::future::Future;

use crate::pipeline::budget::Millis;

/// A clock. Browsers, Workers and tests each have their own.
pub trait Host {
    /// Milliseconds since any fixed moment.
    fn now(&self) -> Millis;

    /// Comes back after that time.
    fn sleep(&self, duration: Millis) -> impl Future<Output = ()>;
}
