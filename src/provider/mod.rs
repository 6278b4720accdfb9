//! What is said to model and search services and how their replies are read, without any I/O.
//!
//! A codec turns a neutral request into an [`http::HttpRequest`], plain data that a host sends, and the
//! reply's bytes into a neutral reply or a [`error::ProviderError`]. It opens no connection, reads no
//! clock and retries nothing; what is worth another attempt is decided in `retry`.
//!
//! Chat models, embedding models and searches each have a table of vendors. A vendor that speaks like another
//! is a line of that table; another one is a file, its line, and a folder of fixtures.
//!
//! Nothing a service wrote is ever part of an error: messages are ours, with a number at most.

pub mod chat;
pub mod completions;
pub mod embed;
pub mod error;
pub mod http;
pub mod logprobs;
pub mod refusal;
pub mod search;
pub mod sse;
pub mod vendor;
pub mod verdict;
