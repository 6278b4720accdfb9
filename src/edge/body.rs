//! Reads a request's body within bounds: the bytes that really come count, whatever
//! `Content-Length` says, and they must come in time.

use std::pin::pin;

use futures_util::future::{Either, select};
use futures_util::stream::{Stream, StreamExt};

use crate::host::Host;
use crate::pipeline::budget::Millis;
use crate::problem::Problem;

/// How much of a body is read in all. What is above its limit is thrown away, but read: to a client
/// that is still sending, the connection would break before our error arrives.
pub const MAX_READ_BYTES: usize = 1024 * 1024;

/// How long a body may take.
pub const READ_DEADLINE: Millis = 5_000;

/// A body that is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BodyError {
    /// More than its endpoint takes.
    #[error("the body has more than {limit} bytes: shorten it")]
    TooLarge {
        /// The most bytes it may have.
        limit: usize,
    },
    /// Not whole within [`READ_DEADLINE`].
    #[error("the body was not received within {READ_DEADLINE} ms: send it at once")]
    TooSlow,
    /// The connection broke.
    #[error("the body was not received whole: send it again")]
    Broken,
}

/// Reads a body of at most `limit` bytes, chunk by chunk.
pub async fn read<E>(
    chunks: impl Stream<Item = Result<Vec<u8>, E>>,
    limit: usize,
    host: &impl Host,
) -> Result<Vec<u8>, BodyError> {
    match select(pin!(collect(chunks, limit)), pin!(host.sleep(READ_DEADLINE))).await {
        Either::Left((body, _)) => body,
        Either::Right(_) => Err(BodyError::TooSlow),
    }
}

async fn collect<E>(chunks: impl Stream<Item = Result<Vec<u8>, E>>, limit: usize) -> Result<Vec<u8>, BodyError> {
    let mut chunks = pin!(chunks);
    let (mut body, mut read) = (Vec::new(), 0_usize);
    while read <= MAX_READ_BYTES
        && let Some(chunk) = chunks.next().await
    {
        let chunk = chunk.map_err(|_| BodyError::Broken)?;
        read = read.saturating_add(chunk.len());
        if read <= limit {
            body.extend(chunk);
        }
    }
    if read > limit { Err(BodyError::TooLarge { limit }) } else { Ok(body) }
}

impl From<BodyError> for Problem {
    fn from(error: BodyError) -> Self {
        let (code, status) = match error {
            BodyError::TooLarge { .. } => ("too_large", 413),
            BodyError::TooSlow => ("too_slow", 408),
            BodyError::Broken => ("invalid_request", 400),
        };
        Self::new(code, status, error.to_string())
    }
}
