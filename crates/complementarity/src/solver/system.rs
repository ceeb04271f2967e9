//! Linear systems `(D W + B) x = r` of a scaled cone problem, `D` and `B` block diagonal, one block a contact.
//!
//! Large sparse ones are eliminated block by block; that has no row exchanges between contacts, so that every refined solution is checked,
//! and a dense elimination with exchanges takes over where it fails. Small ones are dense from the start.

use super::scaled::Scaled;
use crate::bench::by_rows;
use crate::block_lu::BlockLu;
use crate::factor::Lu;
use crate::matrix::norm;

/// Rows up to which a system is treated as dense.
const SMALL: usize = 48;

/// Residual, relative to the right-hand side, that a refined solution by blocks must reach.
const ACCURATE: f64 = 1e-9;

/// Most refinements.
const REFINEMENTS: usize = 3;

/// Factors and their memory.
#[derive(Debug, Clone, Default)]
pub(super) struct System {
    blocks: BlockLu,
    dense: Lu,
    is_dense: bool,
    matrix: Vec<f64>,
    rest: Vec<f64>,
    product: Vec<f64>,
}

impl System {
    /// Reads the pattern of a problem.
    pub fn prepare(&mut self, scaled: &Scaled) {
        if scaled.n <= SMALL {
            return;
        }
        let contacts = scaled.n / scaled.rows;
        self.blocks.begin(contacts);
        for c in 0..contacts {
            for &k in scaled.w.row(c).0 {
                self.blocks.connect(c, k);
                self.blocks.connect(k, c);
            }
        }
        self.blocks.analyse();
    }

    /// Factors the matrix; blocks come contact by contact, each row by row. `None` if it is singular.
    pub fn factor(&mut self, scaled: &Scaled, d: &[f64], b: &[f64]) -> Option<()> {
        self.is_dense = scaled.n <= SMALL || !by_rows!(scaled.rows, self.factor_blocks(scaled, d, b));
        if self.is_dense { self.factor_dense(scaled, d, b) } else { Some(()) }
    }

    fn factor_blocks<const R: usize>(&mut self, scaled: &Scaled, d: &[f64], b: &[f64]) -> bool {
        let (d, b) = (as_blocks::<R>(d), as_blocks::<R>(b));
        self.blocks.factor::<R>(|c, row, place| {
            let (columns, data) = scaled.w.row(c);
            for (&k, w) in columns.iter().zip(as_blocks::<R>(data)) {
                let out = &mut row[place[k]];
                for i in 0..R {
                    for j in 0..R {
                        out[i][j] = (0..R).map(|l| d[c][i][l] * w[l][j]).sum();
                    }
                }
            }
            let out = &mut row[place[c]];
            for i in 0..R {
                for j in 0..R {
                    out[i][j] += b[c][i][j];
                }
            }
        })
    }

    fn factor_dense(&mut self, scaled: &Scaled, d: &[f64], b: &[f64]) -> Option<()> {
        let Scaled { n, rows, w, .. } = scaled;
        let (n, rows) = (*n, *rows);
        self.matrix.clear();
        self.matrix.resize(n * n, 0.0);
        let area = rows * rows;
        for c in 0..n / rows {
            let (d, b) = (&d[area * c..][..area], &b[area * c..][..area]);
            let (columns, data) = w.row(c);
            for (&k, w) in columns.iter().zip(data.chunks_exact(area)) {
                for (i, j) in (0..area).map(|at| (at / rows, at % rows)) {
                    let own = if k == c { b[rows * i + j] } else { 0.0 };
                    self.matrix[n * (rows * c + i) + rows * k + j] =
                        own + (0..rows).map(|l| d[rows * i + l] * w[rows * l + j]).sum::<f64>();
                }
            }
        }
        let Self { dense, matrix, .. } = self;
        dense.factor(n, |i, j| matrix[n * i + j]).ok()
    }

    /// Replaces the right-hand side by the solution.
    pub fn solve(&mut self, rows: usize, x: &mut [f64]) {
        if self.is_dense {
            self.dense.solve(x);
        } else {
            by_rows!(rows, self.solve_blocks(x));
        }
    }

    fn solve_blocks<const R: usize>(&mut self, x: &mut [f64]) {
        self.blocks.solve::<R>(x.as_chunks_mut::<R>().0);
    }

    /// As [`Self::solve`] into `x`, refined. `None` if the solution is not finite.
    pub fn solve_refined(
        &mut self,
        scaled: &Scaled,
        d: &[f64],
        b: &[f64],
        right: &[f64],
        x: &mut Vec<f64>,
    ) -> Option<()> {
        loop {
            x.clear();
            x.extend_from_slice(right);
            self.solve(scaled.rows, x);
            for _ in 0..if self.is_dense { 1 } else { REFINEMENTS } {
                self.find_rest(scaled, d, b, right, x);
                let mut rest = std::mem::take(&mut self.rest);
                let good = norm(&rest) <= ACCURATE * norm(right);
                self.solve(scaled.rows, &mut rest);
                x.iter_mut().zip(&rest).for_each(|(x, r)| *x += r);
                self.rest = rest;
                if self.is_dense || good {
                    return x.iter().all(|x| x.is_finite()).then_some(());
                }
            }
            self.is_dense = true;
            self.factor_dense(scaled, d, b)?;
        }
    }

    /// `rest = right - (D W + B) x`.
    fn find_rest(&mut self, scaled: &Scaled, d: &[f64], b: &[f64], right: &[f64], x: &[f64]) {
        let rows = scaled.rows;
        scaled.times(x, &mut self.product);
        self.rest.clear();
        for (i, r) in right.iter().enumerate() {
            let first = i / rows * rows;
            let (d, b) = (&d[rows * i..][..rows], &b[rows * i..][..rows]);
            let own: f64 = (0..rows).map(|k| d[k] * self.product[first + k] + b[k] * x[first + k]).sum();
            self.rest.push(r - own);
        }
    }
}

fn as_blocks<const R: usize>(data: &[f64]) -> &[[[f64; R]; R]] {
    data.as_chunks::<R>().0.as_chunks::<R>().0
}
