//! The problem in scaled variables, its points, and the Newton system that both variants share.
//!
//! ```text
//! z = size D z~    w = size D^-1 w~    M~ = D M D    q~ = D q / size    largest |q~| near 1
//! ```

use super::Stop;
use crate::factor::{Lu, Singular};
use crate::matrix::{Matrix, dot};
use crate::problem::Lcp;
use crate::scaling;

/// LCP(M~, q~); all factors are powers of two, so that scaling rounds nothing.
#[derive(Debug, Clone)]
pub(super) struct Scaled {
    pub m: Matrix,
    pub q: Vec<f64>,
    pub d: Vec<f64>,
    pub size: f64,
}

impl Scaled {
    /// `None` if the scaled numbers overflow.
    pub fn new(lcp: &Lcp) -> Option<Self> {
        let (m, q) = (lcp.matrix(), lcp.vector());
        let (mut d, mut scratch) = (vec![], vec![]);
        scaling::symmetric(m, &mut d, &mut scratch);
        let largest = q.iter().zip(&d).fold(0.0f64, |l, (q, d)| l.max((q * d).abs()));
        let size = if largest > 0.0 { scaling::power_of_two(largest) } else { 1.0 };
        let scaled = Self {
            m: Matrix::from_fn(q.len(), q.len(), |i, j| d[i] * m[(i, j)] * d[j]),
            q: q.iter().zip(&d).map(|(q, d)| q * d / size).collect(),
            d,
            size,
        };
        let finite = scaled.m.data().iter().chain(&scaled.q).all(|x| x.is_finite());
        finite.then_some(scaled)
    }

    pub fn order(&self) -> usize {
        self.q.len()
    }

    /// Row `i` of `M~ z + q~`.
    pub fn slack(&self, i: usize, z: &[f64]) -> f64 {
        dot(self.m.row(i), z) + self.q[i]
    }

    /// `z` in the problem's units.
    pub fn original(&self, z: &[f64]) -> Vec<f64> {
        z.iter().zip(&self.d).map(|(z, d)| self.size * d * z).collect()
    }

    /// `z~` of a `z` in the problem's units.
    pub fn scaled(&self, z: &[f64]) -> Vec<f64> {
        z.iter().zip(&self.d).map(|(z, d)| z / d / self.size).collect()
    }
}

/// A positive pair `(w, z)`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Point {
    pub z: Vec<f64>,
    pub w: Vec<f64>,
}

impl Point {
    /// Becomes a copy; allocates nothing.
    pub fn copy_from(&mut self, other: &Self) {
        self.z.copy_from_slice(&other.z);
        self.w.copy_from_slice(&other.w);
    }

    /// The complementarity gap `w' z`.
    pub fn gap(&self) -> f64 {
        dot(&self.w, &self.z)
    }

    /// The gap after a step `lambda` along `(dw, dz)`.
    pub fn gap_after(&self, step: &Step, lambda: f64) -> f64 {
        (0..self.z.len()).map(|i| (self.w[i] + lambda * step.dw[i]) * (self.z[i] + lambda * step.dz[i])).sum()
    }

    /// The largest step that keeps the pair nonnegative (infinite if every step does).
    pub fn boundary(&self, step: &Step) -> f64 {
        let reach = |x: &[f64], dx: &[f64]| {
            let negative = x.iter().zip(dx).filter(|(_, dx)| **dx < 0.0);
            negative.map(|(x, dx)| -x / dx).fold(f64::INFINITY, f64::min)
        };
        reach(&self.z, &step.dz).min(reach(&self.w, &step.dw))
    }

    /// `(w, z) += lambda (dw, dz)`; an error where rounding leaves an entry that is not positive.
    pub fn advance(&mut self, step: &Step, lambda: f64) -> Result<(), Stop> {
        for (x, dx) in self.z.iter_mut().zip(&step.dz).chain(self.w.iter_mut().zip(&step.dw)) {
            *x += lambda * dx;
        }
        let positive = self.z.iter().chain(&self.w).all(|&x| x > 0.0 && x.is_finite());
        if positive { Ok(()) } else { Err(Stop::Step) }
    }
}

/// A direction `(dw, dz)`.
#[derive(Debug, Clone, Default)]
pub(super) struct Step {
    pub dz: Vec<f64>,
    pub dw: Vec<f64>,
}

impl Step {
    pub fn zeros(n: usize) -> Self {
        Self { dz: vec![0.0; n], dw: vec![0.0; n] }
    }
}

/// `(M + Z^-1 W) dz = right`, factored as `(S M S + S^2 Z^-1 W) (S^-1 dz) = S right` with
/// `S = min(1, Z/W)^(1/2)`: no entry of the diagonal term exceeds 1, however small `z` becomes.
#[derive(Debug, Clone, Default)]
pub(super) struct Newton {
    lu: Lu,
    s: Vec<f64>,
}

impl Newton {
    pub fn factor(&mut self, m: &Matrix, at: &Point) -> Result<(), Singular> {
        self.s.clear();
        self.s.extend(at.z.iter().zip(&at.w).map(|(z, w)| (z / w).sqrt().min(1.0)));
        let s = &self.s;
        self.lu.factor(at.z.len(), |i, j| {
            let diagonal = if i == j { (at.w[i] / at.z[i]).min(1.0) } else { 0.0 };
            s[i] * m[(i, j)] * s[j] + diagonal
        })
    }

    /// Replaces the right-hand side by `dz`.
    pub fn solve(&mut self, right: &mut [f64]) -> Result<(), Singular> {
        right.iter_mut().zip(&self.s).for_each(|(x, s)| *x *= s);
        self.lu.solve(right);
        right.iter_mut().zip(&self.s).for_each(|(x, s)| *x *= s);
        if right.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(Singular) }
    }
}
