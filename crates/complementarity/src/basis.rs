//! The exact solution of a basis, from the original data: how every solver ends.

use crate::factor::{Lu, Singular};
use crate::matrix::{Matrix, dot};

/// Corrections after the first solve, at the most.
const REFINEMENTS: usize = 2;

/// A correction is due while the equations' errors, scaled, exceed this share of the right-hand side.
const ROUNDING: f64 = 1e-15;

/// Factors and buffers, reused from solve to solve.
#[derive(Debug, Clone, Default)]
pub(crate) struct BasisSolver {
    lu: Lu,
    step: Vec<f64>,
}

impl BasisSolver {
    /// Makes room for bases of up to `n` variables.
    pub fn reserve(&mut self, n: usize) {
        self.lu.reserve(n);
        self.step.clear();
        self.step.reserve(n);
    }

    /// Solves `(M z + q)_active = 0` with `z = 0` elsewhere, by LU of the matrix scaled with `d` and
    /// iterative refinement. Signs are not checked.
    pub fn solve(
        &mut self,
        m: &Matrix,
        q: &[f64],
        d: &[f64],
        active: &[usize],
        z: &mut [f64],
    ) -> Result<(), Singular> {
        z.fill(0.0);
        if active.is_empty() {
            return Ok(());
        }
        self.lu.factor(active.len(), |i, j| d[active[i]] * m[(active[i], active[j])] * d[active[j]])?;
        let largest = |v: &[f64]| v.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let mut enough = 0.0;
        for round in 0..=REFINEMENTS {
            self.step.clear();
            if round == 0 {
                self.step.extend(active.iter().map(|&i| -d[i] * q[i]));
                enough = ROUNDING * largest(&self.step);
            } else {
                self.step.extend(active.iter().map(|&i| -d[i] * (dot(m.row(i), z) + q[i])));
                if largest(&self.step) <= enough {
                    break;
                }
            }
            self.lu.solve(&mut self.step);
            for (&i, x) in active.iter().zip(&self.step) {
                z[i] += d[i] * x;
            }
        }
        if active.iter().all(|&i| z[i].is_finite()) { Ok(()) } else { Err(Singular) }
    }
}
