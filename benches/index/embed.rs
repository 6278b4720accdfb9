//! Texts to vectors by the built-in table, for `npm run bench:index`: a JSON string a line on the standard input,
//! little-endian `f32`s on the standard output. A text without a word of the table gives none: it is left out.
#![allow(clippy::unwrap_used, reason = "a panic is how a bench fails")]

use std::io::{BufWriter, Write, stdin, stdout};

use countercheck::embedding::StaticEmbedder;

fn main() {
    let table = std::fs::read(std::env::args().nth(1).expect("the path of the table")).unwrap();
    let embedder = StaticEmbedder::parse(table).unwrap();
    let mut out = BufWriter::new(stdout().lock());
    for line in stdin().lines() {
        let text: String = serde_json::from_str(&line.unwrap()).unwrap();
        for component in embedder.embed(&text).unwrap_or_default() {
            out.write_all(&component.to_le_bytes()).unwrap();
        }
    }
}
