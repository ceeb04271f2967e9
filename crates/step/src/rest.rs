//! Rest is a candidate first: contacts that begin a step at rest stay there, if loads can hold them.
//!
//! A step's problem with rigid contacts and friction may have several solutions: a capstan that holds may also be thrown off. Methods
//! that solve it find one of them. So where contacts begin at rest and the solution sets them moving, a solution at rest is searched before it is believed
//! ([`complementarity::solver::velocity_newton::rest`]). If loads make its forces, it is taken; if they need to be there from the start, as those of a block
//! wedged between walls, the motion is. In both cases two motions are known: the step is `motion-not-unique`.
//!
//! This is asked island by island. An island is searched if all its closed rigid contacts with friction begin at rest, relative to what
//! they touch: on a belt that runs evenly, too. With `step.branch = "nearest"` the solver's own motion is followed. Compliant contacts
//! are not asked about.

use super::{ContactSolver, Failed, Forces, StepReport, Trust};
use crate::contact::set::ContactSet;
use crate::formulation::ContactProblem;
use crate::model::Model;
use crate::motion::{CLOSED, Motion};
use crate::scene::Branch;
use crate::state::{RowId, State};
use complementarity::problem::Element;
use complementarity::residual::Residual;
use complementarity::solver::velocity_newton::rest::{Beginning, NAME, RestSearch};

/// The search, with its memory.
#[derive(Debug, Clone, Default)]
pub(super) struct Rest {
    search: RestSearch,
    beginnings: Vec<Beginning>,
    /// Relative velocities when the step begins, row by row.
    before: Vec<f64>,
    scratch: Vec<f64>,
    /// Elements that solves of this step kept at rest, and whether another motion is known.
    kept: Vec<usize>,
    other: bool,
    /// Elements that could rest by forces that no load makes, and were let go.
    left: Vec<usize>,
}

/// What a solve writes: the time of the step, forces and report.
type Answer<'a> = (f64, &'a mut Forces, &'a mut StepReport);

impl Rest {
    /// A step, or a part of it, begins.
    pub fn begin(&mut self) {
        self.kept.clear();
        self.left.clear();
        self.other = false;
    }

    /// [`ContactSolver::solve_or_relax`], with rest as the first candidate.
    pub fn solve_or_relax(
        &mut self,
        model: &Model,
        solver: &mut ContactSolver,
        (problem, motion): (&mut ContactProblem, &Motion),
        (time, forces, report): Answer<'_>,
    ) -> Result<(), Failed> {
        let (stood, before) = (forces.memory.at_rest, report.residual);
        let found = solver.solve_or_relax(problem, time, forces, report);
        if stood && stands(forces) {
            found
        } else {
            self.stay(model, solver, (problem, motion), (time, forces, report), (found, before))
        }
    }

    /// [`ContactSolver::solve`], with rest as the first candidate.
    pub fn solve(
        &mut self,
        model: &Model,
        solver: &mut ContactSolver,
        (problem, motion): (&ContactProblem, &Motion),
        (time, forces, report): Answer<'_>,
    ) -> Result<(), Failed> {
        let (stood, before) = (forces.memory.at_rest, report.residual);
        let found = solver.solve(problem, time, forces, report);
        if stood && stands(forces) {
            found
        } else {
            self.stay(model, solver, (problem, motion), (time, forces, report), (found, before))
        }
    }

