//! The building of neighbour graphs as a WebAssembly module of its own, without glue: snapshots in, snapshots out.
//!
//! JavaScript writes a snapshot where `room` says, calls `link`, and reads what it left: the same snapshot with a
//! graph, or why it is none. Only the command line does this, once for each index, so nobody else downloads it.

use std::sync::{Mutex, PoisonError};

use countercheck::index::Index;

/// What a call that went wrong returns.
const FAILED: usize = usize::MAX;

static BYTES: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// `instant-distance` asks for a seed that it does not use.
#[cfg(target_arch = "wasm32")]
mod seed {
    fn none(bytes: &mut [u8]) -> Result<(), getrandom::Error> {
        bytes.fill(0);
        Ok(())
    }
    getrandom::register_custom_getrandom!(none);
}

fn with<T>(call: impl FnOnce(&mut Vec<u8>) -> T) -> T {
    call(&mut BYTES.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Where to write a snapshot of that many bytes; 0 where there is no memory for it.
#[unsafe(no_mangle)]
extern "C" fn room(length: usize) -> *mut u8 {
    with(|bytes| {
        *bytes = Vec::new();
        if bytes.try_reserve_exact(length).is_err() {
            return std::ptr::null_mut();
        }
        bytes.resize(length, 0);
        bytes.as_mut_ptr()
    })
}

/// Links the vectors of the snapshot; the length of what there is then, or `FAILED` and a sentence.
#[unsafe(no_mangle)]
extern "C" fn link(seed: u32) -> usize {
    with(|bytes| match Index::open(std::mem::take(bytes)) {
        Ok(mut index) => {
            index.build_graph(seed.into());
            *bytes = index.save(index.splitter_version().unwrap_or_default());
            bytes.len()
        }
        Err(error) => {
            *bytes = error.to_string().into_bytes();
            FAILED
        }
    })
}

/// Where the result is.
#[unsafe(no_mangle)]
extern "C" fn result() -> *const u8 {
    with(|bytes| bytes.as_ptr())
}

/// How long the result is.
#[unsafe(no_mangle)]
extern "C" fn result_length() -> usize {
    with(|bytes| bytes.len())
}
