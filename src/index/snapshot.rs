//! An index as bytes, format 1: not yet released, so it may still change without a new number.
//!
//! It decides what a valid snapshot is. All integers are little-endian.
//!
//! | bytes | what |
//! |---|---|
//! | 4 | magic, `CCX` and a line feed |
//! | 4 | format version |
//! | 8 each | the lengths of what follows, in bytes |
//! | … | header, by postcard |
//! | … | documents: a table of their ids, in order |
//! | … | ends: for each document how many passages it and those before it have, 4 bytes |
//! | … | texts: a table of blocks of LZ4, each of 32 passages with their readings and preceded by its length before compression, 4 bytes: see `saved` |
//! | … | terms: a table of them, in order |
//! | … | postings: a table of a list for each term: see `postings` |
//! | … | lengths: how many terms each passage has, 4 bytes |
//! | … | vectors: a bit a passage, lowest first, that says which have one; then their planes, as they are in memory: see `vectors::saved` |
//! | … | graph: nothing, or the links between all vectors: see `graph::links` |
//! | 8 | xxh64 of everything before |
//!
//! A table is where each of its strings ends, 4 bytes, and then the strings. Rows are numbered in document order,
//! so the bytes depend on what the index holds and not on how it came to hold it.
//!
//! A file that was damaged on its way is refused by its checksum. Besides, nothing is trusted: loading checks what
//! it reads (frame, documents, tables, vectors, links), and texts and postings, which stay as they are until somebody
//! asks for them, are checked then; [`Index::insert`] and [`Index::remove`] ask for all. Whether the model and the
//! splitter are those of the program is the caller's question. Builds
//! without the feature `graph` do not look at a graph; they save it as it is, or without it once something has changed.
//! Format 0 is not read: nothing was released with it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh64::xxh64;

use super::content::{Content, Own};
use super::graph::Graph;
use super::passages::Row;
use super::postings::{self, Posting};
use super::saved::{BLOCK, Saved, compressed};
use super::table::Table;
use super::{Analysis, EmbeddingIdentity, Index};
use crate::vectors::Vectors;

const MAGIC: [u8; 4] = *b"CCX\n";
const VERSION: u32 = 1;
const CHECKSUM_BYTES: usize = 8;
const SECTIONS: usize = 9;

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

#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Header {
    analysis: Analysis,
    identity: Option<EmbeddingIdentity>,
    splitter_version: u32,
    pub(super) corpus_hash: u64,
    pub(super) documents: u64,
    pub(super) passages: u64,
    pub(super) terms: u64,
    pub(super) occurrences: u64,
    vectors: u64,
}

/// Where the sections are in a file, the header first.
pub(super) type Sections = [Range<usize>; SECTIONS];

impl Index {
    /// The index as bytes, the same for the same documents. `splitter_version` is that of the
    /// splitter which made the passages.
    pub fn save(&self, splitter_version: u32) -> Vec<u8> {
        let header = encode(&Header {
            analysis: self.analysis,
            identity: self.identity.clone(),
            splitter_version,
            corpus_hash: self.corpus_hash(),
            documents: self.documents() as u64,
            passages: self.passages() as u64,
            terms: self.content.terms() as u64,
            occurrences: self.content.occurrences(),
            vectors: self.vectors.len() as u64,
        });
        let graph = self.saved_graph();
        match &self.content {
            Content::Own(own) => {
                let [documents, ends, texts, terms, lists, lengths] = own.sections();
                let vectors = self.saved_vectors(own);
                framed([&header, &documents, &ends, &texts, &terms, &lists, &lengths, &vectors, &graph])
            }
            // Nothing has changed but what the caller says of it, and maybe its graph.
            Content::Saved(saved) => {
                let mut sections = saved.sections.clone().map(|section| &saved.file[section]);
                sections[0] = &header;
                if !graph.is_empty() {
                    sections[SECTIONS - 1] = &graph;
                }
                framed(sections)
            }
        }
    }

    /// The index that was saved, or the first reason why the bytes are not one.
    pub fn load(bytes: &[u8]) -> Result<Self, SnapshotError> {
        Self::open(bytes.to_vec())
    }

