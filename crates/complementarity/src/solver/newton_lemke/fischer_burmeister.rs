//! The Fischer-Burmeister equations of a problem with box bounds, and Levenberg-Marquardt steps on them.
//!
//! `phi(a, b) = sqrt(a^2 + b^2) - a - b` is zero exactly where `0 <= a _|_ b >= 0`. For a box (Billups 1995):
//! `Phi_i = phi(z - l, F)` with a lower bound, `-phi(u - z, -F)` with an upper one, `phi(z - l, phi(u - z, -F))` with both
//! (`phi` with two signs turned), `-F` without.

use crate::factor::Lu;
use crate::matrix::{Matrix, dot};

/// `phi` and its derivatives; at the origin those of the direction (1, 1).
fn phi(a: f64, b: f64) -> (f64, f64, f64) {
    let r = a.hypot(b);
    // the difference without cancellation where both are positive
    let value = if a + b > 0.0 { -2.0 * a * b / (r + a + b) } else { r - a - b };
    if r > 0.0 { (value, a / r - 1.0, b / r - 1.0) } else { (0.0, 0.5f64.sqrt() - 1.0, 0.5f64.sqrt() - 1.0) }
}

/// `Phi_i`, and its derivatives with `z_i` and `F_i`.
pub(super) fn equation(z: f64, f: f64, lower: f64, upper: f64) -> (f64, f64, f64) {
    match (lower.is_finite(), upper.is_finite()) {
        (false, false) => (-f, 0.0, -1.0),
        (true, false) => phi(z - lower, f),
        (false, true) => {
            let (value, a, b) = phi(upper - z, -f);
            (-value, a, b)
        }
        (true, true) => {
            // the upper bound's phi(u - z, -F) in the place of F
            let (inner, c, d) = phi(upper - z, -f);
            let (value, a, b) = phi(z - lower, inner);
            (value, a - b * c, -b * d)
        }
    }
}

/// Memory of the steps.
#[derive(Debug, Clone, Default)]
pub(super) struct Merit {
    /// `Phi`.
    pub value: Vec<f64>,
    /// Jacobian of `Phi`.
    h: Matrix,
    gradient: Vec<f64>,
    lu: Lu,
}

impl Merit {
    /// Half the square of `|Phi|`.
    pub fn of(&mut self, z: &[f64], f: &[f64], (lower, upper): (&[f64], &[f64])) -> f64 {
        self.value.clear();
        self.value.extend((0..z.len()).map(|i| equation(z[i], f[i], lower[i], upper[i]).0));
        0.5 * dot(&self.value, &self.value)
    }

    /// Step `(H'H + mu I) d = -H' Phi` and its slope `Phi' H d`; false if it cannot be solved.
    pub fn step(
        &mut self,
        (z, f): (&[f64], &[f64]),
        (lower, upper): (&[f64], &[f64]),
        j: &Matrix,
        mu: f64,
        d: &mut Vec<f64>,
    ) -> Option<f64> {
        let n = z.len();
        self.h.reset(n, n);
        for i in 0..n {
            let (_, by_z, by_f) = equation(z[i], f[i], lower[i], upper[i]);
            for (h, j) in self.h.row_mut(i).iter_mut().zip(j.row(i)) {
                *h = by_f * j;
            }
            self.h[(i, i)] += by_z;
        }
        self.gradient.clear();
        self.gradient.resize(n, 0.0);
        for i in 0..n {
            for (g, h) in self.gradient.iter_mut().zip(self.h.row(i)) {
                *g += h * self.value[i];
            }
        }
        let h = &self.h;
        let product = |a: usize, b: usize| {
            (0..n).map(|k| h[(k, a)] * h[(k, b)]).sum::<f64>() + if a == b { mu } else { 0.0 }
        };
        self.lu.factor(n, product).ok()?;
        d.clear();
        d.extend(self.gradient.iter().map(|g| -g));
        self.lu.solve(d);
        let slope = dot(d, &self.gradient);
        (slope < 0.0 && d.iter().all(|x| x.is_finite())).then_some(slope)
    }

    /// Length of the gradient `H' Phi` of the last step.
    pub fn gradient(&self) -> f64 {
        crate::matrix::norm(&self.gradient)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_are_those_of_finite_differences() {
        let inf = f64::INFINITY;
        for (l, u) in [(-inf, inf), (0.0, inf), (-inf, 2.0), (-1.0, 3.0)] {
            for (z, f) in [(0.5, 0.7), (1.9, -0.3), (-0.4, 2.0), (2.5, -4.0)] {
                let (_, by_z, by_f) = equation(z, f, l, u);
                let e = 1e-6;
                let dz = (equation(z + e, f, l, u).0 - equation(z - e, f, l, u).0) / (2.0 * e);
                let df = (equation(z, f + e, l, u).0 - equation(z, f - e, l, u).0) / (2.0 * e);
                assert!(
                    (by_z - dz).abs() < 1e-8 && (by_f - df).abs() < 1e-8,
                    "{l} {u} {z} {f}: {by_z} {dz} {by_f} {df}"
                );
            }
        }
    }

    #[test]
    fn zero_exactly_at_solutions() {
        for (z, f, solves) in [
            (0.0, 1.0, true),
            (1.0, 0.0, true),
            (2.0, -3.0, true),
            (0.0, -1.0, false),
            (2.0, 1.0, false),
            (1.0, 0.5, false),
        ] {
            assert_eq!(equation(z, f, 0.0, 2.0).0.abs() < 1e-15, solves, "{z} {f}");
        }
    }
}
