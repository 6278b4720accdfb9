//! Snapshots: what is saved is loaded, and nothing else is.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use countercheck::document::{Origin, Passage, Reading, Span};
use countercheck::index::{Analysis, EmbeddingIdentity, Index, SearchQuery, SnapshotError};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh64::xxh64;

const FRAME: usize = 12;

/// The header as format 1 defines it, kept apart from the code so that a change shows.
#[derive(Serialize, Deserialize)]
struct Header {
    analysis: Analysis,
    identity: Option<EmbeddingIdentity>,
    splitter_version: u32,
    corpus_hash: u64,
    documents: u64,
    passages: u64,
    terms: u64,
    occurrences: u64,
    vectors: u64,
    passages_length: u64,
    passages_bytes: u64,
    postings_bytes: u64,
    readings_bytes: u64,
    vectors_bytes: u64,
}

type Documents = Vec<(String, Vec<Passage>)>;
type Postings = Vec<(String, Vec<(u32, u32)>)>;
/// What becomes wrong, and how.
type Edit<T> = (&'static str, fn(&mut T));

/// A snapshot taken apart, to be put together wrongly.
struct Parts {
    header: Header,
    documents: Documents,
    postings: Postings,
    readings: Vec<Vec<u8>>,
    vectors: Vec<u8>,
}

impl Parts {
    fn of(bytes: &[u8]) -> Self {
        let header_length = u32::from_le_bytes(bytes[8..FRAME].try_into().unwrap()) as usize;
        let (header, rest) = bytes[FRAME..bytes.len() - 8].split_at(header_length);
        let header: Header = postcard::from_bytes(header).unwrap();
        let (documents, rest) = rest.split_at(header.passages_bytes as usize);
        let (postings, rest) = rest.split_at(header.postings_bytes as usize);
        let (readings, vectors) = rest.split_at(header.readings_bytes as usize);
        Self {
            documents: postcard::from_bytes(&expanded(documents, header.passages_length)).unwrap(),
            postings: postcard::from_bytes(postings).unwrap(),
            readings: postcard::from_bytes(readings).unwrap(),
            vectors: vectors.to_vec(),
            header,
        }
    }

    /// A snapshot whose lengths and checksum are right, whatever else is not.
    fn sealed(mut self) -> Vec<u8> {
        let documents = postcard::to_allocvec(&self.documents).unwrap();
        self.header.passages_length = documents.len() as u64;
        let documents = lz4_flex::block::compress(&documents);
        let postings = postcard::to_allocvec(&self.postings).unwrap();
        let readings = postcard::to_allocvec(&self.readings).unwrap();
        self.header.passages_bytes = documents.len() as u64;
        self.header.postings_bytes = postings.len() as u64;
        self.header.readings_bytes = readings.len() as u64;
        self.header.vectors_bytes = self.vectors.len() as u64;
        sealed(&self.header, &[documents, postings, readings, self.vectors].concat())
    }
}

fn expanded(block: &[u8], length: u64) -> Vec<u8> {
    lz4_flex::block::decompress(block, length as usize).unwrap()
}

fn sealed(header: &Header, sections: &[u8]) -> Vec<u8> {
    let header = postcard::to_allocvec(header).unwrap();
    let length = (header.len() as u32).to_le_bytes();
    resealed([b"CCX\n", &[1, 0, 0, 0][..], &length, &header, sections, &[0; 8]].concat())
}

fn resealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let content = bytes.len() - 8;
    let checksum = xxh64(&bytes[..content], 0);
    bytes[content..].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

fn passage(document: &str, ordinal: usize, text: &str) -> Passage {
    Passage {
        id: format!("{document}#{ordinal}"),
        document: document.to_owned(),
        url: "https://docs.example/a".to_owned(),
        title: "T".to_owned(),
        headings: vec!["Größe".to_owned()],
        also: Vec::new(),
        span: Span { start: ordinal * 100, end: ordinal * 100 + text.len() },
        text: text.to_owned(),
        origin: Origin::Local,
    }
}

fn small() -> Index {
    let identity = EmbeddingIdentity { model: "m".into(), dimension: 2, normalised: true };
    let mut index = Index::new(Some(identity));
    let passages = vec![passage("b", 0, "cat dog cat"), passage("b", 1, "dog 猫の")];
    index.insert("b", passages, vec![Some(vec![0.6, 0.8]), None]).unwrap();
    index.insert("a", vec![passage("a", 0, "cat")], vec![Some(vec![-0.0, 1.0])]).unwrap();
    index.insert("empty", vec![], vec![]).unwrap();
    index.annotate("a", &[Reading::unread("cat")]);
    index
}

fn edited(edit: impl FnOnce(&mut Parts)) -> Result<Index, SnapshotError> {
    let mut parts = Parts::of(&small().save(3));
    edit(&mut parts);
    Index::load(&parts.sealed())
}

#[test]
fn what_is_saved_is_loaded() {
    let index = small();
    let bytes = index.save(3);
    let loaded = Index::load(&bytes).unwrap();
    assert_eq!(loaded.save(3), bytes);
    assert_eq!(loaded.splitter_version(), Some(3));
    assert_eq!(loaded.identity(), index.identity());
    assert_eq!(loaded.corpus_hash(), index.corpus_hash());
    assert_eq!(loaded.iter().collect::<Vec<_>>(), index.iter().collect::<Vec<_>>());
    let query = SearchQuery { text: "cat", vector: Some(&[0.0, 1.0]), ..SearchQuery::default() };
    assert_eq!(loaded.search(&query, 9).unwrap(), index.search(&query, 9).unwrap());
    assert_eq!(loaded.documents(), 3);
    let readings = |index: &Index| index.iter().map(|passage| index.reading(passage)).collect::<Vec<_>>();
    assert_eq!(readings(&loaded), [Some(Reading::unread("cat")), None, None]);
    assert_eq!(readings(&loaded), readings(&index));
}

#[test]
fn a_reading_is_of_the_very_text() {
    let index = small();
    let other = Passage { text: "dog".to_owned(), ..passage("a", 0, "cat") };
    assert_eq!(index.reading(&other), None);
    let of_no_use = edited(|parts| parts.readings[0] = vec![1, 255, 7]).unwrap();
    assert_eq!(of_no_use.reading(&passage("a", 0, "cat")), None);
    let too_few = edited(|parts| parts.readings.truncate(2));
    assert_eq!(too_few.err(), Some(SnapshotError::Corrupt { what: "number of readings" }));
}

#[test]
fn the_format_is_still_the_one_described() {
    let bytes = small().save(3);
    assert_eq!(Parts::of(&bytes).sealed(), bytes);
    // After the release, other bytes for the same index need another format version.
    assert_eq!(xxh64(&bytes, 0), 8_596_842_671_773_500_993);
}

#[test]
fn an_empty_index_is_loaded() {
    for index in [Index::new(None), Index::default()] {
        assert_eq!(Index::load(&index.save(0)).unwrap().documents(), 0);
    }
}

#[test]
fn a_snapshot_cut_off_anywhere_is_truncated() {
    let bytes = small().save(3);
    for length in 0..bytes.len() {
        match Index::load(&bytes[..length]).err() {
            Some(SnapshotError::Truncated { found, needed }) => {
                assert!(found == length as u64 && found < needed && needed <= bytes.len() as u64);
            }
            other => panic!("{length} bytes give {other:?}"),
        }
    }
}

#[test]
fn no_flipped_bit_goes_unnoticed() {
    let bytes = small().save(3);
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let error = Index::load(&flipped).err().unwrap_or_else(|| panic!("bit {bit} is not checked"));
        match bit / 8 {
            0..4 => assert_eq!(error, SnapshotError::NotASnapshot),
            4..8 => assert_eq!(error.code(), "unsupported_version"),
            _ => assert!(matches!(error.code(), "corrupt" | "truncated" | "too_large"), "bit {bit}: {error}"),
        }
    }
}

