//! Singular values of small matrices, by one-sided Jacobi rotations.

use complementarity::matrix::Matrix;

/// Sweeps after which rotations end; a few are enough.
const SWEEPS: usize = 60;

/// `A = U diag(s) V'`, singular values descending; `U` and `V` as lists of columns.
pub(crate) struct Svd {
    pub values: Vec<f64>,
    pub left: Vec<Vec<f64>>,
    pub right: Vec<Vec<f64>>,
}

impl Svd {
    pub fn new(a: &Matrix) -> Self {
        if a.rows() < a.columns() {
            let transposed = Matrix::from_fn(a.columns(), a.rows(), |i, j| a[(j, i)]);
            let Self { values, left, right } = Self::new(&transposed);
            return Self { values, left: right, right: left };
        }
        let (m, n) = (a.rows(), a.columns());
        let mut u: Vec<Vec<f64>> = (0..n).map(|j| (0..m).map(|i| a[(i, j)]).collect()).collect();
        let mut v: Vec<Vec<f64>> =
            (0..n).map(|j| (0..n).map(|i| f64::from(u8::from(i == j))).collect()).collect();
        for _ in 0..SWEEPS {
            let mut turned = false;
            for p in 0..n {
                for q in p + 1..n {
                    let (x, y, z) = (dot(&u[p], &u[p]), dot(&u[q], &u[q]), dot(&u[p], &u[q]));
                    if z.abs() <= 1e-15 * (x * y).sqrt() || z == 0.0 {
                        continue;
                    }
                    turned = true;
                    let zeta = (y - x) / (2.0 * z);
                    let t = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
                    let t = if zeta == 0.0 { 1.0 } else { t };
                    let c = 1.0 / (1.0 + t * t).sqrt();
                    rotate(&mut u, p, q, c, c * t);
                    rotate(&mut v, p, q, c, c * t);
                }
            }
            if !turned {
                break;
            }
        }
        let lengths: Vec<f64> = u.iter().map(|x| dot(x, x).sqrt()).collect();
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&a, &b| lengths[b].total_cmp(&lengths[a]));
        let left = order.iter().map(|&k| {
            let by = if lengths[k] > 0.0 { 1.0 / lengths[k] } else { 0.0 };
            u[k].iter().map(|x| x * by).collect()
        });
        Self {
            values: order.iter().map(|&k| lengths[k]).collect(),
            left: left.collect(),
            right: order.iter().map(|&k| v[k].clone()).collect(),
        }
    }

    /// The `x` that minimises `|A x - b|^2 + damping |x|^2`; without damping, components along singular values below
    /// `rank` of the largest are left out.
    pub fn solve(&self, b: &[f64], damping: f64, rank: f64) -> Vec<f64> {
        let n = self.right.first().map_or(0, Vec::len);
        let mut x = vec![0.0; n];
        let largest = self.values.first().copied().unwrap_or(0.0);
        for ((s, u), v) in self.values.iter().zip(&self.left).zip(&self.right) {
            if *s > rank * largest && *s > 0.0 {
                let by = s * dot(u, b) / (s * s + damping);
                x.iter_mut().zip(v).for_each(|(x, v)| *x += by * v);
            }
        }
        x
    }
}

fn rotate(columns: &mut [Vec<f64>], p: usize, q: usize, c: f64, s: f64) {
    for i in 0..columns[p].len() {
        let (x, y) = (columns[p][i], columns[q][i]);
        columns[p][i] = c * x - s * y;
        columns[q][i] = s * x + c * y;
    }
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_the_factors_are_the_matrix() {
        for (m, n) in [(3, 3), (5, 2), (2, 5), (1, 4)] {
            let a = Matrix::from_fn(m, n, |i, j| ((3 * i + 7 * j + i * j) % 11) as f64 - 4.5);
            let svd = Svd::new(&a);
            assert!(svd.values.windows(2).all(|w| w[0] >= w[1]));
            for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let sum: f64 =
                    (0..svd.values.len()).map(|k| svd.left[k][i] * svd.values[k] * svd.right[k][j]).sum();
                assert!((sum - a[(i, j)]).abs() < 1e-13, "{m} x {n}: {sum} {}", a[(i, j)]);
            }
        }
    }
}