    /// Replaces what was found by a solution at rest, where there is one. `before`: the residual of the report before it was found.
    fn stay(
        &mut self,
        model: &Model,
        solver: &mut ContactSolver,
        (problem, motion): (&ContactProblem, &Motion),
        (_, forces, report): Answer<'_>,
        (found, before): (Result<(), Failed>, Residual),
    ) -> Result<(), Failed> {
        let failed = matches!(found, Err(Failed::Unsolved { .. }));
        let asked = model.scene().step.branch == Branch::Rest && !problem.is_empty() && problem.theta < 1.0;
        // forces that were kept are those of bodies that stay as they are
        if !asked || found.is_err() && !failed || !self.begins_at_rest(problem, motion, &forces.lambda) {
            return found;
        }
        let budget = solver.share();
        let rows = budget.rows;
        let ending = |k: usize, lambda: &[f64], speed: &[f64]| ending(problem, k, lambda, speed);
        let speed = if failed { &[][..] } else { &forces.velocity[..] };
        let (asks, limits) = ((&self.beginnings[..], &ending as _), (solver.tolerance(), budget));
        let kept = self.search.solve(problem.view(), &mut forces.lambda, speed, asks, limits);
        solver.spend(rows - self.search.budget().rows.min(rows));
        if self.search.has_searched() {
            // what another round of the step found holds no longer
            self.kept.clear();
            self.left.clear();
            self.left.extend_from_slice(self.search.left());
        }
        let Some(outcome) = kept else { return found };
        forces.velocity.clear();
        forces.velocity.extend_from_slice(self.search.speed());
        self.search.write_rest(problem.view(), &forces.lambda, solver.tolerance(), &mut forces.rest);
        // forces of bodies at rest are kept as long as they solve the problem
        (forces.memory.at_rest, forces.memory.choice) = (true, outcome.choice);
        report.iterations += outcome.iterations;
        report.choice = report.choice.max(outcome.choice);
        report.parts += usize::from(failed);
        report.solver = NAME;
        // what was found first is not what happens
        let worse = outcome.residual.relative >= before.relative;
        report.residual = if worse { outcome.residual } else { before };
        self.kept.extend_from_slice(self.search.kept());
        self.other |= !failed;
        Ok(())
    }

    /// Reads how the elements begin the step; whether a rigid contact with friction is closed.
    fn begins_at_rest(&mut self, problem: &ContactProblem, motion: &Motion, lambda: &[f64]) -> bool {
        let Self { beginnings, before, scratch, .. } = self;
        let share = 1.0 - problem.theta;
        problem.relative_velocities(motion.kick(), &motion.velocity, scratch, before);
        before.iter_mut().for_each(|v| *v /= share);
        beginnings.clear();
        let mut any = false;
        for (k, element) in problem.elements.iter().enumerate() {
            let at = problem.rows_of(k);
            let gap_rate = problem.gap_rate.get(k).copied().unwrap_or(0.0);
            let linear = at.start..at.start + problem.linear_rows.min(at.len());
            let change = |row: usize| {
                let own = if row == at.start { gap_rate } else { 0.0 };
                problem.b[row] - own - before[row]
            };
            let mut begin =
                Beginning { load: linear.clone().map(change).fold(0.0, f64::hypot), ..Beginning::default() };
            let rubs = matches!(element, Element::Contact(c) if c.mu > 0.0);
            let closed = problem.gap[k] <= CLOSED;
            if rubs && problem.factors().patch(k).is_none() && (closed || lambda[at.start] > 0.0) {
                begin.speed = Some(linear.map(|row| before[row]).fold(0.0, f64::hypot));
                begin.noise = if closed { gap_rate.abs() } else { 0.0 };
                any = true;
            }
            beginnings.push(begin);
        }
        any
    }

    /// Says of a step, or a part of it, that another motion is known.
    pub fn note(
        &self,
        (model, contacts, problem): (&Model, &ContactSet, &ContactProblem),
        state: &mut State,
        report: &mut StepReport,
        rows: &mut Vec<RowId>,
    ) {
        let rested = self.other && !self.kept.is_empty();
        if !rested && self.left.is_empty() {
            return;
        }
        (report.trust, state.solver.trust) = (Trust::MotionNotUnique, Trust::MotionNotUnique);
        report.rested |= rested;
        report.left_rest |= !self.left.is_empty();
        rows.clear();
        for &k in self.kept.iter().chain(&self.left).filter(|k| **k < problem.elements.len()) {
            let id = super::theta::row_id(model, contacts, problem, k);
            if rows.last() != Some(&id) {
                rows.push(id);
            }
        }
    }
}

/// Whether the last forces still solve the problem: bodies that stood, on forces that are not zero, stand.
fn stands(forces: &Forces) -> bool {
    forces.memory.at_rest && forces.lambda.iter().any(|f| *f != 0.0)
}

/// Relative velocity with which an element ends the step, m/s: slip where it carries force, and what opens it where it does not.
fn ending(problem: &ContactProblem, k: usize, lambda: &[f64], speed: &[f64]) -> f64 {
    let rubs = matches!(&problem.elements[k], Element::Contact(c) if c.mu > 0.0);
    if !rubs || problem.factors().patch(k).is_some() {
        return 0.0;
    }
    match lambda[0] > 0.0 {
        true => speed[1..problem.linear_rows.min(speed.len())].iter().fold(0.0, |m: f64, s| m.hypot(*s)),
        false if problem.gap[k] <= CLOSED => (speed[0] - problem.gap_rate[k]).abs(),
        false => 0.0,
    }
}