#[test]
fn a_flipped_bit_under_a_right_checksum_never_panics_and_loads_only_what_can_be_saved_again() {
    let bytes = small().save(3);
    for bit in FRAME * 8..(bytes.len() - 8) * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        if let Ok(mut index) = Index::load(&resealed(flipped)) {
            let saved = index.save(3);
            assert_eq!(Index::load(&saved).unwrap().save(3), saved);
            let query = SearchQuery { text: "cat dog 猫の", ..SearchQuery::default() };
            index.search(&query, 9).unwrap();
            for document in ["a", "b", "empty"] {
                index.remove(document);
            }
            assert!(index.documents() > 0 || index.search(&query, 9).unwrap().is_empty());
        }
    }
}

#[test]
fn bytes_after_the_end_are_refused() {
    let mut bytes = small().save(3);
    bytes.push(0);
    assert_eq!(Index::load(&bytes).err(), Some(SnapshotError::Corrupt { what: "bytes after the end" }));
    assert_eq!(Index::load(&resealed(bytes)).err(), Some(SnapshotError::Corrupt { what: "bytes after the end" }));
}

#[test]
fn bytes_after_a_section_are_refused() {
    let spliced = |end: fn(&Header) -> u64, lengthened: fn(&mut Header) -> &mut u64| {
        let bytes = small().save(3);
        let Parts { mut header, .. } = Parts::of(&bytes);
        let header_length = u32::from_le_bytes(bytes[8..FRAME].try_into().unwrap()) as usize;
        let mut sections = bytes[FRAME + header_length..bytes.len() - 8].to_vec();
        sections.insert(end(&header) as usize, 0);
        *lengthened(&mut header) += 1;
        Index::load(&sealed(&header, &sections)).err()
    };
    let passages = spliced(|header| header.passages_bytes, |header| &mut header.passages_bytes);
    assert_eq!(passages, Some(SnapshotError::Corrupt { what: "passages" }));
    let both = |header: &Header| header.passages_bytes + header.postings_bytes;
    let postings = spliced(both, |header| &mut header.postings_bytes);
    assert_eq!(postings, Some(SnapshotError::Corrupt { what: "postings" }));
    let three = |header: &Header| header.passages_bytes + header.postings_bytes + header.readings_bytes;
    let readings = spliced(three, |header| &mut header.readings_bytes);
    assert_eq!(readings, Some(SnapshotError::Corrupt { what: "readings" }));
}

