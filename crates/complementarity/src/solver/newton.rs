//! Semismooth Newton for contact problems with elements of all kinds; `proximal` is the proximal point method.
//!
//! Problem: `s = A lambda + b` under the law of each element ([`ContactProblem`]).
//!
//! Source: the generalised Newton method of Alart and Curnier (1991).
//! The map whose root is sought is `lambda_c - S_c(s_c - A_cc lambda_c)`, `S_c` the exact answer of a contact alone: Alart and Curnier's with the
//! best metric for each contact instead of a parameter `rho`. Its linearisation is in `system`.
//!
//! Deviations: after each step one Gauss-Seidel sweep puts every contact back on its law and says which state the next step is taken in. Steps
//! are full and may fail a few times in a row to decrease the residual (watchdog), for the states of contacts settle in leaps; then the best point
//! is taken up again, swept, and left with more weight on the diagonal (Levenberg). Where even the first steps fail, all contacts are once tried
//! as sticking. Islands are solved apart, each to its share of the tolerance.
//

pub mod proximal;
pub(crate) mod system;
#[cfg_attr(not(target_arch = "x86_64"), path = "newton/without_lanes.rs")]
pub(crate) mod through_bodies;

use super::{End, Outcome};
use crate::bench::{Bench, Done, Job, Limits, Task, Work, keep, restore};
use crate::operator::BlockMatrix;
use crate::problem::ContactProblem;
use crate::sweep::Sweeper;
use crate::units::Uniform;
use system::System;

/// Name in reports.
pub const NAME: &str = "newton";
/// Name in reports of Newton steps in the speeds of bodies, a part of `auto`.
pub const THROUGH_BODIES: &str = "newton-through-bodies";

/// Settings of Newton's method. Weights are in units of the mean diagonal of each contact's own block.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// A solution counts when its relative residual is at most this.
    pub tolerance: f64,
    /// Linear systems for an island.
    pub max_steps: usize,
    /// Weight on the diagonal of the first step's matrix, not part of the problem, less near a solution.
    pub weight: f64,
    /// The weight's least and largest value.
    pub weights: (f64, f64),
    /// Steps in a row that need not decrease the residual.
    pub bold_steps: usize,
    /// Times in a row that the method may return to the best point.
    pub max_returns: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            tolerance: 1e-8,
            max_steps: 100,
            weight: 1e-4,
            weights: (1e-9, 1e-2),
            bold_steps: 3,
            max_returns: 8,
        }
    }
}

/// Newton's method with its memory.
#[derive(Debug, Clone, Default)]
pub struct Newton {
    /// May be changed between solves.
    pub settings: Settings,
    pub(crate) bench: Bench,
    steps: Steps,
}

impl Newton {
    /// Empty memory.
    pub fn new(settings: Settings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// `s = A lambda + b` of the last result.
    pub fn speed(&self) -> &[f64] {
        &self.bench.evaluation.speed
    }

    /// Solves from the warm start `lambda`, which takes the result.
    pub fn solve(&mut self, problem: ContactProblem<'_>, lambda: &mut [f64]) -> Outcome {
        let tolerance = self.settings.tolerance;
        if let Some(outcome) = self.bench.begin(problem, lambda, tolerance, NAME) {
            return outcome;
        }
        self.steps.settings.clone_from(&self.settings);
        let limits = Limits { tolerance, goal: tolerance, foresight: 1.0 };
        self.bench.solve(problem, lambda, limits, (NAME, End::Stalled), &mut self.steps)
    }
}

impl Work for Steps {
    fn run<const D: usize>(&mut self, job: Job<'_>, y: &mut [f64]) -> usize {
        let settings = self.settings.clone();
        job.each(|sweeper, formed, task, _| {
            let (problem, a) = formed.blocks(task.problem);
            let task = Task { problem, ..task };
            sweeper.guess_states::<D>(problem, task.contacts, y);
            sweeper.sweep::<D>(problem, task.contacts, y);
            self.plain::<D>(With { sweeper, a, task, settings: &settings }, y)
        })
    }
}

/// What the steps work on.
pub(crate) struct With<'a> {
    pub sweeper: &'a mut Sweeper,
    pub a: &'a BlockMatrix,
    pub task: Task<'a>,
    pub settings: &'a Settings,
}

/// A step that succeeds multiplies the weight by this; less of a leap after one that failed.
const WEIGHT_DECREASE: f64 = 0.01;
/// Taking up the best point again multiplies the weight by this.
const WEIGHT_INCREASE: f64 = 10.0;
/// Relative residual (squared) up to which a solution is near.
const VERY_NEAR: f64 = 1e-6;
/// A step succeeds if it leaves at most this share of the residual (squared).
const DECREASE: f64 = 0.8;
/// Weight with which all contacts are tried as sticking, share of the residual (squared) that this must reach, and contacts from which on it is tried.
const STICK_WEIGHT: f64 = 1e-6;
const STICK_DECREASE: f64 = 1e-3;
const STICK_FROM: usize = 8;
/// Most sweeps from the best point; they double from one time to the next.
const MOST_SWEEPS: usize = 64;
/// Most sweeps after a step; they double with every failure.
const MOST_SMOOTHING: usize = 8;

