//! Proximal Newton method in velocities, for redundant rigid contacts.
//!
//! The problem is `s = A lambda + b` with `A = c W W' + E^-1` and the element laws of `law`; each island is
//! solved by itself. About a centre `lambda0` each element gets a small compliance `eps` (a share of the
//! island's mean diagonal of `A`) beside its own, so that its force is an explicit function of its velocity.
//! There remains `G(u) = u - W' lambda(W u + b) = 0` over the velocities of the island's bodies and trees.
//! The Newton matrix `I + W' D W` has blocks where bodies touch: its size does not depend on the number of
//! contacts, and redundancy does not make it singular.
//!
//! Centres follow each other: `eps` falls by a factor after each that was solved and rises after each that
//! was not, until the residual of the original problem is within tolerance. The first step at a new centre is
//! taken in the states (open, stick, slip) of the last one: each element is linearised at its own force and
//! velocity, not at those that the bodies' velocities and the new `eps` would give it. Velocities are
//! measured relative to those of the centre, so that no digits are lost where `eps` is small. If there is no
//! solution, forces grow as `1 / eps` while the residual stays; that is reported
//! ([`VelocityNewton::unbounded`]).
//!
//! Sources: the proximal loop, Acary, Bremond and Huber (2018), section 4; the elimination of forces, Castro,
//! Permenter and Han (2023, SAP), from which this differs by the exact law, the centres and the unsymmetric
//! matrix.

mod blocks;
mod choice;
mod island;
mod krylov;
mod law;
pub mod rest;
mod run;

use super::{Budget, Choice, End, Outcome};
use crate::bench::{Bench, Done, Job, Limits, Task, Work};
use crate::matrix::dot;
use crate::operator::{Factored, MOST_ROWS, Operator, Segment};
use crate::problem::ContactProblem;
use crate::residual::Evaluation;
use island::Island;
use run::{Ended, Run};
use std::ops::Range;

/// Name of the method in reports.
pub const NAME: &str = "velocity-newton";
/// Relative residual up to which a warm start is kept.
const KEPT: f64 = 1e-13;
/// Numbers of elements up to which forces are chosen on any island, and on redundant ones.
const FEW_ELEMENTS: usize = 100;
const MOST_CHOSEN: usize = 1000;

/// Settings of [`VelocityNewton`].
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Largest relative residual of a solution.
    pub tolerance: f64,
    /// Largest number of linear systems per island. A cold start takes about 20 to 40; the hardest islands of
    /// 300 contacts with large friction take 400.
    pub max_steps: usize,
    /// Whether to return, of several solutions, the limit of solutions with equal compliance on every rigid
    /// element. It does not depend on the warm start or the order of bodies, and symmetric problems have
    /// symmetric forces.
    pub choose_forces: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { tolerance: 1e-8, max_steps: 1000, choose_forces: false }
    }
}

/// Proximal Newton method in velocities, with its memory.
///
/// It needs the factors of `A` ([`Operator::Factored`]); for problems in other forms it returns
/// [`Outcome::invalid`].
#[derive(Debug, Clone, Default)]
pub struct VelocityNewton {
    /// Settings; they may be changed between solves.
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

    /// Number of elements of the islands on which forces grow without bound in the last solve: they have no
    /// solution near the path that was followed. (This is evidence, no proof.)
    pub fn unbounded(&self) -> usize {
        self.velocities.unbounded
    }

    /// Sets the work that the next solves may do.
    pub fn set_budget(&mut self, budget: Budget) {
        self.bench.sweeper.budget = budget;
    }

    /// Solves from the warm start `lambda`, which is overwritten by the result: the solution, or the best
    /// forces that were computed.
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
        let choice = self.velocities.choice;
        match self.velocities.limited && !outcome.is_solved() {
            true => Outcome { end: End::Limit, choice, ..outcome },
            false => Outcome { choice, ..outcome },
        }
    }
}

/// The choice of forces after a solve by any method.
#[derive(Debug, Clone)]
pub(crate) struct Chooser {
    solver: VelocityNewton,
    /// Forces that were given.
    given: Vec<f64>,
}

impl Default for Chooser {
    fn default() -> Self {
        let mut solver = VelocityNewton::default();
        solver.settings.choose_forces = true;
        Self { solver, given: vec![] }
    }
}

impl Chooser {
    /// Residual and velocities of the last forces.
    pub fn evaluation(&self) -> &Evaluation {
        &self.solver.bench.evaluation
    }

