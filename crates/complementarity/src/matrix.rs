//! A dense matrix, stored row by row.

use std::ops::{Index, IndexMut};

/// Dense, row-major.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    data: Vec<f64>,
}

impl Matrix {
    /// All zero.
    pub fn zeros(rows: usize, columns: usize) -> Self {
        Self { rows, columns, data: vec![0.0; rows * columns] }
    }

    /// Makes it `rows` x `columns`, all zero; allocates only when it grows.
    pub fn reset(&mut self, rows: usize, columns: usize) {
        (self.rows, self.columns) = (rows, columns);
        self.data.clear();
        self.data.resize(rows * columns, 0.0);
    }

    /// The identity of order `n`.
    pub fn identity(n: usize) -> Self {
        Self::from_fn(n, n, |i, j| if i == j { 1.0 } else { 0.0 })
    }

    /// Entry `(i, j)` is `entry(i, j)`.
    pub fn from_fn(rows: usize, columns: usize, mut entry: impl FnMut(usize, usize) -> f64) -> Self {
        let mut data = Vec::with_capacity(rows * columns);
        for i in 0..rows {
            for j in 0..columns {
                data.push(entry(i, j));
            }
        }
        Self { rows, columns, data }
    }

    /// From row slices of one length.
    ///
    /// # Panics
    /// If the rows differ in length.
    pub fn from_rows(rows: &[&[f64]]) -> Self {
        let columns = rows.first().map_or(0, |r| r.len());
        assert!(rows.iter().all(|r| r.len() == columns), "rows of one length");
        Self { rows: rows.len(), columns, data: rows.concat() }
    }

    /// From row-major data; `None` if `data` has not `rows * columns` entries.
    pub fn from_data(rows: usize, columns: usize, data: Vec<f64>) -> Option<Self> {
        (rows.checked_mul(columns) == Some(data.len())).then_some(Self { rows, columns, data })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Row `i`, contiguous.
    #[inline]
    pub fn row(&self, i: usize) -> &[f64] {
        &self.data[i * self.columns..][..self.columns]
    }

    /// Row `i`, contiguous.
    #[inline]
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.data[i * self.columns..][..self.columns]
    }

    /// The rows above `i`, one after another, and row `i`.
    pub(crate) fn split_at_row(&mut self, i: usize) -> (&mut [f64], &mut [f64]) {
        let (above, rest) = self.data.split_at_mut(i * self.columns);
        (above, &mut rest[..self.columns])
    }

    /// All entries, row by row.
    pub fn data(&self) -> &[f64] {
        &self.data
    }

    /// `A x`.
    pub fn times(&self, x: &[f64]) -> Vec<f64> {
        (0..self.rows).map(|i| dot(self.row(i), x)).collect()
    }

    /// `A' y`.
    pub fn transpose_times(&self, y: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.columns];
        for i in (0..self.rows).filter(|&i| y[i] != 0.0) {
            for (o, a) in out.iter_mut().zip(self.row(i)) {
                *o += a * y[i];
            }
        }
        out
    }
}

impl Index<(usize, usize)> for Matrix {
    type Output = f64;
    #[inline]
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        debug_assert!(j < self.columns);
        &self.data[i * self.columns + j]
    }
}

impl IndexMut<(usize, usize)> for Matrix {
    #[inline]
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        debug_assert!(j < self.columns);
        &mut self.data[i * self.columns + j]
    }
}

/// Scalar product, in four independent sums.
#[inline]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len().min(b.len());
    let (a, b) = (&a[..n], &b[..n]);
    let mut sum = [0.0; 4];
    let (mut ca, mut cb) = (a.chunks_exact(4), b.chunks_exact(4));
    for (x, y) in (&mut ca).zip(&mut cb) {
        for k in 0..4 {
            sum[k] += x[k] * y[k];
        }
    }
    let tail: f64 = ca.remainder().iter().zip(cb.remainder()).map(|(x, y)| x * y).sum();
    (sum[0] + sum[1]) + (sum[2] + sum[3]) + tail
}

/// Euclidean length.
pub fn norm(a: &[f64]) -> f64 {
    length(a.iter().copied())
}

/// Euclidean length of a vector that is computed as it is read (twice, if its squares overflow or vanish).
pub(crate) fn length(entries: impl Iterator<Item = f64> + Clone) -> f64 {
    let sum: f64 = entries.clone().map(|x| x * x).sum();
    if (1e-280..1e280).contains(&sum) || sum.is_nan() {
        return sum.sqrt();
    }
    let largest = entries.clone().fold(0.0f64, |m, x| m.max(x.abs()));
    if largest == 0.0 || largest.is_infinite() {
        return largest;
    }
    largest * entries.map(|x| (x / largest).powi(2)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systems_are_solved_or_refused() {
        let a = Matrix::from_rows(&[&[0.0, 2.0], &[4.0, 1.0]]);
        let x = a.solve(&Matrix::from_rows(&[&[2.0, 4.0], &[5.0, 2.0]])).unwrap();
        assert_eq!(x, Matrix::from_rows(&[&[1.0, 0.0], &[1.0, 2.0]]));
        assert_eq!(Matrix::zeros(2, 2).solve(&a), None);
        assert_eq!(a.solve(&Matrix::zeros(3, 1)), None);
    }

    #[test]
    fn lengths_neither_overflow_nor_vanish() {
        for size in [1e-300, 1e-160, 1.0, 1e160, 1e300] {
            assert!((norm(&[3.0 * size, -4.0 * size]) / size - 5.0).abs() < 1e-14, "{size}");
        }
        assert_eq!(norm(&[0.0, 0.0]), 0.0);
        assert_eq!(norm(&[f64::INFINITY, 1.0]), f64::INFINITY);
        assert!(norm(&[f64::NAN, 1.0]).is_nan());
    }
}
