//! A cone problem in the units of its solvers: all cones alike, entries of about 1.
//!
//! With `D_c = diag(1, mu, mu, ...)` and a positive number `d_c` a contact, `lambda = beta S x` and `S = diag(d_c D_c)`:
//!
//! ```text
//! u = W x + q      W = S A S    q = S b / beta    beta = |S b|
//! ```
//!
//! `lambda` is in the cone of coefficient `mu` exactly if `x` is in the cone `L = { |x_t| <= x_n }`, and `u = S s / beta`: the speeds
//! that friction sees are the `mu s_t`, so that De Saxce's `s_n + mu |s_t|` is `u_n + |u_t|`. Where `mu = 0` the rows of
//! friction vanish, and nothing has to be divided by `mu`. `d_c = 1 / sqrt(trace of the block of c)` brings `W` near the identity.

use crate::matrix::{dot, norm};
use crate::operator::Operator;
use crate::problem::ConeProblem;

/// Least trace of a block, relative to the largest, that sets a contact's unit.
const LEAST_TRACE: f64 = 1e-12;

/// The scaled problem; dense.
#[derive(Debug, Clone, Default)]
pub(super) struct Scaled {
    /// Order.
    pub n: usize,
    /// Rows a contact.
    pub rows: usize,
    /// Diagonal of `S`.
    pub s: Vec<f64>,
    /// `|S b|`.
    pub beta: f64,
    /// Row by row.
    pub w: Vec<f64>,
    /// Of length 1.
    pub q: Vec<f64>,
}

impl Scaled {
    /// Fills the parts; `false` if there is nothing to solve (`S b = 0`, so that `lambda = 0` is a solution) or numbers overflow.
    pub fn fill(&mut self, problem: ConeProblem<'_>) -> bool {
        let (n, rows) = (problem.b.len(), problem.rows);
        (self.n, self.rows) = (n, rows);
        self.copy_dense(problem.a);
        self.s.clear();
        self.s.resize(n, 1.0);
        let mut largest = 0.0f64;
        for (c, &mu) in problem.mu.iter().enumerate() {
            self.s[rows * c + 1..rows * (c + 1)].fill(mu);
            largest = largest.max(self.trace(c));
        }
        if !(largest.is_finite() && largest > 0.0) {
            return false;
        }
        for c in 0..problem.mu.len() {
            let unit = 1.0 / self.trace(c).max(LEAST_TRACE * largest).sqrt();
            self.s[rows * c..rows * (c + 1)].iter_mut().for_each(|s| *s *= unit);
        }
        for (row, si) in self.w.chunks_exact_mut(n).zip(&self.s) {
            row.iter_mut().zip(&self.s).for_each(|(w, sj)| *w *= si * sj);
        }
        self.q.clear();
        self.q.extend(problem.b.iter().zip(&self.s).map(|(b, s)| s * b));
        self.beta = norm(&self.q);
        self.q.iter_mut().for_each(|q| *q /= self.beta);
        self.beta > 0.0 && self.beta.is_finite() && self.w.iter().all(|w| w.is_finite())
    }

    /// `out = W x`.
    pub fn times(&self, x: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.extend(self.w.chunks_exact(self.n).map(|row| dot(row, x)));
    }

    /// `out = W x + q`: the speeds `u`.
    pub fn speeds(&self, x: &[f64], out: &mut Vec<f64>) {
        self.times(x, out);
        out.iter_mut().zip(&self.q).for_each(|(u, q)| *u += q);
    }

    /// `x` of forces; rows without friction are zero.
    pub fn unknowns(&self, lambda: &[f64], x: &mut Vec<f64>) {
        x.clear();
        let units = lambda.iter().zip(&self.s);
        x.extend(units.map(|(l, &s)| if s > 0.0 { l / (self.beta * s) } else { 0.0 }));
    }

    /// `lambda = beta S x`.
    pub fn forces(&self, x: &[f64], lambda: &mut [f64]) {
        for ((l, x), s) in lambda.iter_mut().zip(x).zip(&self.s) {
            *l = self.beta * s * x;
        }
    }

    /// Of the block of contact `c` under `S` as it stands.
    fn trace(&self, c: usize) -> f64 {
        (self.rows * c..self.rows * (c + 1)).map(|i| self.w[self.n * i + i] * self.s[i] * self.s[i]).sum()
    }

    fn copy_dense(&mut self, a: &Operator) {
        let (n, d) = (self.n, self.rows);
        self.w.clear();
        self.w.resize(n * n, 0.0);
        match a {
            Operator::Dense(a) => self.w.copy_from_slice(a.data()),
            Operator::Blocks(a) => {
                for c in 0..n / d {
                    let (columns, data) = a.row(c);
                    for (&k, block) in columns.iter().zip(data.chunks_exact(d * d)) {
                        for (i, row) in block.chunks_exact(d).enumerate() {
                            self.w[n * (d * c + i) + d * k..][..d].copy_from_slice(row);
                        }
                    }
                }
            }
            Operator::Factored(a) => {
                let mut block = [0.0; crate::operator::MOST_ROWS * crate::operator::MOST_ROWS];
                for (c, k) in (0..n / d).flat_map(|c| (0..n / d).map(move |k| (c, k))) {
                    a.block(c, k, &mut block);
                    for (i, row) in block[..d * d].chunks_exact(d).enumerate() {
                        self.w[n * (d * c + i) + d * k..][..d].copy_from_slice(row);
                    }
                }
            }
        }
    }
}

/// Euclidean length of a contact's rows but the first.
pub(super) fn tangential(x: &[f64]) -> f64 {
    x[1..].iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Whether the parts of a problem and a vector of forces fit each other.
pub(super) fn fits(problem: ConeProblem<'_>, lambda: &[f64]) -> bool {
    let n = problem.b.len();
    (2..=crate::operator::MOST_ROWS).contains(&problem.rows)
        && n == problem.rows * problem.mu.len()
        && n == problem.a.size()
        && n == lambda.len()
        && problem.mu.iter().all(|mu| mu.is_finite() && *mu >= 0.0)
        && problem.b.iter().all(|b| b.is_finite())
}
