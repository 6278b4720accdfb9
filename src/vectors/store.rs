//! A vector index of its own: vectors under names, for those who bring their own texts.
//!
//! It decides which names there are, and what a file of them looks like. All integers are little-endian.
//!
//! | bytes | what |
//! |---|---|
//! | 4 | magic, `CCV` and a line feed |
//! | 4 | format version |
//! | 4 | dimension |
//! | 4 | metric: 0 cosine, 1 dot, 2 Euclidean |
//! | 4 | number of vectors |
//! | 4 a vector | where its name ends, in names, which are in order |
//! | … | names, in UTF-8 |
//! | … | planes: see `saved` |
//! | 8 | xxh64 of everything before |

use std::sync::Arc;

use xxhash_rust::xxh64::xxh64;

use super::{Checked, Comparison, Memory, Metric, Near, VectorFault, Vectors};

const MAGIC: [u8; 4] = *b"CCV\n";
const VERSION: u32 = 1;
const HEADER: usize = 20;
const CHECKSUM: usize = 8;
/// More components than any model's vectors have; integer sums of so many products do not overflow.
const MOST_COMPONENTS: usize = 65_536;

/// Vectors under names.
///
/// ```
/// use countercheck::vectors::{Metric, VectorIndex};
///
/// let mut index = VectorIndex::new(2, Metric::Cosine)?;
/// index.add("east", &[1.0, 0.0])?;
/// index.add("north", &[0.0, 2.0])?;
/// let found = index.search(&[0.1, 0.9], 1, &|_| true)?;
/// assert_eq!(index.name(found[0].row), Some("north"));
/// # Ok::<(), countercheck::vectors::VectorIndexError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct VectorIndex {
    vectors: Vectors,
    /// The name of each row; those of free rows are left over.
    names: Vec<String>,
    /// The rows that have a vector, by name.
    order: Vec<u32>,
    free: Vec<u32>,
}

/// Why an index refuses a vector or a file. It is as it was before.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum VectorIndexError {
    /// No vectors can be like that.
    #[error("an index of vectors with {dimension} components cannot be made: it takes 1 to {MOST_COMPONENTS}")]
    Dimension {
        /// The components asked for.
        dimension: usize,
    },
    /// A vector that cannot be compared with the others.
    #[error("vector of \"{name}\": {fault}")]
    Vector {
        /// Its name, or `query`.
        name: String,
        /// What is wrong with it.
        fault: VectorFault,
    },
    /// A name that is taken.
    #[error("\"{name}\" is in the index already: set it, or remove it first")]
    Duplicate {
        /// The name.
        name: String,
    },
    /// There is no room for another vector.
    #[error("no memory is left for another vector")]
    Full,
    /// The bytes are not a file of vectors, or a damaged one.
    #[error("these bytes are no saved vectors: {what}")]
    File {
        /// What is wrong.
        what: &'static str,
    },
}

impl VectorIndexError {
    /// A stable name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Dimension { .. } => "invalid_dimension",
            Self::Vector { .. } => "invalid_vector",
            Self::Duplicate { .. } => "duplicate_id",
            Self::Full => "out_of_memory",
            Self::File { .. } => "invalid_snapshot",
        }
    }
}

impl VectorIndex {
    /// An empty index.
    pub fn new(dimension: usize, metric: Metric) -> Result<Self, VectorIndexError> {
        if !(1..=MOST_COMPONENTS).contains(&dimension) {
            return Err(VectorIndexError::Dimension { dimension });
        }
        let vectors = Vectors::new(Comparison { dimension, metric, normalised: false });
        Ok(Self { vectors, ..Self::default() })
    }

    /// Adds a vector under a new name, and gives its row.
    pub fn add(&mut self, name: &str, vector: &[f32]) -> Result<u32, VectorIndexError> {
        if self.place(name).is_ok() {
            return Err(VectorIndexError::Duplicate { name: name.to_owned() });
        }
        self.set(name, vector)
    }

    /// Adds a vector, in place of the one of that name if there is one, and gives its row.
    pub fn set(&mut self, name: &str, vector: &[f32]) -> Result<u32, VectorIndexError> {
        let vector = self.checked(name, vector)?;
        self.vectors.reserve().map_err(|_| VectorIndexError::Full)?;
        let row = match self.place(name) {
            Ok(at) => self.order[at],
            Err(at) => {
                let row = self.free.pop().unwrap_or(self.names.len() as u32);
                match self.names.get_mut(row as usize) {
                    Some(free) => name.clone_into(free),
                    None => self.names.push(name.to_owned()),
                }
                self.order.insert(at, row);
                row
            }
        };
        self.vectors.remove(row);
        self.vectors.add(row, vector);
        Ok(row)
    }

    /// Removes a vector, and gives the row it had.
    pub fn remove(&mut self, name: &str) -> Option<u32> {
        let row = self.order.remove(self.place(name).ok()?);
        self.free.push(row);
        self.vectors.remove(row);
        Some(row)
    }

    /// The `k` nearest of the rows that are allowed, nearest first; equally near ones by name.
    pub fn search(
        &self,
        query: &[f32],
        k: usize,
        allowed: &dyn Fn(u32) -> bool,
    ) -> Result<Vec<Near>, VectorIndexError> {
        let query = self.checked("query", query)?;
        Ok(self.vectors.nearest(query, k, allowed, |row| self.name(row)))
    }

