//! What the solvers of contact problems have in common: checks, units, islands with what is asked of each, and the residual at the end.

use crate::islands::Islands;
use crate::operator::{BlockMatrix, MOST_ROWS, Neighbours, Operator};
use crate::outcome::{End, Outcome};
use crate::problem::ContactProblem;
use crate::residual::Evaluation;
use crate::sweep::Sweeper;
use crate::units::{Part, Uniform, padded_rows};

/// Part of a problem: elements that no others influence, and what is asked of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Task<'a> {
    pub problem: Uniform<'a>,
    pub contacts: &'a [usize],
    /// Sum of squares of the natural map that is good enough.
    pub target: f64,
    /// What that is relative to.
    pub size: f64,
}

/// What became of a task: linear systems or sweeps, and the sum of squares of the natural map.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Done {
    pub iterations: usize,
    pub residual: f64,
}

/// An island and what is asked of it: sums of squares of the natural map.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Goal {
    /// Where the forces at hand are.
    pub start: f64,
    /// Good enough.
    pub target: f64,
    /// To be reached while that costs little.
    pub aim: f64,
    /// What all are relative to.
    pub size: f64,
    /// What is left; written by the solver.
    pub left: f64,
    /// Residual of the worst element by itself, after the round before.
    pub element: f64,
}

/// What a solver works on: the islands of a problem whose elements all have one number of rows.
pub(crate) struct Job<'a> {
    pub problem: Uniform<'a>,
    pub islands: &'a Islands,
    /// Numbers of its elements in the problem as posed.
    pub members: &'a [usize],
    pub goals: &'a mut [Goal],
    pub sweeper: &'a mut Sweeper,
    pub formed: &'a mut Formed,
}

impl<'a> Job<'a> {
    /// The task of island `k`.
    pub fn task<'b>(problem: Uniform<'b>, islands: &'b Islands, goals: &[Goal], k: usize) -> Task<'b> {
        Task { problem, contacts: islands.island(k), target: goals[k].target, size: goals[k].size }
    }

    /// Calls `work` for each island that is not good enough; the sum of its iterations.
    pub fn each(self, mut work: impl FnMut(&mut Sweeper, &mut Formed, Task<'_>, &mut Goal) -> Done) -> usize {
        let mut total = 0;
        for k in 0..self.islands.count() {
            let task = Self::task(self.problem, self.islands, self.goals, k);
            let goal = &mut self.goals[k];
            if goal.start > goal.target {
                let done = work(self.sweeper, self.formed, task, goal);
                goal.left = done.residual;
                total += done.iterations;
            }
        }
        total
    }
}

/// A solver: brings the islands of a job to their targets, as far as it can. Returns iterations.
pub(crate) trait Work {
    fn run<const D: usize>(&mut self, job: Job<'_>, y: &mut [f64]) -> usize;
}

/// When a warm start is kept, and how far to go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Relative residual of a solution.
    pub tolerance: f64,
    /// Relative residual to aim at while that costs little.
    pub goal: f64,
    /// From a bad start the residual is taken to be relative to this multiple of the load, for forces are not known yet. If that was too much, the solver goes on.
    pub foresight: f64,
}

/// Targets stay this far (squared) below the tolerance: sums are added up in another order.
const MARGIN: f64 = 0.8;
/// Times that targets are lowered where islands are solved in the units of solvers, and not as posed, or a body is not.
const MOST_ROUNDS: usize = 6;
/// Share of what is left (squared) that an island is asked for next, where one of its elements is not solved by itself.
const SHRINK_FOR_ELEMENT: f64 = 1e-4;
/// An island goes on, whether or not it has reached what it was asked for, while a round leaves this share of its worst element's residual.
const NEARER: f64 = 0.5;
/// Least relative residual that is tried.
const LEAST: f64 = 1e-15;

/// Workbench of a solver.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bench {
    pub sweeper: Sweeper,
    pub formed: Formed,
    /// Relative residual of the warm start.
    pub start: f64,
    /// What was found of the forces last evaluated.
    pub evaluation: Evaluation,
    part: Part,
    y: Vec<f64>,
    goals: Vec<Goal>,
    /// Elements and residual of each island that was left unsolved.
    pub unsolved: Vec<(usize, f64)>,
}

/// The operator as blocks, where it is given as factors.
#[derive(Debug, Clone)]
pub(crate) struct Formed {
    operator: Operator,
    neighbours: Neighbours,
    /// Whether it is that of the problem at hand.
    current: bool,
}

impl Default for Formed {
    fn default() -> Self {
        let operator = Operator::Blocks(BlockMatrix::default());
        Self { operator, neighbours: Neighbours::default(), current: false }
    }
}

