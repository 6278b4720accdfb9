//! The event decoder against a reference that sees the whole stream at once.

use countercheck::provider::sse::{SseDecoder, SseError, SseEvent, SseLimits};
use proptest::prelude::*;

use crate::cases;
use crate::events::reference;

const WIDE: SseLimits = SseLimits { event: 1 << 20, total: 8 << 20 };

fn decode(chunks: &[&[u8]], limits: SseLimits) -> (Vec<SseEvent>, Result<(), SseError>) {
    let (mut decoder, mut events) = (SseDecoder::new(limits), Vec::new());
    let result = chunks.iter().try_for_each(|chunk| decoder.feed(chunk, &mut events));
    if result.is_err() {
        assert_eq!(decoder.feed(b"data: x\n\n", &mut Vec::new()), result, "an error stays");
    }
    (events, result)
}

/// Bytes that make lines, fields, characters and errors likely.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let pieces: [&[u8]; 20] = [
        b"data: ",
        b"data:",
        b"data",
        b"event: ",
        b"id: 1",
        b"retry: 5",
        b": ping",
        b":",
        b" ",
        b"\n",
        b"\r",
        b"\r\n",
        b"\n\n",
        b"\r\n\r\n",
        b"text",
        "数🙂".as_bytes(),
        b"\xF0\x9F",
        b"\xFF",
        "\u{FEFF}".as_bytes(),
        b"\0",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..40).prop_map(|parts| parts.concat())
}

fn cut<'a>(bytes: &'a [u8], cuts: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    at.extend([0, bytes.len()]);
    at.sort_unstable();
    at.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn any_chunking_gives_the_events_of_the_reference(
        bytes in stream(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let (events, result) = decode(&cut(&bytes, &cuts), WIDE);
        let found: Vec<_> = events.iter().map(|event| (event.name.clone(), event.data.clone())).collect();
        prop_assert_eq!(found, reference(&bytes));
        prop_assert_eq!(result, Ok(()));
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        prop_assert_eq!(decode(&single, WIDE).0, events);
    }

    #[test]
    fn limits_strike_at_the_same_byte_in_any_chunking(
        bytes in stream(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        event in 1..40_usize,
        total in 1..200_usize,
    ) {
        let limits = SseLimits { event, total };
        prop_assert_eq!(decode(&cut(&bytes, &cuts), limits), decode(&[&bytes], limits));
    }
}

#[test]
fn only_bytes_that_are_not_utf8_make_an_event_lossy() {
    let (events, _) = decode(&[b"data: \xEF\xBF\xBD\n\ndata: \xFF\n\n"], WIDE);
    assert_eq!(events.iter().map(|event| event.lossy).collect::<Vec<_>>(), [false, true]);
    assert_eq!(events[0].data, events[1].data);
}

#[test]
fn an_event_without_an_end_is_an_error_and_the_events_before_it_stand() {
    let limits = SseLimits::default();
    let long = [&b"data: first\n\ndata: "[..], &vec![b'x'; 256 << 10]].concat();
    let (events, result) = decode(&[&long], limits);
    assert_eq!((events.len(), result), (1, Err(SseError::Event { limit: 256 << 10 })));
}

#[test]
fn many_short_lines_of_one_event_count_together() {
    let limits = SseLimits { event: 100, total: 10_000 };
    let (events, result) = decode(&[b"data\n".repeat(500).as_slice()], limits);
    assert_eq!((events.len(), result), (0, Err(SseError::Event { limit: 100 })));
}

#[test]
fn a_long_line_in_single_bytes_takes_linear_time() {
    let limits = SseLimits { event: 16 << 20, total: 16 << 20 };
    let (mut decoder, mut events) = (SseDecoder::new(limits), Vec::new());
    // Quadratic work on 8 MiB would be 10¹³ steps: this test would not end.
    decoder.feed(b"data:", &mut events).unwrap();
    for _ in 0..8 << 20 {
        decoder.feed(b"x", &mut events).unwrap();
    }
    decoder.feed(b"\n\n", &mut events).unwrap();
    assert_eq!(events[0].data.len(), 8 << 20);
}
