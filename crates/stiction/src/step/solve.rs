//! `solve`: the contact problem -> contact forces.

use super::{Failed, InvalidModel, StepReport};
use crate::formulation::ContactProblem;
use crate::model::Model;
use crate::state::SolverMemory;
use complementarity::problem::NotConvertible;
use complementarity::solver::{Budget, End, Solver};

/// Rows that one solve may touch, some seconds of work: a step whose problem takes more is made in halves.
const MOST_WORK: u64 = 200_000_000;

/// Solves contact problems; keeps its memory from step to step.
#[derive(Debug, Clone)]
pub struct ContactSolver {
    solver: Solver,
    /// Whether large islands are pursued where a shorter step would be easier.
    pub try_harder: bool,
    /// Work that each solve may do, and the flag that ends it.
    pub budget: Budget,
}

/// The solution of a contact problem.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Forces {
    /// `lambda`, row by row, N and N m; before a solve, where it starts.
    pub lambda: Vec<f64>,
    /// `s = A lambda + b`, m/s and rad/s.
    pub velocity: Vec<f64>,
    /// What the solver remembers for the next step; before a solve, what it remembers of the last.
    pub memory: SolverMemory,
}

impl ContactSolver {
    /// The scene's method.
    pub fn new(model: &Model) -> Self {
        let step = &model.scene().step;
        let solver = Solver::new(step.solver, step.tolerance);
        let budget = Budget { rows: MOST_WORK, stop: None };
        Self { solver, try_harder: true, budget }
    }

    /// Solves from the forces and the memory that `forces` holds.
    pub fn solve(
        &mut self,
        problem: &ContactProblem,
        time: f64,
        forces: &mut Forces,
        report: &mut StepReport,
    ) -> Result<(), Failed> {
        forces.velocity.clear();
        if problem.is_empty() {
            forces.memory.clear();
            return Ok(());
        }
        self.solver.set_budget(self.budget.clone());
        let Forces { lambda, memory, .. } = forces;
        if let Some(auto) = self.solver.as_auto() {
            (auto.settings.try_harder, auto.at_rest) = (self.try_harder, memory.at_rest);
        }
        let outcome = self.solver.solve(problem.view(), lambda, &mut memory.basis);
        let outcome = outcome.map_err(|e| not_converted(time, &e))?;
        memory.at_rest = self.solver.as_auto().is_some_and(|auto| auto.at_rest);
        report.wasted += outcome.wasted;
        if outcome.end == End::Interrupted {
            return Err(Failed::Interrupted { time });
        }
        if !outcome.is_solved() {
            report.wasted += outcome.iterations;
            let end = match outcome.end {
                End::Solved | End::Interrupted => "",
                End::Limit => "met its limit of work",
                End::Stalled => "made no further progress",
                End::Invalid => "was given numbers that are not finite",
            };
            let (solver, residual, cause) = (outcome.solver, outcome.residual.relative, String::new());
            return Err(Failed::Unsolved { time, h: problem.h, solver, end: end.into(), residual, cause });
        }
        forces.velocity.extend_from_slice(self.solver.speed());
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
