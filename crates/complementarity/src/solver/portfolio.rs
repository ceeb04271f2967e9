//! `auto`: picks a solver, escalates when it fails, and says who answered.

use crate::problem::{FrictionProblem, Lcp, MixedLcp};
use crate::report::{Certificate, Progress, Report, Status};
use crate::residual::Residual;

/// Which algorithm to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// Lemke first; where it fails, decide.
    #[default]
    Auto,
    /// Lemke's method alone.
    Lemke,
    /// The interior-point method alone.
    InteriorPoint,
    /// Branch and bound to a solution or a proof.
    Decide,
}

/// Settings of all `solve_...` functions.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Which algorithm.
    pub method: Method,
    /// A solution counts when its relative residual is at most this.
    pub tolerance: f64,
    /// Ask for all solutions (decide).
    pub all: bool,
    /// Nodes after which decide gives up.
    pub max_nodes: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { method: Method::Auto, tolerance: 1e-8, all: false, max_nodes: 100_000 }
    }
}

fn later(size: usize) -> Report {
    Report {
        status: Status::Stalled,
        solver: "none",
        iterations: 0,
        residual: Residual::NONE,
        solution: vec![0.0; size],
        certificate: Certificate::Stopped { reason: String::new() },
    }
}

/// Solves an LCP; `watch` hears of the progress.
pub fn solve_lcp(problem: &Lcp, _settings: &Settings, _watch: &mut dyn FnMut(Progress)) -> Report {
    later(problem.size())
}

/// Solves a mixed LCP; the solution is the whole `z`.
pub fn solve_mixed(problem: &MixedLcp, _settings: &Settings, _watch: &mut dyn FnMut(Progress)) -> Report {
    later(problem.size())
}

/// Solves a friction problem under its pyramid or polygon; the solution holds the contact forces.
pub fn solve_friction(
    problem: &FrictionProblem,
    _settings: &Settings,
    _watch: &mut dyn FnMut(Progress),
) -> Report {
    later(problem.size())
}