    /// Mostly the same in less time, where there are very many; see [`Vectors::nearly_nearest`].
    pub fn search_fast(
        &mut self,
        query: &[f32],
        k: usize,
        allowed: &dyn Fn(u32) -> bool,
    ) -> Result<Vec<Near>, VectorIndexError> {
        self.vectors.sketch();
        let query = self.checked("query", query)?;
        Ok(self.vectors.nearly_nearest(query, k, allowed, |row| self.name(row)))
    }

    /// The name of a row that was found.
    pub fn name(&self, row: u32) -> Option<&str> {
        self.names.get(row as usize).map(String::as_str)
    }

    /// Where in the order of names one is, or would be.
    fn place(&self, name: &str) -> Result<usize, usize> {
        self.order.binary_search_by(|&row| self.names[row as usize].as_str().cmp(name))
    }

    fn names_in_order(&self) -> impl Iterator<Item = &str> {
        self.order.iter().map(|&row| self.names[row as usize].as_str())
    }

    /// The components of the vector of that name.
    pub fn vector(&self, name: &str) -> Option<Vec<f32>> {
        let row = self.order[self.place(name).ok()?];
        Some(self.vectors.components(row)?.collect())
    }

    /// The number of vectors.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// What the vectors are like.
    pub fn comparison(&self) -> Comparison {
        self.vectors.comparison()
    }

    /// How much memory the vectors take, without their names.
    pub fn memory(&self) -> Memory {
        self.vectors.memory()
    }

    fn checked<'a>(&self, name: &str, vector: &'a [f32]) -> Result<Checked<'a>, VectorIndexError> {
        let checked = Checked::new(vector, self.comparison());
        checked.map_err(|fault| VectorIndexError::Vector { name: name.to_owned(), fault })
    }

    /// The index as bytes, the same for the same vectors and names.
    pub fn save(&self) -> Vec<u8> {
        let Comparison { dimension, metric, .. } = self.comparison();
        let planes = Vectors::saved_length(self.comparison(), self.len()).unwrap_or(0);
        let names = self.names_in_order().map(|name| name.len() + 4).sum::<usize>();
        let mut file = Vec::with_capacity(HEADER + names + planes + CHECKSUM);
        let metric = METRICS.iter().position(|&known| known == metric).unwrap_or(0);
        file.extend(MAGIC);
        for number in [VERSION, dimension as u32, metric as u32, self.len() as u32] {
            file.extend(number.to_le_bytes());
        }
        let mut end = 0_u32;
        for name in self.names_in_order() {
            end += name.len() as u32;
            file.extend(end.to_le_bytes());
        }
        self.names_in_order().for_each(|name| file.extend(name.as_bytes()));
        self.vectors.save(&self.order, &mut file);
        file.extend(xxh64(&file, 0).to_le_bytes());
        file
    }

    /// The index that was saved. The bytes become its planes: nothing is copied.
    pub fn load(file: Vec<u8>) -> Result<Self, VectorIndexError> {
        let wrong = |what| VectorIndexError::File { what };
        if !MAGIC.starts_with(&file[..file.len().min(MAGIC.len())]) {
            return Err(wrong("they do not begin with the magic bytes of one"));
        }
        let cut_off = || wrong("the end is missing");
        let (content, checksum) = file.split_last_chunk::<CHECKSUM>().ok_or_else(cut_off)?;
        let number = |at: usize| {
            let bytes = content.get(at * 4..at * 4 + 4).and_then(|bytes| bytes.first_chunk());
            bytes.map(|&bytes| u32::from_le_bytes(bytes) as usize).ok_or_else(cut_off)
        };
        if number(1)? != VERSION as usize {
            return Err(wrong("they are of another version: add the vectors again"));
        }
        let (dimension, metric, vectors) = (number(2)?, number(3)?, number(4)?);
        if *checksum != xxh64(content, 0).to_le_bytes() {
            return Err(wrong("the checksum is another, so they are damaged or cut off"));
        }
        let metric = METRICS.get(metric).copied().ok_or_else(|| wrong("the metric is unknown"))?;
        let mut index = Self::new(dimension, metric)?;
        let ends = HEADER / 4;
        let mut start = ends.checked_add(vectors).and_then(|end| end.checked_mul(4)).ok_or_else(cut_off)?;
        let names = start;
        for at in 0..vectors {
            let end = names.checked_add(number(ends + at)?).ok_or_else(cut_off)?;
            let name = content.get(start..end).and_then(|name| std::str::from_utf8(name).ok());
            let name = name.ok_or_else(|| wrong("a name is none"))?;
            if index.names.last().is_some_and(|last| last.as_str() >= name) {
                return Err(wrong("names are out of order"));
            }
            index.names.push(name.to_owned());
            start = end;
        }
        let planes = start..content.len();
        index.order = (0..vectors as u32).collect();
        let rows = index.order.clone();
        index.vectors = Vectors::load(index.comparison(), rows, &Arc::new(file), planes)
            .ok_or_else(|| wrong("a vector is none, or there are too few or many"))?;
        Ok(index)
    }
}

/// As files number them.
const METRICS: [Metric; 3] = [Metric::Cosine, Metric::Dot, Metric::Euclidean];
