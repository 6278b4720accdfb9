//! The vector index as a WebAssembly module of its own, without glue: an instance is an index.
//!
//! JavaScript writes what it gives into one of two buffers, calls, and reads what it gets from a third; the
//! buffers move, so it asks for them each time. A call that returns `FAILED` has left the error's code and
//! message there, a line feed between. The only import says whether a row may be found.

use std::sync::{Mutex, PoisonError};

#[path = "../../../src/vectors/mod.rs"]
#[allow(dead_code, unused_imports, unreachable_pub)] // what only the index of passages uses
mod vectors;

use vectors::{Metric, VectorIndex, VectorIndexError};

/// What a call that went wrong returns; others return rows and lengths, which are below it.
const FAILED: u32 = u32::MAX;
/// No row.
const NONE: u32 = u32::MAX - 1;

#[link(wasm_import_module = "host")]
unsafe extern "C" {
    safe fn allowed(row: u32) -> u32;
}

#[derive(Default)]
struct State {
    index: VectorIndex,
    /// Given: a name, or a file.
    text: Vec<u8>,
    /// Given: a vector.
    vector: Vec<f32>,
    /// Got: bytes.
    result: Vec<u8>,
}

static STATE: Mutex<Option<State>> = Mutex::new(None);

/// The standard allocator would be a fifth of the module.
#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ALLOCATOR: rlsf::SmallGlobalTlsf = rlsf::SmallGlobalTlsf::new();

fn with<T>(call: impl FnOnce(&mut State) -> T) -> T {
    let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
    call(state.get_or_insert_with(State::default))
}

impl State {
    fn give(&mut self, bytes: Vec<u8>) -> u32 {
        self.result = bytes;
        self.result.len() as u32
    }

    fn outcome(&mut self, outcome: Result<u32, VectorIndexError>) -> u32 {
        outcome.unwrap_or_else(|error| {
            self.result = format!("{}\n{error}", error.code()).into_bytes();
            FAILED
        })
    }
}

/// What JavaScript encodes is UTF-8.
fn named(text: &[u8]) -> &str {
    std::str::from_utf8(text).unwrap_or_default()
}

/// Where to write a name or a file of that many bytes; 0 where there is no memory for it.
#[unsafe(no_mangle)]
extern "C" fn text(length: usize) -> *mut u8 {
    with(|state| {
        state.text.clear();
        if state.text.try_reserve_exact(length).is_err() {
            return std::ptr::null_mut();
        }
        state.text.resize(length, 0);
        state.text.as_mut_ptr()
    })
}

/// Where to write a vector of that many components; 0 where there is no memory for it.
#[unsafe(no_mangle)]
extern "C" fn vector(length: usize) -> *mut f32 {
    with(|state| {
        state.vector.clear();
        if state.vector.try_reserve(length).is_err() {
            return std::ptr::null_mut();
        }
        state.vector.resize(length, 0.0);
        state.vector.as_mut_ptr()
    })
}

/// From now on codes are scanned by the function of scan.rs that is at that place in the table.
#[cfg(target_arch = "wasm32")]
#[unsafe(no_mangle)]
unsafe extern "C" fn scan_by(at: usize) {
    // SAFETY: JavaScript has put it there.
    unsafe { vectors::kernel::scan_by(at) };
}

/// Where the last result is.
#[unsafe(no_mangle)]
extern "C" fn result() -> *const u8 {
    with(|state| state.result.as_ptr())
}

/// How long the last result is, in bytes.
#[unsafe(no_mangle)]
extern "C" fn result_length() -> usize {
    with(|state| state.result.len())
}

/// Makes the index an empty one; metrics are 0 cosine, 1 dot, 2 Euclidean.
#[unsafe(no_mangle)]
extern "C" fn create(dimension: usize, metric: u32) -> u32 {
    let metric = match metric {
        0 => Metric::Cosine,
        1 => Metric::Dot,
        _ => Metric::Euclidean,
    };
    with(|state| {
        let made = VectorIndex::new(dimension, metric).map(|index| state.index = index);
        state.outcome(made.map(|()| 0))
    })
}

