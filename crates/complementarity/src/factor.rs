//! LU factors of a dense square matrix, with row exchanges. (faer is called here and in `eigen`.)
//!
//! Below order 64 a plain row-oriented elimination is faster than any blocked code and allocates nothing
//! once its buffers have grown; above, faer's blocked kernels take over.

use crate::matrix::Matrix;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::lu::partial_pivoting as faer_lu;
use faer::{MatMut, MatRef, Par, perm::PermRef};
use std::ops::Range;

/// Order below which the plain elimination is used (measured: equal near 64).
const SMALL: usize = 64;

/// The matrix has no usable pivot in some column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Singular;

/// Factors and their buffers; reused from solve to solve.
#[derive(Debug, Clone, Default)]
pub struct Lu {
    n: usize,
    /// Small: rows of L and U, row-major, rows exchanged. Large: column-major.
    data: Vec<f64>,
    rows: Vec<usize>,
    rows_inverse: Vec<usize>,
    scratch: Vec<f64>,
}

impl Lu {
    /// Makes room for orders up to `n`, as far as small ones go.
    pub fn reserve(&mut self, n: usize) {
        let n = n.min(SMALL);
        for (buffer, size) in [(&mut self.data, n * n), (&mut self.scratch, n)] {
            buffer.clear();
            buffer.reserve(size);
        }
        for buffer in [&mut self.rows, &mut self.rows_inverse] {
            buffer.clear();
            buffer.reserve(n);
        }
    }

    /// Factors the matrix whose entry `(i, j)` is `entry(i, j)`.
    pub fn factor(&mut self, n: usize, entry: impl Fn(usize, usize) -> f64) -> Result<(), Singular> {
        self.n = n;
        self.rows.clear();
        self.rows.extend(0..n);
        self.rows_inverse.clear();
        self.rows_inverse.extend(0..n);
        self.scratch.clear();
        self.scratch.resize(n, 0.0);
        self.data.clear();
        if n < SMALL {
            for i in 0..n {
                self.data.extend((0..n).map(|j| entry(i, j)));
            }
            self.factor_small()
        } else {
            self.data.resize(n * n, 0.0);
            self.fill_by_columns(entry);
            self.factor_large()
        }
    }

    /// Tile by tile: the caller's matrix lies row by row, faer wants columns.
    fn fill_by_columns(&mut self, entry: impl Fn(usize, usize) -> f64) {
        const TILE: usize = 32;
        let n = self.n;
        for (rows, columns) in tiles(n, TILE) {
            for i in rows {
                for j in columns.clone() {
                    self.data[j * n + i] = entry(i, j);
                }
            }
        }
    }

    fn factor_small(&mut self) -> Result<(), Singular> {
        let n = self.n;
        for k in 0..n {
            let (mut best, mut at) = (0.0, k);
            for i in k..n {
                let size = self.data[i * n + k].abs();
                if size > best {
                    (best, at) = (size, i);
                }
            }
            if !(best > 0.0 && best.is_finite()) {
                return Err(Singular);
            }
            if at != k {
                let (top, bottom) = self.data.split_at_mut(at * n);
                top[k * n..][..n].swap_with_slice(&mut bottom[..n]);
                self.rows.swap(k, at);
            }
            let (top, bottom) = self.data.split_at_mut((k + 1) * n);
            let pivot_row = &top[k * n..];
            let inverse = 1.0 / pivot_row[k];
            for row in bottom.chunks_exact_mut(n) {
                if row[k] != 0.0 {
                    let factor = row[k] * inverse;
                    row[k] = factor;
                    for (x, p) in row[k + 1..].iter_mut().zip(&pivot_row[k + 1..n]) {
                        *x -= factor * p;
                    }
                }
            }
        }
        Ok(())
    }

    fn factor_large(&mut self) -> Result<(), Singular> {
        let n = self.n;
        let request = faer_lu::factor::lu_in_place_scratch::<usize, f64>(n, n, Par::Seq, Default::default());
        let mut memory = MemBuffer::new(request);
        faer_lu::factor::lu_in_place(
            MatMut::from_column_major_slice_mut(&mut self.data, n, n),
            &mut self.rows,
            &mut self.rows_inverse,
            Par::Seq,
            MemStack::new(&mut memory),
            Default::default(),
        );
        let usable = (0..n).all(|k| {
            let pivot = self.data[k * n + k];
            pivot != 0.0 && pivot.is_finite()
        });
        if usable { Ok(()) } else { Err(Singular) }
    }

