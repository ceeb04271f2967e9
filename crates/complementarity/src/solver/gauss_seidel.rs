//! Block Gauss-Seidel for contact problems with elements of all kinds.
//!
//! Problem: `s = A lambda + b` under the law of each element ([`ContactProblem`]).
//!
//! Source: the nonsmooth Gauss-Seidel method of Jean and Moreau (NSCD), sweep by sweep over the contacts; each takes the exact force for what
//! the others do at the moment. Deviations: the contact alone is solved exactly by one scalar equation, whatever its number of rows; islands are
//! solved apart, each to its share of the tolerance. Through bodies a sweep keeps their velocities up to date, and `A` is never formed.
//!
//! Linear memory, cheap sweeps, and a good guess of who sticks, slips and lifts off; slow towards high accuracy where forces are not unique
//! or stacks are high.

mod momentum;

use super::{End, Outcome};
use crate::bench::{Bench, Done, Job, Limits, Task, Work};
use crate::problem::ContactProblem;
use crate::sweep::Sweeper;
pub(crate) use momentum::Momentum;

/// Name in reports.
pub const NAME: &str = "gauss-seidel";

/// Settings of Gauss-Seidel.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// A solution counts when its relative residual is at most this.
    pub tolerance: f64,
    /// Most sweeps over an island.
    pub max_sweeps: usize,
    /// Whether sweeps have momentum.
    pub momentum: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { tolerance: 1e-8, max_sweeps: 20_000, momentum: false }
    }
}

/// Gauss-Seidel with its memory.
#[derive(Debug, Clone, Default)]
pub struct GaussSeidel {
    /// May be changed between solves.
    pub settings: Settings,
    pub(crate) bench: Bench,
    sweeps: Sweeps,
}

#[derive(Debug, Clone, Default)]
struct Sweeps {
    settings: Settings,
    momentum: Momentum,
}

impl GaussSeidel {
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
        self.sweeps.settings.clone_from(&self.settings);
        let limits = Limits { tolerance, goal: tolerance, foresight: 1.0 };
        self.bench.solve(problem, lambda, limits, (NAME, End::Limit), &mut self.sweeps)
    }
}

impl Work for Sweeps {
    fn run<const D: usize>(&mut self, job: Job<'_>, y: &mut [f64]) -> usize {
        let mut most = 0;
        let Self { settings: Settings { max_sweeps, momentum, .. }, momentum: memory } = self;
        job.each(|sweeper, _, task, goal| {
            let done = match momentum {
                false => relax::<D>(sweeper, task, y, goal.start, *max_sweeps, f64::INFINITY),
                true => memory.relax::<D>(sweeper, task, y, goal.start, *max_sweeps, false),
            };
            most = most.max(done.iterations);
            done
        });
        most
    }
}

/// Sweeps before the rate of convergence is believed.
const TRUSTED: usize = 3;
/// Relative residual (squared) of a start that is good.
const GOOD_START: f64 = 1e-4;

/// Sweeps over an island until it is solved, `max_sweeps` were made, or more than `foreseen` further ones are predicted. `residual` is that of `lambda`,
/// whose velocities the sweeper knows.
pub(crate) fn relax<const D: usize>(
    sweeper: &mut Sweeper,
    task: Task<'_>,
    lambda: &mut [f64],
    mut residual: f64,
    max_sweeps: usize,
    foreseen: f64,
) -> Done {
    let Task { problem, contacts, target, size: whole } = task;
    if residual <= target {
        return Done { iterations: 0, residual };
    }
    sweeper.guess_states::<D>(problem, contacts, lambda);
    // from a good start the states are known already
    let warm = contacts.iter().any(|&c| lambda[D * c] > 0.0);
    let trusted = if warm && residual <= GOOD_START * whole { 1 } else { TRUSTED };
    // the residual costs a sweep: evaluated when the changes are small enough, and then ever less often
    let (mut last, mut next_look) = (f64::INFINITY, 0);
    let mut iterations = 0;
    while iterations < max_sweeps && sweeper.budget.ended().is_none() {
        let size = sweeper.sweep::<D>(problem, contacts, lambda);
        iterations += 1;
        // a contact alone is solved by one sweep
        if (size <= target && iterations >= next_look) || contacts.len() == 1 {
            residual = sweeper.residual::<D>(problem, contacts, lambda);
            if residual <= target {
                return Done { iterations, residual };
            }
            next_look = iterations + 1 + iterations / 8;
        }
        let rate = size / last;
        last = size;
        if iterations > trusted
            && !(rate < 1.0 && (target / size).ln() / rate.ln() <= foreseen)
            && foreseen.is_finite()
        {
            break;
        }
    }
    Done { iterations, residual: sweeper.residual::<D>(problem, contacts, lambda) }
}