/// Adds the vector under the name; its row.
#[unsafe(no_mangle)]
extern "C" fn add() -> u32 {
    with(|state| {
        let name = std::mem::take(&mut state.text);
        let added = state.index.add(named(&name), &state.vector);
        state.outcome(added)
    })
}

/// Adds or replaces the vector under the name; its row.
#[unsafe(no_mangle)]
extern "C" fn set() -> u32 {
    with(|state| {
        let name = std::mem::take(&mut state.text);
        let set = state.index.set(named(&name), &state.vector);
        state.outcome(set)
    })
}

/// Removes the vector of the name; the row it had, or `NONE`.
#[unsafe(no_mangle)]
extern "C" fn remove() -> u32 {
    with(|state| state.index.remove(named(&state.text)).unwrap_or(NONE))
}

/// Searches for the `k` rows nearest to the vector, all of them or only those allowed, exactly or fast; how many there
/// are. The result is a row (`u32`) and a score (`f32`) of each.
#[unsafe(no_mangle)]
extern "C" fn search(k: usize, filtered: u32, fast: u32) -> u32 {
    with(|state| {
        let may_be_found = |row| filtered == 0 || allowed(row) != 0;
        let found = match fast {
            0 => state.index.search(&state.vector, k, &may_be_found),
            _ => state.index.search_fast(&state.vector, k, &may_be_found),
        };
        let found = found.map(|near| {
            state.result.clear();
            for near in &near {
                state.result.extend(near.row.to_le_bytes());
                state.result.extend(near.score.to_le_bytes());
            }
            near.len() as u32
        });
        state.outcome(found)
    })
}

/// The name of a row; its length, or `NONE`.
#[unsafe(no_mangle)]
extern "C" fn name(row: u32) -> u32 {
    with(|state| match state.index.name(row).map(|name| name.as_bytes().to_vec()) {
        Some(name) => state.give(name),
        None => NONE,
    })
}

/// The components of the vector of the name; their number of bytes, or `NONE`.
#[unsafe(no_mangle)]
extern "C" fn components() -> u32 {
    with(|state| match state.index.vector(named(&state.text)) {
        Some(vector) => state.give(vector.into_iter().flat_map(f32::to_le_bytes).collect()),
        None => NONE,
    })
}

/// The index as a file; its length.
#[unsafe(no_mangle)]
extern "C" fn save() -> u32 {
    with(|state| {
        let file = state.index.save();
        state.give(file)
    })
}

/// Takes the result's memory back.
#[unsafe(no_mangle)]
extern "C" fn forget() {
    with(|state| state.result = Vec::new());
}

/// Makes the index the one of the file; the number of components.
#[unsafe(no_mangle)]
extern "C" fn load() -> u32 {
    with(|state| {
        let loaded = VectorIndex::load(std::mem::take(&mut state.text));
        let loaded = loaded.map(|index| state.index = index);
        let dimension = state.index.comparison().dimension as u32;
        state.outcome(loaded.map(|()| dimension))
    })
}

/// The metric: see [`create`].
#[unsafe(no_mangle)]
extern "C" fn metric() -> u32 {
    with(|state| state.index.comparison().metric as u32)
}

/// The number of vectors.
#[unsafe(no_mangle)]
extern "C" fn size() -> usize {
    with(|state| state.index.len())
}

/// Bytes of the plane that is scanned.
#[unsafe(no_mangle)]
extern "C" fn scan_bytes() -> usize {
    with(|state| state.index.memory().scan)
}

/// Bytes of the plane that scores are computed from.
#[unsafe(no_mangle)]
extern "C" fn rescoring_bytes() -> usize {
    with(|state| state.index.memory().rescoring)
}
