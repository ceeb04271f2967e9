//! The proximal point method with every proximal problem solved by Newton's method, to the accuracy that its weight asks for.
//!
//! With a centre `c` and weights `alpha D` (`D` the mean diagonal of an element's own block) the proximal problem is `y = P(x)`, `x = c - s~(y) / (alpha D)`,
//! `s~` being `s = A y + b` with De Saxce's shift at the normals. Newton's direction is `(alpha D + P' G A) dy = alpha D (P(x) - y)`, `G = I + e_n (0, mu s_t /
//! |s_t|)'` the derivative of the shift; a step has to leave less of `alpha D (P(x) - y)`. `A` may be singular and need not be symmetric.
//!
//! Source: the proximal point method as in Acary, Bremond, Huber (2018), section 4; the linearisation is that of the projection (semismooth Newton).
//!
//! For redundant elements, and contacts that nearly repeat each other: those that carry force then leave tiny singular values (RockPile_tob1 of Siconos' test data:
//! 4e-8 to 1e-13 of the largest), and which of them do is settled by small velocities. Such a contact answers alone what its twin has answered already, so that a sweep of
//! Gauss-Seidel, which plain Newton takes after each step, undoes what was reached (there: from 7e-5 back to 2e-2).
//!
//! Deviations: no sweeps. An error `e` of a proximal problem leaves one of `e / (alpha D)` in the forces, and of `A e / (alpha D)` in the velocities; hence
//! problems are solved to a share of `alpha` times the residual, not of the residual. Where that succeeds the centre moves, though the residual may
//! grow for a while, and `alpha` shrinks, as far as Newton needs few steps; where it fails, `alpha` grows. The best forces are kept.

use super::{End, Outcome};
use crate::bench::{Bench, Done, Job, Limits, Task, Work, keep, restore};
use crate::block_lu::BlockLu;
use crate::operator::BlockMatrix;
use crate::problem::ContactProblem;
use crate::sweep::{Sweeper, blocks_of, row_times};

/// Name in reports.
pub const NAME: &str = "proximal-newton";

const NONE: usize = usize::MAX;
/// Halvings of a step, and the share of the residual (squared) that a full step must take away.
const MOST_HALVINGS: usize = 12;
const DECREASE: f64 = 0.1;

/// Settings of the proximal point method. Weights are in units of the mean diagonal of each element's own block.
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
pub struct ProximalNewton {
    /// May be changed between solves.
    pub settings: Settings,
    pub(crate) bench: Bench,
    centres: Centres,
}

