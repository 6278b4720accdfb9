//! An index as bytes, format 1: not yet released, so it may still change without a new number.
//!
//! It decides what a valid snapshot is. All integers are little-endian.
//!
//! | bytes | what |
//! |---|---|
//! | 4 | magic, `CCX` and a line feed |
//! | 4 | format version |
//! | 4 | length of the header |
//! | … | header, by postcard |
//! | … | passages, by postcard: documents by id, each with its passages in reading order; as one block of LZ4 |
//! | … | postings, by postcard: terms in order, each with (distance from the last row, frequency) |
//! | … | readings, by postcard: for each passage its `Reading::encode`, empty where nobody has read it |
//! | … | vectors: a bit a passage, lowest first, that says which have one; then their planes, as they are in memory: see `vectors::saved` |
//! | 8 | xxh64 of everything before |
//!
//! Rows are numbered in document order, so the bytes depend on what the index holds and not on how
//! it came to hold it. Loading trusts nothing: a length is compared with the bytes there are before
//! anything is allocated for it, and every rule that [`Index::insert`] enforces is checked again.
//! Whether the model and the splitter are those of the program is the caller's question. The graph
//! of [`Index::build_graph`] is not stored. The planes of vectors stay in the bytes that were loaded. Format 0 is
//! not read: nothing was released with it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh64::{Xxh64, xxh64};

use super::bm25::Posting;
use super::{Analysis, EmbeddingIdentity, Index};
use crate::document::Passage;
use crate::vectors::Vectors;

const MAGIC: [u8; 4] = *b"CCX\n";
const VERSION: u32 = 1;
const CHECKSUM_BYTES: usize = 8;
/// A byte of LZ4 stands for no more than so many: a length beyond that is a lie, and nothing is allocated for it.
const MOST_EXPANSION: u64 = 255;

/// Why bytes are not an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// Another kind of file: a page that says "not found", for instance.
    #[error("not a snapshot: it does not begin with the magic bytes of one")]
    NotASnapshot,
    /// Saved by another version of the library.
    #[error("snapshot of format {found}, but this version reads format {supported}: index the documents again")]
    UnsupportedVersion {
        /// The snapshot's format.
        found: u32,
        /// The format that can be read.
        supported: u32,
    },
    /// The end is missing; a download was probably cut off.
    #[error("snapshot is cut off after {found} of {needed} bytes or more")]
    Truncated {
        /// Bytes there are.
        found: u64,
        /// Bytes there must be at least.
        needed: u64,
    },
    /// Damaged, or not written by this library.
    #[error("snapshot is corrupt: {what}")]
    Corrupt {
        /// What is wrong.
        what: &'static str,
    },
    /// It holds more than this machine can address.
    #[error("snapshot has {found} {what}, more than the {limit} that fit")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How much the snapshot says it has.
        found: u64,
        /// The limit.
        limit: u64,
    },
}

impl SnapshotError {
    /// A stable name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotASnapshot => "not_a_snapshot",
            Self::UnsupportedVersion { .. } => "unsupported_version",
            Self::Truncated { .. } => "truncated",
            Self::Corrupt { .. } => "corrupt",
            Self::TooLarge { .. } => "too_large",
        }
    }
}

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
    /// Of the passages before they are compressed.
    passages_length: u64,
    passages_bytes: u64,
    postings_bytes: u64,
    readings_bytes: u64,
    vectors_bytes: u64,
}

impl Index {
    /// The index as bytes, the same for the same documents. `splitter_version` is that of the
    /// splitter which made the passages.
    pub fn save(&self, splitter_version: u32) -> Vec<u8> {
        let documents: Vec<(&str, Vec<&Passage>)> = self
            .passages
            .iter()
            .map(|(id, rows)| (id, rows.iter().filter_map(|&row| self.passages.passage(row)).collect()))
            .collect();
        let encoded = encode(&documents);
        let passages = lz4_flex::block::compress(&encoded);
        let postings = encode(&self.saved_postings());
        let readings = encode(&self.document_rows().map(|row| self.passages.reading(row)).collect::<Vec<_>>());
        let vectors = self.saved_vectors();
        let header = encode(&Header {
            analysis: self.analysis,
            identity: self.identity.clone(),
            splitter_version,
            corpus_hash: self.corpus_hash(),
            documents: self.documents() as u64,
            passages: self.passages() as u64,
            terms: self.postings.lists().len() as u64,
            occurrences: self.postings.occurrences(),
            vectors: self.vectors.len() as u64,
            passages_length: encoded.len() as u64,
            passages_bytes: passages.len() as u64,
            postings_bytes: postings.len() as u64,
            readings_bytes: readings.len() as u64,
            vectors_bytes: vectors.len() as u64,
        });
        let (version, length) = (VERSION.to_le_bytes(), (header.len() as u32).to_le_bytes());
        let mut bytes = [&MAGIC[..], &version, &length, &header, &passages, &postings, &readings, &vectors].concat();
        bytes.extend(xxh64(&bytes, 0).to_le_bytes());
        bytes
    }

