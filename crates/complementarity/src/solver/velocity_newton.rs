//! Proximal Newton method in velocities, for redundant rigid contacts.
//!
//! Problem: `s = A lambda + b` with `A = c W W' + E^-1` and the element laws of `law`; islands are solved apart. About a
//! centre `lambda0` each element gets a small compliance `eps` (a share of the island's mean diagonal of `A`) beside its
//! own, so that its force is an explicit function of its velocity. What is left is `G(u) = u - W' lambda(W u + b) = 0` over
//! the velocities of the island's bodies and trees, whose Newton matrix `I + W' D W` has blocks where bodies touch: its
//! size does not depend on the number of contacts, and redundancy does not make it singular.
//!
//! Centres follow each other, `eps` falling by a factor after each that was solved and rising after each that was not, until
//! the residual of the problem as posed is within tolerance. The first step at a new centre is taken in the states (open,
//! sticking, slipping) of the last one: each element is linearised at its own force and velocity, not at those that the
//! bodies' velocities and the new `eps` would give it. Velocities count from those of the centre, so that no digits are
//! lost where `eps` is small. If there is no solution, forces grow as `1 / eps` while the residual stays: that is reported
//! ([`VelocityNewton::unbounded`]).
//!
//! Sources: the proximal loop, Acary, Bremond and Huber (2018), section 4; the elimination of forces, Castro, Permenter and
//! Han (2023, SAP), from which this differs by the exact law, the centres and the unsymmetric matrix.

mod blocks;
mod island;
mod law;
mod run;

use super::{Budget, End, Outcome};
use crate::bench::{Bench, Done, Job, Limits, Task, Work};
use crate::matrix::dot;
use crate::operator::{Factored, MOST_ROWS, Operator};
use crate::problem::ContactProblem;
use island::Island;
use run::{Ended, Run};
use std::ops::Range;

/// Name in reports.
pub const NAME: &str = "velocity-newton";
/// Relative residual up to which a warm start is left as it is.
const KEPT: f64 = 1e-13;

/// Settings of [`VelocityNewton`].
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// A solution counts when its relative residual is at most this.
    pub tolerance: f64,
    /// Linear systems per island at most. A cold start takes about 20 to 40, the hardest islands of 300 contacts with much
    /// friction take 400.
    pub max_steps: usize,
    /// Whether, of several solutions, the limit of solutions with equal compliance on every rigid element is returned. It
    /// does not depend on the warm start or the order of bodies, and symmetric problems have symmetric forces.
    pub choose_forces: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { tolerance: 1e-8, max_steps: 1000, choose_forces: false }
    }
}

/// The method with its memory.
///
/// It needs the factors of `A` ([`Operator::Factored`]): problems in other forms are answered by [`Outcome::invalid`].
#[derive(Debug, Clone, Default)]
pub struct VelocityNewton {
    /// May be changed between solves.
    pub settings: Settings,
    pub(crate) bench: Bench,
    velocities: Velocities,
}