    /// Replaces `lambda`, which another method found with the outcome `by`, by the choice of forces; `None` if the
    /// problem does not have the factors of `A` or `lambda` is no solution. Where no choice is made the forces stay, and
    /// the outcome says so.
    pub fn choose(
        &mut self,
        problem: ContactProblem<'_>,
        lambda: &mut [f64],
        (by, tolerance): (Outcome, f64),
        budget: &mut Budget,
    ) -> Option<Outcome> {
        if !by.is_solved() || !matches!(problem.a, Operator::Factored(_)) {
            return None;
        }
        self.given.clear();
        self.given.extend_from_slice(lambda);
        self.solver.settings.tolerance = tolerance;
        self.solver.set_budget(budget.clone());
        let own = self.solver.solve(problem, lambda);
        budget.clone_from(&self.solver.bench.sweeper.budget);
        let iterations = by.iterations + own.iterations;
        if own.is_solved() && own.choice != Choice::NotExamined {
            return Some(Outcome { iterations, residual: own.residual, choice: own.choice, ..by });
        }
        lambda.copy_from_slice(&self.given);
        let kept = self.solver.bench.outcome(problem, lambda, tolerance, (by.solver, iterations, by.end));
        Some(Outcome { wasted: by.wasted, ..kept })
    }
}

/// What is requested for an island.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Want {
    /// Any solution.
    Solution,
    /// The choice of forces; the current forces are a solution.
    Choice,
    /// The choice of forces, if this number of rounds from the current forces suffices; where slip vanishes, by
    /// way of the solution with a small compliance or not at all.
    ChoiceWithin((usize, bool)),
    /// A solution and the choice of forces along the path from a large compliance.
    ChoiceAlongPath,
    /// A solution without slip.
    Rest,
}

/// Solver of islands, with its memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Velocities {
    pub settings: Settings,
    /// Islands whose groups have at most three velocities (planar bodies, short chains), and all others.
    three: Island<3, 4>,
    six: Island<6, 8>,
    memory: Memory,
    /// Number of elements of islands whose forces grow without bound.
    unbounded: usize,
    /// Whether a limit of steps or work was reached.
    limited: bool,
    /// Choice of the forces of the islands that the last run solved.
    choice: Choice,
}

impl Work for Velocities {
    fn run<const D: usize>(&mut self, job: Job<'_>, y: &mut [f64]) -> usize {
        let Job { problem, islands, goals, sweeper, .. } = job;
        (self.limited, self.unbounded) = (false, 0);
        let choose = self.settings.choose_forces;
        self.choice = if choose { Choice::Unique } else { Choice::NotExamined };
        let mut total = 0;
        for k in 0..islands.count() {
            let task = Job::task(problem, islands, goals, k);
            let goal = &mut goals[k];
            if goal.start > goal.target {
                let done = self.solve(&mut sweeper.budget, task, y);
                goal.left = done.residual;
                total += done.iterations;
            }
            let open = choose && (goal.left > goal.target || self.may_be_open(task, y));
            if open && !(goal.left <= goal.target && self.chooses(task)) {
                self.choice = self.choice.max(Choice::NotExamined);
            } else if open {
                let (done, choice) = self.choose(&mut sweeper.budget, task, y);
                goal.left = done.residual;
                total += done.iterations;
                self.choice = self.choice.max(choice);
            }
        }
        total
    }
}

impl Velocities {
    /// Whether an island has more rows than its bodies have velocities, and several elements between the same
    /// bodies: forces are then not unique, and other methods are slow. (Piles of spheres, which touch each
    /// other in single points, may have more rows too, but sweeps suit them.)
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

    /// Whether forces of an island are chosen if they are not unique: on large piles of single contacts that would cost
    /// more than the solution.
    pub fn chooses(&mut self, task: Task<'_>) -> bool {
        match task.contacts.len() {
            0..=FEW_ELEMENTS => true,
            n => n <= MOST_CHOSEN && self.is_redundant(task),
        }
    }