impl Formed {
    /// The problem with its operator as blocks, multiplied out if it was factored.
    pub fn blocks<'a>(&'a mut self, problem: Uniform<'a>) -> (Uniform<'a>, &'a BlockMatrix) {
        let Operator::Blocks(blocks) = &mut self.operator else { unreachable!("made as blocks") };
        match problem.a {
            Operator::Blocks(a) => return (problem, a),
            Operator::Factored(a) if !self.current => {
                blocks.assign_factored(a, &mut self.neighbours);
                self.current = true;
            }
            _ => {}
        }
        let Operator::Blocks(blocks) = &self.operator else { unreachable!("made as blocks") };
        (Uniform { a: &self.operator, ..problem }, blocks)
    }
}

impl Bench {
    /// Checks the parts and evaluates the warm start; an outcome if its relative residual is at most `keep`. A warm start that is not finite becomes zero, and so does
    /// that of islands in which nothing closes: no force is a solution there.
    pub fn begin(
        &mut self,
        problem: ContactProblem<'_>,
        lambda: &mut [f64],
        keep: f64,
        solver: &'static str,
    ) -> Option<Outcome> {
        let ContactProblem { a, b, elements, .. } = problem;
        self.unsolved.clear();
        let fits = self.evaluation.prepare(problem)
            && lambda.len() == b.len()
            && b.iter().all(|x| x.is_finite())
            && !elements.iter().any(|e| e.slides());
        if !fits {
            return Some(Outcome::invalid(solver));
        }
        if !lambda.iter().all(|x| x.is_finite()) {
            lambda.fill(0.0);
        }
        let mut relative = self.evaluation.evaluate(problem, lambda);
        if !relative.is_finite() {
            // not by lambda alone: an entry of A is not finite, or all is too large
            lambda.fill(0.0);
            if !a.is_finite() {
                return Some(Outcome::invalid(solver));
            }
            relative = self.evaluation.evaluate(problem, lambda);
        }
        if relative > keep && self.open(problem, lambda, keep) {
            relative = self.evaluation.evaluate(problem, lambda);
        }
        self.start = relative;
        (relative <= keep).then(|| self.evaluated(problem, lambda, keep, (solver, 0, End::Stalled)))
    }

    /// Takes the forces from islands in which nothing closes and which are not solved; whether there were any.
    fn open(&self, problem: ContactProblem<'_>, lambda: &mut [f64], keep: f64) -> bool {
        let Evaluation { offsets, islands, relative, .. } = &self.evaluation;
        let mut any = false;
        for k in (0..islands.count()).filter(|&k| relative[k] > keep) {
            let rests = |&c: &usize| problem.elements[c].rests_without_force(problem.b[offsets[c]]);
            if islands.island(k).iter().all(rests) {
                any = true;
                islands.island(k).iter().for_each(|&c| lambda[offsets[c]..offsets[c + 1]].fill(0.0));
            }
        }
        any
    }

