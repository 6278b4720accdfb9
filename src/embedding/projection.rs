//! The model that the built-in table was fitted to, for passages: its vectors brought into the table's space.
//!
//! It decides which vectors share a space. A passage's vector may come from the table or from the teacher,
//! [`TEACHER`], through the very projection that the table was fitted in; both are compared with queries'
//! vectors from the table. It runs no model: whoever has one brings its vectors.

use xxhash_rust::xxh64::xxh64;

use super::EmbedderError;

/// The model.
pub const TEACHER: &str = "all-MiniLM-L6-v2";

/// The components of its vectors.
pub const TEACHER_DIMENSION: usize = 384;

/// The components that the projection leaves.
const DIMENSION: usize = 256;

/// The projection that the tables below were fitted in, by the hash of its file.
const PROJECTION: u64 = 0x02e4_095a_e934_5c48;

/// The tables fitted in that space, ternary and of 4 bits, by the hashes of their files.
const TABLES: [u64; 2] = [0xe8d4_f096_3cd7_7c12, 0x6b58_0de0_83ab_0803];

/// The space that a table's vectors lie in, if it is one of ours.
pub(super) fn space_of_table(hash: u64) -> Option<String> {
    TABLES.contains(&hash).then(|| space(PROJECTION))
}

fn space(projection: u64) -> String {
    format!("{TEACHER}/{DIMENSION}-{projection:016x}")
}

/// A teacher's vector `t` of length 1 becomes `normalise((t − mean) · P)`.
///
/// The file: little-endian `f32`s, first the mean, then `P` row by row.
pub struct Projection {
    mean: Vec<f32>,
    rows: Vec<f32>,
    hash: u64,
}

impl std::fmt::Debug for Projection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Projection").field(&self.space()).finish()
    }
}

impl Projection {
    /// Reads the file.
    pub fn parse(bytes: &[u8]) -> Result<Self, EmbedderError> {
        let expected = size_of::<f32>() * TEACHER_DIMENSION * (1 + DIMENSION);
        if bytes.len() != expected {
            return Err(EmbedderError::ProjectionLength { found: bytes.len(), expected });
        }
        let (chunks, _) = bytes.as_chunks();
        let mut mean: Vec<f32> = chunks.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
        if let Some(at) = mean.iter().position(|number| !number.is_finite()) {
            return Err(EmbedderError::ProjectionNumber { at });
        }
        let rows = mean.split_off(TEACHER_DIMENSION);
        Ok(Self { mean, rows, hash: xxh64(bytes, 0) })
    }

    /// Names the space: what an index of its vectors bears.
    pub fn space(&self) -> String {
        space(self.hash)
    }

    /// The number of components that it leaves.
    pub fn dimension(&self) -> usize {
        DIMENSION
    }

    /// A teacher's vector in the table's space, of length 1; nothing for one that is of another length, not
    /// finite, or the mean itself, which points nowhere.
    pub fn project(&self, teacher: &[f32]) -> Option<Vec<f32>> {
        if teacher.len() != TEACHER_DIMENSION {
            return None;
        }
        let square: f64 = teacher.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
        let length = square.sqrt();
        let mut sum = vec![0.0_f64; DIMENSION];
        for ((&x, &mean), row) in teacher.iter().zip(&self.mean).zip(self.rows.chunks_exact(DIMENSION)) {
            let centred = f64::from(x) / length - f64::from(mean);
            sum.iter_mut().zip(row).for_each(|(sum, &p)| *sum += centred * f64::from(p));
        }
        let length = sum.iter().map(|x| x * x).sum::<f64>().sqrt();
        (length.is_finite() && length > 0.0).then(|| sum.into_iter().map(|x| (x / length) as f32).collect())
    }
}
