//! Residual of problems with box bounds: boxed mixed LCPs and mixed nonlinear complementarity problems.
//!
//! Each row and each variable has a size of its own, so that the relative residual does not change with the units of any
//! of them. With `J` the Jacobian at `z` and `Z_j` the size that the problem calls typical (0 by default),
//!
//! ```text
//! phi_i = |F_i| + sum_j |J_ij| max(|z_j|, Z_j)        the terms that are summed in F_i
//! zeta_j = max(Z_j, min_i phi_i / |J_ij|)             the change of z_j that changes one of its equations by all of it
//! r_i = mid((z_i - l_i) / zeta_i, (z_i - u_i) / zeta_i, F_i / phi_i)
//! ```
//!
//! and the relative residual is the largest `|r_i|`: zero exactly at the solutions.

use super::Residual;
use crate::matrix::{length, norm};
use crate::problem::{BoxedLcp, Nonlinear, SparseRows};

/// Residual of a result of a boxed mixed LCP.
pub fn boxed(problem: &BoxedLcp, z: &[f64]) -> Residual {
    if z.len() != problem.size() {
        return Residual::NONE;
    }
    let mut j = SparseRows::default();
    problem.jacobian(z, &mut j);
    with_jacobian(problem, z, &problem.slack(z), &j, norm(problem.vector()))
}

/// Residual of a result of a mixed nonlinear complementarity problem. FCLIB's measure has no meaning here and is the
/// absolute one.
pub fn nonlinear(problem: &dyn Nonlinear, z: &[f64]) -> Residual {
    let n = problem.lower().len();
    if z.len() != n {
        return Residual::NONE;
    }
    let (mut f, mut j) = (vec![0.0; n], SparseRows::default());
    problem.value(z, &mut f);
    problem.jacobian(z, &mut j);
    with_jacobian(problem, z, &f, &j, 1.0)
}

/// The same with `F` and its Jacobian at hand; FCLIB's measure is over `size`.
pub(crate) fn with_jacobian(
    problem: &dyn Nonlinear,
    z: &[f64],
    f: &[f64],
    j: &SparseRows,
    size: f64,
) -> Residual {
    let (lower, upper, n) = (problem.lower(), problem.upper(), z.len());
    if j.rows() != n || f.iter().chain(z).any(|x| !x.is_finite()) {
        return Residual::NONE;
    }
    let absolute = length((0..n).map(|i| middle(z[i] - lower[i], z[i] - upper[i], f[i])));
    let (mut terms, mut change) = (vec![0.0; n], vec![f64::INFINITY; n]);
    for i in 0..n {
        terms[i] =
            f[i].abs() + j.row(i).map(|(k, x)| x.abs() * z[k].abs().max(problem.typical(k))).sum::<f64>();
        for (k, x) in j.row(i).filter(|(_, x)| *x != 0.0 && terms[i] > 0.0) {
            change[k] = change[k].min(terms[i] / x.abs());
        }
    }
    let mut relative = 0.0f64;
    for i in 0..n {
        let zeta = change[i].max(problem.typical(i));
        // a variable that no equation sees is within its bounds, and that is all
        let over = |x: f64| if zeta.is_finite() && zeta > 0.0 { x / zeta } else { x };
        let own = if terms[i] > 0.0 { f[i] / terms[i] } else { 0.0 };
        let r = middle(over(z[i] - lower[i]), over(z[i] - upper[i]), own).abs();
        relative = if r.is_nan() { f64::INFINITY } else { relative.max(r) };
    }
    if absolute.is_nan() {
        return Residual::NONE;
    }
    Residual::plain(absolute, relative, if size > 0.0 { absolute / size } else { absolute })
}

/// The middle one of `z - l >= z - u` and `f`: the natural map of a box.
#[inline]
fn middle(from_lower: f64, from_upper: f64, f: f64) -> f64 {
    if f.is_nan() { f64::NAN } else { from_lower.min(f).max(from_upper) }
}

impl Nonlinear for BoxedLcp {
    fn lower(&self) -> &[f64] {
        BoxedLcp::lower(self)
    }

    fn upper(&self) -> &[f64] {
        BoxedLcp::upper(self)
    }

    fn value(&self, z: &[f64], f: &mut [f64]) {
        f.copy_from_slice(&self.slack(z));
    }

    fn jacobian(&self, _: &[f64], j: &mut SparseRows) {
        j.clear();
        for i in 0..self.size() {
            j.begin();
            for (k, &x) in self.matrix().row(i).iter().enumerate().filter(|(_, x)| **x != 0.0) {
                j.add(k, x);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Matrix;

    /// Sizes of rows and variables over twelve decades leave the relative residual as it is.
    #[test]
    fn units_of_rows_and_variables_do_not_matter() {
        let m = Matrix::from_rows(&[&[2.0, -1.0, 0.0], &[-1.0, 2.0, -1.0], &[0.5, -1.0, 2.0]]);
        let (q, l, u) =
            (vec![-1.0, 0.3, -2.0], vec![0.0, f64::NEG_INFINITY, -1.0], vec![0.4, 1.0, f64::INFINITY]);
        let z = [0.39, 0.2, 1.3];
        let plain = boxed(&BoxedLcp::new(m.clone(), q.clone(), l.clone(), u.clone()).unwrap(), &z);
        assert!(plain.relative > 1e-3);
        let (rows, columns) = ([1e6, 1.0, 1e-6], [1e-4, 1e5, 3.0]);
        let scaled = Matrix::from_fn(3, 3, |i, j| rows[i] * m[(i, j)] * columns[j]);
        let over = |v: &[f64]| (0..3).map(|i| v[i] / columns[i]).collect::<Vec<_>>();
        let other =
            BoxedLcp::new(scaled, (0..3).map(|i| rows[i] * q[i]).collect(), over(&l), over(&u)).unwrap();
        let found = boxed(&other, &over(&z));
        assert!((found.relative / plain.relative - 1.0).abs() < 1e-12, "{found:?} {plain:?}");
    }
}
