//! Semismooth Newton for Coulomb's cone and polygons, plain and proximal.
//!
//! Problem: `s = A lambda + b` under unilateral contact and Coulomb's law ([`ConeProblem`]).
//!
//! Source: the generalised Newton method of Alart and Curnier (1991); proximal point with Newton inside as in Acary, Bremond, Huber (2018), section 4.
//! The map whose root is sought is `lambda_c - S_c(s_c - A_cc lambda_c)`, `S_c` the exact answer of a contact alone: Alart and Curnier's with the
//! best metric for each contact instead of a parameter `rho`. Its linearisation is in `system`.
//!
//! Deviations: after each step one Gauss-Seidel sweep puts every contact back on its law and says which state the next step is taken in. Steps
//! are full and may fail a few times in a row to decrease the residual (watchdog), for the states of contacts settle in leaps; then the best point
//! is taken up again, swept, and left with more weight on the diagonal (Levenberg). Where even the first steps fail, all contacts are once tried
//! as sticking. Islands are solved apart, each to its share of the tolerance.
//!
//! Proximal: `s = A lambda + b + alpha D (lambda - centre)` is solved, then the centre moves. Where forces are not unique, or `A` is singular, each
//! of these problems still has an isolated solution. It is sought from the solution of a convex one (`convex`); `alpha` shrinks with the residual.

pub(crate) mod convex;
pub mod exact;
pub(crate) mod system;
#[cfg_attr(not(target_arch = "x86_64"), path = "without_lanes.rs")]
pub(crate) mod through_bodies;

use super::{End, Outcome};
use crate::bench::{Bench, Done, Task, allowance, by_rows, keep, restore, size_of};
use crate::operator::{BlockMatrix, Operator};
use crate::problem::ConeProblem;
use crate::sweep::Sweeper;
use convex::{Convex, Proximal};
use system::System;

/// Name in reports of the plain method.
pub const NAME: &str = "newton";
/// Name in reports of the proximal method.
pub const PROXIMAL: &str = "proximal-newton";
/// Name in reports of Newton steps in the speeds of bodies, a part of `auto`.
pub const THROUGH_BODIES: &str = "newton-through-bodies";

/// Settings of Newton's method. Weights are in units of the mean diagonal of each contact's own block.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// A solution counts when its relative residual is at most this.
    pub tolerance: f64,
    /// Whether to move a proximal centre.
    pub proximal: bool,
    /// Linear systems for an island, and for one position of the centre.
    pub max_steps: usize,
    /// Weight on the diagonal of the first step's matrix, not part of the problem, less near a solution.
    pub weight: f64,
    /// The weight's least and largest value.
    pub weights: (f64, f64),
    /// Steps in a row that need not decrease the residual.
    pub bold_steps: usize,
    /// Times in a row that the best point may be taken up again.
    pub patience: usize,
    /// Proximal weight `alpha` of the first centre.
    pub alpha: f64,
    /// Its least and largest value.
    pub alphas: (f64, f64),
    /// While the relative residual is `r`, `alpha` stays above this times the root of `r`.
    pub alpha_floor: f64,
    /// Positions of the centre.
    pub max_centres: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            tolerance: 1e-8,
            proximal: false,
            max_steps: 100,
            weight: 1e-4,
            weights: (1e-9, 1e-2),
            bold_steps: 3,
            patience: 8,
            alpha: 1e-2,
            alphas: (1e-10, 10.0),
            alpha_floor: 0.1,
            max_centres: 150,
        }
    }
}

/// Newton's method with its memory.
#[derive(Debug, Clone, Default)]
pub struct Newton {
    /// May be changed between solves.
    pub settings: Settings,
    bench: Bench,
    steps: Steps,
}