#[test]
fn passages_of_another_length_than_the_header_says_are_corrupt() {
    let edits: [fn(&mut u64); 4] =
        [|length| *length += 1, |length| *length -= 1, |length| *length = 0, |length| *length = u64::MAX];
    for edit in edits {
        let bytes = small().save(3);
        let Parts { mut header, .. } = Parts::of(&bytes);
        edit(&mut header.passages_length);
        let header_length = u32::from_le_bytes(bytes[8..FRAME].try_into().unwrap()) as usize;
        let bytes = sealed(&header, &bytes[FRAME + header_length..bytes.len() - 8]);
        assert_eq!(Index::load(&bytes).err(), Some(SnapshotError::Corrupt { what: "passages" }));
    }
}

#[test]
fn other_files_and_other_versions_are_told_apart() {
    assert_eq!(Index::load(b"<!doctype html>").err(), Some(SnapshotError::NotASnapshot));
    let mut bytes = small().save(3);
    bytes[4] = 9;
    let error = Index::load(&bytes).err().unwrap();
    assert_eq!(error, SnapshotError::UnsupportedVersion { found: 9, supported: 1 });
    assert_eq!(error.to_string(), "snapshot of format 9, but this version reads format 1: index the documents again");
}

#[test]
fn a_wrong_header_is_corrupt() {
    let edits: [Edit<Header>; 8] = [
        ("number of documents", |header| header.documents += 1),
        ("number of passages", |header| header.passages -= 1),
        ("corpus hash", |header| header.corpus_hash ^= 1),
        ("number of terms", |header| header.terms += 1),
        ("number of occurrences", |header| header.occurrences -= 1),
        ("number of vectors", |header| header.vectors += 1),
        ("length of vectors", |header| header.identity.as_mut().unwrap().dimension = 3),
        ("length of vectors", |header| header.identity.as_mut().unwrap().dimension = usize::MAX),
    ];
    for (what, edit) in edits {
        assert_eq!(edited(|parts| edit(&mut parts.header)).err(), Some(SnapshotError::Corrupt { what }));
    }
    let no_model = edited(|parts| parts.header.identity = None);
    assert_eq!(no_model.err(), Some(SnapshotError::Corrupt { what: "length of vectors" }));
}

#[test]
fn absurd_lengths_are_refused_before_anything_is_allocated() {
    let Parts { mut header, .. } = Parts::of(&small().save(3));
    header.passages_bytes = u64::MAX / 2;
    assert_eq!(Index::load(&sealed(&header, &[0; 64])).err().unwrap().code(), "truncated");
    header.passages_bytes = u64::MAX;
    assert_eq!(Index::load(&sealed(&header, &[0; 64])).err().unwrap().code(), "too_large");
    header.passages = 1 << 32;
    let limit = u64::from(u32::MAX);
    assert_eq!(
        Index::load(&sealed(&header, &[0; 64])).err(),
        Some(SnapshotError::TooLarge { what: "passages", found: 1 << 32, limit })
    );
    // A sequence of 2⁶³ documents in nine bytes.
    header.passages = 3;
    (header.passages_bytes, header.postings_bytes) = (10, 0);
    (header.readings_bytes, header.vectors_bytes) = (0, 0);
    let count = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0];
    let block = lz4_flex::block::compress(&count);
    (header.passages_length, header.passages_bytes) = (count.len() as u64, block.len() as u64);
    let refused = Index::load(&sealed(&header, &block)).err();
    assert_eq!(refused, Some(SnapshotError::Corrupt { what: "passages" }));
}

#[test]
fn passages_that_could_not_be_inserted_are_corrupt() {
    let edits: [Edit<Documents>; 6] = [
        ("order of documents", |documents| documents.swap(0, 1)),
        ("order of documents", |documents| documents[1].0 = "a".into()),
        ("passage", |documents| documents[1].1[1].id = "a#0".into()),
        ("passage", |documents| documents[1].1[1].document = "a".into()),
        ("passage", |documents| documents[1].1[1].span.start = usize::MAX),
        ("corpus hash", |documents| documents[1].1[1].text = "dog 猫を".to_owned()),
    ];
    for (what, edit) in edits {
        assert_eq!(edited(|parts| edit(&mut parts.documents)).err(), Some(SnapshotError::Corrupt { what }));
    }
}