    /// The index that was saved, or the first reason why the bytes are not one.
    pub fn load(bytes: &[u8]) -> Result<Self, SnapshotError> {
        Self::open(bytes.to_vec())
    }

    /// The same of bytes that the index may keep: the planes of its vectors are where they are in them.
    pub fn open(bytes: Vec<u8>) -> Result<Self, SnapshotError> {
        let file = Arc::new(bytes);
        let sections = Sections::open(&file)?;
        let header = sections.header;
        let mut index = Self::with_analysis(header.identity, header.analysis);
        index.splitter_version = Some(header.splitter_version);
        index.load_passages(decode(&decompressed(sections.passages, header.passages_length)?, "passages")?)?;
        require(index.documents() as u64 == header.documents, "number of documents")?;
        require(index.passages() as u64 == header.passages, "number of passages")?;
        require(index.corpus_hash() == header.corpus_hash, "corpus hash")?;
        index.load_postings(decode(sections.postings, "postings")?)?;
        require(index.postings.lists().len() as u64 == header.terms, "number of terms")?;
        require(index.postings.occurrences() == header.occurrences, "number of occurrences")?;
        index.load_readings(decode(sections.readings, "readings")?)?;
        index.load_vectors(&file, sections.vectors, header.vectors)?;
        Ok(index)
    }

    /// Tells whether two indexes have the same texts: xxh64 over each document's id, its number of
    /// passages and their texts, strings preceded by their lengths.
    pub fn corpus_hash(&self) -> u64 {
        let mut hash = Xxh64::new(0);
        let mut text = |text: &str| {
            hash.update(&(text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        };
        for (document, rows) in self.passages.iter() {
            text(document);
            text(&rows.len().to_string());
            rows.iter().filter_map(|&row| self.passages.passage(row)).for_each(|passage| text(&passage.text));
        }
        hash.digest()
    }

    fn saved_postings(&self) -> Vec<(&str, Vec<(u32, u32)>)> {
        let numbers = self.document_order();
        let renumbered = |list: &[Posting]| {
            let numbered = list.iter().map(|posting| (numbers[posting.row as usize], posting.frequency));
            let in_order: BTreeMap<u32, u32> = numbered.fold(BTreeMap::new(), |mut all, (number, frequency)| {
                all.insert(number, frequency);
                all
            });
            let mut last = 0;
            let step = |(number, frequency)| (number - std::mem::replace(&mut last, number), frequency);
            in_order.into_iter().map(step).collect()
        };
        self.postings.lists().map(|(term, list)| (term, renumbered(list))).collect()
    }

    /// The rows in document order.
    fn document_rows(&self) -> impl Iterator<Item = u32> {
        self.passages.iter().flat_map(|(_, rows)| rows).copied()
    }

    /// For each row, its number in document order.
    fn document_order(&self) -> Vec<u32> {
        let mut numbers = Vec::new();
        for (row, number) in self.document_rows().zip(0..) {
            let row = row as usize;
            numbers.resize(numbers.len().max(row + 1), 0);
            numbers[row] = number;
        }
        numbers
    }

    fn saved_vectors(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.passages().div_ceil(8)];
        let numbered = self.document_rows().enumerate();
        let with_vector = numbered.filter(|&(_, row)| self.vectors.components(row).is_some());
        let (numbers, rows): (Vec<usize>, Vec<u32>) = with_vector.unzip();
        for number in numbers {
            bytes[number / 8] |= 1 << (number % 8);
        }
        self.vectors.save(&rows, &mut bytes);
        bytes
    }

    fn load_passages(&mut self, documents: Vec<(String, Vec<Passage>)>) -> Result<(), SnapshotError> {
        require(documents.is_sorted_by(|a, b| a.0 < b.0), "order of documents")?;
        for (id, passages) in documents {
            require(self.passages.check(&id, &passages).is_ok(), "passage")?;
            self.passages.add(&id, passages);
        }
        Ok(())
    }

    fn load_postings(&mut self, lists: Vec<(String, Vec<(u32, u32)>)>) -> Result<(), SnapshotError> {
        require(lists.is_sorted_by(|a, b| a.0 < b.0), "order of terms")?;
        // No row can be longer than all rows together, which must fit what lengths are counted in.
        let total = lists.iter().flat_map(|(_, list)| list).map(|&(_, frequency)| u64::from(frequency)).sum::<u64>();
        require(u32::try_from(total).is_ok(), "number of occurrences")?;
        for (term, list) in lists {
            require(!list.is_empty(), "term without passage")?;
            let mut postings = Vec::with_capacity(list.len());
            let mut last = None;
            for (distance, frequency) in list {
                let row = last.unwrap_or(0_u32).checked_add(distance);
                let row = row.filter(|&row| last.is_none_or(|last| row > last) && (row as usize) < self.passages());
                let row = row.ok_or(SnapshotError::Corrupt { what: "row of a posting" })?;
                require(frequency > 0, "frequency of a term")?;
                postings.push(Posting { row, frequency });
                last = Some(row);
            }
            self.postings.add_list(term, postings);
        }
        Ok(())
    }

    /// Each is looked at when somebody asks for it, and one that is of no use then passes for none.
    fn load_readings(&mut self, readings: Vec<&[u8]>) -> Result<(), SnapshotError> {
        require(readings.len() == self.passages(), "number of readings")?;
        let rows: Vec<u32> = self.document_rows().collect();
        rows.into_iter().zip(readings).for_each(|(row, reading)| self.passages.read(row, reading.to_vec()));
        Ok(())
    }

    fn load_vectors(&mut self, file: &Arc<Vec<u8>>, part: Range<usize>, vectors: u64) -> Result<(), SnapshotError> {
        let wrong = |what| SnapshotError::Corrupt { what };
        let planes = part.start + self.passages().div_ceil(8);
        let present = file.get(part.start..planes.min(part.end)).unwrap_or_default();
        let is_present = |number: usize| present.get(number / 8).is_some_and(|byte| byte & (1 << (number % 8)) != 0);
        let marked = present.iter().map(|byte| u64::from(byte.count_ones())).sum::<u64>();
        let rows: Vec<u32> = (0..self.passages()).filter(|&n| is_present(n)).map(|n| n as u32).collect();
        require(planes <= part.end && marked == vectors && rows.len() as u64 == vectors, "number of vectors")?;
        let comparison = self.vectors.comparison();
        require(Vectors::saved_length(comparison, rows.len()) == Some(part.end - planes), "length of vectors")?;
        self.vectors = Vectors::load(comparison, rows, file, planes..part.end).ok_or_else(|| wrong("vector"))?;
        Ok(())
    }
}

/// A snapshot whose frame is sound: magic, version, lengths and checksum.
struct Sections<'a> {
    header: Header,
    passages: &'a [u8],
    postings: &'a [u8],
    readings: &'a [u8],
    /// Where the vectors are in the file.
    vectors: Range<usize>,
}

