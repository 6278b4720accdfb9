//! Strings of bytes one after the other, as a snapshot has them: where each ends, and then all of them.
//!
//! Opening a table looks at where they end and at nothing else; they stay in the file.

use std::ops::Range;
use std::sync::Arc;

use crate::vectors::Bytes;

/// Of the number that says where a string ends.
const END: usize = size_of::<u32>();

#[derive(Debug, Clone)]
pub(super) struct Table {
    ends: Numbers,
    strings: Bytes,
}

impl Table {
    /// So many strings that a part of a file consists of; nothing when it does not.
    pub(super) fn open(file: &Arc<Vec<u8>>, part: Range<usize>, strings: usize) -> Option<Self> {
        let start = strings.checked_mul(END)?.checked_add(part.start).filter(|&start| start <= part.end)?;
        let ends = Numbers::open(file, part.start..start)?;
        let strings = Bytes::part(file, start..part.end)?;
        let all = strings.len();
        (ends.rise_to(all)).then_some(Self { ends, strings })
    }

    /// Appends a table of these strings. Where they end is counted in 32 bits: of more than 4 GB it makes a
    /// table that nobody opens.
    pub(super) fn write(strings: impl Iterator<Item = Vec<u8>>, file: &mut Vec<u8>) {
        let mut all = Vec::new();
        for string in strings {
            all.extend(string);
            file.extend(u32::try_from(all.len()).unwrap_or(u32::MAX).to_le_bytes());
        }
        file.extend(all);
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn get(&self, at: usize) -> Option<&[u8]> {
        let start = at.checked_sub(1).map_or(Some(0), |before| self.ends.get(before))?;
        self.strings.get(start as usize..self.ends.get(at)? as usize)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).filter_map(|at| self.get(at))
    }

    /// Where a string is in a table that is in order, or would be.
    pub(super) fn search(&self, string: &[u8]) -> Result<usize, usize> {
        let at = partition_point(self.len(), |at| self.get(at).is_some_and(|other| other < string));
        if self.get(at) == Some(string) { Ok(at) } else { Err(at) }
    }
}

/// A plane of `u32`.
#[derive(Debug, Clone)]
pub(super) struct Numbers(Bytes);

impl Numbers {
    /// Those that a part of a file consists of; nothing when it does not.
    pub(super) fn open(file: &Arc<Vec<u8>>, part: Range<usize>) -> Option<Self> {
        Bytes::part(file, part).filter(|bytes| bytes.len().is_multiple_of(END)).map(Self)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len() / END
    }

    pub(super) fn get(&self, at: usize) -> Option<u32> {
        self.0.as_chunks().0.get(at).map(|&bytes| u32::from_le_bytes(bytes))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        self.0.as_chunks().0.iter().map(|&bytes| u32::from_le_bytes(bytes))
    }

    /// Whether none is less than the one before it, and the last is so much; of none, whether that is nothing.
    pub(super) fn rise_to(&self, most: usize) -> bool {
        let mut last = 0;
        self.iter().all(|number| std::mem::replace(&mut last, number) <= number) && last as usize == most
    }

    /// How many are not above a number, of a plane that rises.
    pub(super) fn up_to(&self, most: u32) -> usize {
        partition_point(self.len(), |at| self.get(at).is_some_and(|number| number <= most))
    }
}

/// How many of the first places a condition holds for, given that it holds for no later one.
fn partition_point(places: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut start, mut end) = (0, places);
    while start < end {
        let middle = start.midpoint(end);
        (start, end) = if holds(middle) { (middle + 1, end) } else { (start, middle) };
    }
    start
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn strings_come_back_and_are_found(strings in prop::collection::btree_set(prop::collection::vec(any::<u8>(), 0..5), 0..20), sought in prop::collection::vec(any::<u8>(), 0..3)) {
            let strings: Vec<Vec<u8>> = strings.into_iter().collect();
            let mut file = vec![7];
            Table::write(strings.iter().cloned(), &mut file);
            let (file, part) = (Arc::new(file.clone()), 1..file.len());
            let table = Table::open(&file, part.clone(), strings.len()).unwrap();
            prop_assert_eq!(table.iter().map(<[u8]>::to_vec).collect::<Vec<_>>(), strings.clone());
            prop_assert_eq!(table.search(&sought), strings.binary_search(&sought));
            prop_assert!(Table::open(&file, part.start..part.end - 1, strings.len()).is_none());
            prop_assert!(Table::open(&file, part, usize::MAX / 2).is_none());
        }

        #[test]
        fn bytes_are_refused_or_a_table(bytes in prop::collection::vec(0_u8..9, 0..40), strings in 0_usize..6) {
            let length = bytes.len();
            if let Some(table) = Table::open(&Arc::new(bytes), 0..length, strings) {
                prop_assert_eq!(table.iter().count(), strings);
                prop_assert_eq!(table.iter().map(<[u8]>::len).sum::<usize>() + 4 * strings, length);
            }
        }
    }
}
