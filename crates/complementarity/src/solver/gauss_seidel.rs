//! Block Gauss-Seidel for Coulomb's cone.
//!
//! Problem: `s = A lambda + b` under unilateral contact and Coulomb's law ([`ConeProblem`]).
//!
//! Source: the nonsmooth Gauss-Seidel method of Jean and Moreau (NSCD), sweep by sweep over the contacts; each takes the exact force for what
//! the others do at the moment. Deviations: the contact alone is solved exactly by one scalar equation, whatever its number of rows; islands are
//! solved apart, each to its share of the tolerance. Through bodies a sweep keeps their speeds up to date, and `A` is never formed.
//!
//! With momentum, a sweep starts beyond the end of the last one (Polyak's heavy ball), by a share that falls while the changes do not; when a sweep
//! goes against the momentum, that starts anew (O'Donoghue and Candes 2015). On piles it takes a fifth to a third of the sweeps.
//!
//! Linear memory, cheap sweeps, and a good guess of who sticks, slips and lifts off; slow towards high accuracy where forces are not unique
//! or stacks are high.

use super::{End, Outcome};
use crate::bench::{Bench, Done, Task, allowance, by_rows, keep, restore, size_of};
use crate::problem::ConeProblem;
use crate::sweep::Sweeper;

/// Name in reports.
pub const NAME: &str = "gauss-seidel";

/// Settings of Gauss-Seidel.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// A solution counts when its relative residual is at most this.
    pub tolerance: f64,
    /// Sweeps over an island before it gives up.
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
    bench: Bench,
    momentum: Momentum,
}