impl<'a> Sections<'a> {
    fn open(bytes: &'a [u8]) -> Result<Self, SnapshotError> {
        let mut reader = Reader { bytes, read: 0 };
        let magic = &bytes[..bytes.len().min(MAGIC.len())];
        if !MAGIC.starts_with(magic) {
            return Err(SnapshotError::NotASnapshot);
        }
        reader.take(MAGIC.len() as u64)?;
        let found = reader.number()?;
        if found != VERSION {
            return Err(SnapshotError::UnsupportedVersion { found, supported: VERSION });
        }
        let length = reader.number()?;
        let header: Header = decode(reader.take(length.into())?, "header")?;
        check_passages(header.passages)?;
        let passages = reader.take(header.passages_bytes)?;
        let postings = reader.take(header.postings_bytes)?;
        let readings = reader.take(header.readings_bytes)?;
        let start = reader.read;
        reader.take(header.vectors_bytes)?;
        let vectors = start..reader.read;
        let content = &bytes[..reader.read];
        let checksum = reader.take(CHECKSUM_BYTES as u64)?;
        require(reader.read == bytes.len(), "bytes after the end")?;
        require(checksum == xxh64(content, 0).to_le_bytes(), "checksum")?;
        Ok(Self { header, passages, postings, readings, vectors })
    }
}

fn check_passages(found: u64) -> Result<(), SnapshotError> {
    let limit = u64::from(u32::MAX);
    if found > limit { Err(SnapshotError::TooLarge { what: "passages", found, limit }) } else { Ok(()) }
}

struct Reader<'a> {
    bytes: &'a [u8],
    read: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, length: u64) -> Result<&'a [u8], SnapshotError> {
        let needed = (self.read as u64).checked_add(length);
        let end = needed.and_then(|needed| usize::try_from(needed).ok());
        let end = end.ok_or(SnapshotError::TooLarge { what: "bytes", found: length, limit: usize::MAX as u64 })?;
        let taken = self.bytes.get(self.read..end);
        let found = self.bytes.len() as u64;
        self.read = end;
        taken.ok_or(SnapshotError::Truncated { found, needed: end as u64 })
    }

    fn number(&mut self) -> Result<u32, SnapshotError> {
        let bytes = self.take(4)?;
        Ok(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte)))
    }
}

fn require(holds: bool, what: &'static str) -> Result<(), SnapshotError> {
    if holds { Ok(()) } else { Err(SnapshotError::Corrupt { what }) }
}

fn decompressed(block: &[u8], length: u64) -> Result<Vec<u8>, SnapshotError> {
    let corrupt = SnapshotError::Corrupt { what: "passages" };
    let most = (block.len() as u64).saturating_mul(MOST_EXPANSION);
    let length = usize::try_from(length).ok().filter(|_| length <= most).ok_or(corrupt)?;
    let decompressed = lz4_flex::block::decompress(block, length).map_err(|_| corrupt)?;
    if decompressed.len() == length { Ok(decompressed) } else { Err(corrupt) }
}

fn encode(value: &impl Serialize) -> Vec<u8> {
    postcard::to_allocvec(value).expect("strings, numbers and sequences of known length can be encoded")
}

fn decode<'a, T: Deserialize<'a>>(bytes: &'a [u8], what: &'static str) -> Result<T, SnapshotError> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        _ => Err(SnapshotError::Corrupt { what }),
    }
}
