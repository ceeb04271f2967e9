//! What the cone solvers have in common: checking and judging, islands and their shares of the tolerance.

use crate::islands::Islands;
use crate::matrix::norm;
use crate::operator::{BlockMatrix, MOST_ROWS, Neighbours, Operator};
use crate::problem::{ConeProblem, Friction, SIDES, Sets};
use crate::residual::{self, ConeScratch};
use crate::solver::{End, Outcome};
use crate::sweep::Sweeper;

/// Part of a problem: contacts that no others influence, and what is asked of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Task<'a> {
    pub problem: ConeProblem<'a>,
    pub contacts: &'a [usize],
    /// Sum of squares of the natural map that is good enough.
    pub target: f64,
    /// What residuals are relative to: the sum of squares of the whole `b`.
    pub size: f64,
}

/// What became of a task: linear systems or sweeps, and the sum of squares of the natural map.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Done {
    pub iterations: usize,
    pub residual: f64,
}

/// Shares of the tolerance stay this far (squared) below it: the judge adds up in another order.
const MARGIN: f64 = 0.8;

/// Workbench of a cone solver.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bench {
    pub sweeper: Sweeper,
    pub islands: Islands,
    pub formed: Formed,
    /// Relative residual of the warm start.
    pub start: f64,
    /// What was found of the forces last judged.
    pub judged: ConeScratch,
}

/// The operator as blocks, where it is given otherwise.
#[derive(Debug, Clone)]
pub(crate) struct Formed {
    operator: Operator,
    neighbours: Neighbours,
}

impl Default for Formed {
    fn default() -> Self {
        let operator = Operator::Blocks(BlockMatrix::default());
        Self { operator, neighbours: Neighbours::default() }
    }
}

impl Formed {
    /// The problem with a dense operator made block sparse; others stay as they are.
    pub fn sparse<'a>(&'a mut self, problem: ConeProblem<'a>) -> ConeProblem<'a> {
        match problem.a {
            Operator::Dense(_) => self.blocks(problem),
            _ => problem,
        }
    }

    /// The problem with its operator as blocks, multiplied out if it was factored.
    pub fn blocks<'a>(&'a mut self, problem: ConeProblem<'a>) -> ConeProblem<'a> {
        let Operator::Blocks(blocks) = &mut self.operator else { return problem };
        match problem.a {
            Operator::Dense(a) => blocks.assign_dense(a, problem.rows),
            Operator::Factored(a) => blocks.assign_factored(a, &mut self.neighbours),
            Operator::Blocks(_) => return problem,
        }
        ConeProblem { a: &self.operator, ..problem }
    }
}

impl Bench {
    /// Checks the parts and judges the warm start; an outcome if there is nothing to solve. A warm start that is not finite becomes zero.
    pub fn begin(
        &mut self,
        problem: ConeProblem<'_>,
        lambda: &mut [f64],
        tolerance: f64,
        solver: &'static str,
    ) -> Option<Outcome> {
        let ConeProblem { a, b, mu, rows, sets } = problem;
        let fits = (2..=MOST_ROWS).contains(&rows)
            && b.len() == rows * mu.len()
            && a.size() == b.len()
            && lambda.len() == b.len()
            && b.iter().all(|x| x.is_finite())
            && mu.iter().all(|x| x.is_finite() && *x >= 0.0)
            && sets_fit(sets, rows, mu.len());
        if !fits {
            return Some(Outcome::invalid(solver));
        }
        if !lambda.iter().all(|x| x.is_finite()) {
            lambda.fill(0.0);
        }
        let residual = residual::cone(problem, lambda, &mut self.judged);
        self.start = residual.relative;
        if !residual.absolute.is_finite() {
            // not by lambda alone: an entry of A is not finite, or all is too large
            lambda.fill(0.0);
            if !a.is_finite() {
                return Some(Outcome::invalid(solver));
            }
            residual::cone(problem, lambda, &mut self.judged);
        }
        let solved = Outcome { solver, end: End::Solved, iterations: 0, wasted: 0, residual };
        (residual.relative <= tolerance).then_some(solved)
    }

    /// Judges the answer.
    pub fn judge(
        &mut self,
        problem: ConeProblem<'_>,
        lambda: &[f64],
        tolerance: f64,
        solver: &'static str,
        iterations: usize,
        otherwise: End,
    ) -> Outcome {
        let residual = residual::cone(problem, lambda, &mut self.judged);
        let end = if residual.relative <= tolerance { End::Solved } else { otherwise };
        Outcome { solver, end, iterations, wasted: 0, residual }
    }
}

/// Whether there are as many sets as contacts, each a disc or, in 2 or 3 rows, a polygon.
fn sets_fit(sets: Sets<'_>, rows: usize, contacts: usize) -> bool {
    let fits = |set: &Friction| match set {
        Friction::Cone => true,
        Friction::Pyramid => rows <= 3,
        Friction::Polygon { sides } => rows <= 3 && SIDES.contains(sides) && sides % 2 == 0,
        Friction::Ellipsoid => false,
    };
    match sets {
        Sets::All(set) => fits(&set),
        Sets::Each(sets) => sets.len() == contacts && sets.iter().all(fits),
    }
}

/// Sum of squares of `b`; 1 if it is zero.
pub(crate) fn size_of(b: &[f64]) -> f64 {
    let size = norm(b);
    if size > 0.0 { size * size } else { 1.0 }
}

/// Sum of squares that a problem of this size may leave.
pub(crate) fn allowance(size: f64, tolerance: f64) -> f64 {
    MARGIN * tolerance * tolerance * size
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