impl VelocityNewton {
    /// Empty memory.
    pub fn new(settings: Settings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// `s = A lambda + b` of the last result.
    pub fn speed(&self) -> &[f64] {
        &self.bench.evaluation.speed
    }

    /// Number of elements of the islands on which forces grow without bound in the last solve: they have no solution near the
    /// path that was followed. (This is evidence, no proof.)
    pub fn unbounded(&self) -> usize {
        self.velocities.unbounded
    }

    /// Work that the next solves may do.
    pub fn set_budget(&mut self, budget: Budget) {
        self.bench.sweeper.budget = budget;
    }

    /// Solves from the warm start `lambda`, which takes the result: the best forces found where it is not solved.
    pub fn solve(&mut self, problem: ContactProblem<'_>, lambda: &mut [f64]) -> Outcome {
        let tolerance = self.settings.tolerance;
        self.velocities.unbounded = 0;
        self.velocities.memory.steps = 0;
        let keep = if self.settings.choose_forces { -1.0 } else { KEPT.min(tolerance) };
        if let Some(outcome) = self.bench.begin(problem, lambda, keep, NAME) {
            return outcome;
        }
        if !matches!(problem.a, Operator::Factored(_)) {
            return Outcome::invalid(NAME);
        }
        self.velocities.settings.clone_from(&self.settings);
        let limits = Limits { tolerance, goal: tolerance, foresight: 1.0 };
        let outcome = self.bench.solve(problem, lambda, limits, (NAME, End::Stalled), &mut self.velocities);
        match self.velocities.limited && !outcome.is_solved() {
            true => Outcome { end: End::Limit, ..outcome },
            false => outcome,
        }
    }
}

/// Solves islands; the memory of that.
#[derive(Debug, Clone, Default)]
pub(crate) struct Velocities {
    pub settings: Settings,
    /// Islands whose groups have at most three velocities (planar bodies, short chains), and others.
    three: Island<3, 4>,
    six: Island<6, 8>,
    memory: Memory,
    /// Elements of islands whose forces grow without bound.
    unbounded: usize,
    /// Whether a limit was met.
    limited: bool,
}

impl Work for Velocities {
    fn run<const D: usize>(&mut self, job: Job<'_>, y: &mut [f64]) -> usize {
        let Job { problem, islands, goals, sweeper, .. } = job;
        (self.limited, self.unbounded) = (false, 0);
        let mut total = 0;
        for k in 0..islands.count() {
            let task = Job::task(problem, islands, goals, k);
            let goal = &mut goals[k];
            if self.settings.choose_forces || goal.start > goal.target {
                let done = self.island(&mut sweeper.budget, task, y);
                goal.left = done.residual;
                total += done.iterations;
            }
        }
        total
    }
}

impl Velocities {
    /// Whether an island has more rows than its bodies have velocities, and several elements between the same bodies: forces are then not unique, and other methods
    /// slow. (Piles of spheres, which touch each other in single points, may have more rows too, but sweeps suit them.)
    pub fn is_redundant(&mut self, task: Task<'_>) -> bool {
        let Operator::Factored(a) = task.problem.a else { return false };
        let seen = &mut self.memory.groups;
        seen.clear();
        seen.resize(a.speeds(), usize::MAX);
        let (mut velocities, mut pairs, mut last) = (0, 0, [usize::MAX; 2]);
        for &c in task.contacts {
            let mut bodies = [usize::MAX; 2];
            for (own, (s, _)) in bodies.iter_mut().zip(a.segments(c)) {
                *own = s.first;
                if std::mem::replace(&mut seen[s.first], 0) == usize::MAX {
                    velocities += s.len;
                }
            }
            // elements of the same bodies stand together
            pairs += usize::from(std::mem::replace(&mut last, bodies) != bodies);
        }
        task.problem.rows * task.contacts.len() > velocities && 2 * task.contacts.len() >= 3 * pairs
    }

