//! How a solve ends, and what it may spend.

use crate::residual::Residual;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How a solve ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// The residual is within tolerance.
    Solved,
    /// A limit of iterations, or the budget, was met first.
    Limit,
    /// No further progress: iterating on would not help.
    Stalled,
    /// The stop flag was raised.
    Interrupted,
    /// The parts of the problem do not fit each other, an entry is not finite, or a contact slides already.
    Invalid,
}

/// Which of several forces were returned. Ordered: of several islands the last counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// No other forces are near: the linearised laws leave none open.
    Unique,
    /// Other forces solve the problem too. Those returned are the limit of solutions with equal compliance on every rigid
    /// element: they depend neither on the warm start nor on the order of elements.
    Chosen,
    /// Like [`Self::Chosen`], but contacts change their state below the least compliance that was tried: the forces are a
    /// solution near those with that compliance, and not exactly the limit.
    Near,
    /// Not examined: by another method than `auto`, without the factors of `A`, or because the work allowed was used up.
    #[default]
    NotExamined,
    /// The solution with compliance cannot be followed to the rigid one: the motion itself is not unique. The forces are those of the
    /// branch that was reached.
    NoLimit,
    /// Forces grow without bound as the compliance vanishes: there is no rigid solution nearby.
    Unbounded,
}

impl Choice {
    /// Whether the forces do not depend on where the solver started.
    pub fn is_made(self) -> bool {
        matches!(self, Self::Unique | Self::Chosen | Self::Near)
    }
}

/// What a solver of contact problems did; the forces are in the slice it was given.
#[must_use]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// Method that produced the result.
    pub solver: &'static str,
    /// How it ended.
    pub end: End,
    /// Sweeps (Gauss-Seidel), linear systems solved (Newton and others).
    pub iterations: usize,
    /// Iterations of methods that did not end it.
    pub wasted: usize,
    /// Residual of the returned forces.
    pub residual: Residual,
    /// Which of several forces they are.
    pub choice: Choice,
}

impl Outcome {
    /// The parts do not fit.
    pub const fn invalid(solver: &'static str) -> Self {
        Self::new(solver, End::Invalid, 0, Residual::NONE)
    }

    /// An outcome without wasted iterations, whose choice of forces is not examined.
    pub(crate) const fn new(solver: &'static str, end: End, iterations: usize, residual: Residual) -> Self {
        Self { solver, end, iterations, wasted: 0, residual, choice: Choice::NotExamined }
    }

    /// Whether the result is within tolerance.
    pub fn is_solved(&self) -> bool {
        self.end == End::Solved
    }
}

/// Work that a solve may do, and a flag that ends it. Work is counted, not timed, so that runs repeat bitwise.
#[derive(Debug, Clone)]
pub struct Budget {
    /// Rows that may still be touched: a sweep over an island touches its rows once, a Newton step counts as the sweeps that it costs.
    pub rows: u64,
    /// Raised by others to end the solve.
    pub stop: Option<Arc<AtomicBool>>,
}

impl Default for Budget {
    fn default() -> Self {
        Self { rows: u64::MAX, stop: None }
    }
}

/// Entries of a dense row whose update takes about as long as a row of a sweep.
const DENSE_ENTRIES: usize = 64;

impl Budget {
    /// Counts work.
    #[inline]
    pub(crate) fn spend(&mut self, rows: usize) {
        self.rows = self.rows.saturating_sub(rows as u64);
    }

    /// Counts the work of a rank-one update of a dense matrix: a pivot.
    #[inline]
    pub(crate) fn spend_pivot(&mut self, rows: usize, columns: usize) {
        self.spend(rows * columns.div_ceil(DENSE_ENTRIES));
    }

    /// Counts the work of an LU factorisation of order `n`: a third of `n` pivots.
    pub(crate) fn spend_factorisation(&mut self, n: usize) {
        self.spend(n.div_ceil(3) * n * n.div_ceil(DENSE_ENTRIES));
    }

    /// Why no more work may be done; `None` if it may.
    #[inline]
    pub(crate) fn ended(&self) -> Option<End> {
        match &self.stop {
            Some(stop) if stop.load(Ordering::Relaxed) => Some(End::Interrupted),
            _ if self.rows == 0 => Some(End::Limit),
            _ => None,
        }
    }
}
