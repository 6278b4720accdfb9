//! Tokens by their text: which row, if any, belongs to a piece of a word.
//!
//! It answers for the longest token a word begins with, without building a string a probe: the
//! hash grows with the word, byte by byte, and each length is one look into an open table. It
//! does not split texts into words.

use super::EmbedderError;

/// What a token that continues a word begins with.
const CONTINUATION: &[u8] = b"##";

/// FNV-1a of 32 bits: its state after n bytes is the hash of those n bytes.
const SEED: u32 = 0x811C_9DC5;

const fn hashed(hash: u32, byte: u8) -> u32 {
    (hash ^ byte as u32).wrapping_mul(0x0100_0193)
}

const AFTER_CONTINUATION: u32 = hashed(hashed(SEED, CONTINUATION[0]), CONTINUATION[1]);

/// A row's place in the hash table; `EMPTY` for none.
#[derive(Clone, Copy)]
struct Slot {
    hash: u32,
    row: u32,
}

/// Never a row: 2³² rows would not fit a file whose vocabulary's length is a u32.
const EMPTY: u32 = u32::MAX;

/// Where in a word a piece stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// It begins the word.
    First,
    /// It continues the word.
    Later,
}

/// The tokens of a table.
pub(super) struct Vocabulary {
    text: Box<[u8]>,
    /// Where each token ends in `text`; the next one begins a byte later.
    ends: Vec<u32>,
    /// At most half full; the length is a power of two.
    slots: Vec<Slot>,
    /// What takes a hash to its slot: the upper bits, after Fibonacci's multiplication.
    shift: u32,
    /// The longest token's length in bytes.
    longest: usize,
}

impl Vocabulary {
    /// Reads one token a line; `rows` lines, or it is an error.
    pub(super) fn parse(text: &[u8], rows: usize) -> Result<Vocabulary, EmbedderError> {
        if let Err(error) = std::str::from_utf8(text) {
            let valid = error.valid_up_to();
            return Err(EmbedderError::VocabularyText { valid });
        }
        let found = text.split(|&byte| byte == b'\n').count();
        if found != rows {
            return Err(EmbedderError::TokenCount { found, rows });
        }
        let newlines = text.iter().zip(0..).filter(|&(&byte, _)| byte == b'\n');
        let mut ends = Vec::with_capacity(rows);
        ends.extend(newlines.map(|(_, at)| at));
        ends.push(text.len() as u32);
        let log = (rows * 2).next_power_of_two().ilog2();
        let mut vocabulary = Vocabulary {
            text: text.into(),
            ends,
            slots: vec![Slot { hash: 0, row: EMPTY }; 1 << log],
            shift: u64::BITS - log,
            longest: 0,
        };
        (0..rows as u32).try_for_each(|row| vocabulary.insert(row))?;
        Ok(vocabulary)
    }

    /// The longest token that `word` begins with: its row, and how many bytes of `word` it takes.
    ///
    /// `hashes` is scratch space, so that a text needs no allocation a word.
    pub(super) fn longest_prefix(
        &self,
        word: &[u8],
        position: Position,
        hashes: &mut Vec<u32>,
    ) -> Option<(u32, usize)> {
        let (seed, prefix) = match position {
            Position::First => (SEED, &[][..]),
            Position::Later => (AFTER_CONTINUATION, CONTINUATION),
        };
        let longest = self.longest.saturating_sub(prefix.len());
        hashes.clear();
        hashes.extend(word.iter().take(longest).scan(seed, |hash, &byte| {
            *hash = hashed(*hash, byte);
            Some(*hash)
        }));
        // From the longest down, as most words are one token. A token is whole characters, so one
        // that equals these bytes ends where a character ends.
        hashes.iter().enumerate().rev().find_map(|(last, &hash)| {
            let length = last + 1;
            let piece = Some(&word[..length]);
            let slot = self.slot(hash, |token| token.strip_prefix(prefix) == piece);
            let row = self.slots[slot].row;
            (row != EMPTY).then_some((row, length))
        })
    }

    fn insert(&mut self, row: u32) -> Result<(), EmbedderError> {
        let token = self.token(row);
        let length = token.len();
        let hash = token.iter().fold(SEED, |hash, &byte| hashed(hash, byte));
        let slot = self.slot(hash, |other| other == token);
        let first = self.slots[slot].row;
        if first != EMPTY {
            let token = String::from_utf8_lossy(token).into_owned();
            return Err(EmbedderError::DuplicateToken { token, first, second: row });
        }
        self.slots[slot] = Slot { hash, row };
        self.longest = self.longest.max(length);
        Ok(())
    }

    /// The slot of the token with this hash that `is` accepts, else the empty one where it would be.
    fn slot(&self, hash: u32, is: impl Fn(&[u8]) -> bool) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = (u64::from(hash).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize;
        loop {
            let slot = self.slots[at & mask];
            if slot.row == EMPTY || slot.hash == hash && is(self.token(slot.row)) {
                return at & mask;
            }
            at += 1;
        }
    }

    fn token(&self, row: u32) -> &[u8] {
        let row = row as usize;
        let start = row.checked_sub(1).map_or(0, |previous| self.ends[previous] as usize + 1);
        &self.text[start..self.ends[row] as usize]
    }
}
