//! Laws and behaviours of `ingest`: text in, passages out.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

#[path = "ingest/documents.rs"]
mod documents;
#[path = "ingest/reading.rs"]
mod reading;
#[path = "ingest/splitting.rs"]
mod splitting;

use countercheck::document::{Document, Format, Passage};
use countercheck::ingest::{SplitOptions, Unit, passages, plain_text, units};
use documents::{document, messy_document, read, soup};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn markdown(source: &str) -> Document {
    Document {
        id: "guide.md".into(),
        url: "https://example.org/guide".into(),
        title: String::new(),
        format: Format::Markdown,
        source: source.into(),
    }
}

fn split(document: &Document, max_bytes: usize) -> Vec<Passage> {
    passages(document, &SplitOptions { max_bytes }).unwrap()
}

fn assert_partition(document: &Document, passages: &[Passage]) {
    let mut at = 0;
    for (ordinal, passage) in passages.iter().enumerate() {
        assert_eq!(passage.id, format!("{}#{ordinal}", document.id));
        assert_eq!(passage.document, document.id);
        assert_eq!(passage.span.start, at);
        assert!(!passage.span.is_empty());
        assert_eq!(document.source.get(passage.span.start..passage.span.end), Some(passage.text.as_str()));
        at = passage.span.end;
    }
    let blank = document.source.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}').is_empty();
    assert_eq!(at, if blank { 0 } else { document.source.len() });
}

fn assert_units(text: &str, units: &[Unit]) {
    let mut at = 0;
    for unit in units {
        let slice = text.get(unit.span.start..unit.span.end).expect("character boundaries within the text");
        assert!(at <= unit.span.start, "in order, without overlap: {units:?}");
        assert!(slice.chars().any(char::is_alphanumeric), "has words: {slice:?}");
        assert_eq!(slice.trim(), slice);
        at = unit.span.end;
    }
}

