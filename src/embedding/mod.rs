//! The built-in static embedder: a text becomes the direction of the sum of its tokens' rows.
//!
//! It decides how a text is split into tokens (`wordpiece`), what each token weighs (`table`) and
//! how the rows become one vector. It does not load the table (hosts hand over the bytes),
//! and whether two vectors may be compared is decided by whoever stores them, by
//! [`StaticEmbedder::space`].

mod error;
mod projection;
mod table;
mod vocabulary;
mod wordpiece;

pub use error::EmbedderError;
pub use projection::{Projection, TEACHER, TEACHER_DIMENSION};

use table::Table;
use vocabulary::Vocabulary;
use wordpiece::WordPiece;
use xxhash_rust::xxh64::xxh64;

/// A table of token rows, ready to embed texts.
///
/// It owns the file's bytes; rows stay packed and are decoded when a text uses them. Equal tables
/// give bit-identical vectors on every host: sums run in the order of the text, and only
/// additions, multiplications, divisions and square roots are used.
///
/// ```
/// # fn main() -> Result<(), countercheck::embedding::EmbedderError> {
/// use countercheck::embedding::StaticEmbedder;
///
/// let mut file = b"SEM1".to_vec();
/// for field in [1u32, 2, 4, 2, 8] {
///     file.extend(field.to_le_bytes()); // version, rows, dimension, bits, vocabulary's length
/// }
/// file.extend(b"red\nblue");
/// file.extend([0x00, 0x3C, 0x00, 0x3C]); // both scales are 1.0
/// file.extend([0b01_01_01_10, 0b01_01_10_01]); // (1, 0, 0, 0) and (0, 1, 0, 0)
///
/// let embedder = StaticEmbedder::parse(file)?;
/// assert_eq!(embedder.embed("Red?"), Some(vec![1.0, 0.0, 0.0, 0.0]));
/// assert_eq!(embedder.embed("green"), None);
/// # Ok(())
/// # }
/// ```
pub struct StaticEmbedder {
    wordpiece: WordPiece,
    table: Table,
    hash: u64,
}

impl std::fmt::Debug for StaticEmbedder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("StaticEmbedder").field(&self.model_id()).finish()
    }
}

impl StaticEmbedder {
    /// Reads a table in the format SEM1.
    ///
    /// Every length is checked against the bytes at hand before anything is allocated.
    ///
    /// # Errors
    /// [`EmbedderError`] says which part of the file is not as the format demands.
    pub fn parse(bytes: Vec<u8>) -> Result<StaticEmbedder, EmbedderError> {
        let hash = xxh64(&bytes, 0);
        let table = Table::parse(bytes)?;
        let vocabulary = Vocabulary::parse(table.vocabulary(), table.rows())?;
        Ok(StaticEmbedder { wordpiece: WordPiece::new(vocabulary), table, hash })
    }

    /// The number of components of every vector.
    pub fn dimension(&self) -> usize {
        self.table.dimension()
    }

    /// Names this very table: the format, dimension, bits a component, and a hash of the file.
    ///
    /// For instance `sem1-256d-2bit-0f3a…`.
    pub fn model_id(&self) -> String {
        let Self { table, hash, .. } = self;
        format!("sem1-{}d-{}bit-{hash:016x}", table.dimension(), table.bits())
    }

    /// Names the space of its vectors: of a table fitted to the teacher's that of the [`Projection`], whose
    /// vectors may be compared with its own; of any other table its [`Self::model_id`].
    pub fn space(&self) -> String {
        projection::space_of_table(self.hash).unwrap_or_else(|| self.model_id())
    }

    /// The text's vector, of unit length; `None` when none of its tokens has a row with weight.
    ///
    /// Texts of any length are embedded whole. One that is only in a script the table lacks has no
    /// vector, and is then found by its words alone.
    pub fn embed(&self, text: &str) -> Option<Vec<f32>> {
        let mut sum = vec![0.0_f32; self.dimension()];
        self.wordpiece.each_token(text, |row| self.table.add_row(row, &mut sum));
        // In f64 no square can overflow or vanish: rows are finite multiples of an f16.
        let square: f64 = sum.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
        if square == 0.0 {
            return None;
        }
        let length = square.sqrt();
        for x in &mut sum {
            *x = (f64::from(*x) / length) as f32;
        }
        Some(sum)
    }

    /// The rows of the text's tokens, in the order of the text; unknown words have none.
    pub fn tokens(&self, text: &str) -> Vec<u32> {
        let mut rows = Vec::new();
        self.wordpiece.each_token(text, |row| rows.push(row));
        rows
    }
}