    /// Solves one island; what is left is not more than what was given.
    pub fn island(&mut self, budget: &mut Budget, task: Task<'_>, y: &mut [f64]) -> Done {
        let Operator::Factored(a) = task.problem.a else {
            return Done { iterations: 0, residual: f64::INFINITY };
        };
        let Self { settings, three, six, memory, .. } = self;
        let small = task.contacts.iter().all(|&c| a.segments(c).all(|(s, _)| s.len <= 3));
        let first = memory.steps;
        let (ended, residual) = match small {
            true => solve_island(three, task, a, (settings, memory, budget), y),
            false => solve_island(six, task, a, (settings, memory, budget), y),
        };
        match ended {
            Ended::Unbounded => self.unbounded += task.contacts.len(),
            Ended::Limit => self.limited = true,
            Ended::Solved | Ended::Stalled => {}
        }
        Done { iterations: self.memory.steps - first, residual }
    }
}

/// Memory of the solves of islands of both kinds, and what they have used up.
#[derive(Debug, Clone, Default)]
struct Memory {
    /// First node of the group that begins with each velocity.
    groups: Vec<usize>,
    /// Triangular factor of a patch's compliance.
    patch: Vec<f64>,
    /// Best forces; estimates of the chosen ones and those before the choice.
    best: Vec<f64>,
    estimates: [Vec<f64>; 2],
    /// Shares of the proximal weight, see [`Run::weights`].
    weights: Vec<f64>,
    /// Linear systems.
    steps: usize,
}

/// Solves one island: how it ended, and the sum of squares of the natural map.
fn solve_island<const D: usize, const P: usize>(
    island: &mut Island<D, P>,
    task: Task<'_>,
    a: &Factored,
    (settings, memory, budget): (&Settings, &mut Memory, &mut Budget),
    y: &mut [f64],
) -> (Ended, f64) {
    let rows = task.problem.rows;
    read(island, task, a, memory);
    for (&c, own) in task.contacts.iter().zip(island.force.chunks_exact_mut(rows)) {
        own.copy_from_slice(&y[rows * c..][..rows]);
    }
    let first = memory.steps;
    let weights = std::mem::take(&mut memory.weights);
    let mut run =
        Run { island, settings, target: task.target, memory, budget, first, weights: &weights, mean: 1.0 };
    let ended = run.solve();
    memory.weights = weights;
    island.recentre();
    let residual = island.residual();
    for (&c, own) in task.contacts.iter().zip(island.force.chunks_exact(rows)) {
        y[rows * c..][..rows].copy_from_slice(own);
    }
    (ended, residual)
}

/// Reads an island from the factors of `A`.
fn read<const D: usize, const P: usize>(
    island: &mut Island<D, P>,
    task: Task<'_>,
    a: &Factored,
    memory: &mut Memory,
) {
    let (problem, rows) = (task.problem, task.problem.rows);
    let Memory { groups, patch, weights, .. } = memory;
    island.clear();
    weights.clear();
    groups.clear();
    groups.resize(a.speeds(), usize::MAX);
    let mut patch_node = 0;
    for &c in task.contacts {
        let own = a.patch_elements(c);
        let e = a.patch(c).map_or(&[][..], |(_, e)| e);
        let diagonal = |k: usize| k.is_multiple_of(rows + 1);
        let coupled = own.len() > 1 || (0..e.len()).any(|k| !diagonal(k) && e[k] != 0.0);
        let mut compliance = [0.0; MOST_ROWS];
        if !coupled && !e.is_empty() {
            (0..rows).for_each(|i| compliance[i] = e[(rows + 1) * i]);
        }
        let law = (problem.law(c), problem.mu[c]);
        island.add_element(law, &problem.b[rows * c..][..rows], &compliance[..rows]);
        // a compliance of 1 as posed; rows without force have none
        weights.extend(problem.scale[rows * c..][..rows].iter().map(|s| if *s > 0.0 { s * s } else { 1.0 }));
        for (s, w) in a.segments(c) {
            if groups[s.first] == usize::MAX {
                groups[s.first] = island.add_group(s.len);
            }
            island.add_rows(groups[s.first], s.len, w, a.share().sqrt());
        }
        if coupled {
            let order = rows * own.len();
            if c == own.start {
                patch_node = island.add_group(order);
                factor_patch(a, own.clone(), order, patch);
            }
            island.add_rows(patch_node, order, &patch[rows * (c - own.start) * order..][..rows * order], 1.0);
        }
    }
    island.end();
    let mean = weights.iter().sum::<f64>() / weights.len().max(1) as f64;
    weights.iter_mut().for_each(|w| *w /= mean);
}

/// The triangular `L` of `E^-1 = L L'` of a patch, row by row; columns of directions that do not yield are zero.
fn factor_patch(a: &Factored, contacts: Range<usize>, order: usize, l: &mut Vec<f64>) {
    l.clear();
    for c in contacts {
        l.extend_from_slice(a.patch(c).map_or(&[][..], |(_, e)| e));
    }
    for i in 0..order {
        for j in 0..=i {
            let rest = l[order * i + j] - dot(&l[order * i..][..j], &l[order * j..][..j]);
            let pivot = l[order * j + j];
            l[order * i + j] = match i == j {
                true => rest.max(0.0).sqrt(),
                false if pivot > 0.0 => rest / pivot,
                false => 0.0,
            };
        }
        l[order * i + i + 1..order * (i + 1)].fill(0.0);
    }
}
