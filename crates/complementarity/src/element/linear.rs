//! The one linearisation of element laws, for Newton methods, certificates and derivatives alike.
//!
//! A law is piecewise smooth. In each of its regimes the changes of force and velocity that keep to it are
//! `d lambda = C y` and `R ds + T y = 0`: the force moves along the `k` columns of `C`, and each column has
//! one equation.
//! - Fixed (open, or at a bound): no columns.
//! - Stick: `C = R = 1`, `T = 0`.
//! - Slip, with `e` the friction force over `mu lambda_n` and `f` the directions across it: columns
//!   `(1, mu e)` and `(0, f)`, equations `ds_n = 0` and `f . ds_t + tau y = 0`. On a disc the friction force
//!   rotates with the slip, `tau = |s_t| / |lambda_t|`; along the side of a polygon it moves freely, `tau = 0`;
//!   at a corner it does not move across.

use crate::operator::MOST_ROWS;

/// Piece of a law on which it is smooth, with the data that the piece depends on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Regime<const D: usize> {
    /// The force is fixed and the velocity free: open contacts, bounded rows at their bound.
    Fixed,
    /// The velocity is fixed and the force free.
    Stick,
    /// The contact slips under load.
    Slip {
        /// Friction force over `mu lambda_n`; the normal entry is not used.
        along: [f64; D],
        /// `tau` of the directions across; `None` where the force cannot move across (corners, no friction).
        across: Option<f64>,
    },
}

/// The linearised law of an element with at most `D` rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Linear<const D: usize> {
    /// Number of columns and equations.
    pub count: usize,
    /// `C`, column by column.
    pub columns: [[f64; D]; D],
    /// `R`, row by row.
    pub equations: [[f64; D]; D],
    /// Diagonal of `T`.
    pub weights: [f64; D],
}

impl<const D: usize> Regime<D> {
    /// Linearises the law of an element with friction `mu` and this number of rows.
    pub fn linearise(&self, mu: f64, rows: usize) -> Linear<D> {
        let zero = [[0.0; D]; D];
        let mut out = Linear { count: 0, columns: zero, equations: zero, weights: [0.0; D] };
        match self {
            Self::Fixed => {}
            Self::Stick => {
                out.count = rows;
                (0..rows).for_each(|k| (out.columns[k][k], out.equations[k][k]) = (1.0, 1.0));
            }
            Self::Slip { along, across } => {
                out.count = 1;
                (out.columns[0][0], out.equations[0][0]) = (1.0, 1.0);
                (1..rows).for_each(|i| out.columns[0][i] = mu * along[i]);
                if let Some(tau) = across {
                    out.add_across(along, *tau, rows);
                }
            }
        }
        out
    }
}

impl<const D: usize> Linear<D> {
    /// Adds the directions across `along`: Householder's reflection takes it to an axis, and they are the
    /// images of the other axes.
    fn add_across(&mut self, along: &[f64; D], tau: f64, rows: usize) {
        let length = along[1..rows].iter().map(|x| x * x).sum::<f64>().sqrt();
        let mut v = along.map(|x| x / length);
        v[1] += if v[1] < 0.0 { -1.0 } else { 1.0 };
        let square: f64 = v[1..rows].iter().map(|x| x * x).sum();
        for k in 2..rows {
            for i in 1..rows {
                let f = f64::from(u8::from(i == k)) - 2.0 * v[i] * v[k] / square;
                (self.columns[k - 1][i], self.equations[k - 1][i]) = (f, f);
            }
            self.weights[k - 1] = tau;
        }
        self.count = rows - 1;
    }
}

