//! The built-in embedder: its table's format, its tokenizer, and the vectors it must give.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::collections::BTreeMap;
use std::sync::LazyLock;

use countercheck::corpus::{Corpus, CorpusError};
use countercheck::document::{Document, Format};
use countercheck::embedding::{EmbedderError, Projection, StaticEmbedder, TEACHER_DIMENSION};
use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

static FILE: LazyLock<Vec<u8>> =
    LazyLock::new(|| std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/embedder.bin")).unwrap());
static BUILT_IN: LazyLock<StaticEmbedder> = LazyLock::new(|| StaticEmbedder::parse(FILE.clone()).unwrap());
static VOCABULARY: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let length = u32::from_le_bytes(FILE[20..24].try_into().unwrap()) as usize;
    std::str::from_utf8(&FILE[24..24 + length]).unwrap().split('\n').collect()
});

fn head(rows: u32, dimension: u32, bits: u8, vocabulary: u32) -> Vec<u8> {
    let mut file = b"SEM1".to_vec();
    for field in [1, rows, dimension, u32::from(bits), vocabulary] {
        file.extend(field.to_le_bytes());
    }
    file
}

fn file(bits: u8, dimension: u32, vocabulary: &str, scales: &[u16], codes: &[u8]) -> Vec<u8> {
    let mut file = head(scales.len() as u32, dimension, bits, vocabulary.len() as u32);
    file.extend(vocabulary.as_bytes());
    file.extend(scales.iter().flat_map(|scale| scale.to_le_bytes()));
    file.extend(codes);
    file
}

/// red = (3, 0, 0, 0), blue = (0, 4, 0, 0), ##ish = (0, 0, 0, -12), void has no weight.
fn tiny(bits: u8) -> Vec<u8> {
    let vocabulary = "[UNK]\nred\nblue\n##ish\nvoid";
    match bits {
        // Scales 0, 3, 4, 12, 0; a field is the code plus 1, the first component lowest.
        2 => {
            let rows = [0b01_01_01_01, 0b01_01_01_10, 0b01_01_10_01, 0b00_01_01_01, 0b01_01_01_01];
            file(2, 4, vocabulary, &[0, 0x4200, 0x4400, 0x4A00, 0], &rows)
        }
        // Scales 0, 7, 7, 14, 7; a nibble is seven times the component over the scale, plus 8.
        4 => {
            let rows = [0x88, 0x88, 0x8B, 0x88, 0xC8, 0x88, 0x88, 0x28, 0x88, 0x88];
            file(4, 4, vocabulary, &[0, 0x4700, 0x4700, 0x4B00, 0x4700], &rows)
        }
        // Scale 127 throughout: the codes are the components.
        _ => {
            let mut rows = [0; 20];
            (rows[4], rows[9], rows[15]) = (3, 4, 244);
            file(8, 4, vocabulary, &[0x57F0; 5], &rows)
        }
    }
}

fn code(file: &[u8]) -> Option<&'static str> {
    StaticEmbedder::parse(file.to_vec()).err().map(|error| error.code())
}

fn assert_close(found: &[f32], expected: &[f32], tolerance: f32, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= tolerance, "{what}: {a} is not {b}");
    }
}

#[derive(serde::Deserialize)]
struct Reference {
    text: String,
    tokens: Vec<String>,
    vector: Vec<f32>,
}

fn references() -> Vec<Reference> {
    serde_json::from_str(include_str!("data/embedding/reference-256-2.json")).unwrap()
}

#[test]
fn the_fifty_reference_sentences_have_the_reference_tokens_and_vectors() {
    assert_eq!(references().len(), 50);
    for Reference { text, tokens, vector } in references() {
        let found = BUILT_IN.tokens(&text);
        let found: Vec<_> = found.iter().map(|&row| VOCABULARY[row as usize]).collect();
        assert_eq!(found, tokens, "{text}");
        match BUILT_IN.embed(&text) {
            Some(found) => assert_close(&found, &vector, 1e-3, &text),
            None => assert!(vector.iter().all(|&x| x == 0.0), "{text} has a vector"),
        }
    }
}

/// The hash was the same natively (x86-64) and in wasm32; no host may differ in a single bit.
#[test]
fn the_reference_vectors_have_the_same_bits_on_every_host() {
    let vectors = references().into_iter().filter_map(|reference| BUILT_IN.embed(&reference.text));
    let bytes: Vec<u8> = vectors.flatten().flat_map(f32::to_le_bytes).collect();
    assert_eq!(format!("{:016x}", xxhash_rust::xxh64::xxh64(&bytes, 0)), "6c63c38c8514a634");
}

