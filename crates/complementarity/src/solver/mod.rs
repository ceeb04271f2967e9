//! Who answers: one algorithm a file. Only `portfolio` and `cone` know the others.
//!
//! Solvers of friction problems as posed ([`crate::problem::ConeProblem`]) have one shape: a struct that keeps its memory, with public
//! `settings` and `solve(&mut self, problem, lambda) -> Outcome`, where `lambda` is the warm start on the way in and the answer on the
//! way out. After the first solve of a size they allocate nothing.

use crate::residual::Residual;

pub mod admm;
pub mod cone;
pub mod cone_interior_point;
pub mod decide;
pub mod gauss_seidel;
pub mod interior_point;
pub mod lemke;
pub mod newton;
pub mod portfolio;
pub mod velocity_newton;

mod scaled;
mod system;

/// How a solve of a cone problem ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The residual is within tolerance.
    Solved,
    /// The limit of iterations was met first.
    Limit,
    /// No further progress: iterating on would not help.
    Stalled,
    /// The parts of the problem do not fit each other, or an entry is not finite.
    Invalid,
}

/// What a cone solver did; the forces are in the slice it was given.
#[must_use]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// Who produced the answer.
    pub solver: &'static str,
    /// How it ended.
    pub end: End,
    /// Sweeps (Gauss-Seidel), linear systems solved (Newton and others).
    pub iterations: usize,
    /// Iterations of methods that did not end it.
    pub wasted: usize,
    /// Of the answer, by the judge.
    pub residual: Residual,
}

impl Outcome {
    /// The parts do not fit.
    pub const fn invalid(solver: &'static str) -> Self {
        Self { solver, end: End::Invalid, iterations: 0, wasted: 0, residual: Residual::NONE }
    }

    /// Whether the answer is within tolerance.
    pub fn is_solved(&self) -> bool {
        self.end == End::Solved
    }
}
