//! Linear systems `(D W + B) x = r` of a scaled cone problem, `D` and `B` block diagonal, one block a contact.

use super::scaled::Scaled;
use crate::factor::Lu;
use crate::matrix::dot;

/// Factors and their memory.
#[derive(Debug, Clone, Default)]
pub(super) struct System {
    matrix: Vec<f64>,
    lu: Lu,
    rest: Vec<f64>,
}

impl System {
    /// Factors the matrix; blocks come contact by contact, each row by row. `None` if it is singular.
    pub fn factor(&mut self, scaled: &Scaled, d: &[f64], b: &[f64]) -> Option<()> {
        let Scaled { n, rows, w, .. } = scaled;
        let (n, rows) = (*n, *rows);
        self.matrix.resize(n * n, 0.0);
        for c in 0..n / rows {
            for i in 0..rows {
                let at = rows * (rows * c + i);
                let row = &mut self.matrix[n * (rows * c + i)..][..n];
                row.fill(0.0);
                for (k, &factor) in d[at..][..rows].iter().enumerate().filter(|(_, x)| **x != 0.0) {
                    row.iter_mut().zip(&w[n * (rows * c + k)..][..n]).for_each(|(m, w)| *m += factor * w);
                }
                row[rows * c..][..rows].iter_mut().zip(&b[at..]).for_each(|(m, b)| *m += b);
            }
        }
        let Self { lu, matrix, .. } = self;
        lu.factor(n, |i, j| matrix[n * i + j]).ok()
    }

    /// Replaces the right-hand side by the solution.
    pub fn solve(&mut self, x: &mut [f64]) {
        self.lu.solve(x);
    }

    /// As [`Self::solve`] into `x`, refined once.
    pub fn solve_refined(&mut self, right: &[f64], x: &mut Vec<f64>) {
        let n = right.len();
        x.clear();
        x.extend_from_slice(right);
        self.lu.solve(x);
        self.rest.clear();
        self.rest.extend((0..n).map(|i| right[i] - dot(&self.matrix[n * i..][..n], x)));
        self.lu.solve(&mut self.rest);
        x.iter_mut().zip(&self.rest).for_each(|(x, r)| *x += r);
    }
}
