//! What a derivative says about estimates: standard errors, and combinations that the data do not determine.

use crate::boundary::svd::Svd;
use complementarity::matrix::Matrix;

/// Singular values below this share of the largest are those of a combination without any effect.
const NONE: f64 = 1e-6;
/// Share of a parameter in a combination from which it takes part in it.
const PART: f64 = 1e-3;

/// What data determine about parameters, from the derivative of the residuals over their standard deviations.
pub(super) struct Spread {
    /// Standard errors; infinite where a combination with the parameter is not determined.
    pub errors: Vec<f64>,
    /// Covariances of the parameters that are determined; zero of the others.
    pub covariance: Matrix,
    /// Combinations that are not determined: changes of the parameters over their sizes, the largest 1.
    pub open: Vec<Vec<f64>>,
    /// Ratio of the largest to the smallest singular value, parameters over their sizes.
    pub condition: f64,
    svd: Svd,
    rank: usize,
    sizes: Vec<f64>,
}

impl Spread {
    /// Of the derivative `jacobian` with parameters of these sizes.
    pub fn new(jacobian: &Matrix, sizes: &[f64]) -> Self {
        let p = sizes.len();
        let svd = Svd::new(&Matrix::from_fn(jacobian.rows(), p, |i, j| jacobian[(i, j)] * sizes[j]));
        let most = svd.values.first().copied().unwrap_or(0.0);
        let least = if svd.values.len() < p { 0.0 } else { svd.values.last().copied().unwrap_or(0.0) };
        // the standard error along a singular vector is 1/s: beyond 1 it is larger than the parameters
        let rank = svd.values.iter().filter(|s| **s > NONE * most && **s >= 1.0).count();
        let covariance = Matrix::from_fn(p, p, |i, j| {
            let terms = svd.values.iter().zip(&svd.right).take(rank);
            sizes[i] * sizes[j] * terms.map(|(s, v)| v[i] * v[j] / (s * s)).sum::<f64>()
        });
        // the parts of the parameters across the combinations that are determined
        let across = |k: usize| {
            let mut x = vec![0.0; p];
            x[k] = 1.0;
            for v in &svd.right[..rank] {
                let along = v[k];
                x.iter_mut().zip(v).for_each(|(x, v)| *x -= along * v);
            }
            x
        };
        let open: Vec<Vec<f64>> = (0..p).map(across).collect();
        let errors = (0..p).map(|k| {
            let part = open[k].iter().map(|x| x * x).sum::<f64>().sqrt();
            if part > PART { f64::INFINITY } else { covariance[(k, k)].sqrt() }
        });
        let condition = if least > 0.0 { most / least } else { f64::INFINITY };
        Self {
            errors: errors.collect(),
            covariance,
            open: reduced(open, p - rank),
            condition,
            svd,
            rank,
            sizes: sizes.to_vec(),
        }
    }

    /// Number of combinations that are determined.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// How far parameters are from the minimum of the sum of squares, to first order, in standard errors.
    pub fn distance(&self, residual: &[f64]) -> f64 {
        let left = self.svd.left.iter().take(self.rank);
        left.map(|u| crate::boundary::svd::dot(u, residual).powi(2)).sum::<f64>().sqrt()
    }

    /// Change of the estimates if the residuals change by this, to first order.
    pub fn shift(&self, change: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.sizes.len()];
        for k in 0..self.rank {
            let by = crate::boundary::svd::dot(&self.svd.left[k], change) / self.svd.values[k];
            for (j, x) in out.iter_mut().enumerate() {
                *x -= by * self.svd.right[k][j] * self.sizes[j];
            }
        }
        out
    }

    /// Correlations; zero with parameters that are not determined.
    pub fn correlation(&self) -> Vec<Vec<f64>> {
        let p = self.sizes.len();
        let of = |i: usize, j: usize| match self.errors[i].is_finite() && self.errors[j].is_finite() {
            _ if i == j => 1.0,
            true => self.covariance[(i, j)] / (self.errors[i] * self.errors[j]),
            false => 0.0,
        };
        (0..p).map(|i| (0..p).map(|j| of(i, j)).collect()).collect()
    }
}