#[test]
fn a_table_of_each_width_gives_the_vectors_computed_by_hand() {
    for bits in [2, 4, 8] {
        let embedder = StaticEmbedder::parse(tiny(bits)).unwrap();
        assert_eq!(embedder.dimension(), 4);
        for (text, expected) in [
            ("Red", [1.0, 0.0, 0.0, 0.0]),
            ("red, red and RED!", [1.0, 0.0, 0.0, 0.0]),
            ("red blue", [0.6, 0.8, 0.0, 0.0]),
            ("void bluered red blue", [0.6, 0.8, 0.0, 0.0]),
            ("rédish Blue", [3.0 / 13.0, 4.0 / 13.0, 0.0, -12.0 / 13.0]),
        ] {
            let found = embedder.embed(text).unwrap();
            assert_close(&found, &expected, 1e-6, &format!("{bits} bits, {text}"));
        }
        for text in ["", "green", "ish", "##ish", "redi", "[UNK]", "void", "reds"] {
            assert_eq!(embedder.embed(text), None, "{bits} bits, {text}");
        }
    }
}

#[test]
fn rows_that_cancel_each_other_give_no_vector() {
    let embedder = StaticEmbedder::parse(file(8, 1, "up\ndown", &[0x3C00; 2], &[5, 251])).unwrap();
    assert_eq!(embedder.embed("up"), Some(vec![1.0]));
    assert_eq!(embedder.embed("down"), Some(vec![-1.0]));
    assert_eq!(embedder.embed("up and down"), None);
}

#[test]
fn a_table_cut_or_lengthened_anywhere_is_a_typed_error() {
    for bits in [2, 4, 8] {
        let whole = tiny(bits);
        for length in 0..whole.len() {
            let expected = if length < 24 { "embedder_too_short" } else { "embedder_length" };
            assert_eq!(code(&whole[..length]), Some(expected), "{bits} bits, {length} bytes");
        }
        assert_eq!(code(&[&whole[..], b"\0"].concat()), Some("embedder_length"));
    }
}

#[test]
fn every_change_to_a_byte_of_the_head_is_a_typed_error() {
    for bits in [2, 4, 8] {
        for at in 0..24 {
            for change in 1..=u8::MAX {
                let mut file = tiny(bits);
                file[at] ^= change;
                let found = code(&file).unwrap_or("none");
                let possible = match at {
                    0..4 => &["embedder_magic"][..],
                    4..8 => &["embedder_version"],
                    12..16 => &["embedder_length", "embedder_dimension"],
                    16 => &["embedder_bits", "embedder_length"],
                    17..20 => &["embedder_reserved"],
                    _ => &["embedder_length"],
                };
                assert!(possible.contains(&found), "byte {at} ^ {change} of {bits} bits: {found}");
            }
        }
    }
}

#[test]
fn each_impossible_table_is_its_own_error() {
    let one = |vocabulary: &str| file(8, 1, vocabulary, &[0x3C00; 2], &[1, 1]);
    let mut no_text = one("a\nb");
    no_text[24] = 0xFF;
    for (expected, file) in [
        ("embedder_magic", b"<!doctype html><html lang=en>".to_vec()),
        ("embedder_bits", head(1, 8, 1, 1)),
        ("embedder_dimension", head(1, 0, 8, 1)),
        ("embedder_dimension", head(1, 6, 2, 1)),
        ("embedder_dimension", head(1, 7, 4, 1)),
        ("embedder_length", head(u32::MAX, u32::MAX, 8, u32::MAX)),
        ("embedder_vocabulary_text", no_text),
        ("embedder_token_count", one("a")),
        ("embedder_token_count", one("a\nb\n")),
        ("embedder_token_count", head(0, 4, 8, 0)),
        ("embedder_duplicate_token", one("a\na")),
        ("embedder_scale", file(8, 1, "a\nb", &[0x3C00, 0x7C00], &[1, 1])),
        ("embedder_scale", file(8, 1, "a\nb", &[0xFE00, 0x3C00], &[1, 1])),
    ] {
        assert_eq!(code(&file), Some(expected));
    }
}

#[test]
fn tables_that_differ_in_one_byte_have_different_model_ids() {
    let id = |file: Vec<u8>| StaticEmbedder::parse(file).unwrap().model_id();
    let mut changed = tiny(2);
    assert_eq!(id(tiny(2)), id(changed.clone()));
    *changed.last_mut().unwrap() ^= 1;
    assert_ne!(id(tiny(2)), id(changed));
    assert_eq!(BUILT_IN.model_id(), "sem1-256d-2bit-e8d4f0963cd77c12");
}

