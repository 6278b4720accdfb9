//! The files of `tests/provider/fixtures`; README.md beside them has the fields.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use countercheck::provider::http::Headers;
use serde_json::Value;

/// When the dates in them were written: 1994-11-06 08:49:37 GMT, the date in the standard's examples.
pub const NOW: u64 = 784_111_777_000;

/// Where they are.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/provider/fixtures")
}

/// All of them but those of single vendors, by file name.
pub fn all() -> BTreeMap<String, Value> {
    below(&folder())
}

/// Those of a folder, by file name.
fn below(folder: &Path) -> BTreeMap<String, Value> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    let read = |path: PathBuf| {
        let fixture = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        (path.file_name().unwrap().to_str().unwrap().to_owned(), fixture)
    };
    files.map(read).collect()
}

/// A field that is text and must be there.
pub fn text<'a>(fixture: &'a Value, field: &str) -> &'a str {
    fixture[field].as_str().unwrap()
}

/// The headers of the reply.
pub fn headers(fixture: &Value) -> Headers {
    let pairs = fixture["headers"].as_object().into_iter().flatten();
    pairs.map(|(name, value)| (name.as_str(), value.as_str().unwrap())).collect()
}

/// The body of the reply.
pub fn body(fixture: &Value) -> Vec<u8> {
    let digits =
        |hex: &str| (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap()).collect();
    let part = |part: &Value| match part {
        Value::String(text) => text.clone(),
        part => part["$repeat"][0].as_str().unwrap().repeat(part["$repeat"][1].as_u64().unwrap() as usize),
    };
    match (&fixture["body"], &fixture["json"], &fixture["body_hex"]) {
        (Value::String(text), ..) => text.clone().into_bytes(),
        (Value::Array(parts), ..) => parts.iter().map(part).collect::<String>().into_bytes(),
        (_, _, Value::String(hex)) => digits(hex),
        (_, json, _) => serde_json::to_vec(json).unwrap(),
    }
}

/// Whether a part of the reply is shown before it fails.
pub fn is_visible(fixture: &Value) -> bool {
    fixture["expect"]["text"].as_str().is_some_and(|text| !text.is_empty())
}

/// Those of the vendors, each with a folder of its own.
pub fn of_vendors() -> BTreeMap<String, BTreeMap<String, Value>> {
    let entries = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let named = |path: PathBuf| (path.file_name().unwrap().to_str().unwrap().to_owned(), below(&path));
    entries.filter(|path| path.is_dir()).map(named).collect()
}
