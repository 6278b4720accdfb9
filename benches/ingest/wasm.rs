//! The embedder as a wasm module without glue, for `npm run bench:ingest`: texts go in, and only their
//! number comes out, so that what is measured is the embedder and not the way to JavaScript.
#![allow(missing_docs, clippy::missing_panics_doc)] // a table that cannot be read ends the bench
#![allow(unsafe_code)] // an exported name could clash with another: these are the module's only ones

use std::cell::RefCell;

use countercheck::embedding::StaticEmbedder;

thread_local! {
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static EMBEDDER: RefCell<Option<StaticEmbedder>> = const { RefCell::new(None) };
}

/// Makes room for bytes; gives where they are to be written.
#[unsafe(no_mangle)]
pub extern "C" fn reserve(bytes: usize) -> *mut u8 {
    INPUT.with_borrow_mut(|input| {
        *input = vec![0; bytes];
        input.as_mut_ptr()
    })
}

/// Takes what was written for the table.
#[unsafe(no_mangle)]
pub extern "C" fn open() {
    let table = StaticEmbedder::parse(INPUT.take()).expect("the table");
    EMBEDDER.replace(Some(table));
}

/// Embeds each line of what was written; gives how many had a vector.
#[unsafe(no_mangle)]
pub extern "C" fn embed_lines() -> usize {
    INPUT.with_borrow(|input| {
        let text = std::str::from_utf8(input).unwrap_or_default();
        EMBEDDER.with_borrow(|embedder| {
            let embedder = embedder.as_ref().expect("open comes first");
            text.lines().filter_map(|line| embedder.embed(line)).filter(|vector| vector[0].is_finite()).count()
        })
    })
}
