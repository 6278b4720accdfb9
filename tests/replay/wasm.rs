//! Replays recorded runs as a wasm module without glue: `tests/node/replay.test.mjs` puts bytes in and
//! takes bytes out one by one, so that the two share no memory.
#![allow(missing_docs, clippy::missing_panics_doc)] // a recording that cannot be read ends the test
#![allow(unsafe_code)] // an exported name could clash with another: these are the module's only ones

#[path = "recording.rs"]
pub mod recording;

use std::cell::RefCell;

thread_local! {
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static OUTPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Takes the next byte of the recordings.
#[unsafe(no_mangle)]
pub extern "C" fn put(byte: u8) {
    INPUT.with_borrow_mut(|input| input.push(byte));
}

/// Replays what was put in; gives how many bytes came of it.
#[unsafe(no_mangle)]
pub extern "C" fn replay() -> usize {
    let replays = recording::replay_all(&INPUT.take()).into_bytes();
    OUTPUT.replace(replays);
    OUTPUT.with_borrow(Vec::len)
}

/// Gives one of them.
#[unsafe(no_mangle)]
pub extern "C" fn byte_at(at: usize) -> u8 {
    OUTPUT.with_borrow(|output| output[at])
}