    /// Whether the forces of an island may not be unique. Bodies with a single loaded rigid element are
    /// removed together with it, repeatedly, since the motion of such a body determines that force; forces
    /// may not be unique if loaded rigid elements remain.
    pub fn may_be_open(&mut self, task: Task<'_>, y: &[f64]) -> bool {
        let Operator::Factored(a) = task.problem.a else { return false };
        let rows = task.problem.rows;
        let Memory { degrees, leaves, .. } = &mut self.memory;
        degrees.clear();
        degrees.resize(a.speeds(), (0, 0));
        let rigid = |c: usize| {
            let (own, scale) = (&y[rows * c..][..rows], &task.problem.scale[rows * c..][..rows]);
            let e = a.patch(c).map_or(&[][..], |(_, e)| e);
            let diagonal = |i: usize| e.get(e.len() / rows * i + rows * (c - a.patch_elements(c).start) + i);
            let yields = |i: usize| scale[i] == 0.0 || diagonal(i).is_some_and(|e| *e > 0.0);
            own.iter().any(|f| *f != 0.0) && !(0..rows).all(yields)
        };
        let mut left = 0;
        for &c in task.contacts.iter().filter(|&&c| rigid(c)) {
            left += 1;
            for (s, _) in a.segments(c) {
                let (count, all) = &mut degrees[s.first];
                (*count, *all) = (*count + 1, *all ^ c);
            }
        }
        leaves.clear();
        leaves.extend((0..degrees.len()).filter(|&s| degrees[s].0 == 1));
        while let Some(body) = leaves.pop() {
            let (count, c) = degrees[body];
            let seen = |(s, w): (Segment, &[f64])| s.first == body && has_full_rank(w, s.len, rows);
            if count != 1 || !a.segments(c).any(seen) {
                continue;
            }
            left -= 1;
            for (s, _) in a.segments(c) {
                let (count, all) = &mut degrees[s.first];
                (*count, *all) = (*count - 1, *all ^ c);
                if *count == 1 {
                    leaves.push(s.first);
                }
            }
        }
        left > 0
    }

    /// Solves one island; the residual does not increase.
    pub fn solve(&mut self, budget: &mut Budget, task: Task<'_>, y: &mut [f64]) -> Done {
        let (ended, _, done) = self.island(Want::Solution, budget, task, y);
        match ended {
            Ended::Unbounded => self.unbounded += task.contacts.len(),
            Ended::Limit => self.limited = true,
            Ended::Solved | Ended::Stalled => {}
        }
        done
    }

    /// Chooses forces of an island that is solved; it stays solved.
    pub fn choose(&mut self, budget: &mut Budget, task: Task<'_>, y: &mut [f64]) -> (Done, Choice) {
        let (_, choice, done) = self.island(Want::Choice, budget, task, y);
        (done, choice)
    }

    /// Solves an island and chooses its forces, if this number of rounds suffices; it does where forces and
    /// states are near those of the result. Vanishing slip is examined if the second entry is true.
    pub fn choose_within(
        &mut self,
        rounds: (usize, bool),
        budget: &mut Budget,
        task: Task<'_>,
        y: &mut [f64],
    ) -> (Done, Choice) {
        let (_, choice, done) = self.island(Want::ChoiceWithin(rounds), budget, task, y);
        (done, choice)
    }

    /// Solves an island and chooses its forces along the path from a large compliance; the forces stay if it cannot be
    /// followed.
    pub fn choose_along_path(
        &mut self,
        budget: &mut Budget,
        task: Task<'_>,
        y: &mut [f64],
    ) -> (Done, Choice) {
        let (_, choice, done) = self.island(Want::ChoiceAlongPath, budget, task, y);
        (done, choice)
    }

    fn island(
        &mut self,
        want: Want,
        budget: &mut Budget,
        task: Task<'_>,
        y: &mut [f64],
    ) -> (Ended, Choice, Done) {
        let Operator::Factored(a) = task.problem.a else {
            let done = Done { iterations: 0, residual: f64::INFINITY };
            return (Ended::Stalled, Choice::NotExamined, done);
        };
        let Self { settings, three, six, memory, .. } = self;
        let small = task.contacts.iter().all(|&c| a.segments(c).all(|(s, _)| s.len <= 3));
        let first = memory.steps;
        let (ended, choice, residual) = match small {
            true => work_on(three, want, task, a, (settings, memory, budget), y),
            false => work_on(six, want, task, a, (settings, memory, budget), y),
        };
        (ended, choice, Done { iterations: self.memory.steps - first, residual })
    }
}

