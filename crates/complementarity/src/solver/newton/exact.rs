//! The proximal point method for Coulomb's cone and polygons with every proximal problem solved by Newton alone, to the accuracy that its weight asks for.
//!
//! Problem: `s = A lambda + b` under unilateral contact and Coulomb's law ([`ConeProblem`]); `A` may be singular and need not be symmetric.
//!
//! Source: the proximal point method as in Acary, Bremond, Huber (2018), section 4; the linearisation is that of `convex` with the shift free.
//!
//! For contacts that nearly repeat each other: those that carry force then leave tiny singular values (RockPile_tob1 of Siconos' test data: 4e-8 to 1e-13
//! of the largest), and which of them do is settled by small speeds. Such a contact answers alone what its twin has answered already, so that a
//! sweep of Gauss-Seidel, which the other Newton methods take after each step, undoes what they have reached (there: from 7e-5 back to 2e-2).
//!
//! Deviations: no sweeps. An error `e` of a proximal problem leaves one of `e / (alpha D)` in the forces, and of `A e / (alpha D)` in the speeds; hence
//! problems are solved to a share of `alpha` times the residual, not of the residual. Where that succeeds the centre moves, though the residual may
//! grow for a while, and `alpha` shrinks, as far as Newton needs few steps; where it fails, `alpha` grows. The best forces are kept.
//! Slow, and for problems on which the others have failed. Islands are solved apart; those that are good enough stay as they are.

use super::convex::{Convex, Proximal, Shift};
use super::{End, Outcome};
use crate::bench::{Bench, Done, Task, allowance, by_rows, keep, restore, size_of};
use crate::operator::{BlockMatrix, Operator};
use crate::problem::ConeProblem;
use crate::sweep::Sweeper;

/// Name in reports.
pub const NAME: &str = "exact-proximal";

/// Settings of the exact proximal method. Weights are in units of the mean diagonal of each contact's own block.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// A solution counts when its relative residual is at most this.
    pub tolerance: f64,
    /// Proximal weight `alpha` of the first centre.
    pub alpha: f64,
    /// Its least and largest value.
    pub alphas: (f64, f64),
    /// Centres tried for an island.
    pub max_centres: usize,
    /// Linear systems for one of them.
    pub max_steps: usize,
    /// A proximal problem is solved to this share of `alpha` times the residual.
    pub inexact: f64,
    /// Factor by which the residual (squared) may grow from one centre to the next.
    pub growth: f64,
    /// Steps up to which `alpha` shrinks, and up to which it stays.
    pub few_steps: (usize, usize),
    /// Factors of `alpha` after few steps, after many, and after a failure.
    pub factors: (f64, f64, f64),
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            tolerance: 1e-8,
            alpha: 1e-3,
            alphas: (1e-12, 10.0),
            max_centres: 800,
            max_steps: 20,
            inexact: 1e-2,
            growth: 4.0,
            few_steps: (8, 16),
            factors: (0.5, 2.0, 3.0),
        }
    }
}

/// The method with its memory.
#[derive(Debug, Clone, Default)]
pub struct ExactProximal {
    /// May be changed between solves.
    pub settings: Settings,
    bench: Bench,
    centres: Centres,
    /// Islands that are left.
    left: Vec<usize>,
}