#[test]
fn words_end_where_bert_ends_them() {
    for (text, expected) in [
        ("Ålesund's naïve café", "ale ##sund ' s naive cafe"),
        ("e\u{301}a\u{308} I\u{307} İ", "ea i i"),
        ("zero\u{200B}width soft\u{AD}ware", "zero ##wi ##dt ##h software"),
        ("a\u{B}b c\u{85}d e\u{2028}f g\u{3000}h", "ab cd e f g h"),
        ("the東京is 東", "the is"),
        ("≠ ≮ \u{37E} «x»—y", "= < ; « x » — y"),
        ("the🦀crab the 🦀 crab", "the crab"),
        ("\0\u{FFFD}\u{1}\u{7F}\u{FEFF}", ""),
        ("\u{301}\u{308}", ""),
    ] {
        let found = BUILT_IN.tokens(text);
        let found: Vec<_> = found.iter().map(|&row| VOCABULARY[row as usize]).collect();
        assert_eq!(found.join(" "), expected, "{text:?}");
    }
}

#[test]
fn a_word_above_a_hundred_characters_is_unknown() {
    let mark = "\u{301}";
    assert!(!BUILT_IN.tokens(&"a".repeat(100)).is_empty());
    assert!(!BUILT_IN.tokens(&"é".repeat(100)).is_empty());
    assert!(!BUILT_IN.tokens(&format!("a{}", mark.repeat(1000))).is_empty());
    assert!(BUILT_IN.tokens(&"a".repeat(101)).is_empty());
    assert_eq!(BUILT_IN.embed(&"word".repeat(25_000)), None);
    assert_eq!(BUILT_IN.embed(&format!("{} cat", "x".repeat(100_000))), BUILT_IN.embed("cat"));
}

/// BERT's tokenizer written down step by step, to compare the fast one with.
fn plain_tokens(text: &str) -> Vec<u32> {
    static ROWS: LazyLock<BTreeMap<String, u32>> =
        LazyLock::new(|| VOCABULARY.iter().map(ToString::to_string).zip(0..).collect());
    let is_ideograph = |c| {
        matches!(c, '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}'
            | '\u{20000}'..='\u{2A6DF}' | '\u{2A700}'..='\u{2CEAF}' | '\u{2F800}'..='\u{2FA1F}')
    };
    let mut clean = String::new();
    for c in text.chars() {
        let other = c.general_category_group() == GeneralCategoryGroup::Other;
        match c {
            '\t' | '\n' | '\r' => clean.push(' '),
            _ if other || c == '\u{FFFD}' => {}
            _ if c.is_whitespace() => clean.push(' '),
            _ if is_ideograph(c) => clean.extend([' ', c, ' ']),
            _ => clean.push(c),
        }
    }
    let mut spaced = String::new();
    for c in clean.nfd().filter(|c| c.general_category() != GeneralCategory::NonspacingMark) {
        for c in c.to_lowercase() {
            let punctuation = c.general_category_group() == GeneralCategoryGroup::Punctuation;
            if punctuation || c.is_ascii_punctuation() {
                spaced.extend([' ', c, ' ']);
            } else {
                spaced.push(c);
            }
        }
    }
    let cut = |word: &str| {
        let chars: Vec<char> = word.chars().collect();
        let (mut rows, mut start) = (Vec::new(), 0);
        while start < chars.len() && chars.len() <= 100 {
            let (row, end) = (start + 1..=chars.len()).rev().find_map(|end| {
                let prefix = if start > 0 { "##" } else { "" };
                let piece: String = prefix.chars().chain(chars[start..end].iter().copied()).collect();
                Some((*ROWS.get(&piece)?, end))
            })?;
            rows.push(row);
            start = end;
        }
        Some(rows)
    };
    spaced.split_whitespace().filter_map(cut).flatten().collect()
}

/// Words, marks, scripts, controls and anything else, so that each meets each.
fn text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => "[a-zA-Z0-9]{1,12}",
        3 => "[ \t\n\r.,'#\\[\\]_`$+-]",
        2 => "[\u{A0}-\u{24F}\u{370}-\u{3FF}\u{1E00}-\u{1EFF}\u{2000}-\u{206F}]",
        1 => "[\0-\u{1F}\u{7F}-\u{9F}\u{AD}\u{300}-\u{36F}\u{200B}-\u{200F}]",
        1 => "[\u{4E00}-\u{4E20}\u{AC00}-\u{AC20}\u{900}-\u{97F}\u{F900}-\u{F910}\u{1F980}-\u{1F9FF}]",
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn the_tokens_are_those_of_the_plain_tokenizer(text in text()) {
        prop_assert_eq!(BUILT_IN.tokens(&text), plain_tokens(&text));
    }

    #[test]
    fn a_text_of_two_parts_has_the_tokens_of_both(first in text(), second in text()) {
        let both = [BUILT_IN.tokens(&first), BUILT_IN.tokens(&second)].concat();
        prop_assert_eq!(BUILT_IN.tokens(&format!("{first} {second}")), both);
    }

    #[test]
    fn every_vector_is_finite_and_of_unit_length(text in prop_oneof![text(), any::<String>()]) {
        let vector = BUILT_IN.embed(&text);
        prop_assert_eq!(vector.is_none(), BUILT_IN.tokens(&text).is_empty());
        if let Some(vector) = vector {
            let length = vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
            prop_assert!((length - 1.0).abs() < 1e-5, "length {}", length);
        }
    }

    #[test]
    fn no_bytes_after_the_head_make_it_panic(
        bits in prop::sample::select(vec![2, 4, 8]),
        changes in prop::collection::vec((24_usize..90, any::<u8>()), 1..8),
    ) {
        let mut file = tiny(bits);
        let length = file.len() - 24;
        for (at, byte) in changes {
            file[24 + (at - 24) % length] = byte;
        }
        if let Ok(embedder) = StaticEmbedder::parse(file)
            && let Some(vector) = embedder.embed("red blue redish void")
        {
            prop_assert!(vector.iter().all(|x| x.is_finite()));
        }
    }
}

