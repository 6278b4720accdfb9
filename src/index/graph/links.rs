//! The links of a graph as a snapshot has them, read in place. All integers are little-endian.
//!
//! | bytes | what |
//! |---|---|
//! | 4 | how many layers there are above the lowest |
//! | 4 each | how many points each of those has, from the lower to the higher: at least 1, and less than the one below |
//! | 4 a point | the number of its passage |
//! | … | a table of a list for each point of each layer, the lowest first: its neighbours there, 4 bytes each |
//!
//! The points of a layer are the first of those below it, and point 0 is where a search begins.

use std::ops::Range;
use std::sync::Arc;

use super::super::table::{Numbers, Table};
use crate::vectors::Bytes;

const NUMBER: usize = size_of::<u32>();

#[derive(Debug, Clone)]
pub(super) struct Links {
    section: Bytes,
    /// How many points the layers above the lowest have.
    above: Numbers,
    rows: Numbers,
    lists: Table,
}

impl Links {
    /// Those of so many points that a part of a file consists of; nothing when it does not, or a neighbour is none.
    pub(super) fn open(file: &Arc<Vec<u8>>, part: Range<usize>, points: usize) -> Option<Self> {
        let mut at = part.start;
        let mut numbers = |count: usize| {
            let end = count.checked_mul(NUMBER)?.checked_add(at).filter(|&end| end <= part.end)?;
            Numbers::open(file, std::mem::replace(&mut at, end)..end)
        };
        let layers = numbers(1)?.get(0)?;
        let (above, rows) = (numbers(layers as usize)?, numbers(points)?);
        let (mut lists, mut below) = (points, points);
        for size in above.iter().map(|size| size as usize) {
            if size == 0 || size >= below {
                return None;
            }
            (lists, below) = (lists.checked_add(size)?, size);
        }
        let lists = Table::open(file, at..part.end, lists)?;
        let links = Self { section: Bytes::part(file, part)?, above, rows, lists };
        (points > 0 && links.are_within_their_layers()).then_some(links)
    }

    fn are_within_their_layers(&self) -> bool {
        let mut lists = self.lists.iter();
        (0..self.layers()).all(|layer| {
            let points = self.points_on(layer);
            let is_within = |list: &[u8]| {
                let (neighbours, rest) = list.as_chunks();
                rest.is_empty() && neighbours.iter().all(|&point| (u32::from_le_bytes(point) as usize) < points)
            };
            lists.by_ref().take(points).all(is_within)
        })
    }

    /// The section of a snapshot: of each point its row, of each point of each layer its neighbours.
    #[cfg(feature = "build-graph")]
    pub(super) fn section(rows: &[u32], layers: &[Vec<Vec<u32>>]) -> Vec<u8> {
        let above = layers.iter().skip(1).map(|layer| layer.len() as u32);
        let mut section = (above.len() as u32).to_le_bytes().to_vec();
        section.extend(above.chain(rows.iter().copied()).flat_map(u32::to_le_bytes));
        let list = |neighbours: &Vec<u32>| neighbours.iter().flat_map(|point| point.to_le_bytes()).collect();
        Table::write(layers.iter().flatten().map(list), &mut section);
        section
    }

    /// The same section with other rows.
    pub(super) fn renumbered(&self, number: impl Fn(u32) -> u32) -> Vec<u8> {
        let start = (1 + self.above.len()) * NUMBER;
        let mut section = self.section.to_vec();
        let (numbers, _) = section[start..].as_chunks_mut();
        for (bytes, row) in numbers.iter_mut().zip(self.rows.iter()) {
            *bytes = number(row).to_le_bytes();
        }
        section
    }

    /// How many points there are.
    pub(super) fn points(&self) -> usize {
        self.rows.len()
    }

    /// How many layers there are.
    pub(super) fn layers(&self) -> usize {
        1 + self.above.len()
    }

    /// The row of a point.
    pub(super) fn row(&self, point: u32) -> Option<u32> {
        self.rows.get(point as usize)
    }

    /// The rows of the points, in their order.
    pub(super) fn rows(&self) -> impl Iterator<Item = u32> {
        self.rows.iter()
    }

    /// The neighbours of a point on a layer that has it.
    pub(super) fn neighbours(&self, layer: usize, point: u32) -> impl Iterator<Item = u32> {
        let before = (0..layer).map(|below| self.points_on(below)).sum::<usize>();
        let list = self.lists.get(before + point as usize).unwrap_or_default();
        list.as_chunks().0.iter().map(|&neighbour| u32::from_le_bytes(neighbour))
    }