impl Regime<MOST_ROWS> {
    /// Writes `d lambda / dp`, row by row, of an element with friction `mu` and compliance `d > 0` per row:
    /// `ds = d dlambda - dp`, and so `d lambda = C (R d C + T)^-1 R dp`.
    #[inline]
    pub fn slope(&self, mu: f64, d: &[f64], out: &mut [f64]) {
        let rows = d.len();
        match self {
            Self::Slip { across: Some(_), .. } if d[2..].iter().any(|x| *x != d[1]) => {
                self.linearise(mu, rows).slope(d, out);
            }
            Self::Fixed => out.fill(0.0),
            Self::Stick => {
                out.fill(0.0);
                (0..rows).for_each(|i| out[(rows + 1) * i] = 1.0 / d[i]);
            }
            // d lambda_n = dp_n / d_n, and d lambda_t = mu e d lambda_n + (1 - e e' / e'e) dp_t / (d_t + tau)
            Self::Slip { along, across } => {
                out.fill(0.0);
                out[0] = 1.0 / d[0];
                let square: f64 = along[1..rows].iter().map(|x| x * x).sum();
                for i in 1..rows {
                    out[rows * i] = mu * along[i] / d[0];
                    if let Some(tau) = across {
                        let scale = 1.0 / (d[1] + tau);
                        for j in 1..rows {
                            out[rows * i + j] = -scale * along[i] * along[j] / square;
                        }
                        out[(rows + 1) * i] += scale;
                    }
                }
            }
        }
    }
}

impl Linear<MOST_ROWS> {
    /// `C (R d C + T)^-1 R`, row by row.
    fn slope(&self, d: &[f64], out: &mut [f64]) {
        let (rows, count) = (d.len(), self.count);
        out.fill(0.0);
        // (R d C + T) X = R; the matrix is lower triangular but for a block that is positive definite
        let mut x = self.equations;
        let mut k = [[0.0; MOST_ROWS]; MOST_ROWS];
        for (i, row) in k[..count].iter_mut().enumerate() {
            for (j, entry) in row[..count].iter_mut().enumerate() {
                *entry = (0..rows).map(|m| self.equations[i][m] * d[m] * self.columns[j][m]).sum();
            }
            row[i] += self.weights[i];
        }
        for j in 0..count {
            let scale = 1.0 / k[j][j];
            (0..rows).for_each(|m| x[j][m] *= scale);
            (j + 1..count).for_each(|m| k[j][m] *= scale);
            for i in (0..count).filter(|&i| i != j) {
                let factor = k[i][j];
                if factor != 0.0 {
                    (0..rows).for_each(|m| x[i][m] -= factor * x[j][m]);
                    (j + 1..count).for_each(|m| k[i][m] -= factor * k[j][m]);
                }
            }
        }
        for i in 0..rows {
            for j in 0..rows {
                out[rows * i + j] = (0..count).map(|k| self.columns[k][i] * x[k][j]).sum();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::dot;

    #[test]
    fn slopes_with_equal_compliance_are_those_of_the_linearised_law() {
        let along = [0.0, 0.48, 0.6, -0.64, 0.0, 0.0];
        for (rows, tau) in [(2, Some(0.3)), (3, Some(0.3)), (4, Some(0.0)), (3, None), (1, None)] {
            let mut along = along;
            along[rows..].fill(0.0);
            for regime in [Regime::Slip { along, across: tau }, Regime::Stick, Regime::Fixed] {
                let d = &[0.2, 0.7, 0.7, 0.7][..rows];
                let (mut found, mut expected) = (vec![1.0; rows * rows], vec![1.0; rows * rows]);
                regime.slope(0.4, d, &mut found);
                regime.linearise(0.4, rows).slope(d, &mut expected);
                for (a, b) in found.iter().zip(&expected) {
                    assert!((a - b).abs() < 1e-14, "{regime:?}: {found:?} {expected:?}");
                }
            }
        }
    }

    #[test]
    fn directions_across_are_orthonormal_and_complete() {
        for along in [
            &[1.0][..],
            &[0.6, -0.8],
            &[0.48, 0.6, -0.64],
            &[0.5; 4],
            &[0.0, 0.0, 1.0, 0.0, 0.0],
            &[0.3, -0.4],
        ] {
            let rows = 1 + along.len();
            let mut e = [0.0; MOST_ROWS];
            e[1..rows].copy_from_slice(along);
            let linear = Regime::Slip { along: e, across: Some(0.5) }.linearise(0.7, rows);
            assert_eq!(linear.count, rows - 1, "{along:?}");
            for i in 1..linear.count {
                assert!(dot(&linear.columns[i], &e).abs() < 1e-14);
                assert_eq!(linear.weights[i], 0.5);
                for j in 1..linear.count {
                    let expected = if i == j { 1.0 } else { 0.0 };
                    assert!((dot(&linear.columns[i], &linear.equations[j]) - expected).abs() < 1e-14);
                }
            }
        }
    }
}