impl GaussSeidel {
    /// Empty memory.
    pub fn new(settings: Settings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// Solves from the warm start `lambda`, which takes the answer.
    pub fn solve(&mut self, problem: ConeProblem<'_>, lambda: &mut [f64]) -> Outcome {
        let tolerance = self.settings.tolerance;
        if let Some(outcome) = self.bench.begin(problem, lambda, tolerance, NAME) {
            return outcome;
        }
        let sweeps = by_rows!(problem.rows, self.run(problem, lambda));
        self.bench.judge(problem, lambda, tolerance, NAME, sweeps, End::Limit)
    }

    fn run<const D: usize>(&mut self, problem: ConeProblem<'_>, lambda: &mut [f64]) -> usize {
        let Bench { sweeper, islands, formed, .. } = &mut self.bench;
        let problem = formed.sparse(problem);
        sweeper.prepare::<D>(problem, lambda);
        islands.find(problem.a, D, problem.mu.len());
        let size = size_of(problem.b);
        let allowed = allowance(size, self.settings.tolerance) / problem.mu.len() as f64;
        let mut most = 0;
        for k in 0..islands.count() {
            let contacts = islands.island(k);
            let task = Task { problem, contacts, target: allowed * contacts.len() as f64, size };
            let max_sweeps = self.settings.max_sweeps;
            let done = match self.settings.momentum {
                false => relax::<D>(sweeper, task, lambda, max_sweeps, f64::INFINITY),
                true => self.momentum.relax::<D>(sweeper, task, lambda, max_sweeps, f64::INFINITY),
            };
            most = most.max(done.iterations);
        }
        most
    }
}

/// Sweeps before the rate of convergence is believed.
const TRUSTED: usize = 3;
/// Relative residual (squared) of a start that is good.
const GOOD_START: f64 = 1e-4;

/// Sweeps over an island until it is solved, `max_sweeps` were made, or more than `patience` further ones are foreseen.
pub(crate) fn relax<const D: usize>(
    sweeper: &mut Sweeper,
    task: Task<'_>,
    lambda: &mut [f64],
    max_sweeps: usize,
    patience: f64,
) -> Done {
    let Task { problem, contacts, target, size: whole } = task;
    let mut residual = sweeper.residual::<D>(problem, contacts, lambda);
    if residual <= target {
        return Done { iterations: 0, residual };
    }
    sweeper.guess_states::<D>(problem, contacts, lambda);
    // from a good start the states are known already
    let warm = contacts.iter().any(|&c| lambda[D * c] > 0.0);
    let trusted = if warm && residual <= GOOD_START * whole { 1 } else { TRUSTED };
    // the judge costs a sweep: asked when the changes are small enough, and then ever less often
    let (mut last, mut next_look) = (f64::INFINITY, 0);
    let mut iterations = 0;
    while iterations < max_sweeps {
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
            && !(rate < 1.0 && (target / size).ln() / rate.ln() <= patience)
            && patience.is_finite()
        {
            break;
        }
    }
    Done { iterations, residual: sweeper.residual::<D>(problem, contacts, lambda) }
}

/// Share of the last movement that is added to a sweep: at first, at most, at least.
const SHARES: (f64, f64, f64) = (0.8, 0.9, 0.3);
/// Sweeps after which the share is reviewed: it grows if the least change has fallen, else shrinks.
const REVIEW: usize = 20;
const GROWTH: f64 = 0.2;
const SHRINKING: f64 = 0.8;
/// Sweeps after which it is foreseen how many more are needed.
const FORESEE: usize = 100;
/// Times in a row that too many must be foreseen.
const HOPELESS: usize = 3;

/// Sweeps with momentum, and their memory: entries of an island's contacts, one after another.
#[derive(Debug, Clone, Default)]
pub(crate) struct Momentum {
    from: Vec<f64>,
    direction: Vec<f64>,
    /// Where the first sweep starts.
    start: Vec<f64>,
    /// As `from` and `direction`, for the speeds of bodies.
    from_speeds: Vec<f64>,
    direction_speeds: Vec<f64>,
}

impl Momentum {
    /// Sweeps over an island until it is solved, `max_sweeps` were made, or more than `patience` further ones are foreseen. What it leaves is not
    /// worse than what it was given.
    pub fn relax<const D: usize>(
        &mut self,
        sweeper: &mut Sweeper,
        task: Task<'_>,
        lambda: &mut [f64],
        max_sweeps: usize,
        patience: f64,
    ) -> Done {
        let Task { problem, contacts, target, .. } = task;
        let mut residual = sweeper.residual::<D>(problem, contacts, lambda);
        if residual <= target {
            return Done { iterations: 0, residual };
        }
        let given = residual;
        keep::<D>(&mut self.start, contacts, lambda);
        sweeper.guess_states::<D>(problem, contacts, lambda);
        self.direction.clear();
        self.direction.resize(D * contacts.len(), 0.0);
        self.direction_speeds.clear();
        self.direction_speeds.resize(sweeper.v.len(), 0.0);
        let (mut iterations, mut next_look) = (0, 0);
        let (mut share, mut least, mut least_before) = (SHARES.0, f64::INFINITY, f64::INFINITY);
        let (mut seen, mut hopeless) = (f64::INFINITY, 0);
        loop {
            keep::<D>(&mut self.from, contacts, lambda);
            self.from_speeds.clone_from(&sweeper.v);
            let size = sweeper.sweep::<D>(problem, contacts, lambda);
            iterations += 1;
            if size <= target && iterations >= next_look {
                residual = sweeper.residual::<D>(problem, contacts, lambda);
                if residual <= target {
                    return Done { iterations, residual };
                }
                next_look = iterations + 1 + iterations / 8;
            }
            least = least.min(size);
            if iterations % FORESEE == 0 {
                let rate = (least / seen).powf(1.0 / FORESEE as f64);
                let more = if rate < 1.0 { (target / least).ln() / rate.ln() } else { f64::INFINITY };
                // states change in leaps: one slow stretch proves nothing
                hopeless = if more > patience && seen.is_finite() { hopeless + 1 } else { 0 };
                if hopeless == HOPELESS {
                    break;
                }
                seen = least;
            }
            if iterations >= max_sweeps {
                break;
            }
            if iterations % REVIEW == 0 {
                share = match (least < least_before, share <= SHARES.2) {
                    (true, _) => share + GROWTH * (SHARES.1 - share),
                    (false, false) => (SHRINKING * share).max(SHARES.2),
                    // from the start
                    (false, true) => SHARES.0,
                };
                (least_before, least) = (least, f64::INFINITY);
            }
            self.leap::<D>(sweeper, contacts, lambda, share);
        }
        residual = sweeper.residual::<D>(problem, contacts, lambda);
        if residual > given {
            restore::<D>(&self.start, contacts, lambda);
            sweeper.set_speeds(problem, lambda);
            residual = sweeper.residual::<D>(problem, contacts, lambda);
        }
        Done { iterations, residual }
    }

    /// Goes on beyond the end of a sweep, unless the sweep went against the momentum.
    fn leap<const D: usize>(
        &mut self,
        sweeper: &mut Sweeper,
        contacts: &[usize],
        lambda: &mut [f64],
        share: f64,
    ) {
        let lambda = lambda.as_chunks_mut::<D>().0;
        let (from, direction) = (self.from.as_chunks::<D>().0, self.direction.as_chunks_mut::<D>().0);
        let mut along = 0.0;
        for ((&c, from), direction) in contacts.iter().zip(from).zip(&*direction) {
            let product: f64 = (0..D).map(|i| (lambda[c][i] - from[i]) * direction[i]).sum();
            along += product * sweeper.normal_diagonal::<D>(c);
        }
        if along < 0.0 {
            self.direction.fill(0.0);
            self.direction_speeds.fill(0.0);
            return;
        }
        for ((&c, from), direction) in contacts.iter().zip(from).zip(direction) {
            for i in 0..D {
                direction[i] = share * (direction[i] + lambda[c][i] - from[i]);
                lambda[c][i] += direction[i];
            }
        }
        let speeds = sweeper.v.iter_mut().zip(&self.from_speeds);
        for ((v, from), direction) in speeds.zip(&mut self.direction_speeds) {
            *direction = share * (*direction + *v - from);
            *v += *direction;
        }
    }
}