    /// The same of bytes that the index may keep: all but its lengths stays where it is in them.
    pub fn open(bytes: Vec<u8>) -> Result<Self, SnapshotError> {
        let file = Arc::new(bytes);
        let sections = sections(&file)?;
        let [header, .., vectors, graph] = &sections;
        let header: Header = decode(&file[header.clone()]).ok_or(SnapshotError::Corrupt { what: "header" })?;
        let limit = u64::from(u32::MAX);
        if header.passages > limit {
            return Err(SnapshotError::TooLarge { what: "passages", found: header.passages, limit });
        }
        let saved = Saved::open(&file, &sections, &header)?;
        let mut index = Self::with_analysis(header.identity, header.analysis);
        index.splitter_version = Some(header.splitter_version);
        index.load_vectors(&file, vectors.clone(), saved.passages(), header.vectors)?;
        index.graph = Graph::load(&file, graph.clone(), &index.vectors, saved.passages())?;
        index.content = Content::Saved(Box::new(saved));
        Ok(index)
    }

    /// Tells whether two indexes have the same texts: xxh64 over each document's id, its number of
    /// passages and their texts, strings preceded by their lengths.
    pub fn corpus_hash(&self) -> u64 {
        match &self.content {
            Content::Own(own) => own.passages.corpus_hash(),
            Content::Saved(saved) => saved.corpus_hash(),
        }
    }

    fn saved_vectors(&self, own: &Own) -> Vec<u8> {
        let mut bytes = vec![0; self.passages().div_ceil(8)];
        let numbered = own.passages.in_order().enumerate();
        let with_vector = numbered.filter(|&(_, row)| self.vectors.components(row).is_some());
        let (numbers, rows): (Vec<usize>, Vec<u32>) = with_vector.unzip();
        for number in numbers {
            bytes[number / 8] |= 1 << (number % 8);
        }
        self.vectors.save(&rows, &mut bytes);
        bytes
    }

    fn saved_graph(&self) -> Vec<u8> {
        let Some(graph) = &self.graph else { return Vec::new() };
        let mut numbers = Vec::new();
        for (number, row) in (0..).zip(self.content.rows()) {
            numbers.resize(numbers.len().max(row as usize + 1), 0);
            numbers[row as usize] = number;
        }
        graph.save(|row| numbers[row as usize])
    }

    fn load_vectors(
        &mut self,
        file: &Arc<Vec<u8>>,
        part: Range<usize>,
        passages: usize,
        vectors: u64,
    ) -> Result<(), SnapshotError> {
        let wrong = |what| SnapshotError::Corrupt { what };
        let planes = part.start + passages.div_ceil(8);
        let present = file.get(part.start..planes.min(part.end)).unwrap_or_default();
        let is_present = |number: usize| present.get(number / 8).is_some_and(|byte| byte & (1 << (number % 8)) != 0);
        let marked = present.iter().map(|byte| u64::from(byte.count_ones())).sum::<u64>();
        let rows: Vec<u32> = (0..passages).filter(|&n| is_present(n)).map(|n| n as u32).collect();
        require(planes <= part.end && marked == vectors && rows.len() as u64 == vectors, "number of vectors")?;
        let comparison = self.vectors.comparison();
        require(Vectors::saved_length(comparison, rows.len()) == Some(part.end - planes), "length of vectors")?;
        self.vectors = Vectors::load(comparison, rows, file, planes..part.end).ok_or_else(|| wrong("vector"))?;
        Ok(())
    }
}

impl Own {
    /// Documents, their ends, texts, terms, postings and lengths.
    fn sections(&self) -> [Vec<u8>; 6] {
        let mut sections = [const { Vec::new() }; 6];
        let [documents, ends, texts, terms, lists, lengths] = &mut sections;
        Table::write(self.passages.iter().map(|(id, _)| id.into()), documents);
        let mut end = 0_u32;
        for (_, rows) in self.passages.iter() {
            end += rows.len() as u32;
            ends.extend(end.to_le_bytes());
        }
        let rows: Vec<u32> = self.passages.in_order().collect();
        let kept: Vec<&Row> = rows.iter().filter_map(|&row| self.passages.row(row)).collect();
        Table::write(kept.chunks(BLOCK).map(compressed), texts);
        let mut numbers = vec![0; self.postings.lengths().len()];
        for (number, &row) in (0..).zip(&rows) {
            // The last rows may have no terms, and so no length.
            let length = self.postings.lengths().get(row as usize).copied().unwrap_or(0);
            lengths.extend(length.to_le_bytes());
            numbers.get_mut(row as usize).into_iter().for_each(|of_row| *of_row = number);
        }
        Table::write(self.postings.lists().map(|(term, _)| term.into()), terms);
        Table::write(self.postings.lists().map(|(_, list)| renumbered(list, &numbers)), lists);
        sections
    }
}

