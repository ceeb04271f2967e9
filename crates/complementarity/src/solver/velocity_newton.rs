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

use super::{End, Outcome};
use crate::bench::{Bench, Task, allowance, size_of};
use crate::matrix::dot;
use crate::operator::{Factored, MOST_ROWS, Operator};
use crate::problem::ConeProblem;
use island::Island;
use law::Law;
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
    /// Work at most, in operations on blocks of the linear systems, over all islands; like `max_steps` it does not depend on
    /// the clock, so that runs repeat bitwise.
    pub budget: usize,
    /// Whether, of several solutions, the limit of solutions with equal compliance on every rigid element is returned. It
    /// does not depend on the warm start or the order of bodies, and symmetric problems have symmetric forces.
    pub choose_forces: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { tolerance: 1e-8, max_steps: 1000, budget: usize::MAX, choose_forces: false }
    }
}

/// The method with its memory.
///
/// It needs the factors of `A` ([`Operator::Factored`]): problems in other forms are answered by [`Outcome::invalid`].
#[derive(Debug, Clone, Default)]
pub struct VelocityNewton {
    /// May be changed between solves.
    pub settings: Settings,
    bench: Bench,
    /// Islands whose groups have at most three velocities (planar bodies, short chains), and others.
    three: Island<3, 4>,
    six: Island<6, 8>,
    memory: Memory,
    unbounded: Vec<usize>,
}

impl VelocityNewton {
    /// Empty memory.
    pub fn new(settings: Settings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// `s = A lambda + b` of the last answer.
    pub fn speed(&self) -> &[f64] {
        &self.bench.judged.speed
    }

    /// Contacts of the islands on which forces grow without bound in the last solve: they have no solution near the path
    /// that was followed. (This is evidence, no proof.)
    pub fn unbounded(&self) -> &[usize] {
        &self.unbounded
    }

    /// Solves from the warm start `lambda`, which takes the answer: the best forces found where it is not solved.
    pub fn solve(&mut self, problem: ConeProblem<'_>, lambda: &mut [f64]) -> Outcome {
        let (tolerance, rows) = (self.settings.tolerance, problem.rows);
        self.unbounded.clear();
        let keep = if self.settings.choose_forces { 0.0 } else { KEPT.min(tolerance) };
        if let Some(outcome) = self.bench.begin(problem, lambda, keep, NAME) {
            return outcome;
        }
        let Operator::Factored(a) = problem.a else { return Outcome::invalid(NAME) };
        self.bench.islands.find(problem.a, rows, problem.mu.len());
        let share = allowance(size_of(problem.b), tolerance) / problem.mu.len() as f64;
        (self.memory.steps, self.memory.work) = (0, 0);
        let mut end = End::Stalled;
        for k in 0..self.bench.islands.count() {
            let contacts = self.bench.islands.island(k);
            let task = Task { problem, contacts, target: share * contacts.len() as f64, size: 0.0 };
            let small = contacts.iter().all(|&c| a.segments(c).all(|(s, _)| s.len <= 3));
            let ended = match small {
                true => solve_island(&mut self.three, task, a, &self.settings, &mut self.memory, lambda),
                false => solve_island(&mut self.six, task, a, &self.settings, &mut self.memory, lambda),
            };
            match ended {
                Ended::Unbounded => self.unbounded.extend_from_slice(contacts),
                Ended::Limit => end = End::Limit,
                Ended::Solved | Ended::Stalled => {}
            }
        }
        self.bench.judge(problem, lambda, tolerance, NAME, self.memory.steps, end)
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
    /// Linear systems, and operations on blocks.
    steps: usize,
    work: usize,
}

/// Solves one island.
fn solve_island<const D: usize, const P: usize>(
    island: &mut Island<D, P>,
    task: Task<'_>,
    a: &Factored,
    settings: &Settings,
    memory: &mut Memory,
    lambda: &mut [f64],
) -> Ended {
    let rows = task.problem.rows;
    read(island, task, a, memory);
    for (&c, own) in task.contacts.iter().zip(island.force.chunks_exact_mut(rows)) {
        own.copy_from_slice(&lambda[rows * c..][..rows]);
    }
    let first = memory.steps;
    let ended = Run { island, settings, target: task.target, memory, first, mean: 1.0 }.solve();
    for (&c, own) in task.contacts.iter().zip(island.force.chunks_exact(rows)) {
        lambda[rows * c..][..rows].copy_from_slice(own);
    }
    ended
}

/// Reads an island from the factors of `A`.
fn read<const D: usize, const P: usize>(
    island: &mut Island<D, P>,
    task: Task<'_>,
    a: &Factored,
    memory: &mut Memory,
) {
    let (problem, rows) = (task.problem, task.problem.rows);
    let Memory { groups, patch, .. } = memory;
    island.clear();
    groups.clear();
    groups.resize(a.speeds(), usize::MAX);
    let mut patch_node = 0;
    for &c in task.contacts {
        let own = a.patch_contacts(c);
        let e = a.patch(c).map_or(&[][..], |(_, e)| e);
        let diagonal = |k: usize| k.is_multiple_of(rows + 1);
        let coupled = own.len() > 1 || (0..e.len()).any(|k| !diagonal(k) && e[k] != 0.0);
        let mut compliance = [0.0; MOST_ROWS];
        if !coupled && !e.is_empty() {
            (0..rows).for_each(|i| compliance[i] = e[(rows + 1) * i]);
        }
        let law = Law::Contact { mu: problem.mu[c], shape: problem.shape(c) };
        island.add_element(law, &problem.b[rows * c..][..rows], &compliance[..rows]);
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
