//! The packed rows of a SEM1 file: what the head promises, and what a row adds to a sum.
//!
//! It checks the whole layout once, so that reading rows cannot fail. It does not know tokens.
//!
//! The format, little endian:
//!
//! | offset | what |
//! |---|---|
//! | 0 | `SEM1` |
//! | 4 | u32 version, 1 |
//! | 8 | u32 rows |
//! | 12 | u32 dimension |
//! | 16 | u8 bits a component: 2, 4 or 8; then three zero bytes |
//! | 20 | u32 length of the vocabulary in bytes |
//! | 24 | the vocabulary: UTF-8, one token a line, no newline at the end |
//! | … | one f16 scale a row |
//! | … | the rows: components from the lowest bits of each byte upwards |
//!
//! A component is `code * scale / 127` (8 bits, signed), `(code - 8) * scale / 7` (4 bits) or
//! `(code - 1) * scale` (2 bits: ternary).

use super::EmbedderError;

const HEAD: usize = 24;

/// What a byte of a ternary row holds: four components, each one of -1, 0, 1 (and 2, which no
/// packer writes). Looked up, four components are one load and one multiplication on SIMD hosts.
static TERNARY: [[f32; 4]; 256] = ternary();

const fn ternary() -> [[f32; 4]; 256] {
    let mut all = [[0.0; 4]; 256];
    let mut index = 0;
    while index < 256 * 4 {
        let code = (index / 4) >> (index % 4 * 2) & 3;
        all[index / 4][index % 4] = code as f32 - 1.0;
        index += 1;
    }
    all
}

#[derive(Clone, Copy)]
enum Width {
    Two,
    Four,
    Eight,
}

impl Width {
    const fn bits(self) -> u8 {
        match self {
            Self::Two => 2,
            Self::Four => 4,
            Self::Eight => 8,
        }
    }
}

/// The checked bytes of a SEM1 file.
pub(super) struct Table {
    bytes: Vec<u8>,
    rows: usize,
    dimension: usize,
    width: Width,
    /// Where the scales begin, and the vocabulary ends.
    scales: usize,
    /// Where the rows begin.
    codes: usize,
    /// Bytes a row.
    stride: usize,
}

impl Table {
    pub(super) fn parse(bytes: Vec<u8>) -> Result<Table, EmbedderError> {
        let found = bytes.len();
        let Some(head) = bytes.first_chunk::<HEAD>() else {
            return Err(EmbedderError::TooShort { found, head: HEAD });
        };
        let head = Head::parse(head)?;
        let expected = head.file_length();
        if expected != found as u64 {
            return Err(EmbedderError::Length { found, expected });
        }
        // What the file holds fits a usize, as the file does.
        let rows = head.rows as usize;
        let scales = HEAD + head.vocabulary as usize;
        let table = Table {
            rows,
            dimension: head.dimension as usize,
            width: head.width,
            scales,
            codes: scales + rows * 2,
            stride: head.stride() as usize,
            bytes,
        };
        match (0..rows).find(|&row| !table.scale(row).is_finite()) {
            Some(row) => Err(EmbedderError::Scale { row }),
            None => Ok(table),
        }
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    pub(super) fn dimension(&self) -> usize {
        self.dimension
    }

    pub(super) fn bits(&self) -> u8 {
        self.width.bits()
    }

    /// The vocabulary's bytes, not yet known to be text.
    pub(super) fn vocabulary(&self) -> &[u8] {
        &self.bytes[HEAD..self.scales]
    }

    /// Adds a row, which must be below [`Table::rows`], to a sum of [`Table::dimension`] components.
    pub(super) fn add_row(&self, row: u32, sum: &mut [f32]) {
        let row = row as usize;
        let scale = self.scale(row);
        let codes = &self.bytes[self.codes + row * self.stride..][..self.stride];
        match self.width {
            Width::Two => {
                for (four, &byte) in sum.chunks_exact_mut(4).zip(codes) {
                    for (x, value) in four.iter_mut().zip(TERNARY[usize::from(byte)]) {
                        *x += value * scale;
                    }
                }
            }
            Width::Four => {
                let step = scale / 7.0;
                for (pair, &byte) in sum.chunks_exact_mut(2).zip(codes) {
                    pair[0] += (f32::from(byte & 15) - 8.0) * step;
                    pair[1] += (f32::from(byte >> 4) - 8.0) * step;
                }
            }
            Width::Eight => {
                let step = scale / 127.0;
                for (x, &byte) in sum.iter_mut().zip(codes) {
                    *x += f32::from(byte.cast_signed()) * step;
                }
            }
        }
    }

    fn scale(&self, row: usize) -> f32 {
        let at = self.scales + row * 2;
        half(u16::from_le_bytes([self.bytes[at], self.bytes[at + 1]]))
    }
}

/// The numbers of a head, each possible by itself.
struct Head {
    rows: u32,
    dimension: u32,
    width: Width,
    vocabulary: u32,
}

impl Head {
    fn parse(head: &[u8; HEAD]) -> Result<Head, EmbedderError> {
        let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        if !head.starts_with(b"SEM1") {
            let found = String::from_utf8_lossy(&head[..4]).into_owned();
            return Err(EmbedderError::Magic { found });
        }
        if word(4) != 1 {
            return Err(EmbedderError::Version { found: word(4) });
        }
        let width = match head[16] {
            2 => Width::Two,
            4 => Width::Four,
            8 => Width::Eight,
            found => return Err(EmbedderError::Bits { found }),
        };
        let found = [head[17], head[18], head[19]];
        if found != [0; 3] {
            return Err(EmbedderError::Reserved { found });
        }
        let (dimension, bits) = (word(12), width.bits());
        if dimension == 0 || !dimension.is_multiple_of(8 / u32::from(bits)) {
            return Err(EmbedderError::Dimension { dimension, bits });
        }
        Ok(Head { rows: word(8), dimension, width, vocabulary: word(20) })
    }

    /// Bytes a row.
    fn stride(&self) -> u64 {
        u64::from(self.dimension) / (8 / u64::from(self.width.bits()))
    }

    fn file_length(&self) -> u64 {
        // (2³² − 1)(2³² + 1) is the largest product and still fits.
        let rows = u64::from(self.rows) * (2 + self.stride());
        rows.saturating_add(HEAD as u64 + u64::from(self.vocabulary))
    }
}

/// An IEEE 754 half-precision number, exactly.
fn half(bits: u16) -> f32 {
    let sign = u32::from(bits >> 15) << 31;
    let exponent = u32::from(bits >> 10) & 31;
    let fraction = u32::from(bits & 1023);
    let magnitude = match exponent {
        // A subnormal counts 2⁻²⁴ths.
        0 => (fraction as f32 / 16_777_216.0).to_bits(),
        31 => 0xFF << 23 | fraction << 13,
        _ => (exponent + 112) << 23 | fraction << 13,
    };
    f32::from_bits(sign | magnitude)
}

#[cfg(test)]
mod tests {
    use super::half;

    #[test]
    fn every_half_converts_to_the_value_the_standard_gives_it() {
        for bits in 0..=u16::MAX {
            let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
            let magnitude = match exponent {
                0 => fraction * 2f64.powi(-24),
                31 if fraction == 0.0 => f64::INFINITY,
                31 => f64::NAN,
                _ => (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
            };
            let expected = if bits >> 15 == 1 { -magnitude } else { magnitude };
            let found = f64::from(half(bits));
            let same = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
            assert!(same, "{bits:#06x}: {found}, not {expected}");
        }
    }
}
