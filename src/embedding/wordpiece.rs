//! Texts into tokens, as BERT's uncased `WordPiece` does it.
//!
//! It decides where words end (white space, punctuation, ideographs) and cuts each word into the
//! longest tokens from the left. A word that cannot be cut to its end has no token at all, nor has
//! one above [`MAX_CHARS`]: both are BERT's `[UNK]`, which weighs nothing. Special tokens such as
//! `[CLS]` cannot come out of a text, since brackets are words of their own.

use super::vocabulary::{Position, Vocabulary};
use crate::characters::{Class, class, folded};

/// The longest word that is cut into tokens, in characters after folding, as in BERT.
const MAX_CHARS: usize = 100;

/// The tokenizer of one vocabulary.
pub(super) struct WordPiece {
    vocabulary: Vocabulary,
}

impl WordPiece {
    pub(super) fn new(vocabulary: Vocabulary) -> WordPiece {
        WordPiece { vocabulary }
    }

    /// Calls `emit` with the row of each token, in the order of the text.
    pub(super) fn each_token(&self, text: &str, emit: impl FnMut(u32)) {
        let mut words = Words {
            vocabulary: &self.vocabulary,
            word: String::new(),
            chars: 0,
            rows: Vec::new(),
            hashes: Vec::new(),
            emit,
        };
        for c in text.chars() {
            match c {
                'a'..='z' | '0'..='9' => words.push(c),
                'A'..='Z' => words.push(c.to_ascii_lowercase()),
                '\0'..='\x7f' => words.take(c, class(c)),
                _ => take_folded(c, &mut words),
            }
        }
        words.end();
    }
}

fn take_folded(c: char, words: &mut Words<impl FnMut(u32)>) {
    match class(c) {
        kept @ (Class::Dropped | Class::Mark | Class::Space | Class::Ideograph) => words.take(c, kept),
        _ => folded(c).for_each(|folded| words.take(folded, class(folded))),
    }
}

/// The word being read, and where finished ones go.
struct Words<'a, F> {
    vocabulary: &'a Vocabulary,
    /// At most `MAX_CHARS` characters of it.
    word: String,
    /// How many characters it has.
    chars: usize,
    /// The rows of the word being cut, kept until it is known that it can be cut to its end.
    rows: Vec<u32>,
    hashes: Vec<u32>,
    emit: F,
}

impl<F: FnMut(u32)> Words<'_, F> {
    fn take(&mut self, c: char, class: Class) {
        match class {
            Class::Letter | Class::WideMark | Class::OtherNumber => self.push(c),
            Class::Space => self.end(),
            Class::Punctuation | Class::Connector | Class::Ideograph => {
                self.end();
                self.push(c);
                self.end();
            }
            Class::Mark | Class::Dropped => {}
        }
    }

    fn push(&mut self, c: char) {
        if self.chars < MAX_CHARS {
            self.word.push(c);
        }
        self.chars += 1;
    }

    fn end(&mut self) {
        if (1..=MAX_CHARS).contains(&self.chars) {
            self.cut();
        }
        self.word.clear();
        self.chars = 0;
    }

    fn cut(&mut self) {
        self.rows.clear();
        let mut rest = self.word.as_bytes();
        let mut position = Position::First;
        while !rest.is_empty() {
            let found = (self.vocabulary).longest_prefix(rest, position, &mut self.hashes);
            let Some((row, length)) = found else {
                return;
            };
            self.rows.push(row);
            rest = &rest[length..];
            position = Position::Later;
        }
        self.rows.iter().for_each(|&row| (self.emit)(row));
    }
}