/// Newton steps and their memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Steps {
    pub settings: Settings,
    system: System,
    from: Vec<f64>,
    best: Vec<f64>,
    given: Vec<f64>,
}

impl Steps {
    /// Steps on the problem that the sweeper sees, to the target or until nothing helps; the states must have been swept. What it leaves is not
    /// worse than what it was given.
    pub fn plain<const D: usize>(&mut self, with: With<'_>, lambda: &mut [f64]) -> Done {
        let With { sweeper, a, task: Task { problem, contacts, target, size }, settings } = with;
        self.system.reset();
        let mut residual = sweeper.residual::<D>(problem, contacts, lambda);
        let (mut best, given) = (residual, residual);
        keep::<D>(&mut self.best, contacts, lambda);
        keep::<D>(&mut self.given, contacts, lambda);
        // near a solution the weight only delays
        let near = if residual <= VERY_NEAR * size { (residual / size).sqrt() } else { 1.0 };
        let mut weight = (settings.weight * near).max(settings.weights.0);
        let (mut smoothing, mut decrease) = (1, WEIGHT_DECREASE);
        let (mut bold, mut failures, mut sweeps) = (0, 0, 2);
        let mut stick_untried = sweeper.alpha == 0.0 && contacts.len() > STICK_FROM;
        let mut iterations = 0;
        while iterations < settings.max_steps
            && residual > target
            && failures < settings.max_returns
            && sweeper.budget.ended().is_none()
        {
            iterations += 1;
            self.system.linearise::<D>(sweeper, problem, contacts, lambda);
            keep::<D>(&mut self.from, contacts, lambda);
            let solved = self.system.solve::<D>(sweeper, a, sweeper.alpha + weight);
            sweeper.budget.spend(D * self.system.cost());
            if solved {
                residual = self.step::<D>(sweeper, problem, contacts, lambda, smoothing);
                if residual <= DECREASE * best {
                    best = residual;
                    keep::<D>(&mut self.best, contacts, lambda);
                    (bold, failures, sweeps) = (0, 0, 2);
                    weight = (weight * decrease).max(settings.weights.0);
                    decrease = (decrease * decrease).max(WEIGHT_DECREASE);
                    continue;
                }
                bold += 1;
                if bold < settings.bold_steps && residual.is_finite() {
                    continue;
                }
            }
            bold = 0;
            if stick_untried {
                stick_untried = false;
                iterations += 1;
                if let Some(found) = self.stick::<D>(sweeper, a, problem, contacts, lambda, best) {
                    (residual, best, weight) = (found, found, STICK_WEIGHT);
                    keep::<D>(&mut self.best, contacts, lambda);
                    continue;
                }
            }
            restore::<D>(&self.best, contacts, lambda);
            sweeper.set_speeds(problem, lambda);
            failures += 1;
            smoothing = (2 * smoothing).min(MOST_SMOOTHING);
            decrease = decrease.sqrt().min(0.5);
            (0..sweeps).for_each(|_| _ = sweeper.sweep::<D>(problem, contacts, lambda));
            sweeps = (2 * sweeps).min(MOST_SWEEPS);
            residual = sweeper.residual::<D>(problem, contacts, lambda);
            best = residual;
            keep::<D>(&mut self.best, contacts, lambda);
            weight = (weight * WEIGHT_INCREASE).min(settings.weights.1);
        }
        if residual > best.min(given) {
            // sweeps from the best point may have made it worse
            let kept = if best <= given { &self.best } else { &self.given };
            restore::<D>(kept, contacts, lambda);
            sweeper.set_speeds(problem, lambda);
            residual = sweeper.residual::<D>(problem, contacts, lambda);
        }
        Done { iterations, residual }
    }

    /// Takes the step from `self.from`, sweeps, and returns the residual.
    fn step<const D: usize>(
        &self,
        sweeper: &mut Sweeper,
        problem: Uniform<'_>,
        contacts: &[usize],
        lambda: &mut [f64],
        sweeps: usize,
    ) -> f64 {
        self.system.step::<D>(contacts, &self.from, lambda);
        sweeper.set_speeds(problem, lambda);
        (0..sweeps).for_each(|_| _ = sweeper.sweep::<D>(problem, contacts, lambda));
        sweeper.residual::<D>(problem, contacts, lambda)
    }

    /// All contacts sticking, from zero: the residual if that is much better than `best`.
    fn stick<const D: usize>(
        &mut self,
        sweeper: &mut Sweeper,
        a: &BlockMatrix,
        problem: Uniform<'_>,
        contacts: &[usize],
        lambda: &mut [f64],
        best: f64,
    ) -> Option<f64> {
        self.from.fill(0.0);
        restore::<D>(&self.from, contacts, lambda);
        sweeper.set_speeds(problem, lambda);
        sweeper.residual::<D>(problem, contacts, lambda);
        self.system.stick_all::<D>(sweeper, contacts);
        if !self.system.solve::<D>(sweeper, a, sweeper.alpha + STICK_WEIGHT) {
            return None;
        }
        let found = self.step::<D>(sweeper, problem, contacts, lambda, 3);
        (found <= STICK_DECREASE * best).then_some(found)
    }
}
