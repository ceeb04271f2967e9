//! A cone problem in the units of its solvers: all cones alike, entries of about 1.
//!
//! With `D_c = diag(1, mu, mu, ...)` and a positive number `d_c` a contact, `lambda = beta S x` and `S = diag(d_c D_c)`:
//!
//! ```text
//! u = W x + q      W = S A S    q = S b / beta    beta = |S b|
//! ```
//!
//! `lambda` is in the cone of coefficient `mu` exactly if `x` is in the cone `L = { |x_t| <= x_n }`, and `u = S s / beta`: the velocities
//! that friction sees are the `mu s_t`, so that De Saxce's `s_n + mu |s_t|` is `u_n + |u_t|`. Where `mu = 0` the rows of
//! friction vanish, and nothing has to be divided by `mu`. Polygons likewise become those of `mu = 1`. `d_c = 1 / sqrt(trace of the block of c)` brings `W` near the identity.

use crate::matrix::norm;
use crate::operator::{BlockMatrix, Operator};
use crate::units::Uniform;

/// Least trace of a block, relative to the largest, that sets a contact's unit.
const LEAST_TRACE: f64 = 1e-12;

/// The scaled problem.
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
    /// `W`.
    pub w: BlockMatrix,
    /// Of length 1.
    pub q: Vec<f64>,
}

impl Scaled {
    /// Fills the parts; `false` if there is nothing to solve (`S b = 0`, so that `lambda = 0` is a solution) or numbers overflow.
    pub fn fill(&mut self, problem: Uniform<'_>) -> bool {
        let (n, rows) = (problem.b.len(), problem.rows);
        (self.n, self.rows) = (n, rows);
        let Operator::Blocks(a) = problem.a else { return false };
        self.w.assign(a);
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
        self.w.scale(&self.s);
        self.q.clear();
        self.q.extend(problem.b.iter().zip(&self.s).map(|(b, s)| s * b));
        self.beta = norm(&self.q);
        self.q.iter_mut().for_each(|q| *q /= self.beta);
        self.beta > 0.0 && self.beta.is_finite()
    }

    /// `out = W x`.
    pub fn times(&self, x: &[f64], out: &mut Vec<f64>) {
        out.resize(self.n, 0.0);
        self.w.times(x, out);
    }

    /// `out = W x + q`: the velocities `u`.
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

    /// Of the block of contact `c` under `S` as it stands, before `W` is scaled.
    fn trace(&self, c: usize) -> f64 {
        let (rows, block) = (self.rows, self.w.diagonal(c));
        (0..rows).map(|i| block[(rows + 1) * i] * self.s[rows * c + i].powi(2)).sum()
    }
}

/// Euclidean length of a contact's rows but the first.
pub(super) fn tangential(x: &[f64]) -> f64 {
    x[1..].iter().map(|x| x * x).sum::<f64>().sqrt()
}
