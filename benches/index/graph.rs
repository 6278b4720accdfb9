//! From how many vectors on the graph is faster than the scan, natively:
//! `cargo run --release --example graph -- FILE ROWS…`, where FILE is a set of `npm run bench:index -- --full`.
//!
//! Rows are the first of the set; beyond its last, means of each two neighbours, which is what the table makes of two
//! passages joined. Its last hundred vectors are the queries. Both ways answer ten queries in turn, by `Index::search`
//! for ten hits, so of 50 candidates; times are the medians of each query's best, recall is of what the scan finds.
//! What was built is kept beside FILE, for the next run and for `graph.mjs`.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench prints, and fails by a panic")]
#![allow(clippy::disallowed_methods, reason = "a bench reads the clock")]

use std::path::{Path, PathBuf};
use std::time::Instant;

use countercheck::document::{Origin, Passage, Span};
use countercheck::embedding::StaticEmbedder;
use countercheck::index::{EmbeddingIdentity, Index, SearchQuery, VectorMethod};

const DIMENSION: usize = 256;
const QUERIES: usize = 100;
const BATCH: usize = 10;
const ROUNDS: usize = 20;
const SEED: u64 = 1;
const K: usize = 10;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let file = PathBuf::from(arguments.next().expect("a file of vectors"));
    let mut vectors = read(&file);
    let queries = vectors.split_off(vectors.len() - QUERIES);
    println!("    rows  build s  file MB  links MB  scan ms  graph ms  recall@10  recall@50");
    for rows in arguments.map(|rows| rows.parse::<usize>().expect("a number of rows")) {
        let (index, seconds, links) = linked(&file, &vectors, rows);
        let [scan, graph] = timed(&index, &queries);
        let [ten, fifty] = [K, 50].map(|k| recall(&index, &queries, k));
        let file = index.save(1).len() as f64 / 1e6;
        println!("{rows:8} {seconds:8.1} {file:8.1} {links:9.1} {scan:8.3} {graph:9.3} {ten:10.4} {fifty:10.4}");
    }
}

fn read(file: &Path) -> Vec<Vec<f32>> {
    let bytes = std::fs::read(file).unwrap();
    let numbers: Vec<f32> = bytes.as_chunks().0.iter().map(|&number| f32::from_le_bytes(number)).collect();
    numbers.chunks_exact(DIMENSION).map(<[f32]>::to_vec).collect()
}

/// An index with its graph, the seconds that building it took and its megabytes; from an earlier run, 0 seconds.
fn linked(file: &Path, vectors: &[Vec<f32>], rows: usize) -> (Index, f64, f64) {
    let kept = file.with_extension(format!("{rows}.ccx"));
    // In the space of the table, so that JavaScript's modules search it with the table as well: `graph.mjs`.
    let table = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/embedder.bin")).unwrap();
    let model = StaticEmbedder::parse(table).unwrap().space();
    let mut index = Index::new(Some(EmbeddingIdentity { model, dimension: DIMENSION, normalised: true }));
    for row in 0..rows {
        let id = format!("{row:07}");
        index.insert(&id, vec![passage(&id)], vec![Some(vector(vectors, row))]).unwrap();
    }
    let plain = index.save(1).len();
    let mut seconds = 0.0;
    if let Ok(bytes) = std::fs::read(&kept) {
        index = Index::open(bytes).unwrap();
    } else {
        let started = Instant::now();
        index.build_graph(SEED);
        seconds = started.elapsed().as_secs_f64();
        std::fs::write(kept, index.save(1)).unwrap();
    }
    let links = (index.save(1).len() - plain) as f64 / 1e6;
    (index, seconds, links)
}

fn vector(vectors: &[Vec<f32>], row: usize) -> Vec<f32> {
    let Some(next) = row.checked_sub(vectors.len()) else { return vectors[row].clone() };
    let [one, other] = [next, next + 1].map(|at| &vectors[at % vectors.len()]);
    let sum: Vec<f32> = one.iter().zip(other).map(|(one, other)| one + other).collect();
    let length = sum.iter().map(|component| component * component).sum::<f32>().sqrt();
    sum.into_iter().map(|component| component / length).collect()
}

fn passage(document: &str) -> Passage {
    Passage {
        id: Passage::id_of(document, 0),
        document: document.to_owned(),
        url: String::new(),
        title: String::new(),
        headings: Vec::new(),
        also: Vec::new(),
        span: Span { start: 0, end: 0 },
        text: String::new(),
        origin: Origin::Local,
    }
}

fn found(index: &Index, vector: &[f32], method: VectorMethod, k: usize) -> Vec<String> {
    let query = SearchQuery { vector: Some(vector), method, ..SearchQuery::default() };
    index.search(&query, k).unwrap().into_iter().map(|hit| hit.passage.id).collect()
}

/// Milliseconds of a query by the scan and by the graph: the median of each query's best.
fn timed(index: &Index, queries: &[Vec<f32>]) -> [f64; 2] {
    let mut best = [(); 2].map(|()| vec![f64::INFINITY; queries.len()]);
    for _ in 0..ROUNDS {
        for batch in (0..queries.len()).step_by(BATCH) {
            for (best, method) in best.iter_mut().zip([VectorMethod::Scan, VectorMethod::Graph]) {
                for at in batch..(batch + BATCH).min(queries.len()) {
                    let started = Instant::now();
                    found(index, &queries[at], method, K);
                    best[at] = best[at].min(started.elapsed().as_secs_f64() * 1e3);
                }
            }
        }
    }
    best.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    })
}

fn recall(index: &Index, queries: &[Vec<f32>], k: usize) -> f64 {
    let right = |query: &Vec<f32>| {
        let exact = found(index, query, VectorMethod::Scan, k);
        found(index, query, VectorMethod::Graph, k).iter().filter(|id| exact.contains(id)).count()
    };
    queries.iter().map(right).sum::<usize>() as f64 / (queries.len() * k) as f64
}