fn has_words(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

/// The same cases on every run.
fn config() -> ProptestConfig {
    ProptestConfig { cases: 2000, failure_persistence: None, rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn passages_partition_their_document(generated in messy_document(), max_bytes in 64..1500usize) {
        let document = markdown(&generated.source());
        let passages = split(&document, max_bytes);
        assert_partition(&document, &passages);
        prop_assert_eq!(&passages, &split(&document, max_bytes));
    }

    #[test]
    fn passages_partition_any_text_in_either_format(source in soup(), text in ".{0,200}", plain: bool, max_bytes in 64..200usize) {
        for source in [source, text] {
            let format = if plain { Format::Plain } else { Format::Markdown };
            let document = Document { format, ..markdown(&source.repeat(4)) };
            let passages = split(&document, max_bytes);
            assert_partition(&document, &passages);
            prop_assert!(!plain || passages.iter().all(|passage| passage.text.len() <= max_bytes));
        }
    }

    #[test]
    fn white_space_has_no_passages(source in "[ \t\r\n\u{a0}\u{2028}]{0,300}") {
        prop_assert_eq!(split(&markdown(&source), 64), vec![]);
    }

    #[test]
    fn only_a_passage_around_one_solid_block_passes_the_limit(generated in messy_document(), max_bytes in 64..1500usize) {
        let document = markdown(&generated.source());
        let reading = read(&generated.body, generated.front_matter.len());
        for passage in split(&document, max_bytes) {
            let (start, end) = (passage.span.start, passage.span.end);
            for solid in &reading.solids {
                for cut in [start, end] {
                    prop_assert!(cut <= solid.start || cut >= solid.end, "{cut} cuts {solid:?}");
                }
            }
            if passage.text.len() > max_bytes {
                let inside = reading.solids.iter().filter(|solid| start <= solid.start && solid.end <= end);
                let inside: Vec<_> = inside.collect();
                prop_assert_eq!(inside.len(), 1, "{:?}", passage);
                prop_assert!(inside[0].start - start <= max_bytes / 2 + 64, "the introduction is short");
                prop_assert!(!has_words(&document.source[inside[0].end..end]), "{:?}", passage);
            }
        }
    }

    #[test]
    fn a_section_starts_a_passage_unless_nothing_stands_above_it(generated in messy_document(), max_bytes in 64..1500usize) {
        let document = markdown(&generated.source());
        let reading = read(&generated.body, generated.front_matter.len());
        let passages = split(&document, max_bytes);
        for (at, text) in &reading.headings {
            let passage = passages.iter().find(|passage| passage.span.start <= *at && *at < passage.span.end).unwrap();
            let above = reading.text.iter().find(|text| passage.span.start <= text.start && text.end <= *at);
            prop_assert_eq!(above, None, "text above {:?} in {:?}", text, passage);
            prop_assert!(text.is_empty() || passage.headings.contains(text), "{text:?} is not in {:?}", passage.headings);
        }
    }

    #[test]
    fn no_unit_cuts_a_fence_or_a_row_of_the_document(generated in document(), max_bytes in 64..1500usize) {
        let document = markdown(&generated.source());
        let reading = read(&generated.body, generated.front_matter.len());
        for passage in split(&document, max_bytes) {
            let units = units(&passage.text);
            assert_units(&passage.text, &units);
            for unit in units {
                for solid in &reading.fenced {
                    for cut in [unit.span.start, unit.span.end].map(|at| at + passage.span.start) {
                        let end = solid.start + document.source[solid.clone()].trim_end().len();
                        prop_assert!(cut <= solid.start || cut >= end, "{unit:?} cuts {:?} of {:?}", &document.source[solid.clone()], passage.text);
                    }
                }
            }
        }
    }

    #[test]
    fn units_of_any_text_are_ordered_and_have_words(source in soup(), text in ".{0,200}") {
        for text in [source.repeat(3), text] {
            assert_units(&text, &units(&text));
            plain_text(&text);
        }
    }
}

/// How long this thread has been computing, where the system says so (Linux): other programs must not
/// make a test fail.
fn busy() -> std::time::Duration {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = statistics.split_whitespace().next().and_then(|number| number.parse().ok());
    std::time::Duration::from_nanos(nanoseconds.unwrap_or_default())
}

/// Text that made some Markdown reader quadratic or overflow its stack, half a megabyte each.
#[test]
fn hostile_text_takes_linear_time_and_little_stack() {
    let fill = |unit: &str| unit.repeat((512 << 10) / unit.len());
    let after = |start: &str, unit: &str| start.to_owned() + &fill(unit);
    let cases = [
        fill("["),
        fill("[a]("),
        fill("> "),
        fill("- "),
        fill("`"),
        fill("*a _b "),
        fill("<a "),
        fill("<!-- "),
        fill("<h1>a"),
        fill("> - "),
        fill("| a | b |\n"),
        fill("a:\n\n"),
        fill("a\r"),
        fill("# a\n"),
        fill("漢"),
        fill("E.g. "),
        after("> ", "\n"),
        after("<div>\n", "<a "),
        after("<div>\n", "<a '>'"),
        after(&"> ".repeat(100_000), "a\n"),
        after("# ", "a. B "),
        after("a.", " "),
        after("a.", ")"),
        after("a. ", "\u{301}"),
        after("a. ", "1"),
        after("---\n", "a: b\n"),
    ];
    let read = |source: String| {
        let start = busy();
        let document = markdown(&source);
        let passages = split(&document, 1200);
        assert_partition(&document, &passages);
        assert_units(&source, &units(&source));
        plain_text(&source);
        let took = busy().saturating_sub(start);
        assert!(took.as_secs() < 20, "{:?}… took {took:?}", &passages[0].text[..20]);
    };
    // A page or a Worker gives a call one megabyte of stack.
    let small = std::thread::Builder::new().stack_size(512 << 10);
    small.spawn(move || cases.into_iter().for_each(read)).unwrap().join().unwrap();
}
