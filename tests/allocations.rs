//! What a snapshot asks of memory. Loading: nothing for each passage, posting, vector or link, and nothing because the file
//! says so. Saving: its vectors and itself.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]
#![allow(unsafe_code, reason = "an allocator is")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use countercheck::document::{Origin, Passage, Span};
use countercheck::index::{EmbeddingIdentity, Index, SearchQuery};
use xxhash_rust::xxh64::xxh64;

/// What a thread has allocated.
#[derive(Debug, Clone, Copy, Default)]
struct Allocated {
    times: usize,
    bytes: usize,
    largest: usize,
}

thread_local! {
    static ALLOCATED: Cell<Allocated> = const { Cell::new(Allocated { times: 0, bytes: 0, largest: 0 }) };
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: it does what the system's does.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Allocated { times, bytes, largest } = ALLOCATED.get();
        let size = layout.size();
        ALLOCATED.set(Allocated { times: times + 1, bytes: bytes + size, largest: largest.max(size) });
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

fn counted<T>(work: impl FnOnce() -> T) -> (T, Allocated) {
    ALLOCATED.set(Allocated::default());
    let made = work();
    (made, ALLOCATED.get())
}

/// Documents of ten passages of many words, each with a vector, which are linked unless they are very many.
fn snapshot(passages: usize) -> Vec<u8> {
    let mut index = Index::new(Some(EmbeddingIdentity { model: "m".into(), dimension: 8, normalised: false }));
    for document in 0..passages / 10 {
        let id = format!("{document:05}");
        let passage = |ordinal: usize| {
            let word = |at: usize| format!("word{} ", (document * 10 + ordinal) * at % 997);
            let text: String = (1..30).map(word).collect();
            Passage {
                id: format!("{id}#{ordinal}"),
                document: id.clone(),
                url: String::new(),
                title: "T".to_owned(),
                headings: vec!["H".to_owned()],
                also: Vec::new(),
                span: Span { start: 0, end: text.len() },
                text,
                origin: Origin::Local,
            }
        };
        let vector = |n: usize| (0..8).map(|at| ((document * 10 + n) * (at + 1) % 89) as f32 + 1.0).collect();
        let vectors = (0..10).map(|n| Some(vector(n))).collect();
        index.insert(&id, (0..10).map(passage).collect(), vectors).unwrap();
    }
    if passages <= 1_000 {
        index.build_graph(7);
        assert!(index.has_whole_graph());
    }
    index.save(1)
}

#[test]
fn loading_parses_no_passage_no_posting_no_vector_and_no_link() {
    for passages in [100, 1_000, 10_000] {
        let file = snapshot(passages);
        let (index, allocated) = counted(|| Index::open(file).unwrap());
        assert_eq!(index.passages(), passages);
        // Which rows have vectors, and how long rows are: lists that double as they grow.
        assert!(allocated.times < 60, "{passages} passages: {allocated:?}");
        assert!(allocated.bytes < 8_192 + 24 * passages, "{passages} passages: {allocated:?}");
        let query = SearchQuery { text: "word7", ..SearchQuery::default() };
        let (hits, allocated) = counted(|| index.search(&query, 1).unwrap());
        assert_eq!(hits.len(), 1);
        // One block of 32 passages, of some eight strings each.
        assert!(allocated.times < 32 * 10 + 200, "{passages} passages: {allocated:?}");
    }
}

#[test]
fn saving_takes_the_vectors_and_the_file() {
    let mut index = Index::new(Some(EmbeddingIdentity { model: "m".into(), dimension: 256, normalised: false }));
    let passage = |ordinal: usize| Passage {
        id: format!("d#{ordinal}"),
        document: "d".to_owned(),
        url: String::new(),
        title: String::new(),
        headings: Vec::new(),
        also: Vec::new(),
        span: Span { start: 0, end: 4 },
        text: "text".to_owned(),
        origin: Origin::Local,
    };
    let vector = |n: usize| Some((0..256).map(|at| (n * (at + 1) % 89) as f32 + 1.0).collect());
    index.insert("d", (0..1_000).map(passage).collect(), (0..1_000).map(vector).collect()).unwrap();
    let (file, allocated) = counted(|| index.save(1));
    // Blocks of texts, each with the table of its compressor.
    let little = 800_000;
    assert_eq!(allocated.largest, file.len());
    assert!(allocated.bytes < 2 * file.len() + little, "{allocated:?} for {} bytes", file.len());
    let index = Index::open(file.clone()).unwrap();
    let (again, allocated) = counted(|| index.save(1));
    assert_eq!(again, file);
    assert!(allocated.bytes < file.len() + little, "{allocated:?} for {} bytes", file.len());
}

#[test]
fn nothing_is_allocated_because_a_file_says_so() {
    let bytes = snapshot(40);
    let content = bytes.len() - 8;
    // Wherever a number may begin, a great one.
    for at in 8..content - 8 {
        for great in [&[0xFF; 8][..], &[0xFF; 4], &[0xFF, 0xFF, 0xFF, 0x7F], &[0xFF, 0xFF, 0xFF, 0xFF, 0x0F]] {
            let mut file = bytes.clone();
            file[at..at + great.len()].copy_from_slice(great);
            let checksum = xxh64(&file[..content], 0);
            file[content..].copy_from_slice(&checksum.to_le_bytes());
            let (index, loading) = counted(|| Index::open(file));
            assert!(loading.bytes < 65_536, "byte {at}: {loading:?}");
            let Ok(mut index) = index else { continue };
            let (_, reading) = counted(|| index.insert("", Vec::new(), Vec::new()).is_ok());
            assert!(reading.largest <= 255 * content, "byte {at}: {reading:?}");
        }
    }
}