    /// Solves from `lambda`, which [`Self::begin`] has seen: part by part in the units of solvers, until the residual as posed is within tolerance or `work` fails.
    pub fn solve(
        &mut self,
        problem: ContactProblem<'_>,
        lambda: &mut [f64],
        limits: Limits,
        (solver, otherwise): (&'static str, End),
        work: &mut impl Work,
    ) -> Outcome {
        let mut iterations = 0;
        let Evaluation { islands, .. } = &self.evaluation;
        let mut classes = [false; MOST_ROWS + 1];
        for k in 0..islands.count() {
            classes[padded_rows(problem.elements, islands.island(k))] = true;
        }
        for rows in (0..classes.len()).filter(|&rows| classes[rows]) {
            let Evaluation { offsets, islands, units, .. } = &self.evaluation;
            if self.part.fill(problem, offsets, islands, units, rows) {
                self.formed.current = false;
                iterations += self.solve_part(problem, lambda, limits, rows, work);
            }
        }
        let end = self.sweeper.budget.ended().unwrap_or(otherwise);
        self.evaluated(problem, lambda, limits.tolerance, (solver, iterations, end))
    }

    fn solve_part(
        &mut self,
        problem: ContactProblem<'_>,
        lambda: &mut [f64],
        limits: Limits,
        rows: usize,
        work: &mut impl Work,
    ) -> usize {
        let Self { part, evaluation, goals, sweeper, formed, y, unsolved, .. } = self;
        let posed =
            |islands: &Islands, k: usize| islands.number_of(part.members()[part.islands.island(k)[0]]);
        let mut iterations = 0;
        goals.clear();
        for k in 0..part.islands.count() {
            let (size, start, near) = evaluation.of_island(posed(&evaluation.islands, k));
            let foreseen = if near { 1.0 } else { limits.foresight.powi(2) };
            let target = MARGIN * limits.tolerance.powi(2) * size * foreseen;
            goals.push(Goal {
                start,
                target,
                aim: MARGIN * limits.goal.powi(2) * size,
                size,
                left: start,
                element: f64::INFINITY,
            });
        }
        part.unknowns(&evaluation.offsets, lambda, y);
        for round in 0..MOST_ROUNDS {
            let uniform = part.problem();
            sweeper.v.clone_from(&evaluation.product);
            part.velocities(&evaluation.offsets, &evaluation.speed, &mut sweeper.speed);
            by_rows!(rows, sweeper.begin(uniform, round == 0));
            let same = part.is_posed(problem);
            for k in (0..part.islands.count()).filter(|_| !same) {
                let contacts = part.islands.island(k);
                goals[k].start = by_rows!(rows, sweeper.residual(uniform, contacts, y));
            }
            let job = Job {
                problem: uniform,
                islands: &part.islands,
                members: part.members(),
                goals: &mut *goals,
                sweeper: &mut *sweeper,
                formed: &mut *formed,
            };
            iterations += by_rows!(rows, work.run(job, y));
            part.forces(&evaluation.offsets, y, lambda);
            evaluation.evaluate(problem, lambda);
            // islands that are solved for the solver, but not as posed, or not for a body or an element
            let mut again = false;
            for (k, goal) in goals.iter_mut().enumerate() {
                let island = posed(&evaluation.islands, k);
                let relative = evaluation.relative[island];
                let least = LEAST * LEAST * goal.size;
                let own = evaluation.by_element[island];
                let again_near = goal.element.is_finite() && own <= NEARER * goal.element;
                let nearer = own > limits.tolerance && again_near;
                goal.element = own;
                let shrink = match own {
                    // of an element that is not solved nothing says how far the island has to go
                    own if own > limits.tolerance => SHRINK_FOR_ELEMENT * (goal.left / goal.target).min(1.0),
                    _ if round == 0 => 0.5 * (limits.tolerance / relative).powi(2),
                    _ => 0.05 * (limits.tolerance / relative).powi(2),
                };
                let next = (shrink * goal.target).max(least);
                goal.start = evaluation.of_island(island).1;
                let reached = goal.left <= goal.target && goal.target > least;
                if relative > limits.tolerance && (reached || nearer) {
                    (goal.target, goal.aim, again) = (next, goal.aim.min(next), true);
                }
            }
            if !again || round + 1 == MOST_ROUNDS || sweeper.budget.ended().is_some() {
                break;
            }
        }
        for k in 0..part.islands.count() {
            let island = posed(&evaluation.islands, k);
            let relative = evaluation.relative[island];
            if relative > limits.tolerance || relative.is_nan() {
                let left = evaluation.of_island(island).1.sqrt();
                unsolved.push((part.islands.island(k).len(), left));
            }
        }
        iterations
    }

    /// Evaluates forces; an outcome that is solved, or ended `otherwise`.
    pub fn outcome(
        &mut self,
        problem: ContactProblem<'_>,
        lambda: &[f64],
        tolerance: f64,
        by: (&'static str, usize, End),
    ) -> Outcome {
        self.evaluation.evaluate(problem, lambda);
        self.evaluated(problem, lambda, tolerance, by)
    }

    /// The outcome of forces that were evaluated last.
    fn evaluated(
        &self,
        problem: ContactProblem<'_>,
        lambda: &[f64],
        tolerance: f64,
        (solver, iterations, otherwise): (&'static str, usize, End),
    ) -> Outcome {
        let residual = self.evaluation.residual(problem, lambda);
        let end = if residual.relative <= tolerance { End::Solved } else { otherwise };
        Outcome::new(solver, end, iterations, residual)
    }
}

/// Forces of `contacts`, one after another.
pub(crate) fn keep<const D: usize>(to: &mut Vec<f64>, contacts: &[usize], lambda: &[f64]) {
    to.clear();
    contacts.iter().for_each(|&c| to.extend_from_slice(&lambda[D * c..][..D]));
}

/// Puts them back.
pub(crate) fn restore<const D: usize>(from: &[f64], contacts: &[usize], lambda: &mut [f64]) {
    for (&c, from) in contacts.iter().zip(from.as_chunks::<D>().0) {
        lambda.as_chunks_mut::<D>().0[c] = *from;
    }
}

/// Calls a method generic in the number of rows.
macro_rules! by_rows {
    ($rows:expr, $self:ident . $method:ident ( $($argument:expr),* )) => {
        match $rows {
            2 => $self.$method::<2>($($argument),*),
            3 => $self.$method::<3>($($argument),*),
            4 => $self.$method::<4>($($argument),*),
            5 => $self.$method::<5>($($argument),*),
            _ => $self.$method::<6>($($argument),*),
        }
    };
}
pub(crate) use by_rows;
