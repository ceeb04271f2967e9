//! In place of `through_bodies` on processors whose lanes are not used yet.

use crate::bench::{Done, Task};
use crate::sweep::Sweeper;

/// Nothing.
#[derive(Debug, Clone, Default)]
pub(crate) struct ThroughBodies;

impl ThroughBodies {
    /// Solves nothing.
    pub fn solve<const D: usize>(
        &mut self,
        _: &mut Sweeper,
        _: Task<'_>,
        _: &mut [f64],
        _: bool,
    ) -> Option<Done> {
        None
    }
}
