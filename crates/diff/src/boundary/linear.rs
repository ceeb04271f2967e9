//! Small linear algebra of derivatives: sparse maps as lists of entries, and factors that show their rank.

use complementarity::matrix::Matrix;

/// A linear map as a list of entries, in order of insertion; entries at one place add up.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Sparse {
    entries: Vec<(u32, u32, f64)>,
}

impl Sparse {
    pub fn add(&mut self, row: usize, column: usize, value: f64) {
        if value != 0.0 {
            self.entries.push((row as u32, column as u32, value));
        }
    }

    /// `y += s A x`.
    pub fn times(&self, s: f64, x: &[f64], y: &mut [f64]) {
        for &(i, j, a) in &self.entries {
            y[i as usize] += s * a * x[j as usize];
        }
    }

    /// `y += s A' x`.
    pub fn transpose_times(&self, s: f64, x: &[f64], y: &mut [f64]) {
        for &(i, j, a) in &self.entries {
            y[j as usize] += s * a * x[i as usize];
        }
    }

    /// Entries as row, column, value.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        self.entries.iter().map(|&(i, j, x)| (i as usize, j as usize, x))
    }

    /// Adds `s` times itself to another map.
    pub fn add_to(&self, s: f64, other: &mut Self) {
        self.iter().for_each(|(i, j, x)| other.add(i, j, s * x));
    }

    /// The product `A B` with a map of `n` rows.
    pub fn then(&self, b: &Self, n: usize) -> Self {
        let mut rows: Vec<Vec<(usize, f64)>> = vec![vec![]; n];
        b.iter().for_each(|(i, j, x)| rows[i].push((j, x)));
        let mut out = Self::default();
        for (i, k, a) in self.iter() {
            rows[k].iter().for_each(|&(j, x)| out.add(i, j, a * x));
        }
        out
    }

    /// Memory that it holds, roughly.
    pub fn bytes(&self) -> usize {
        self.entries.len() * size_of::<(u32, u32, f64)>()
    }
}

/// Pivots below this share of the largest are zero: rows that depend on others.
const RANK: f64 = 1e-11;

/// LU factors of a square matrix with complete pivoting, rows and columns scaled. Where the matrix is singular, a
/// solution with zeros for the surplus unknowns is given, as for redundant contacts, whose motion does not see them.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Factor {
    n: usize,
    rank: usize,
    lu: Vec<f64>,
    rows: Vec<usize>,
    columns: Vec<usize>,
    row_scale: Vec<f64>,
    column_scale: Vec<f64>,
}

impl Factor {
    pub fn new(matrix: &Matrix) -> Self {
        Self::with_rank(matrix, RANK)
    }

    /// The same where pivots below the share `least` of the largest are zero.
    pub fn with_rank(matrix: &Matrix, least: f64) -> Self {
        let n = matrix.rows();
        let largest = |values: &mut dyn Iterator<Item = f64>| {
            let most = values.fold(0.0f64, |m, x| m.max(x.abs()));
            if most > 0.0 { 1.0 / most } else { 1.0 }
        };
        let row_scale: Vec<f64> = (0..n).map(|i| largest(&mut matrix.row(i).iter().copied())).collect();
        let column_scale: Vec<f64> =
            (0..n).map(|j| largest(&mut (0..n).map(|i| row_scale[i] * matrix[(i, j)]))).collect();
        let mut lu: Vec<f64> =
            (0..n * n).map(|k| row_scale[k / n] * matrix[(k / n, k % n)] * column_scale[k % n]).collect();
        let (mut rows, mut columns): (Vec<usize>, Vec<usize>) = ((0..n).collect(), (0..n).collect());
        let (mut rank, mut first) = (n, 0.0f64);
        for k in 0..n {
            let (mut best, mut at) = (-1.0, (k, k));
            for i in k..n {
                for j in k..n {
                    let size = lu[i * n + j].abs();
                    if size > best {
                        (best, at) = (size, (i, j));
                    }
                }
            }
            first = first.max(best);
            if best.is_nan() || best <= least * first {
                rank = k;
                break;
            }
            if at.0 != k {
                (0..n).for_each(|j| lu.swap(k * n + j, at.0 * n + j));
                rows.swap(k, at.0);
            }
            if at.1 != k {
                (0..n).for_each(|i| lu.swap(i * n + k, i * n + at.1));
                columns.swap(k, at.1);
            }
            for i in k + 1..n {
                let factor = lu[i * n + k] / lu[k * n + k];
                lu[i * n + k] = factor;
                if factor != 0.0 {
                    for j in k + 1..n {
                        lu[i * n + j] -= factor * lu[k * n + j];
                    }
                }
            }
        }
        Self { n, rank, lu, rows, columns, row_scale, column_scale }
    }

