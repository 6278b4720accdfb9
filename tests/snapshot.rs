//! Snapshots: what is saved is loaded, and nothing else is.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use countercheck::document::{Origin, Passage, Reading, Span};
use countercheck::index::{
    Analysis, EmbeddingIdentity, Filter, Index, IndexError, SearchQuery, SnapshotError, VectorMethod,
};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh64::xxh64;

/// Magic, version, and the lengths of nine sections.
const FRAME: usize = 8 + 8 * 9;

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
}

/// A passage as a block has it.
#[derive(Serialize, Deserialize)]
struct Record {
    url: String,
    title: String,
    headings: Vec<String>,
    also: Vec<String>,
    start: usize,
    text: String,
    origin: Origin,
    reading: Vec<u8>,
}

/// What becomes wrong, and how.
type Edit<T> = (&'static str, fn(&mut T));

/// A snapshot taken apart, to be put together wrongly.
struct Parts {
    header: Header,
    documents: Vec<Vec<u8>>,
    ends: Vec<u32>,
    /// Before they are compressed.
    blocks: Vec<Vec<Record>>,
    terms: Vec<Vec<u8>>,
    /// The gap before each row, and the term's frequency there; all behind their number.
    lists: Vec<(u32, Vec<(u32, u32)>)>,
    lengths: Vec<u32>,
    vectors: Vec<u8>,
    graph: Vec<u8>,
}

impl Parts {
    fn of(bytes: &[u8]) -> Self {
        let [header, documents, ends, blocks, terms, lists, lengths, vectors, graph] = sections(bytes);
        let header: Header = postcard::from_bytes(&header).unwrap();
        let terms = strings(&terms, header.terms as usize);
        let numbers = |bytes: &[u8]| bytes.as_chunks().0.iter().map(|&end| u32::from_le_bytes(end)).collect();
        let block = |block: Vec<u8>| postcard::from_bytes(&expanded(&block)).unwrap();
        Self {
            documents: strings(&documents, header.documents as usize),
            ends: numbers(&ends),
            blocks: strings(&blocks, header.passages.div_ceil(32) as usize).into_iter().map(block).collect(),
            lists: strings(&lists, terms.len()).iter().map(|list| list_of(list)).collect(),
            terms,
            lengths: numbers(&lengths),
            vectors,
            graph,
            header,
        }
    }

    /// A snapshot whose lengths and checksum are right, whatever else is not.
    fn sealed(self) -> Vec<u8> {
        let blocks: Vec<Vec<u8>> =
            self.blocks.iter().map(|block| compressed(&postcard::to_allocvec(block).unwrap())).collect();
        let lists: Vec<Vec<u8>> = self.lists.iter().map(list).collect();
        sealed(&[
            postcard::to_allocvec(&self.header).unwrap(),
            table(&self.documents),
            planes(&self.ends),
            table(&blocks),
            table(&self.terms),
            table(&lists),
            planes(&self.lengths),
            self.vectors,
            self.graph,
        ])
    }
}

fn sections(bytes: &[u8]) -> [Vec<u8>; 9] {
    let mut at = FRAME;
    std::array::from_fn(|section| {
        let length = &bytes[8 + 8 * section..16 + 8 * section];
        let start = at;
        at += u64::from_le_bytes(length.try_into().unwrap()) as usize;
        bytes[start..at].to_vec()
    })
}

fn sealed(sections: &[Vec<u8>; 9]) -> Vec<u8> {
    let lengths: Vec<u8> = sections.iter().flat_map(|section| (section.len() as u64).to_le_bytes()).collect();
    resealed([b"CCX\n", &[1, 0, 0, 0][..], &lengths, &sections.concat(), &[0; 8]].concat())
}

fn planes(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn table(strings: &[Vec<u8>]) -> Vec<u8> {
    let ends = strings.iter().scan(0, |end, string| {
        *end += string.len() as u32;
        Some(*end)
    });
    [planes(&ends.collect::<Vec<_>>()), strings.concat()].concat()
}

fn strings(table: &[u8], count: usize) -> Vec<Vec<u8>> {
    let end = |at: usize| u32::from_le_bytes(table[4 * at..4 * at + 4].try_into().unwrap()) as usize;
    let start = |at: usize| at.checked_sub(1).map_or(0, end);
    (0..count).map(|at| table[4 * count + start(at)..4 * count + end(at)].to_vec()).collect()
}

fn list_of(bytes: &[u8]) -> (u32, Vec<(u32, u32)>) {
    let (count, mut rest) = postcard::take_from_bytes(bytes).unwrap();
    let mut pairs = Vec::new();
    while !rest.is_empty() {
        let (pair, after) = postcard::take_from_bytes(rest).unwrap();
        pairs.push(pair);
        rest = after;
    }
    (count, pairs)
}

fn list((count, pairs): &(u32, Vec<(u32, u32)>)) -> Vec<u8> {
    let pairs = pairs.iter().map(|pair| postcard::to_allocvec(pair).unwrap());
    [postcard::to_allocvec(count).unwrap()].into_iter().chain(pairs).collect::<Vec<_>>().concat()
}

fn compressed(block: &[u8]) -> Vec<u8> {
    [&(block.len() as u32).to_le_bytes()[..], &lz4_flex::block::compress(block)].concat()
}

fn expanded(block: &[u8]) -> Vec<u8> {
    let (length, block) = block.split_at(4);
    lz4_flex::block::decompress(block, u32::from_le_bytes(length.try_into().unwrap()) as usize).unwrap()
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
    let also = vec!["https://docs.example/b".to_owned()];
    let passages = vec![passage("b", 0, "cat dog cat"), Passage { also, ..passage("b", 1, "dog 猫の") }];
    index.insert("b", passages, vec![Some(vec![0.6, 0.8]), None]).unwrap();
    index.insert("a", vec![passage("a", 0, "cat")], vec![Some(vec![-0.0, 1.0])]).unwrap();
    index.insert("empty", vec![], vec![]).unwrap();
    index.annotate("a", &[Reading::unread("cat")]).unwrap();
    index
}

/// With a graph of two layers.
fn layered() -> Index {
    let mut index = Index::new(Some(EmbeddingIdentity { model: "m".into(), dimension: 2, normalised: true }));
    for n in 0..150 {
        let id = format!("{n:03}");
        let (sine, cosine) = (n as f32 / 24.0).sin_cos();
        index.insert(&id, vec![passage(&id, 0, "")], vec![Some(vec![sine, cosine])]).unwrap();
    }
    index.insert("none", vec![passage("none", 0, "")], vec![None]).unwrap();
    index.build_graph(7);
    index
}

fn linked() -> Index {
    let mut index = small();
    index.build_graph(7);
    index
}

fn edited(edit: impl FnOnce(&mut Parts)) -> Result<Index, SnapshotError> {
    let mut parts = Parts::of(&small().save(3));
    edit(&mut parts);
    Index::load(&parts.sealed())
}

/// Everything that a snapshot has words and texts of.
fn everything() -> SearchQuery<'static> {
    SearchQuery { text: "cat dog 猫の t größe", ..SearchQuery::default() }
}

/// The snapshot is loaded, since nothing has read that part of it; what reads it says what is wrong, time and
/// again, and the rest is as it was.
fn assert_damaged(what: &'static str, index: &mut Index) {
    let damaged = IndexError::Snapshot(SnapshotError::Corrupt { what });
    let bytes = index.save(3);
    for _ in 0..2 {
        assert_eq!(index.remove("a"), Err(damaged.clone()));
        assert_eq!(index.insert("new", vec![], vec![]), Err(damaged.clone()));
        assert_eq!(index.remove("not there"), Ok(false));
        assert_eq!((index.documents(), index.passages()), (3, 3));
        assert_eq!(index.save(3), bytes);
    }
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
    let mut other = loaded.clone();
    assert_eq!(Index::load(&other.save(4)).unwrap().splitter_version(), Some(4));
    // What changes has been read, and is what it would be if it had never been saved.
    other.remove("empty").unwrap();
    other.insert("empty", vec![], vec![]).unwrap();
    assert_eq!(other.save(3), bytes);
}

#[test]
fn a_reading_is_of_the_very_text() {
    let index = small();
    let other = Passage { text: "dog".to_owned(), ..passage("a", 0, "cat") };
    assert_eq!(index.reading(&other), None);
    let of_no_use = edited(|parts| parts.blocks[0][0].reading = vec![1, 255, 7]).unwrap();
    assert_eq!(of_no_use.reading(&passage("a", 0, "cat")), None);
}

#[test]
fn the_format_is_still_the_one_described() {
    let bytes = small().save(3);
    assert_eq!(Parts::of(&bytes).sealed(), bytes);
    // After the release, other bytes for the same index need another format version.
    assert_eq!(xxh64(&bytes, 0), 16_046_124_429_150_400_562);
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
fn no_flipped_bit_of_a_graph_leads_to_what_is_not_there() {
    let bytes = layered().save(3);
    let graph = sections(&bytes)[8].len();
    let start = bytes.len() - 8 - graph;
    let query = SearchQuery { vector: Some(&[0.6, 0.8]), method: VectorMethod::Graph, ..SearchQuery::default() };
    let mut loaded = 0;
    for byte in (start..start + graph).step_by(3) {
        let mut flipped = bytes.clone();
        flipped[byte] ^= 1 << (byte % 8);
        match Index::load(&resealed(flipped)) {
            Ok(index) => {
                loaded += 1;
                let found = index.search(&query, 9).unwrap();
                assert!(found.len() == 9 && found.iter().all(|hit| hit.dense.is_some()));
                let saved = index.save(3);
                assert_eq!(Index::load(&saved).unwrap().save(3), saved);
            }
            Err(error) => assert_eq!(error, SnapshotError::Corrupt { what: "graph" }),
        }
    }
    // To another neighbour that there is: one byte in four is of a number so low.
    assert!(loaded > graph / 3 / 8, "{loaded} of {graph} bytes");
}

#[test]
fn a_graph_that_does_not_fit_its_vectors_is_corrupt() {
    let number = |at: usize, value: u32| {
        let mut changed = sections(&layered().save(3));
        changed[8][at..at + 4].copy_from_slice(&value.to_le_bytes());
        Index::load(&sealed(&changed)).err()
    };
    let corrupt = Some(SnapshotError::Corrupt { what: "graph" });
    let [.., bytes] = sections(&layered().save(3));
    let at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    // One layer of a few dozen points above that of all, then the rows of the points.
    assert_eq!((at(0), at(4)), (1, 43));
    assert_eq!(number(8, at(8)), None);
    // The row of another point, one without a vector, one that is not there.
    for row in [at(12), 150, 151, u32::MAX] {
        assert_eq!(number(8, row), corrupt);
    }
    for size in [0, 42, 44, 150, u32::MAX] {
        assert_eq!(number(4, size), corrupt);
    }
    // Ends of the lists, and neighbours: the last one is on the layer above.
    let lists = 8 + 4 * 150;
    assert_eq!(number(lists, at(lists) + 1), corrupt);
    let neighbours = lists + 4 * (150 + 43);
    assert_eq!((number(neighbours, 149), number(neighbours, 150)), (None, corrupt));
    let last = bytes.len() - 4;
    assert_eq!((number(last, 42), number(last, 43)), (None, corrupt));
    // Of no vectors there is none.
    let mut without = Parts::of(&Index::new(None).save(3));
    without.graph = vec![0; 4];
    assert_eq!(Index::load(&without.sealed()).err(), corrupt);
}

#[test]
fn a_flipped_bit_under_a_right_checksum_never_panics_and_loads_only_what_can_be_saved_again() {
    let bytes = linked().save(3);
    for bit in FRAME * 8..(bytes.len() - 8) * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        if let Ok(mut index) = Index::load(&resealed(flipped)) {
            let saved = index.save(3);
            assert_eq!(Index::load(&saved).unwrap().save(3), saved);
            let found = index.search(&everything(), 9);
            let removed = ["a", "b", "empty"].map(|document| index.remove(document));
            match removed.into_iter().collect::<Result<Vec<_>, _>>() {
                Ok(_) => {
                    found.unwrap();
                    let saved = index.save(3);
                    assert_eq!(Index::load(&saved).unwrap().save(3), saved);
                    assert!(index.documents() > 0 || index.search(&everything(), 9).unwrap().is_empty());
                }
                Err(error) => assert_eq!((error.code(), index.save(3)), ("corrupt", saved)),
            }
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
    let whats = [
        "header",
        "documents",
        "passages of documents",
        "texts",
        "terms",
        "postings",
        "number of passages",
        "length of vectors",
        "graph",
    ];
    for (section, what) in whats.into_iter().enumerate() {
        let mut longer = sections(&linked().save(3));
        longer[section].push(0);
        assert_eq!(Index::load(&sealed(&longer)).err(), Some(SnapshotError::Corrupt { what }));
        let mut shorter = sections(&linked().save(3));
        shorter[section].pop();
        assert_eq!(Index::load(&sealed(&shorter)).err(), Some(SnapshotError::Corrupt { what }));
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
    let edits: [Edit<Header>; 9] = [
        ("documents", |header| header.documents += 1),
        ("documents", |header| header.documents = u64::MAX),
        ("number of passages", |header| header.passages -= 1),
        ("postings", |header| header.terms += 1),
        ("postings", |header| header.terms = u64::MAX),
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
    let bytes = small().save(3);
    for section in 0..9 {
        let of_length = |length: u64| {
            let mut bytes = bytes.clone();
            bytes[8 + 8 * section..16 + 8 * section].copy_from_slice(&length.to_le_bytes());
            Index::load(&resealed(bytes)).err().unwrap().code()
        };
        assert_eq!(of_length(u64::MAX / 4), "truncated");
        assert_eq!(of_length(u64::MAX), "too_large");
    }
    let mut absurd = Parts::of(&bytes);
    absurd.header.passages = 1 << 32;
    let limit = u64::from(u32::MAX);
    assert_eq!(
        Index::load(&absurd.sealed()).err(),
        Some(SnapshotError::TooLarge { what: "passages", found: 1 << 32, limit })
    );
    let mut absurd = Parts::of(&bytes);
    absurd.header.passages = limit;
    assert_eq!(Index::load(&absurd.sealed()).err(), Some(SnapshotError::Corrupt { what: "number of passages" }));
}

#[test]
fn documents_that_could_not_be_there_are_corrupt() {
    let edits: [Edit<Parts>; 9] = [
        ("order of documents", |parts| parts.documents.swap(0, 1)),
        ("order of documents", |parts| parts.documents[1] = b"a".to_vec()),
        ("order of documents", |parts| parts.documents[1] = vec![0xFF]),
        ("passages of documents", |parts| parts.ends[0] = 4),
        ("passages of documents", |parts| parts.ends.swap(0, 1)),
        ("passages of documents", |parts| parts.ends[2] = 2),
        ("passages of documents", |parts| parts.ends.truncate(2)),
        ("number of occurrences", |parts| parts.lengths[0] += 1),
        ("number of occurrences", |parts| {
            parts.lengths.fill(u32::MAX);
            parts.header.occurrences = 3 * u64::from(u32::MAX);
        }),
    ];
    for (what, edit) in edits {
        assert_eq!(edited(edit).err(), Some(SnapshotError::Corrupt { what }));
    }
}

#[test]
fn texts_that_could_not_be_inserted_are_an_error_where_they_are_read() {
    let edits: [Edit<Vec<Record>>; 3] = [
        ("texts", |texts| texts.truncate(2)),
        ("texts", |texts| texts[2].start = usize::MAX),
        ("texts", |texts| texts.extend(Parts::of(&small().save(3)).blocks.remove(0))),
    ];
    for (what, edit) in edits {
        let mut index = edited(|parts| edit(&mut parts.blocks[0])).unwrap();
        let damaged = Err(IndexError::Snapshot(SnapshotError::Corrupt { what }));
        let any = Filter(&|_| true);
        for query in [everything(), SearchQuery { filter: Some(any), ..everything() }] {
            assert_eq!(index.search(&query, 9), damaged);
            assert_eq!(index.search(&SearchQuery { text: "of none", ..query }, 9), Ok(vec![]));
        }
        assert_eq!((index.passage("a#0"), index.reading(&passage("a", 0, "cat"))), (None, None));
        assert_damaged(what, &mut index);
    }
    // Of a text that is another one nobody can know before all are read.
    let mut index = edited(|parts| parts.blocks[0][2].text = "dog 猫を".to_owned()).unwrap();
    assert_damaged("corpus hash", &mut index);
}

#[test]
fn blocks_that_are_none_are_an_error_where_they_are_read() {
    let whole = Parts::of(&small().save(3)).blocks.remove(0);
    let whole = compressed(&postcard::to_allocvec(&whole).unwrap());
    let of_length = |length: u32| [&length.to_le_bytes()[..], &whole[4..]].concat();
    let length = u32::from_le_bytes(whole[..4].try_into().unwrap());
    // A sequence of 2⁶³ passages in nine bytes.
    let absurd = compressed(&[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0]);
    let blocks =
        [vec![], vec![0; 3], of_length(length + 1), of_length(length - 1), of_length(0), of_length(u32::MAX), absurd];
    for block in blocks {
        let mut changed = sections(&small().save(3));
        changed[3] = table(&[block]);
        let mut index = Index::load(&sealed(&changed)).unwrap();
        let damaged = Err(IndexError::Snapshot(SnapshotError::Corrupt { what: "texts" }));
        assert_eq!(index.search(&everything(), 9), damaged);
        assert_damaged("texts", &mut index);
    }
}

#[test]
fn postings_out_of_order_range_or_balance_are_an_error_where_they_are_read() {
    let edits: [Edit<Parts>; 11] = [
        ("order of terms", |parts| parts.terms.swap(0, 1)),
        ("order of terms", |parts| parts.terms[1] = parts.terms[0].clone()),
        ("order of terms", |parts| parts.terms[0] = vec![0xFF]),
        ("postings", |parts| parts.lists[0] = (0, vec![])),
        ("postings", |parts| parts.lists[0].0 += 1),
        ("postings", |parts| parts.lists[0].0 = u32::MAX),
        ("postings", |parts| parts.lists[0].1[0].0 = 3),
        ("postings", |parts| parts.lists[0] = (3, vec![(0, 1), (0, 1), (u32::MAX, 1)])),
        ("postings", |parts| parts.lists[0].1[0].1 = 0),
        ("number of occurrences", |parts| parts.lists[0].1[0].1 += 1),
        ("number of occurrences", |parts| parts.lists.iter_mut().for_each(|list| list.1[0].1 = u32::MAX)),
    ];
    for (what, edit) in edits {
        let mut index = edited(edit).unwrap();
        if what == "postings" {
            let damaged = Err(IndexError::Snapshot(SnapshotError::Corrupt { what }));
            assert_eq!(index.search(&everything(), 9), damaged);
            let unfinished = SearchQuery { text: "c", prefix: true, ..SearchQuery::default() };
            assert_eq!(index.search(&unfinished, 9), damaged);
        }
        assert_damaged(what, &mut index);
    }
    let mut swapped = edited(|parts| parts.lengths.swap(0, 1)).unwrap();
    assert_damaged("length of a passage", &mut swapped);
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
    for at in [SCALE, TERM] {
        for value in [f32::NAN, f32::INFINITY] {
            assert_eq!(edited(number(at, value)).err(), Some(SnapshotError::Corrupt { what: "vector" }));
        }
    }
    let edits: [Edit<Vec<u8>>; 6] = [
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

/// Loading looks at no vector by itself.
#[test]
fn a_vector_that_is_none_has_no_score() {
    for value in [f32::NAN, f32::INFINITY, f32::MAX] {
        let spoilt = |parts: &mut Parts| parts.vectors[COMPONENT..COMPONENT + 4].copy_from_slice(&value.to_le_bytes());
        let index = edited(spoilt).unwrap();
        let query = SearchQuery { vector: Some(&[0.6, 0.8]), ..SearchQuery::default() };
        let found = index.search(&query, 9).unwrap();
        assert_eq!(found.len(), if value.is_finite() { 2 } else { 1 });
        assert!(found.iter().all(|hit| hit.score.is_finite()), "{found:?}");
        let both = SearchQuery { text: "cat dog", ..query };
        assert!(index.search(&both, 9).unwrap().iter().all(|hit| hit.score.is_finite()));
    }
}

#[test]
fn postings_of_other_words_than_the_texts_are_removed_with_their_passages() {
    let mut index = edited(|parts| parts.terms[0] = b"aardvark".to_vec()).unwrap();
    for document in ["a", "b"] {
        index.remove(document).unwrap();
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
        bytes in prop::collection::vec(any::<u8>(), 0..64), section in 1_usize..9, cut in any::<prop::sample::Index>(), adds in any::<bool>(),
    ) {
        let mut changed = sections(&linked().save(3));
        if adds {
            let cut = cut.index(changed[section].len() + 1);
            changed[section].splice(cut.., bytes);
        } else {
            changed[section] = bytes;
        }
        let Ok(mut index) = Index::load(&sealed(&changed)) else { return Ok(()) };
        let found = index.search(&everything(), 9);
        match index.remove("empty") {
            Ok(_) => prop_assert!(found.is_ok() && Index::load(&index.save(3)).is_ok()),
            Err(error) => prop_assert_eq!(error.code(), "corrupt"),
        }
    }
}
