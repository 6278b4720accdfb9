//! A snapshot's passages and postings, read in place: each part is checked when it is asked for.
//!
//! Loading has looked at what all else stands on: documents are in order, and no table ends where it has
//! no bytes. Texts are decompressed a block at a time, and then kept.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use super::content::Own;
use super::passages::{Passages, Position, Row};
use super::postings::{List, Postings};
use super::snapshot::{Header, Sections, SnapshotError, decode, encode, require};
use super::table::{Numbers, Table};
use crate::document::{Origin, Passage, Span};

/// Passages that are compressed as one.
pub(super) const BLOCK: usize = 32;
/// A byte of LZ4 stands for no more than so many: a length beyond that is a lie, and nothing is allocated for it.
const MOST_EXPANSION: usize = 255;
/// Of the number before a block that says how long it is when decompressed.
const LENGTH: usize = size_of::<u32>();

/// A passage in a block. Its id, its document and where it ends are known otherwise.
#[derive(Serialize, Deserialize)]
struct Record<'a> {
    url: &'a str,
    title: &'a str,
    #[serde(borrow)]
    headings: Vec<&'a str>,
    #[serde(borrow)]
    also: Vec<&'a str>,
    start: usize,
    text: &'a str,
    origin: Origin,
    reading: &'a [u8],
}

/// A loaded snapshot without its vectors.
#[derive(Debug, Clone)]
pub(super) struct Saved {
    /// All of it, and where in it the sections are.
    pub(super) file: Arc<Vec<u8>>,
    pub(super) sections: Sections,
    corpus_hash: u64,
    documents: Table,
    /// For each document how many passages it and those before it have.
    ends: Numbers,
    texts: Table,
    blocks: Vec<OnceLock<Option<Vec<Row>>>>,
    terms: Table,
    lists: Table,
    lengths: Vec<u32>,
    occurrences: u64,
}

impl Saved {
    /// The sections of a file whose frame is sound.
    pub(super) fn open(file: &Arc<Vec<u8>>, sections: &Sections, header: &Header) -> Result<Self, SnapshotError> {
        let wrong = |what| move || SnapshotError::Corrupt { what };
        let fits = |number: u64, what| usize::try_from(number).map_err(|_| SnapshotError::Corrupt { what });
        let numbers = |part: &Range<usize>| Numbers::open(file, part.clone());
        let table = |part: &Range<usize>, strings| Table::open(file, part.clone(), strings);
        let [_, id_table, end_numbers, text_table, term_table, list_table, length_numbers, _, _] = sections;
        // First what the number of passages stands on: there are as many lengths.
        let passages = fits(header.passages, "number of passages")?;
        let lengths = numbers(length_numbers).filter(|lengths| lengths.len() == passages);
        let lengths: Vec<u32> = lengths.ok_or_else(wrong("number of passages"))?.iter().collect();
        let occurrences = lengths.iter().map(|&length| u64::from(length)).sum::<u64>();
        // No row can be longer than all rows together, which must fit what lengths are counted in.
        let fit = occurrences == header.occurrences && u32::try_from(occurrences).is_ok();
        require(fit, "number of occurrences")?;
        let documents = fits(header.documents, "number of documents")?;
        let documents = table(id_table, documents).ok_or_else(wrong("documents"))?;
        let ids = || documents.iter().map(|id| std::str::from_utf8(id).ok());
        require(ids().all(|id| id.is_some()) && ids().is_sorted_by(|a, b| a < b), "order of documents")?;
        let ends = numbers(end_numbers).filter(|ends| ends.len() == documents.len() && ends.rise_to(passages));
        let ends = ends.ok_or_else(wrong("passages of documents"))?;
        let blocks = passages.div_ceil(BLOCK);
        let texts = table(text_table, blocks).ok_or_else(wrong("texts"))?;
        let terms = fits(header.terms, "number of terms")?;
        let lists = table(list_table, terms).ok_or_else(wrong("postings"))?;
        let terms = table(term_table, terms).ok_or_else(wrong("terms"))?;
        let blocks = vec![OnceLock::new(); blocks];
        let (file, sections, corpus_hash) = (Arc::clone(file), sections.clone(), header.corpus_hash);
        Ok(Self { file, sections, corpus_hash, documents, ends, texts, blocks, terms, lists, lengths, occurrences })
    }

    /// All of it, in memory, and checked: what is not as if it had been inserted is an error.
    pub(super) fn read(&self) -> Result<Own, SnapshotError> {
        let mut passages = Passages::default();
        for (document, id) in self.ids().enumerate() {
            let rows = self.rows(document).map(|row| self.row(row).cloned()).collect::<Option<Vec<_>>>();
            passages.add(id, rows.ok_or(SnapshotError::Corrupt { what: "texts" })?);
        }
        require(passages.corpus_hash() == self.corpus_hash, "corpus hash")?;
        let (mut postings, mut before) = (Postings::default(), None);
        for (term, saved) in self.terms.iter().zip(self.lists.iter()) {
            let name = std::str::from_utf8(term).ok().filter(|_| before.is_none_or(|before| term > before));
            let name = name.ok_or(SnapshotError::Corrupt { what: "order of terms" })?;
            before = Some(term);
            let list = self.list_in(saved).read()?;
            // No sum overflows that is not above the one in the header.
            let more = list.iter().map(|posting| u64::from(posting.frequency)).sum::<u64>();
            require(postings.occurrences() + more <= self.occurrences, "number of occurrences")?;
            postings.add_list(name.to_owned(), list.into_owned());
        }
        require(postings.occurrences() == self.occurrences, "number of occurrences")?;
        require(self.lengths.starts_with(postings.lengths()), "length of a passage")?;
        Ok(Own { passages, postings })
    }