    fn points_on(&self, layer: usize) -> usize {
        let above = layer.checked_sub(1).and_then(|at| self.above.get(at));
        above.map_or(self.points(), |size| size as usize)
    }
}

/// A bit a number.
pub(super) struct Marks(Vec<u64>);

impl Marks {
    /// None yet of the numbers below.
    pub(super) fn new(numbers: usize) -> Self {
        Self(vec![0; numbers.div_ceil(64)])
    }

    /// Marks a number; whether it is one and was not marked.
    pub(super) fn add(&mut self, number: u32) -> bool {
        let Some(word) = self.0.get_mut(number as usize / 64) else { return false };
        let bit = 1 << (number % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }
}

#[cfg(all(test, feature = "build-graph"))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn opened(section: Vec<u8>, points: usize) -> Option<Links> {
        // Not at the beginning of its file.
        let file = [vec![9; 3], section].concat();
        let length = file.len();
        Links::open(&Arc::new(file), 3..length, points)
    }

    fn layers() -> [Vec<Vec<u32>>; 3] {
        [vec![vec![1, 2], vec![0], vec![3, 1], vec![]], vec![vec![1], vec![0]], vec![vec![]]]
    }

    #[test]
    fn links_are_read_where_they_lie() {
        let section = Links::section(&[7, 5, 6, 9], &layers());
        let links = opened(section, 4).unwrap();
        assert_eq!((links.points(), links.layers()), (4, 3));
        assert_eq!(links.rows().collect::<Vec<_>>(), [7, 5, 6, 9]);
        for (layer, lists) in layers().iter().enumerate() {
            for (point, list) in (0..).zip(lists) {
                assert_eq!(&links.neighbours(layer, point).collect::<Vec<_>>(), list);
            }
        }
        let renumbered = opened(links.renumbered(|row| row - 5), 4).unwrap();
        assert_eq!(renumbered.rows().collect::<Vec<_>>(), [2, 0, 1, 4]);
        assert_eq!(renumbered.lists.get(0), links.lists.get(0));
    }

    #[test]
    fn layers_get_smaller_and_neighbours_are_on_their_layer() {
        let section = Links::section(&[7, 5, 6, 9], &layers());
        for points in [0, 3, 5, usize::MAX] {
            assert!(opened(section.clone(), points).is_none());
        }
        let with = |layer: usize, point: usize, neighbour: u32| {
            let mut layers = layers();
            layers[layer][point].push(neighbour);
            opened(Links::section(&[7, 5, 6, 9], &layers), 4)
        };
        assert!(with(0, 3, 3).is_some() && with(1, 1, 1).is_some() && with(2, 0, 0).is_some());
        assert!(with(0, 3, 4).is_none() && with(1, 1, 2).is_none() && with(2, 0, 1).is_none());
        assert!(with(0, 0, u32::MAX).is_none());
        // As large as the one below, none at all, more than there is of the file.
        for (layers, at, size) in
            [(1, 4, 4), (1, 4, 0), (2, 8, 2), (2, 4, 1), (2, 0, 3), (2, 0, u32::MAX), (2, 4, u32::MAX)]
        {
            let mut changed = Links::section(&[7, 5, 6, 9], &self::layers()[..=layers]);
            assert!(opened(changed.clone(), 4).is_some());
            changed[at..at + 4].copy_from_slice(&u32::to_le_bytes(size));
            assert!(opened(changed, 4).is_none(), "{size} at {at}");
        }
        for length in 0..section.len() {
            assert!(opened(section[..length].to_vec(), 4).is_none());
        }
    }

    proptest! {
        #[test]
        fn bytes_are_refused_or_links(bytes in prop::collection::vec(0_u8..3, 0..80), points in 0_usize..4, whole in any::<bool>()) {
            let words: Vec<u8> = bytes.iter().flat_map(|&byte| [byte, 0, 0, 0]).collect();
            let Some(links) = opened(if whole { words } else { bytes }, points) else { return Ok(()) };
            for layer in 0..links.layers() {
                let on = links.points_on(layer) as u32;
                prop_assert!((0..on).all(|point| links.neighbours(layer, point).all(|neighbour| neighbour < on)));
            }
        }
    }
}