fn projection() -> Vec<u8> {
    std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/projection.f32")).unwrap()
}

#[test]
fn the_projection_gives_the_vector_on_file() {
    let reference = include_str!("data/embedding/reference-projection.json");
    let reference: serde_json::Value = serde_json::from_str(reference).unwrap();
    let expected: Vec<f64> = serde_json::from_value(reference["output"].clone()).unwrap();
    let ramp: Vec<f32> = (0..384_u16).map(|i| -1.0 + 2.0 * f32::from(i) / 383.0).collect();
    let found = Projection::parse(&projection()).unwrap().project(&ramp).unwrap();
    assert_eq!(found.len(), expected.len());
    assert!(found.iter().zip(&expected).all(|(found, expected)| (f64::from(*found) - expected).abs() < 1e-4));
}

#[test]
fn what_is_no_projection_or_no_vector_of_the_teacher_is_refused() {
    let cut = Projection::parse(&projection()[1..]).unwrap_err();
    assert_eq!(cut, EmbedderError::ProjectionLength { found: 394_751, expected: 394_752 });
    let mut damaged = projection();
    damaged[40..44].copy_from_slice(&f32::NAN.to_le_bytes());
    assert_eq!(Projection::parse(&damaged).unwrap_err(), EmbedderError::ProjectionNumber { at: 10 });
    let projection = Projection::parse(&projection()).unwrap();
    for vector in [vec![1.0; 256], vec![], vec![f32::INFINITY; 384], vec![f32::NAN; 384], vec![0.0; 384]] {
        assert_eq!(projection.project(&vector), None);
    }
}

#[test]
fn the_table_and_its_teacher_share_a_space_and_an_index_and_nobody_else_does() {
    let projection = Projection::parse(&projection()).unwrap();
    assert_eq!(BUILT_IN.space(), projection.space());
    let other = StaticEmbedder::parse(tiny(8)).unwrap();
    assert_eq!(other.space(), other.model_id());

    let document = |id: &str| {
        let (id, source) = (id.to_owned(), format!("# {id}\n\nThe kettle boils.\n"));
        Document { id, source, url: String::new(), title: String::new(), format: Format::Markdown }
    };
    let teacher = vec![0.05_f32; TEACHER_DIMENSION];
    for table_first in [true, false] {
        let mut corpus = Corpus::default();
        corpus.set_embedder(StaticEmbedder::parse(FILE.clone()).unwrap()).unwrap();
        for by_table in [table_first, !table_first] {
            if by_table {
                corpus.add(&document("table")).unwrap();
            } else {
                assert_eq!(corpus.texts(&document("teacher")).unwrap(), ["teacher. teacher\nThe kettle boils."]);
                corpus.add_projected(&document("teacher"), &projection, &[&teacher]).unwrap();
            }
        }
        let hits = corpus.search("When does the kettle boil?", 5).unwrap();
        assert_eq!(hits.iter().filter(|hit| hit.dense.is_some()).count(), 2);
        let mut loaded = Corpus::default();
        loaded.set_embedder(StaticEmbedder::parse(FILE.clone()).unwrap()).unwrap();
        loaded.load(corpus.save()).unwrap();
        assert_eq!(loaded.search("When does the kettle boil?", 5).unwrap(), hits);
    }

    let mut corpus = Corpus::default();
    corpus.set_embedder(other).unwrap();
    let refused = corpus.add_projected(&document("teacher"), &projection, &[&teacher]);
    assert!(matches!(refused, Err(CorpusError::ModelMismatch { .. })));
    let refused = corpus.add_projected(&document("teacher"), &projection, &[&teacher[1..]]);
    assert!(matches!(refused, Err(CorpusError::TeacherVector { .. })));
    assert_eq!(corpus.index().passages(), 0);
}