impl ExactProximal {
    /// Empty memory.
    pub fn new(settings: Settings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// `s = A lambda + b` of the last answer.
    pub fn speed(&self) -> &[f64] {
        &self.bench.judged.speed
    }

    /// Solves from the warm start `lambda`, which takes the answer, or the best try.
    pub fn solve(&mut self, problem: ConeProblem<'_>, lambda: &mut [f64]) -> Outcome {
        let tolerance = self.settings.tolerance;
        if let Some(outcome) = self.bench.begin(problem, lambda, tolerance, NAME) {
            return outcome;
        }
        let steps = by_rows!(problem.rows, self.run(problem, lambda));
        self.bench.judge(problem, lambda, tolerance, NAME, steps, End::Stalled)
    }

    fn run<const D: usize>(&mut self, problem: ConeProblem<'_>, lambda: &mut [f64]) -> usize {
        let Self { settings, bench: Bench { sweeper, islands, formed, .. }, centres, left } = self;
        let problem = formed.blocks(problem);
        let Operator::Blocks(a) = problem.a else { return 0 };
        sweeper.prepare::<D>(problem, lambda);
        islands.find(problem.a, D, problem.mu.len());
        let size = size_of(problem.b);
        let mut allowed = allowance(size, settings.tolerance);
        let share = allowed / problem.mu.len() as f64;
        left.clear();
        for k in 0..islands.count() {
            let contacts = islands.island(k);
            let residual = sweeper.residual::<D>(problem, contacts, lambda);
            if residual <= share * contacts.len() as f64 {
                allowed -= residual;
            } else {
                left.push(k);
            }
        }
        // small ones first: what they do not need is left to the large
        left.sort_by_key(|&k| islands.island(k).len());
        let mut rest: usize = left.iter().map(|&k| islands.island(k).len()).sum();
        let mut total = 0;
        for &k in left.iter() {
            let contacts = islands.island(k);
            let target = allowed * contacts.len() as f64 / rest as f64;
            let task = Task { problem, contacts, target, size };
            let done = centres.run::<D>(sweeper, a, task, lambda, settings);
            total += done.iterations;
            allowed = (allowed - done.residual).max(share);
            rest -= contacts.len();
        }
        total
    }
}

/// Memory of moving the centre.
#[derive(Debug, Clone, Default)]
pub(crate) struct Centres {
    convex: Convex,
    best: Vec<f64>,
    before: Vec<f64>,
}

impl Centres {
    /// Moves the centre of an island until it is solved or centres are used up.
    pub fn run<const D: usize>(
        &mut self,
        sweeper: &mut Sweeper,
        a: &BlockMatrix,
        task: Task<'_>,
        lambda: &mut [f64],
        settings: &Settings,
    ) -> Done {
        let Self { convex, best, before } = self;
        let Task { problem, contacts, target, .. } = task;
        let mut residual = sweeper.residual::<D>(problem, contacts, lambda);
        let mut least = residual;
        keep::<D>(best, contacts, lambda);
        let mut alpha = settings.alpha;
        let mut iterations = 0;
        for _ in 0..settings.max_centres {
            if residual <= target {
                break;
            }
            keep::<D>(before, contacts, lambda);
            let goal = (settings.inexact * alpha).powi(2) * residual;
            let proximal = Proximal { shift: Shift::Free, alpha, goal, max_steps: settings.max_steps };
            let (steps, solved) = convex.solve::<D>(sweeper, a, task, lambda, proximal);
            iterations += steps;
            let found = sweeper.residual::<D>(problem, contacts, lambda);
            if found < least {
                least = found;
                keep::<D>(best, contacts, lambda);
            }
            if found <= target || (solved && found <= settings.growth * residual) {
                residual = found;
                alpha *= match steps {
                    steps if steps < settings.few_steps.0 => settings.factors.0,
                    steps if steps < settings.few_steps.1 => 1.0,
                    _ => settings.factors.1,
                };
            } else {
                restore::<D>(before, contacts, lambda);
                // the speeds of the centre again
                sweeper.residual::<D>(problem, contacts, lambda);
                // the same problem once more would end the same way
                if alpha >= settings.alphas.1 {
                    break;
                }
                alpha *= settings.factors.2;
            }
            alpha = alpha.clamp(settings.alphas.0, settings.alphas.1);
        }
        if residual > target {
            restore::<D>(best, contacts, lambda);
            residual = sweeper.residual::<D>(problem, contacts, lambda);
        }
        Done { iterations, residual }
    }
}
