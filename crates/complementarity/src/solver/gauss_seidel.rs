//! Block Gauss-Seidel (draft: shape only).

use super::{End, Outcome};
use crate::problem::ConeProblem;
use crate::residual::{self, ConeScratch};

/// Name in reports.
pub const NAME: &str = "gauss-seidel";

/// Settings of Gauss-Seidel.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// A solution counts when its relative residual is at most this.
    pub tolerance: f64,
    /// Sweeps over all contacts before it gives up.
    pub max_sweeps: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { tolerance: 1e-8, max_sweeps: 10_000 }
    }
}

/// Gauss-Seidel with its memory.
#[derive(Debug, Clone, Default)]
pub struct GaussSeidel {
    /// May be changed between solves.
    pub settings: Settings,
    scratch: ConeScratch,
}

impl GaussSeidel {
    /// Solves from the warm start `lambda`, which takes the answer.
    pub fn solve(&mut self, problem: ConeProblem<'_>, lambda: &mut [f64]) -> Outcome {
        let residual = residual::cone(problem, lambda, &mut self.scratch);
        let end = if residual.relative <= self.settings.tolerance { End::Solved } else { End::Limit };
        Outcome { solver: NAME, end, iterations: 0, residual }
    }
}