    pub(super) fn corpus_hash(&self) -> u64 {
        self.corpus_hash
    }

    pub(super) fn documents(&self) -> usize {
        self.documents.len()
    }

    pub(super) fn passages(&self) -> usize {
        self.lengths.len()
    }

    pub(super) fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    pub(super) fn occurrences(&self) -> u64 {
        self.occurrences
    }

    pub(super) fn terms(&self) -> usize {
        self.terms.len()
    }

    pub(super) fn row(&self, row: u32) -> Option<&Row> {
        let at = row as usize;
        let block = self.blocks.get(at / BLOCK)?.get_or_init(|| self.decompressed(at / BLOCK));
        block.as_ref()?.get(at % BLOCK)
    }

    pub(super) fn rows_of(&self, document: &str) -> Option<Range<u32>> {
        self.documents.search(document.as_bytes()).ok().map(|document| self.rows(document))
    }

    pub(super) fn position(&self, row: u32) -> Position<'_> {
        let document = self.ends.up_to(row);
        Position { document: self.id(document), ordinal: row - self.rows(document).start }
    }

    pub(super) fn list(&self, term: &str) -> Option<List<'_>> {
        let at = self.terms.search(term.as_bytes()).ok()?;
        self.lists.get(at).map(|list| self.list_in(list))
    }

    pub(super) fn beginning_with(&self, word: &str) -> impl Iterator<Item = List<'_>> {
        let (Ok(from) | Err(from)) = self.terms.search(word.as_bytes());
        let begins = move |at: &usize| self.terms.get(*at).is_some_and(|term| term.starts_with(word.as_bytes()));
        (from..).take_while(begins).filter_map(|at| self.lists.get(at)).map(|list| self.list_in(list))
    }

    fn list_in<'a>(&self, list: &'a [u8]) -> List<'a> {
        List::Saved(list, self.passages())
    }

    fn id(&self, document: usize) -> &str {
        self.documents.get(document).and_then(|id| std::str::from_utf8(id).ok()).unwrap_or_default()
    }

    fn ids(&self) -> impl Iterator<Item = &str> {
        (0..self.documents()).map(|document| self.id(document))
    }

    fn rows(&self, document: usize) -> Range<u32> {
        let end = |document| self.ends.get(document);
        document.checked_sub(1).and_then(end).unwrap_or(0)..end(document).unwrap_or(0)
    }

    fn decompressed(&self, block: usize) -> Option<Vec<Row>> {
        let (length, compressed) = self.texts.get(block)?.split_first_chunk::<LENGTH>()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        if length > compressed.len().saturating_mul(MOST_EXPANSION) {
            return None;
        }
        let bytes = lz4_flex::block::decompress(compressed, length).ok().filter(|bytes| bytes.len() == length)?;
        let texts: Vec<Record<'_>> = decode(&bytes)?;
        let first = block * BLOCK;
        let passages = BLOCK.min(self.passages() - first);
        let row = |(row, text): (u32, Record<'_>)| text.row(self.position(row));
        (texts.len() == passages).then(|| (first as u32..).zip(texts).map(row).collect())?
    }
}

impl<'a> Record<'a> {
    fn of(Row { passage, reading, .. }: &'a Row) -> Self {
        let Passage { url, title, headings, also, span, text, origin, id: _, document: _ } = passage;
        let [headings, also] = [headings, also].map(|list| list.iter().map(String::as_str).collect());
        Self { url, title, headings, also, start: span.start, text, origin: *origin, reading }
    }

    fn row(self, position: Position<'_>) -> Option<Row> {
        let Position { document, ordinal } = position;
        let [headings, also] = [self.headings, self.also].map(|list| list.into_iter().map(str::to_owned).collect());
        let passage = Passage {
            id: Passage::id_of(document, ordinal as usize),
            document: document.to_owned(),
            url: self.url.to_owned(),
            title: self.title.to_owned(),
            headings,
            also,
            span: Span { start: self.start, end: self.start.checked_add(self.text.len())? },
            text: self.text.to_owned(),
            origin: self.origin,
        };
        Some(Row { passage, ordinal, reading: self.reading.into() })
    }
}

/// The rows of a block, its length before it.
pub(super) fn compressed(rows: &[&Row]) -> Vec<u8> {
    let encoded = encode(&rows.iter().map(|row| Record::of(row)).collect::<Vec<_>>());
    [&(encoded.len() as u32).to_le_bytes()[..], &lz4_flex::block::compress(&encoded)].concat()
}
