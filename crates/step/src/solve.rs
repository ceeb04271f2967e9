//! `solve`: the contact problem -> contact forces.

use super::{Failed, InvalidModel, StepReport};
use crate::formulation::ContactProblem;
use crate::model::Model;
use crate::state::SolverMemory;
use complementarity::problem::NotConvertible;
use complementarity::solver::{Budget, End, Solver};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Rows that the solves of a step may touch in all, some seconds of work; one solve takes at most a share of what is left.
const STEP_BUDGET: u64 = 400_000_000;
const SOLVE_SHARE: u64 = 2;
/// Relative residual at which a step is accepted if shorter ones did not reach the scene's tolerance. The report says so.
pub(super) const LOOSE: f64 = 1e-6;
/// Times that a solve may touch each row where overlap is to be undone: if that is not enough, the overlap is relaxed.
const TOUCHES: u64 = 2000;

/// Solves contact problems; keeps its memory from step to step.
#[derive(Debug, Clone)]
pub struct ContactSolver {
    solver: Solver,
    /// Whether forces are accepted at [`LOOSE`] if the scene's tolerance is not reached.
    pub(super) loose: bool,
    /// Whether forces are accepted that solve the problem as a whole, but not every element by itself.
    pub(super) single: bool,
    /// Whether large islands are pursued where a shorter step would be easier.
    pub try_harder: bool,
    /// Raised by others to end a solve.
    pub stop: Option<Arc<AtomicBool>>,
    /// Rows that the solves of this step may still touch.
    budget: u64,
}

/// The solution of a contact problem.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Forces {
    /// `lambda`, row by row, N and N m; before a solve, where it starts.
    pub lambda: Vec<f64>,
    /// `s = A lambda + b`, m/s and rad/s.
    pub velocity: Vec<f64>,
    /// Speed up to which each element is said to rest, m/s, for a rotational row rad/s: the tolerance times its reference speed
    /// ([`crate::model::Scales`]), and not less than what rounding leaves of its velocity.
    pub rest: Vec<f64>,
    /// What the solver remembers for the next step; before a solve, what it remembers of the last.
    pub memory: SolverMemory,
}

impl ContactSolver {
    /// The scene's method.
    pub fn new(model: &Model) -> Self {
        let step = &model.scene().step;
        let solver = Solver::new(step.solver, step.tolerance);
        Self { solver, loose: false, single: false, try_harder: true, stop: None, budget: STEP_BUDGET }
    }

    /// A step begins: it has the whole budget.
    pub fn begin_step(&mut self) {
        self.budget = STEP_BUDGET;
    }

    /// Work that one solve may do now.
    pub(super) fn share(&self) -> Budget {
        Budget { rows: self.budget.div_ceil(SOLVE_SHARE), stop: self.stop.clone() }
    }

    /// Takes work that another search did from the budget of the step.
    pub(super) fn spend(&mut self, rows: u64) {
        self.budget = self.budget.saturating_sub(rows);
    }

    /// Largest relative residual of a solution.
    pub(super) fn tolerance(&self) -> f64 {
        self.solver.tolerance()
    }

    /// Whether something of the step's budget is left.
    pub(crate) fn has_budget(&self) -> bool {
        self.budget > 0
    }

    /// Solves; where that fails and rigid bodies overlap, the overlap in the islands that failed is relaxed ([`ContactProblem::relax`]) and
    /// the problem solved again: gaps that are not negative never make a step insoluble.
    pub fn solve_or_relax(
        &mut self,
        problem: &mut ContactProblem,
        time: f64,
        forces: &mut Forces,
        report: &mut StepReport,
    ) -> Result<(), Failed> {
        let overlap = (0..problem.elements.len()).any(|k| problem.undoes_overlap(k));
        let most = if overlap { TOUCHES * problem.b.len() as u64 } else { u64::MAX };
        let why = match self.solve_within(most, problem, time, forces, report) {
            Err(why @ Failed::Unsolved { .. }) => why,
            other => return other,
        };
        let mut any = false;
        for k in 0..problem.elements.len() {
            if self.solver.left_unsolved(k) {
                forces.lambda[problem.rows_of(k)].fill(0.0);
                if problem.undoes_overlap(k) {
                    problem.relax(k);
                    any = true;
                }
            }
        }
        if any { self.solve(problem, time, forces, report) } else { Err(why) }
    }

    /// Solves from the forces and the memory that `forces` holds.
    pub fn solve(
        &mut self,
        problem: &ContactProblem,
        time: f64,
        forces: &mut Forces,
        report: &mut StepReport,
    ) -> Result<(), Failed> {
        self.solve_within(u64::MAX, problem, time, forces, report)
    }

    /// The same, touching at most so many rows.
    fn solve_within(
        &mut self,
        most: u64,
        problem: &ContactProblem,
        time: f64,
        forces: &mut Forces,
        report: &mut StepReport,
    ) -> Result<(), Failed> {
        forces.velocity.clear();
        forces.rest.clear();
        if problem.is_empty() {
            forces.memory.clear();
            return Ok(());
        }
        // the rest is for shorter steps
        let rows = most.min(self.budget.div_ceil(SOLVE_SHARE));
        self.solver.set_budget(Budget { rows, stop: self.stop.clone() });
        let Forces { lambda, memory, .. } = forces;
        if let Some(auto) = self.solver.as_auto() {
            auto.settings.try_harder = self.try_harder;
            (auto.at_rest, auto.choice) = (memory.at_rest, memory.choice);
        }
        let outcome = self.solver.solve(problem.view(), lambda, &mut memory.basis);
        self.budget -= rows - self.solver.budget().rows.min(rows);
        let outcome = outcome.map_err(|e| not_converted(time, &e))?;
        memory.choice = outcome.choice;
        memory.at_rest = self.solver.as_auto().is_some_and(|auto| auto.at_rest);
        report.wasted += outcome.wasted;
        if outcome.end == End::Interrupted {
            return Err(Failed::Interrupted { time });
        }
        let (natural, element) = (outcome.residual.natural, outcome.residual.element);
        // where single elements are nearly solved, a shorter step is not worth its changes
        let nearly = natural <= self.solver.tolerance() && (self.single || element <= LOOSE);
        let accepted = nearly || self.loose && natural <= LOOSE;
        if !outcome.is_solved() && !accepted {
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
        self.solver.write_rest(problem.view(), &forces.lambda, &mut forces.rest);
        report.iterations += outcome.iterations;
        if outcome.residual.relative >= report.residual.relative {
            (report.residual, report.solver) = (outcome.residual, outcome.solver);
        }
        report.loose += usize::from(!outcome.is_solved());
        report.choice = report.choice.max(outcome.choice);
        report.parts += 1;
        Ok(())
    }
}

fn not_converted(time: f64, why: &NotConvertible) -> Failed {
    Failed::Model(InvalidModel(format!("t = {time} s: contact problem: {why}")))
}