    /// Replaces `x` by the solution of `matrix * solution = x`.
    pub fn solve(&mut self, x: &mut [f64]) {
        let n = self.n;
        assert_eq!(x.len(), n);
        if n >= SMALL {
            let factors = MatRef::from_column_major_slice(&self.data, n, n);
            let request = faer_lu::solve::solve_in_place_scratch::<usize, f64>(n, 1, Par::Seq);
            let mut memory = MemBuffer::new(request);
            faer_lu::solve::solve_in_place(
                factors,
                factors,
                PermRef::new_checked(&self.rows, &self.rows_inverse, n),
                MatMut::from_column_major_slice_mut(x, n, 1),
                Par::Seq,
                MemStack::new(&mut memory),
            );
            return;
        }
        self.scratch.copy_from_slice(x);
        for i in 0..n {
            let row = &self.data[i * n..][..n];
            let sum: f64 = row[..i].iter().zip(&x[..i]).map(|(a, b)| a * b).sum();
            x[i] = self.scratch[self.rows[i]] - sum;
        }
        for i in (0..n).rev() {
            let row = &self.data[i * n..][..n];
            let sum: f64 = row[i + 1..].iter().zip(&x[i + 1..]).map(|(a, b)| a * b).sum();
            x[i] = (x[i] - sum) / row[i];
        }
    }
}

/// The index ranges of the tiles of an n x n matrix.
fn tiles(n: usize, size: usize) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
    let range = move |start: usize| start..n.min(start + size);
    (0..n).step_by(size).flat_map(move |i| (0..n).step_by(size).map(move |j| (range(i), range(j))))
}

/// Smallest pivot that counts in [`rank`].
const RANK: f64 = 1e-10;

/// Rank by elimination with complete pivoting, of a matrix with entries of about 1: smaller pivots than [`RANK`] are none.
pub(crate) fn rank(mut a: Matrix) -> usize {
    let (rows, columns) = (a.rows(), a.columns());
    let (mut used_rows, mut used_columns) = (vec![false; rows], vec![false; columns]);
    for rank in 0..rows.min(columns) {
        let (mut best, mut at) = (RANK, None);
        for i in (0..rows).filter(|&i| !used_rows[i]) {
            for j in (0..columns).filter(|&j| !used_columns[j]) {
                if a[(i, j)].abs() > best {
                    (best, at) = (a[(i, j)].abs(), Some((i, j)));
                }
            }
        }
        let Some((p, r)) = at else { return rank };
        used_rows[p] = true;
        used_columns[r] = true;
        let pivot_row = a.row(p).to_vec();
        for i in (0..rows).filter(|&i| !used_rows[i]) {
            let factor = a[(i, r)] / pivot_row[r];
            if factor != 0.0 {
                for (x, y) in a.row_mut(i).iter_mut().zip(&pivot_row) {
                    *x -= factor * y;
                }
            }
        }
    }
    rows.min(columns)
}

impl Matrix {
    /// `A^-1 B`, by LU factors; `None` if `A` is not square, does not fit, or is singular.
    pub fn solve(&self, right: &Self) -> Option<Self> {
        let n = self.rows();
        if self.columns() != n || right.rows() != n {
            return None;
        }
        let mut lu = Lu::default();
        lu.factor(n, |i, j| self[(i, j)]).ok()?;
        let mut out = Self::zeros(n, right.columns());
        let mut column = vec![0.0; n];
        for j in 0..right.columns() {
            (0..n).for_each(|i| column[i] = right[(i, j)]);
            lu.solve(&mut column);
            (0..n).for_each(|i| out[(i, j)] = column[i]);
        }
        out.data().iter().all(|x| x.is_finite()).then_some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_small_and_large_systems_that_need_row_exchanges() {
        for n in [1, 2, 7, 63, 64, 150] {
            // zero diagonal, so that every column needs an exchange
            let a = Matrix::from_fn(n, n, |i, j| {
                if i == j && n > 1 {
                    0.0
                } else {
                    ((i * 7 + j * 13) % 11) as f64 + if (i + 1) % n == j { 20.0 } else { 0.5 }
                }
            });
            let x: Vec<f64> = (0..n).map(|i| 1.0 + i as f64).collect();
            let mut b = a.times(&x);
            let mut lu = Lu::default();
            lu.factor(n, |i, j| a[(i, j)]).unwrap();
            lu.solve(&mut b);
            for i in 0..n {
                assert!((b[i] - x[i]).abs() < 1e-9 * n as f64, "n = {n}, x[{i}] = {}", b[i]);
            }
        }
    }

    #[test]
    fn a_singular_matrix_is_said_to_be_singular() {
        for n in [2, 70] {
            assert_eq!(Lu::default().factor(n, |_, j| j as f64), Err(Singular), "n = {n}");
        }
    }

    #[test]
    fn rank_sees_dependent_rows() {
        let a = Matrix::from_rows(&[&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0], &[0.1, 0.2, 0.7]]);
        assert_eq!(rank(a), 2);
        assert_eq!(rank(Matrix::zeros(2, 3)), 0);
        assert_eq!(rank(Matrix::identity(4)), 4);
    }
}
