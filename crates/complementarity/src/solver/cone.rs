//! `auto` for Coulomb's cone: picks a solver, escalates when it fails, and says who answered (draft: shape only).

use super::{Outcome, gauss_seidel::GaussSeidel};
use crate::problem::ConeProblem;

/// Settings of [`ConeSolver`].
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// A solution counts when its relative residual is at most this.
    pub tolerance: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { tolerance: 1e-8 }
    }
}

/// All cone solvers with their memory.
#[derive(Debug, Clone, Default)]
pub struct ConeSolver {
    /// May be changed between solves.
    pub settings: Settings,
    gauss_seidel: GaussSeidel,
}

impl ConeSolver {
    /// Solves from the warm start `lambda`, which takes the answer.
    pub fn solve(&mut self, problem: ConeProblem<'_>, lambda: &mut [f64]) -> Outcome {
        self.gauss_seidel.settings.tolerance = self.settings.tolerance;
        self.gauss_seidel.solve(problem, lambda)
    }
}