/// Memory of the solves of islands of both kinds, and the number of linear systems they have solved.
#[derive(Debug, Clone, Default)]
struct Memory {
    /// First node of the group that begins with each velocity.
    groups: Vec<usize>,
    /// Elements that act on each body: their number, and the exclusive or of their indices; bodies with a
    /// single such element.
    degrees: Vec<(usize, usize)>,
    leaves: Vec<usize>,
    /// Triangular factor of a patch's compliance.
    patch: Vec<f64>,
    /// Best forces, those before the choice, and those of the limit.
    best: Vec<f64>,
    given: Vec<f64>,
    estimate: Vec<f64>,
    /// Forces with the small compliance.
    reached: Vec<f64>,
    /// Forces and velocities of a solution at rest.
    rest: (Vec<f64>, Vec<f64>),
    found: rest::Found,
    /// Shares of the proximal weight, see [`Run::weights`].
    weights: Vec<f64>,
    /// Number of linear systems solved.
    steps: usize,
}

/// Solves or chooses on one island; returns how it ended, the choice of forces, and the sum of squares of the
/// natural map.
fn work_on<const D: usize, const P: usize>(
    island: &mut Island<D, P>,
    want: Want,
    task: Task<'_>,
    a: &Factored,
    (settings, memory, budget): (&Settings, &mut Memory, &mut Budget),
    y: &mut [f64],
) -> (Ended, Choice, f64) {
    let rows = task.problem.rows;
    read(island, task, a, memory);
    for (&c, own) in task.contacts.iter().zip(island.force.chunks_exact_mut(rows)) {
        own.copy_from_slice(&y[rows * c..][..rows]);
    }
    let (first, mean) = (memory.steps, island.mean_diagonal());
    let weights = std::mem::take(&mut memory.weights);
    let mut run =
        Run { island, settings, target: task.target, memory, budget, first, weights: &weights, mean };
    let (ended, choice) = match want {
        Want::Solution => (run.solve(), Choice::NotExamined),
        Want::Choice => (Ended::Solved, run.choose()),
        Want::ChoiceWithin(rounds) => (Ended::Solved, run.choose_within(rounds)),
        Want::ChoiceAlongPath => (Ended::Solved, run.choose_along_path()),
        Want::Rest => {
            let (found, choice) = run.rest();
            run.memory.found = found;
            (Ended::Solved, choice)
        }
    };
    memory.weights = weights;
    island.recentre();
    let residual = island.residual();
    for (&c, own) in task.contacts.iter().zip(island.force.chunks_exact(rows)) {
        y[rows * c..][..rows].copy_from_slice(own);
    }
    (ended, choice, residual)
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
        // a compliance of 1 in the original units; rows with a compliance of their own, and rows without
        // force, have none
        let scale = &problem.scale[rows * c..][..rows];
        let of_row = |(s, e): (&f64, f64)| match () {
            () if e > 0.0 => 0.0,
            () if *s > 0.0 => s * s,
            () => scale[0] * scale[0],
        };
        weights.extend(scale.iter().zip(compliance).map(of_row));
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
    let rigid = weights.iter().filter(|w| **w > 0.0).count();
    let mean = weights.iter().sum::<f64>() / rigid.max(1) as f64;
    weights.iter_mut().filter(|w| **w > 0.0).for_each(|w| *w /= mean);
}

/// Whether the nonzero rows of `w` are clearly independent, by the pivots of `w w'`.
fn has_full_rank(w: &[f64], len: usize, rows: usize) -> bool {
    let mut basis = [[0.0; LEAF]; MOST_ROWS];
    if len > LEAF {
        return false;
    }
    for i in 0..rows {
        let mut own = [0.0; LEAF];
        own[..len].copy_from_slice(&w[len * i..][..len]);
        let size = dot(&own, &own);
        for before in &basis[..i] {
            let along = dot(&own, before);
            own.iter_mut().zip(before).for_each(|(x, b)| *x -= along * b);
        }
        let left = dot(&own, &own);
        if size > 0.0 && left <= INDEPENDENT * size {
            return false;
        }
        let scale = if left > 0.0 { 1.0 / left.sqrt() } else { 0.0 };
        basis[i] = own.map(|x| scale * x);
    }
    true
}

/// Largest number of velocities of a body or tree that may be removed, and the least share (square) of a row
/// that is independent of the others.
const LEAF: usize = 6;
const INDEPENDENT: f64 = 1e-8;

/// Triangular factor `L` of `E^-1 = L L'` of a patch, row by row; columns of rigid directions are zero.
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
