//! In place of the graph, in builds without the feature `graph`: there is none, and what a snapshot has of one stays
//! in it unread.

use std::ops::Range;
use std::sync::Arc;

use super::passages::Position;
use super::snapshot::SnapshotError;
use crate::vectors::{Checked, Near, Vectors};

/// A graph that cannot be.
#[derive(Clone)]
pub(super) enum Graph {}

impl Graph {
    #[expect(clippy::unnecessary_wraps, reason = "where there are graphs, one can be damaged")]
    pub(super) fn load(
        _: &Arc<Vec<u8>>,
        _: Range<usize>,
        _: &Vectors,
        _: usize,
    ) -> Result<Option<Self>, SnapshotError> {
        Ok(None)
    }

    pub(super) fn save(&self, _: impl Fn(u32) -> u32) -> Vec<u8> {
        match *self {}
    }

    pub(super) fn is_whole(&self) -> bool {
        match *self {}
    }

    pub(super) fn add(&mut self, _: u32) {
        match *self {}
    }

    pub(super) fn remove(&mut self, _: u32, _: &Vectors) -> bool {
        match *self {}
    }

    pub(super) fn search<'a>(
        &self,
        _: &Vectors,
        _: Checked<'_>,
        _: usize,
        _: impl Fn(u32) -> Position<'a>,
    ) -> Option<Vec<Near>> {
        match *self {}
    }
}