/// A basis of `count` vectors of the space that the rows span, each with few entries: reduced to echelon form, the
/// largest entry 1.
fn reduced(mut rows: Vec<Vec<f64>>, count: usize) -> Vec<Vec<f64>> {
    let p = rows.len();
    for k in 0..count {
        let largest = |row: &[f64]| {
            row.iter().enumerate().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())).map(|(j, _)| j)
        };
        let best = (k..p).max_by(|&a, &b| {
            let size = |i: usize| largest(&rows[i]).map_or(0.0, |j| rows[i][j].abs());
            size(a).total_cmp(&size(b))
        });
        let Some(best) = best else { break };
        rows.swap(k, best);
        let Some(j) = largest(&rows[k]).filter(|&j| rows[k][j] != 0.0) else { break };
        let pivot = rows[k][j];
        rows[k].iter_mut().for_each(|x| *x /= pivot);
        let row = rows[k].clone();
        for (_, other) in rows.iter_mut().enumerate().filter(|(i, _)| *i != k) {
            let by = other[j];
            other.iter_mut().zip(&row).for_each(|(x, y)| *x -= by * y);
        }
    }
    rows.truncate(count);
    for row in &mut rows {
        let most = row.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        row.iter_mut().for_each(|x| *x = if x.abs() < PART * most { 0.0 } else { *x / most });
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line through points: the textbook's errors of slope and intercept.
    #[test]
    fn a_line_has_the_errors_of_the_textbook() {
        let x = [0.0, 1.0, 2.0, 3.0, 7.0];
        let sigma = 0.1;
        let jacobian = Matrix::from_fn(5, 2, |i, j| if j == 0 { x[i] } else { 1.0 } / sigma);
        let spread = Spread::new(&jacobian, &[2.0, 1.0]);
        let (mean, n) = (x.iter().sum::<f64>() / 5.0, 5.0);
        let sxx: f64 = x.iter().map(|x| (x - mean).powi(2)).sum();
        let slope = sigma / sxx.sqrt();
        let intercept = sigma * (1.0 / n + mean * mean / sxx).sqrt();
        assert!((spread.errors[0] / slope - 1.0).abs() < 1e-12, "{} {slope}", spread.errors[0]);
        assert!((spread.errors[1] / intercept - 1.0).abs() < 1e-12);
        assert!((spread.covariance[(0, 1)] / (-sigma * sigma * mean / sxx) - 1.0).abs() < 1e-12);
        assert!(spread.open.is_empty() && spread.rank() == 2);
        assert!(spread.correlation()[0][1] < -0.5);
        // a change of all residuals by one standard deviation is one of the intercept
        let shift = spread.shift(&[1.0; 5]);
        assert!(shift[0].abs() < 1e-12 && (shift[1] + sigma).abs() < 1e-12, "{shift:?}");
    }

    /// Of three parameters only `a - b` counts (per cent by per cent), and `c` does nothing.
    #[test]
    fn combinations_without_effect_are_named() {
        let jacobian = Matrix::from_fn(6, 3, |i, j| [10.0, -5.0, 0.0][j] * (1.0 + i as f64));
        let spread = Spread::new(&jacobian, &[1.0, 2.0, 3.0]);
        assert_eq!(spread.rank(), 1);
        assert!(spread.errors.iter().all(|e| e.is_infinite()), "{:?}", spread.errors);
        let mut open = spread.open.clone();
        open.sort_by(|a, b| a[0].abs().total_cmp(&b[0].abs()));
        assert!((open[0][2].abs() - 1.0).abs() < 1e-12 && open[0][0] == 0.0, "{open:?}");
        assert!((open[1][0] - open[1][1]).abs() < 1e-12 && open[1][2] == 0.0, "{open:?}");
    }
}