#[test]
fn postings_out_of_order_range_or_balance_are_corrupt() {
    let edits: [Edit<Postings>; 9] = [
        ("order of terms", |lists| lists.swap(0, 1)),
        ("order of terms", |lists| lists[1].0 = lists[0].0.clone()),
        ("term without passage", |lists| lists[0].1.clear()),
        ("row of a posting", |lists| lists[0].1[0].0 = 3),
        ("row of a posting", |lists| lists[0].1.push((0, 1))),
        ("row of a posting", |lists| lists[0].1.push((u32::MAX, 1))),
        ("frequency of a term", |lists| lists[0].1[0].1 = 0),
        ("number of occurrences", |lists| lists[0].1[0].1 += 1),
        ("number of occurrences", |lists| lists.iter_mut().for_each(|list| list.1[0].1 = u32::MAX)),
    ];
    for (what, edit) in edits {
        assert_eq!(edited(|parts| edit(&mut parts.postings)).err(), Some(SnapshotError::Corrupt { what }));
    }
}

/// Behind a byte of marks: two scales, two terms, two times two codes and components.
const SCALE: usize = 1;
const TERM: usize = 9;
const CODE: usize = 17;
const COMPONENT: usize = 21;

#[test]
fn vectors_that_could_not_be_inserted_are_corrupt() {
    let number = |at: usize, value: f32| {
        move |parts: &mut Parts| parts.vectors[at..at + 4].copy_from_slice(&value.to_le_bytes())
    };
    for at in [SCALE, TERM, COMPONENT] {
        for value in [f32::NAN, f32::INFINITY] {
            assert_eq!(edited(number(at, value)).err(), Some(SnapshotError::Corrupt { what: "vector" }));
        }
    }
    assert_eq!(edited(number(COMPONENT, 2.0)).err(), Some(SnapshotError::Corrupt { what: "vector" }));
    let edits: [Edit<Vec<u8>>; 7] = [
        ("vector", |vectors| vectors[COMPONENT..COMPONENT + 8].fill(0)),
        ("vector", |vectors| vectors[CODE] = 128),
        ("number of vectors", |vectors| vectors[0] = 0b111),
        ("number of vectors", |vectors| vectors[0] = 0b1011),
        ("number of vectors", Vec::clear),
        ("length of vectors", |vectors| vectors.push(0)),
        ("length of vectors", |vectors| vectors.truncate(9)),
    ];
    for (what, edit) in edits {
        assert_eq!(edited(|parts| edit(&mut parts.vectors)).err(), Some(SnapshotError::Corrupt { what }));
    }
}

#[test]
fn postings_of_other_words_than_the_texts_are_removed_with_their_passages() {
    let mut index = edited(|parts| parts.postings[0].0 = "aardvark".into()).unwrap();
    for document in ["a", "b"] {
        index.remove(document);
        index.insert(document, vec![passage(document, 0, "fish")], vec![None]).unwrap();
    }
    assert_eq!(index.statistics().document_frequency("aardvark"), 0);
    assert_eq!(index.search(&SearchQuery { text: "aardvark", ..SearchQuery::default() }, 9).unwrap(), []);
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), framed in any::<bool>()) {
        let bytes = if framed { [b"CCX\n\0\0\0\0", &bytes[..]].concat() } else { bytes };
        prop_assert!(Index::load(&bytes).is_err());
    }

    #[test]
    fn sections_of_arbitrary_bytes_under_a_right_checksum_are_refused_or_sound(
        bytes in prop::collection::vec(any::<u8>(), 0..64), passages in 0_u64..3, cuts in any::<[prop::sample::Index; 2]>(),
    ) {
        let Parts { mut header, .. } = Parts::of(&small().save(3));
        let mut cuts = cuts.map(|cut| cut.index(bytes.len() + 1));
        cuts.sort_unstable();
        let (documents, rest) = bytes.split_at(cuts[0]);
        let block = lz4_flex::block::compress(documents);
        header.passages = passages;
        (header.passages_length, header.passages_bytes) = (cuts[0] as u64, block.len() as u64);
        header.postings_bytes = (cuts[1] - cuts[0]) as u64;
        (header.readings_bytes, header.vectors_bytes) = ((bytes.len() - cuts[1]) as u64, 0);
        if let Ok(index) = Index::load(&sealed(&header, &[&block, rest].concat())) {
            prop_assert_eq!(index.passages() as u64, passages);
        }
    }
}
