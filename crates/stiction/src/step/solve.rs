//! The contact problem -> contact forces.

use super::assemble::Rows;
use super::{Failed, InvalidModel, StepReport};
use crate::scene::{Scene, SolverKind};
use complementarity::problem::NotConvertible;
use complementarity::solver::{End, Method, Solver};

/// Solves contact problems; keeps its memory from step to step.
#[derive(Debug)]
pub(super) struct ContactSolver {
    solver: Solver,
    /// Whether large islands are pursued where a shorter step would be easier.
    pub stubborn: bool,
    /// Forces, row by row; where a solver starts.
    pub lambda: Vec<f64>,
}

impl ContactSolver {
    pub fn new(scene: &Scene) -> Self {
        let method = match scene.step.solver {
            SolverKind::Auto => Method::Auto,
            SolverKind::Lemke => Method::Lemke,
            SolverKind::GaussSeidel => Method::GaussSeidel,
            SolverKind::Newton => Method::Newton,
            SolverKind::ProximalNewton | SolverKind::ExactProximal | SolverKind::Admm => {
                Method::ProximalNewton
            }
            SolverKind::InteriorPoint => Method::ConeInteriorPoint,
        };
        Self { solver: Solver::new(method, scene.step.tolerance), stubborn: true, lambda: vec![] }
    }

    /// Whether the state's basis is one of an LCP.
    pub fn is_lemke(&self) -> bool {
        self.solver.is_lemke()
    }

    /// `s = A lambda + b` of the last solve, if there were contacts.
    pub fn speed(&self) -> &[f64] {
        self.solver.speed()
    }

    /// Forces into `lambda`, which holds the last ones. `basis` is the state's: where Lemke's method starts (none if it is empty) and then
    /// where it ended (empty if it did not); with `auto` whether bodies are at rest.
    pub fn solve(
        &mut self,
        rows: &Rows,
        time: f64,
        h: f64,
        basis: &mut Vec<usize>,
        report: &mut StepReport,
    ) -> Result<(), Failed> {
        let problem = rows.problem();
        if problem.b.is_empty() {
            basis.clear();
            return Ok(());
        }
        if let Some(auto) = self.solver.as_auto() {
            (auto.settings.try_harder, auto.at_rest) = (self.stubborn, !basis.is_empty());
        }
        let outcome =
            self.solver.solve(problem, &mut self.lambda, basis).map_err(|e| not_converted(time, &e))?;
        if let Some(auto) = self.solver.as_auto() {
            // room for its one entry from the first step on, so that no later one allocates
            basis.reserve(1);
            basis.resize(usize::from(auto.at_rest), 0);
        }
        report.wasted += outcome.wasted;
        if !outcome.is_solved() {
            report.wasted += outcome.iterations;
            let end = match outcome.end {
                End::Solved => "",
                End::Limit => "met its limit of work",
                End::Stalled => "made no further progress",
                End::Interrupted => "was interrupted",
                End::Invalid => "was given numbers that are not finite",
            };
            let (solver, residual) = (outcome.solver, outcome.residual.relative);
            return Err(Failed::Unsolved {
                time,
                h,
                solver,
                end: end.into(),
                residual,
                cause: String::new(),
            });
        }
        report.iterations += outcome.iterations;
        if outcome.residual.relative >= report.residual.relative {
            (report.residual, report.solver) = (outcome.residual, outcome.solver);
        }
        report.parts += 1;
        Ok(())
    }
}

fn not_converted(time: f64, why: &NotConvertible) -> Failed {
    Failed::Model(InvalidModel(format!("t = {time} s: contact problem: {why}")))
}
