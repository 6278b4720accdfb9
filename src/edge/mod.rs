//! The Cloudflare Worker: the same core behind HTTP.
//!
//! ```text
//! POST /v1/ask      an answer: JSON, or server-sent events where `Accept` prefers them
//! POST /v1/search   passages
//! POST /v1/tasks/…  one task of a loop that runs in a page
//! POST /v1/web-search
//! GET  /healthz     whether it can answer
//! anything else     the static assets
//! ```
//!
//! What can be decided without a Worker is decided in files that know none, so that native tests
//! reach it: [`route`] (which endpoint, which form of reply), [`body`], [`settings`], [`origins`],
//! [`answering`], [`events`]. `server` and `assets` join them to the platform. The question's text
//! goes into the answer and nowhere else: nothing here logs.

pub mod answering;
pub mod body;
pub mod events;
pub mod origins;
pub mod route;
pub mod settings;

#[cfg(all(feature = "worker", target_arch = "wasm32"))]
mod assets;
#[cfg(all(feature = "worker", target_arch = "wasm32"))]
mod kept;
#[cfg(all(feature = "worker", target_arch = "wasm32"))]
mod network;
#[cfg(all(feature = "worker", target_arch = "wasm32"))]
mod server;
