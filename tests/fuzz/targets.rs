//! What is fuzzed: each target takes any bytes and must neither panic nor break its law.

use countercheck::index::{Index, SearchQuery, VectorMethod};
use countercheck::provider::chat::{self, ChatModel};
use countercheck::provider::embed::{self, EmbedModel, EmbedRequest};
use countercheck::provider::http::{Endpoint, Headers, HttpResponse};
use countercheck::provider::search::{self, SearchEngine, SearchOptions, WebQuery, canonical};
use countercheck::provider::sse::{SseDecoder, SseLimits};
use countercheck::provider::verdict;
use countercheck::retry::hint;
use xxhash_rust::xxh64::xxh64;

use crate::events::reference;

/// Takes an input; panics where its law is broken.
pub type Target = fn(&[u8]);

/// Each with its name, which is its corpus's folder.
pub const TARGETS: [(&str, Target); 5] =
    [("sse", sse), ("provider", provider), ("verdict", verdict), ("retry_after", retry_after), ("snapshot", snapshot)];

/// Any chunking gives the events of the reference. The first byte says how long the chunks are.
fn sse(data: &[u8]) {
    let Some((size, stream)) = data.split_first() else { return };
    let (mut decoder, mut events) = (SseDecoder::new(SseLimits::default()), Vec::new());
    for chunk in stream.chunks(usize::from(*size).max(1)) {
        decoder.feed(chunk, &mut events).unwrap();
    }
    let found: Vec<_> = events.into_iter().map(|event| (event.name, event.data)).collect();
    assert_eq!(found, reference(stream));
}

/// A reply is whole and usable, or an error. The first byte says whose it is, the second how it comes.
fn provider(data: &[u8]) {
    let [whose, how, body @ ..] = data else { return };
    let of = |count: usize| usize::from(*whose) % count;
    let endpoint = Endpoint::parse("https://api.example.org/v1", None).unwrap();
    let status = [200, 200, 200, 400, 429, 500][usize::from(*how / 4) % 6];
    let headers: Headers = [("content-type", "application/json")].into_iter().collect();
    let response = HttpResponse { status, headers, body: body.to_vec() };
    match how % 4 {
        0 => {
            let codec = chat::VENDORS[of(chat::VENDORS.len())].codec;
            let reply = ChatModel { codec, endpoint, model: "m".into() }.reply(&response);
            if let Ok(reply) = reply {
                assert!(status == 200 && !reply.text.trim().is_empty());
            }
        }
        1 => streamed(chat::VENDORS[of(chat::VENDORS.len())].codec, body, usize::from(*how / 4).max(1)),
        2 => {
            let codec = search::VENDORS[of(search::VENDORS.len())].codec;
            let engine = SearchEngine { codec, endpoint, options: SearchOptions::default() };
            let asked = WebQuery { query: "q".into(), limit: 5, text_limit: 40 };
            let results = engine.reply(&asked, &response).unwrap_or_default();
            assert!(results.len() <= 5);
            for result in results {
                assert!(!result.text.is_empty() && result.text.chars().count() <= 40);
                assert!(canonical(&result.url).is_some() && result.also.iter().all(|url| canonical(url).is_some()));
            }
        }
        _ => {
            let codec = embed::VENDORS[of(embed::VENDORS.len())].codec;
            let model = EmbedModel { codec, endpoint, model: "m".into(), dimensions: None };
            let asked = EmbedRequest::new(vec!["a".into(), "b".into()], None).unwrap();
            if let Ok(vectors) = model.reply(&asked, &response) {
                assert_eq!((vectors.len(), vectors[0].len()), (2, vectors[1].len()));
                for vector in vectors {
                    let square: f64 = vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
                    assert!((square - 1.0).abs() < 1e-5, "{square}");
                }
            }
        }
    }
}

/// What was shown of a stream is the beginning of its reply, and in any pieces the same.
fn streamed(codec: &'static dyn chat::ChatCodec, body: &[u8], size: usize) {
    let read = |size: usize| {
        let mut stream = chat::ChatStream::new(codec, SseLimits::default());
        let mut deltas = Vec::new();
        let failed = body.chunks(size).find_map(|chunk| stream.feed(chunk, &mut deltas).err());
        let shown: String = deltas
            .iter()
            .map(|delta| if let chat::ChatDelta::Text(text) = delta { text.as_str() } else { "" })
            .collect();
        assert_eq!(shown, stream.text());
        let end = stream.end();
        assert!(failed.is_none_or(|error| end == Err(error)));
        if let Ok(reply) = &end {
            assert!(reply.text.starts_with(&shown) && !reply.text.trim().is_empty());
        }
        (shown, end)
    };
    assert_eq!(read(size), read(body.len().max(1)));
}

/// A verdict is read from any words, or none is; what is read lies in its bounds.
fn verdict(data: &[u8]) {
    let reply = String::from_utf8_lossy(data);
    let first = verdict::binary(&reply);
    assert_eq!(first, verdict::binary(&reply));
    assert!(verdict::score(&reply).is_none_or(|score| (0.0..=1.0).contains(&score)));
    assert!(verdict::scale(&reply).is_none_or(|rating| (1..=5).contains(&rating)));
    for place in verdict::items(&reply, 3).into_iter().flatten() {
        assert!(reply.get(place).is_some(), "a place in the reply");
    }
}

/// Any header means a wait between a quarter of a second and 30 days, or nothing.
fn retry_after(data: &[u8]) {
    let Some((kind, value)) = data.split_first() else { return };
    let name = if kind % 2 == 0 { "retry-after" } else { "retry-after-ms" };
    let headers: Headers = [(name, String::from_utf8_lossy(value).into_owned())].into_iter().collect();
    for now in [0, 784_111_777_000, u64::MAX / 2] {
        assert!(hint(&headers, now).is_none_or(|wait| (250..=30 * 86_400_000).contains(&wait)));
    }
}

/// What is loaded can be saved, and is the same when it is loaded again; also with a checksum that is right, or
/// nothing behind it would ever be looked at.
fn snapshot(data: &[u8]) {
    loaded(data);
    if let Some((content, _)) = data.split_last_chunk::<8>() {
        loaded(&[content, &xxh64(content, 0).to_le_bytes()].concat());
    }
}

fn loaded(data: &[u8]) {
    let Ok(mut index) = Index::load(data) else { return };
    let of = |index: &Index| (index.documents(), index.passages(), index.corpus_hash());
    let saved = |index: &Index| index.save(index.splitter_version().unwrap_or_default());
    let again = Index::load(&saved(&index)).expect("what was saved is loaded");
    assert_eq!(of(&again), of(&index));
    // Texts and postings are looked at when they are asked for; all at once before anything changes.
    let query = SearchQuery { text: "cat dog 猫の t", prefix: true, explain: true, ..SearchQuery::default() };
    let found = index.search(&query, 9);
    // Of vectors of another length this is an error.
    let by_graph = SearchQuery { vector: Some(&[0.6, 0.8]), method: VectorMethod::Graph, ..query };
    let nearest = index.search(&by_graph, 9).ok().map(|hits| hits.len());
    let read = index.insert("", Vec::new(), Vec::new());
    if read.is_ok() {
        assert_eq!(found.map(|hits| hits.len()), index.search(&query, 9).map(|hits| hits.len()));
        assert_eq!(nearest, index.search(&by_graph, 9).ok().map(|hits| hits.len()));
        let again = Index::load(&saved(&index)).expect("what was read is saved and loaded");
        assert_eq!(of(&again), of(&index));
        again.iter().for_each(|passage| assert_eq!(index.passage(&passage.id), Some(passage)));
    }
}
