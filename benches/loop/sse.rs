//! The decoder of streams as a wasm module without glue, for `npm run bench:loop`: bytes go in one at a time, and
//! what it made of them comes out as numbers.
#![allow(missing_docs)]
#![allow(unsafe_code)] // an exported name could clash with another: these are the module's only ones

use std::cell::RefCell;

use countercheck::provider::sse::{SseDecoder, SseLimits};

struct Reading {
    decoder: SseDecoder,
    events: usize,
    /// The data of all events, each with a line feed behind it.
    text: Vec<u8>,
}

thread_local! {
    static READING: RefCell<Option<Reading>> = const { RefCell::new(None) };
}

/// Begins a stream of up to so many bytes, which may be a single event.
#[unsafe(no_mangle)]
pub extern "C" fn begin(bytes: usize) {
    let decoder = SseDecoder::new(SseLimits { event: bytes, total: bytes });
    READING.set(Some(Reading { decoder, events: 0, text: Vec::with_capacity(bytes) }));
}

/// Takes in a chunk of one byte; gives whether it was taken.
#[unsafe(no_mangle)]
pub extern "C" fn feed(byte: u8) -> bool {
    READING.with_borrow_mut(|reading| {
        let Some(Reading { decoder, events, text }) = reading else { return false };
        let mut found = Vec::new();
        let fed = decoder.feed(&[byte], &mut found);
        for event in found {
            *events += 1;
            text.extend_from_slice(event.data.as_bytes());
            text.push(b'\n');
        }
        fed.is_ok()
    })
}

/// How many events there were.
#[unsafe(no_mangle)]
pub extern "C" fn events() -> usize {
    READING.with_borrow(|reading| reading.as_ref().map_or(0, |reading| reading.events))
}

/// Where their data is, each with a line feed behind it.
#[unsafe(no_mangle)]
pub extern "C" fn text() -> *const u8 {
    READING.with_borrow(|reading| reading.as_ref().map_or(std::ptr::null(), |reading| reading.text.as_ptr()))
}

/// How long that is.
#[unsafe(no_mangle)]
pub extern "C" fn text_length() -> usize {
    READING.with_borrow(|reading| reading.as_ref().map_or(0, |reading| reading.text.len()))
}