    /// Unknowns that the equations determine.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Replaces `x` by `A^-1 x`.
    pub fn solve(&self, x: &mut [f64]) {
        let (n, r) = (self.n, self.rank);
        let mut y: Vec<f64> = (0..n).map(|i| x[self.rows[i]] * self.row_scale[self.rows[i]]).collect();
        for i in 0..r {
            let below: f64 = (0..i).map(|j| self.lu[i * n + j] * y[j]).sum();
            y[i] -= below;
        }
        for i in (0..r).rev() {
            let above: f64 = (i + 1..r).map(|j| self.lu[i * n + j] * y[j]).sum();
            y[i] = (y[i] - above) / self.lu[i * n + i];
        }
        y[r..].fill(0.0);
        (0..n).for_each(|i| x[self.columns[i]] = y[i] * self.column_scale[self.columns[i]]);
    }

    /// Replaces `x` by `A^-T x`.
    pub fn solve_transposed(&self, x: &mut [f64]) {
        let (n, r) = (self.n, self.rank);
        let mut y: Vec<f64> =
            (0..n).map(|i| x[self.columns[i]] * self.column_scale[self.columns[i]]).collect();
        for i in 0..r {
            let before: f64 = (0..i).map(|j| self.lu[j * n + i] * y[j]).sum();
            y[i] = (y[i] - before) / self.lu[i * n + i];
        }
        for i in (0..r).rev() {
            let after: f64 = (i + 1..r).map(|j| self.lu[j * n + i] * y[j]).sum();
            y[i] -= after;
        }
        y[r..].fill(0.0);
        (0..n).for_each(|i| x[self.rows[i]] = y[i] * self.row_scale[self.rows[i]]);
    }

    pub fn bytes(&self) -> usize {
        8 * self.lu.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_solve_both_ways_and_see_dependent_rows() {
        let a = Matrix::from_rows(&[&[0.0, 2.0, 1e6], &[4.0, 1.0, -3e6], &[1.0, 1.0, 2e6]]);
        let f = Factor::new(&a);
        let x = [1.0, -2.0, 3e-6];
        let (mut y, mut z) = (a.times(&x), a.transpose_times(&x));
        f.solve(&mut y);
        f.solve_transposed(&mut z);
        for k in 0..3 {
            assert!((y[k] - x[k]).abs() < 1e-13 && (z[k] - x[k]).abs() < 1e-13, "{y:?} {z:?}");
        }
        assert_eq!(f.rank(), 3);
        // the third row is the sum of the others: the solution is consistent
        let a = Matrix::from_rows(&[&[1.0, 2.0, 3.0], &[2.0, 5.0, 1.0], &[3.0, 7.0, 4.0]]);
        let f = Factor::new(&a);
        let mut y = a.times(&x);
        f.solve(&mut y);
        let back = a.times(&y);
        assert_eq!(f.rank(), 2);
        assert!(back.iter().zip(a.times(&x)).all(|(a, b)| (a - b).abs() < 1e-12), "{back:?}");
    }
}