/// A list with its rows numbered in document order, encoded. By a tree, entry by entry: to collect one would link a
/// sort.
fn renumbered(list: &[Posting], numbers: &[u32]) -> Vec<u8> {
    let mut in_order = BTreeMap::new();
    for posting in list {
        in_order.insert(numbers[posting.row as usize], posting.frequency);
    }
    let list: Vec<Posting> = in_order.into_iter().map(|(row, frequency)| Posting { row, frequency }).collect();
    postings::encode(&list)
}

/// A snapshot of these sections.
fn framed(sections: [&[u8]; SECTIONS]) -> Vec<u8> {
    let lengths = sections.map(|section| (section.len() as u64).to_le_bytes());
    let length = sections.iter().map(|section| section.len()).sum::<usize>();
    // At once: a file that grows takes up its memory several times.
    let frame = MAGIC.len() + size_of_val(&VERSION) + size_of_val(&lengths) + CHECKSUM_BYTES;
    let mut bytes = Vec::with_capacity(frame + length);
    for part in [&MAGIC[..], &VERSION.to_le_bytes(), lengths.as_flattened()].into_iter().chain(sections) {
        bytes.extend_from_slice(part);
    }
    bytes.extend(xxh64(&bytes, 0).to_le_bytes());
    bytes
}

/// The sections of a snapshot whose frame is sound: magic, version, lengths and checksum.
fn sections(bytes: &[u8]) -> Result<Sections, SnapshotError> {
    let mut reader = Reader { bytes, read: 0 };
    let magic = &bytes[..bytes.len().min(MAGIC.len())];
    if !MAGIC.starts_with(magic) {
        return Err(SnapshotError::NotASnapshot);
    }
    reader.take(MAGIC.len() as u64)?;
    let found = reader.number(4)? as u32;
    if found != VERSION {
        return Err(SnapshotError::UnsupportedVersion { found, supported: VERSION });
    }
    let mut sections = [const { 0..0 }; SECTIONS];
    let mut lengths = [0; SECTIONS];
    for length in &mut lengths {
        *length = reader.number(8)?;
    }
    for (section, length) in sections.iter_mut().zip(lengths) {
        *section = reader.take(length)?;
    }
    let content = &bytes[..reader.read];
    let checksum = reader.take(CHECKSUM_BYTES as u64)?;
    require(reader.read == bytes.len(), "bytes after the end")?;
    require(bytes[checksum] == xxh64(content, 0).to_le_bytes(), "checksum")?;
    Ok(sections)
}

struct Reader<'a> {
    bytes: &'a [u8],
    read: usize,
}

impl Reader<'_> {
    /// Where the next bytes are, which are there.
    fn take(&mut self, length: u64) -> Result<Range<usize>, SnapshotError> {
        let needed = (self.read as u64).checked_add(length);
        let end = needed.and_then(|needed| usize::try_from(needed).ok());
        let end = end.ok_or(SnapshotError::TooLarge { what: "bytes", found: length, limit: usize::MAX as u64 })?;
        let taken = self.read..end;
        let found = self.bytes.len() as u64;
        self.read = end;
        if end as u64 > found { Err(SnapshotError::Truncated { found, needed: end as u64 }) } else { Ok(taken) }
    }

    fn number(&mut self, bytes: u64) -> Result<u64, SnapshotError> {
        let taken = self.take(bytes)?;
        Ok(self.bytes[taken].iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }
}

pub(super) fn require(holds: bool, what: &'static str) -> Result<(), SnapshotError> {
    if holds { Ok(()) } else { Err(SnapshotError::Corrupt { what }) }
}

pub(super) fn encode(value: &impl Serialize) -> Vec<u8> {
    postcard::to_allocvec(value).expect("strings, numbers and sequences of known length can be encoded")
}

/// What bytes stand for; nothing when it is not all that they stand for.
pub(super) fn decode<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Option<T> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Some(value),
        _ => None,
    }
}