impl Newton {
    /// Empty memory.
    pub fn new(settings: Settings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// `s = A lambda + b` of the last answer.
    pub fn speed(&self) -> &[f64] {
        &self.bench.judged.speed
    }

    /// Solves from the warm start `lambda`, which takes the answer.
    pub fn solve(&mut self, problem: ConeProblem<'_>, lambda: &mut [f64]) -> Outcome {
        let tolerance = self.settings.tolerance;
        let name = if self.settings.proximal { PROXIMAL } else { NAME };
        if let Some(outcome) = self.bench.begin(problem, lambda, tolerance, name) {
            return outcome;
        }
        let steps = by_rows!(problem.rows, self.run(problem, lambda));
        self.bench.judge(problem, lambda, tolerance, name, steps, End::Stalled)
    }

    fn run<const D: usize>(&mut self, problem: ConeProblem<'_>, lambda: &mut [f64]) -> usize {
        let Bench { sweeper, islands, formed, .. } = &mut self.bench;
        let problem = formed.blocks(problem);
        let Operator::Blocks(a) = problem.a else { return 0 };
        sweeper.prepare::<D>(problem, lambda);
        islands.find(problem.a, D, problem.mu.len());
        let size = size_of(problem.b);
        let allowed = allowance(size, self.settings.tolerance) / problem.mu.len() as f64;
        let mut total = 0;
        for k in 0..islands.count() {
            let contacts = islands.island(k);
            let task = Task { problem, contacts, target: allowed * contacts.len() as f64, size };
            let residual = sweeper.residual::<D>(problem, contacts, lambda);
            if residual > task.target {
                sweeper.guess_states::<D>(problem, contacts, lambda);
                sweeper.sweep::<D>(problem, contacts, lambda);
                let with = With { sweeper, a, task, settings: &self.settings };
                let done = match self.settings.proximal {
                    false => self.steps.plain::<D>(with, lambda),
                    true => self.steps.proximal::<D>(with, lambda),
                };
                total += done.iterations;
            }
        }
        total
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
/// Relative residual (squared) up to which a solution is near: for Newton without a centre, and without much weight.
const NEAR: f64 = 1e-4;
const VERY_NEAR: f64 = 1e-6;
/// A step succeeds if it leaves at most this share of the residual (squared).
const DECREASE: f64 = 0.8;
/// Weight with which all contacts are tried as sticking, share of the residual (squared) that this must reach, and contacts from which on it is tried.
const STICK_WEIGHT: f64 = 1e-6;
const STICK_DECREASE: f64 = 1e-3;
const STICK_FROM: usize = 8;
/// Most sweeps from the best point; they double from one time to the next.
const MOST_SWEEPS: usize = 64;
/// Share of the residual (squared) to which a proximal problem is solved, and centres after which Newton is tried without.
const INEXACT: f64 = 1e-4;
const TRY_NEWTON: usize = 10;
/// Most sweeps after a step; they double with every failure.
const MOST_SMOOTHING: usize = 8;

/// Newton steps and their memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Steps {
    system: System,
    convex: Convex,
    from: Vec<f64>,
    best: Vec<f64>,
    given: Vec<f64>,
    before: Vec<f64>,
    around: Vec<f64>,
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
        while iterations < settings.max_steps && residual > target && failures < settings.patience {
            iterations += 1;
            self.system.linearise::<D>(sweeper, problem, contacts, lambda);
            keep::<D>(&mut self.from, contacts, lambda);
            if self.system.solve::<D>(sweeper, a, sweeper.alpha + weight) {
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
        problem: ConeProblem<'_>,
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
        problem: ConeProblem<'_>,
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

    /// Moves the proximal centre until the problem as posed is solved, or nothing helps. Each proximal problem is solved with the shift frozen
    /// first, which cannot fail, and from there with the law as it is.
    pub fn proximal<const D: usize>(&mut self, with: With<'_>, lambda: &mut [f64]) -> Done {
        let With { sweeper, a, task, settings } = with;
        let Task { problem, contacts, target, size } = task;
        let within = Settings { max_steps: 20, patience: 2, weight: 1e-8, ..settings.clone() };
        let without = Settings { max_steps: 12, patience: 1, ..settings.clone() };
        sweeper.alpha = 0.0;
        sweeper.centre.resize(lambda.len(), 0.0);
        let mut residual = sweeper.residual::<D>(problem, contacts, lambda);
        let mut best = residual;
        keep::<D>(&mut self.before, contacts, lambda);
        let mut alpha = settings.alpha;
        let mut iterations = 0;
        for centre in 1..=settings.max_centres {
            if residual <= target {
                break;
            }
            contacts
                .iter()
                .for_each(|&c| sweeper.centre[D * c..][..D].copy_from_slice(&lambda[D * c..][..D]));
            let goal = (0.01 * target).max(INEXACT * residual);
            let (steps, solved) =
                self.convex.solve::<D>(sweeper, a, task, lambda, Proximal::frozen(alpha, goal));
            sweeper.alpha = alpha;
            let inner = Task { target: goal, ..task };
            let done = self.swept::<D>(With { sweeper, a, task: inner, settings: &within }, lambda);
            sweeper.alpha = 0.0;
            iterations += steps + done.iterations;
            residual = sweeper.residual::<D>(problem, contacts, lambda);
            if residual < best {
                best = residual;
                keep::<D>(&mut self.before, contacts, lambda);
            }
            // near enough for Newton without a centre?
            if residual > target && residual <= NEAR * size && centre % TRY_NEWTON == 0 {
                keep::<D>(&mut self.around, contacts, lambda);
                let done = self.swept::<D>(With { sweeper, a, task, settings: &without }, lambda);
                iterations += done.iterations;
                if done.residual <= target {
                    return Done { iterations, residual: done.residual };
                }
                restore::<D>(&self.around, contacts, lambda);
                sweeper.set_speeds(problem, lambda);
                sweeper.residual::<D>(problem, contacts, lambda);
            }
            alpha *= match (solved, steps) {
                (false, _) => 10.0,
                (true, 0..6) => 0.3,
                (true, 6..12) => 1.0,
                (true, _) => 3.0,
            };
            // far from a solution a small alpha only makes states change
            let least = (settings.alpha_floor * (residual / size).powf(0.25)).max(settings.alphas.0);
            alpha = alpha.clamp(least.min(settings.alphas.1), settings.alphas.1);
        }
        if residual > best {
            restore::<D>(&self.before, contacts, lambda);
            sweeper.set_speeds(problem, lambda);
            residual = sweeper.residual::<D>(problem, contacts, lambda);
        }
        Done { iterations, residual }
    }

    /// [`Self::plain`] from forces that have no states yet.
    fn swept<const D: usize>(&mut self, with: With<'_>, lambda: &mut [f64]) -> Done {
        let Task { problem, contacts, .. } = with.task;
        with.sweeper.set_speeds(problem, lambda);
        with.sweeper.residual::<D>(problem, contacts, lambda);
        with.sweeper.guess_states::<D>(problem, contacts, lambda);
        with.sweeper.sweep::<D>(problem, contacts, lambda);
        self.plain::<D>(with, lambda)
    }
}