impl ProximalNewton {
    /// Empty memory.
    pub fn new(settings: Settings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// `s = A lambda + b` of the last result.
    pub fn speed(&self) -> &[f64] {
        &self.bench.evaluation.speed
    }

    /// Solves from the warm start `lambda`, which takes the result, or the best try.
    pub fn solve(&mut self, problem: ContactProblem<'_>, lambda: &mut [f64]) -> Outcome {
        let tolerance = self.settings.tolerance;
        if let Some(outcome) = self.bench.begin(problem, lambda, tolerance, NAME) {
            return outcome;
        }
        self.centres.settings.clone_from(&self.settings);
        let limits = Limits { tolerance, goal: tolerance, foresight: 1.0 };
        self.bench.solve(problem, lambda, limits, (NAME, End::Stalled), &mut self.centres)
    }
}

/// Memory of moving the centre.
#[derive(Debug, Clone, Default)]
pub(crate) struct Centres {
    pub settings: Settings,
    step: Step,
    best: Vec<f64>,
    before: Vec<f64>,
}

impl Work for Centres {
    fn run<const D: usize>(&mut self, job: Job<'_>, y: &mut [f64]) -> usize {
        job.each(|sweeper, formed, task, _| {
            let (problem, a) = formed.blocks(task.problem);
            sweeper.set_speeds(problem, y);
            self.island::<D>(sweeper, a, Task { problem, ..task }, y)
        })
    }
}

impl Centres {
    /// Moves the centre of an island until it is solved or centres are used up.
    pub fn island<const D: usize>(
        &mut self,
        sweeper: &mut Sweeper,
        a: &BlockMatrix,
        task: Task<'_>,
        lambda: &mut [f64],
    ) -> Done {
        let Self { settings, step, best, before } = self;
        let Task { problem, contacts, target, .. } = task;
        sweeper.alpha = 0.0;
        let mut residual = sweeper.residual::<D>(problem, contacts, lambda);
        let mut least = residual;
        keep::<D>(best, contacts, lambda);
        let mut alpha = settings.alpha;
        let mut iterations = 0;
        for _ in 0..settings.max_centres {
            if residual <= target || sweeper.budget.ended().is_some() {
                break;
            }
            keep::<D>(before, contacts, lambda);
            let goal = (settings.inexact * alpha).powi(2) * residual;
            let (steps, solved) =
                step.solve::<D>(sweeper, a, task, lambda, (alpha, goal, settings.max_steps));
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
                // the velocities of the centre again
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

/// Newton's method on one proximal problem; vectors hold the island's elements one after another.
#[derive(Debug, Clone, Default)]
struct Step {
    lu: BlockLu,
    /// Elements with `P' != 0`, as places in the island.
    active: Vec<usize>,
    /// By element: place among the active, and in the island.
    index: Vec<usize>,
    place: Vec<usize>,
    /// `P'` of each active element.
    slopes: Vec<f64>,
    centre: Vec<f64>,
    weight: Vec<f64>,
    y: Vec<f64>,
    /// `A y + b`, `P(x)`, `dy`, `A dy`.
    s: Vec<f64>,
    p: Vec<f64>,
    step: Vec<f64>,
    change: Vec<f64>,
    /// `dy` of all elements of the problem, for products.
    full: Vec<f64>,
    rhs: Vec<f64>,
}

impl Step {
    /// Solves the proximal problem with centre `lambda` and leaves `P(x)` there. The sweeper's velocities must be those of `lambda`. Given are the weight, the
    /// sum of squares of `alpha D (P(x) - y)` that is good enough, and most linear systems. Returns the number of linear systems, and whether it was solved.
    fn solve<const D: usize>(
        &mut self,
        sweeper: &mut Sweeper,
        a: &BlockMatrix,
        task: Task<'_>,
        lambda: &mut [f64],
        (alpha, goal, max_steps): (f64, f64, usize),
    ) -> (usize, bool) {
        self.begin::<D>(sweeper, task, lambda, alpha);
        self.evaluate::<D>(task, 0.0);
        for steps in 0..max_steps {
            let error = self.error::<D>(0.0);
            if error <= goal || sweeper.budget.ended().is_some() {
                self.finish::<D>(task, lambda);
                return (steps, error <= goal);
            }
            let solved = self.direction::<D>(a, task);
            sweeper.budget.spend(D * self.lu.cost());
            let mut t = 1.0;
            let mut taken = false;
            for _ in 0..=if solved { MOST_HALVINGS } else { 0 } {
                self.evaluate::<D>(task, t);
                taken = solved && self.error::<D>(t) <= (1.0 - DECREASE * t) * error;
                if taken {
                    break;
                }
                t *= 0.5;
            }
            if !taken {
                self.finish::<D>(task, lambda);
                return (steps + 1, false);
            }
            for k in 0..self.y.len() {
                self.y[k] += t * self.step[k];
                self.s[k] += t * self.change[k];
            }
        }
        self.finish::<D>(task, lambda);
        (max_steps, self.error::<D>(0.0) <= goal)
    }

    /// Sum of squares of `alpha D (P_K(x) - y)` a share `t` of the step ahead, where `P_K(x)` was evaluated last.
    fn error<const D: usize>(&self, t: f64) -> f64 {
        let missing = |k: usize| self.p[k] - self.y[k] - t * self.step[k];
        (0..self.y.len()).map(|k| (self.weight[k / D] * missing(k)).powi(2)).sum()
    }

    fn begin<const D: usize>(&mut self, sweeper: &Sweeper, task: Task<'_>, lambda: &[f64], alpha: f64) {
        let Task { problem, contacts, .. } = task;
        let n = D * contacts.len();
        for v in [&mut self.step, &mut self.change, &mut self.p] {
            v.clear();
            v.resize(n, 0.0);
        }
        for v in [&mut self.centre, &mut self.weight, &mut self.s] {
            v.clear();
        }
        self.index.resize(problem.mu.len(), NONE);
        self.place.resize(problem.mu.len(), NONE);
        self.full.resize(lambda.len(), 0.0);
        for (k, &c) in contacts.iter().enumerate() {
            let s = &sweeper.speed.as_chunks::<D>().0[c];
            self.place[c] = k;
            self.centre.extend_from_slice(&lambda[D * c..][..D]);
            self.s.extend_from_slice(s);
            self.weight.push(alpha * sweeper.unit::<D>(c));
        }
        self.y.clone_from(&self.centre);
    }

    /// `x` of element `c`, the `k`-th of the island, at velocities `s`.
    fn aim<const D: usize>(&self, task: Task<'_>, (k, c): (usize, usize), s: &[f64; D]) -> [f64; D] {
        let shift = task.problem.mu[c] * task.problem.law(c).lift(s);
        let centre = &self.centre.as_chunks::<D>().0[k];
        std::array::from_fn(|i| centre[i] - (s[i] + if i == 0 { shift } else { 0.0 }) / self.weight[k])
    }

    /// `P(x)` a share `t` of the step ahead.
    fn evaluate<const D: usize>(&mut self, task: Task<'_>, t: f64) {
        let Task { problem, contacts, .. } = task;
        for (k, &c) in contacts.iter().enumerate() {
            let s: [f64; D] = std::array::from_fn(|i| self.s[D * k + i] + t * self.change[D * k + i]);
            let mut x = self.aim(task, (k, c), &s);
            problem.law(c).project(problem.mu[c], &mut x);
            self.p[D * k..][..D].copy_from_slice(&x);
        }
    }

    /// Newton's direction `dy` and `A dy`; false if the matrix is singular.
    fn direction<const D: usize>(&mut self, a: &BlockMatrix, task: Task<'_>) -> bool {
        let Task { problem, contacts, .. } = task;
        self.active.clear();
        self.slopes.clear();
        for (k, &c) in contacts.iter().enumerate() {
            let s = &self.s.as_chunks::<D>().0[k];
            let (mu, law, x) = (problem.mu[c], problem.law(c), self.aim(task, (k, c), s));
            self.index[c] = NONE;
            // where P' = 0, dy = P - y at once
            self.full[D * c..][..D].fill(0.0);
            match law.slope(mu, &x) {
                Some(mut slope) => {
                    // P' G
                    let lift = law.lift_slope(s);
                    for row in &mut slope {
                        (1..D).for_each(|q| row[q] += row[0] * mu * lift[q]);
                    }
                    self.index[c] = self.active.len();
                    self.active.push(k);
                    self.slopes.extend_from_slice(slope.as_flattened());
                }
                None => (0..D).for_each(|i| {
                    self.step[D * k + i] = self.p[D * k + i] - self.y[D * k + i];
                    self.full[D * c + i] = self.step[D * k + i];
                }),
            }
        }
        self.lu.begin(self.active.len());
        self.rhs.clear();
        for (i, &k) in self.active.iter().enumerate() {
            let c = contacts[k];
            for &other in a.row(c).0.iter().filter(|&&other| self.index[other] != NONE) {
                self.lu.connect(i, self.index[other]);
            }
            // what the others' known steps do
            let known = row_times(a, c, &self.full, [0.0; D]);
            let slope = &blocks_of::<D>(&self.slopes)[i];
            for p in 0..D {
                let own = self.weight[k] * (self.p[D * k + p] - self.y[D * k + p]);
                self.rhs.push(own - (0..D).map(|q| slope[p][q] * known[q]).sum::<f64>());
            }
        }
        self.lu.analyse();
        let Self { lu, active, index, slopes, weight, rhs, .. } = self;
        let slopes = blocks_of::<D>(slopes);
        let good = lu.factor::<D>(|i, row, at| {
            let c = contacts[active[i]];
            let (columns, data) = a.row(c);
            for (&k, block) in columns.iter().zip(blocks_of::<D>(data)).filter(|(k, _)| index[**k] != NONE) {
                row[at[index[k]]] = super::system::product(&slopes[i], block);
            }
            let own = &mut row[at[i]];
            (0..D).for_each(|p| own[p][p] += weight[active[i]]);
        });
        if !good {
            return false;
        }
        lu.solve::<D>(rhs.as_chunks_mut::<D>().0);
        for (i, &k) in self.active.iter().enumerate() {
            self.step[D * k..][..D].copy_from_slice(&self.rhs[D * i..][..D]);
            self.full[D * contacts[k]..][..D].copy_from_slice(&self.rhs[D * i..][..D]);
        }
        for (k, &c) in contacts.iter().enumerate() {
            self.change[D * k..][..D].copy_from_slice(&row_times(a, c, &self.full, [0.0; D]));
        }
        self.step.iter().all(|x| x.is_finite())
    }

    fn finish<const D: usize>(&self, task: Task<'_>, lambda: &mut [f64]) {
        for (k, &c) in task.contacts.iter().enumerate() {
            lambda[D * c..][..D].copy_from_slice(&self.p[D * k..][..D]);
        }
    }
}
