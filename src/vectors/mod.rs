//! Vectors, and the exact search for those nearest to a query.
//!
//! It decides which vectors can be compared, how near two of them are and in what order they are found. It
//! knows no documents, no words and no JavaScript. Scores are sums in one fixed order, so native and wasm agree
//! to the last bit, whatever instructions they use.
//!
//! A search looks at every vector twice as cheaply as it could: a scan of small codes bounds each score from
//! above ([`codes`](self::codes)), and only where the bound reaches the k-th best score is the score computed
//! ([`Vectors::nearest`]). So the codes cost no accuracy: what is found is what a scan of all scores finds.

#[allow(dead_code)] // only graphs are searched by them
mod bounds;
mod bytes;
mod checked;
mod codes;
mod fault;
pub(crate) mod kernel;
mod planes;
mod saved;
mod signs;
mod store;
mod top;

#[allow(unused_imports)] // for the index alone
pub(crate) use bounds::Bounds;
pub(crate) use bytes::Bytes;
pub use checked::{Checked, Comparison, Metric};
pub use fault::VectorFault;
pub(crate) use kernel::dot;
#[allow(unused_imports)] // likewise
pub(crate) use planes::each_above;
pub use planes::{Memory, Near, Vectors};
pub use store::{VectorIndex, VectorIndexError};
pub(crate) use top::{Top, select};
