//! The one judge of every answer: natural-map residuals of the problem as posed.
//!
//! Written from the problem's own data, whatever a solver made of them; of the solvers' code it shares the projections of `cone` alone, which are held to Moreau's
//! conditions. A residual is zero exactly at the solutions.

use crate::cone::{self, Shape};
use crate::matrix::{dot, length, norm};
use crate::problem::{ConeProblem, Friction, FrictionProblem, Lcp, MixedLcp, Mode};
use serde::Serialize;

/// Least tolerance that is tried in other units.
const LEAST_TOLERANCE: f64 = 1e-14;

/// Euclidean norm of the natural map, as it stands and over the norm of the constant vector.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Residual {
    /// `|r|`.
    pub absolute: f64,
    /// `|r| / |q|` (friction problem: `|r| / |b|`); `|r|` where that vector is zero.
    pub relative: f64,
}

impl Residual {
    /// No answer at all.
    pub const NONE: Self = Self { absolute: f64::INFINITY, relative: f64::INFINITY };

    /// Of a natural map and a constant vector of these norms.
    pub fn new(absolute: f64, size: f64) -> Self {
        if absolute.is_nan() {
            return Self::NONE;
        }
        Self { absolute, relative: if size > 0.0 { absolute / size } else { absolute } }
    }

    fn of(r: impl Iterator<Item = f64> + Clone, constant: &[f64]) -> Self {
        Self::new(length(r), norm(constant))
    }

    /// The tolerance to try next where a problem was solved to `goal` in other units and this residual as posed is above `tolerance`; `None` if it is not, or rounding
    /// has been reached.
    pub fn tighter(self, goal: f64, tolerance: f64) -> Option<f64> {
        let next = (0.5 * goal * tolerance / self.relative).max(LEAST_TOLERANCE);
        (self.relative > tolerance && goal > LEAST_TOLERANCE).then_some(next)
    }
}

/// `r = min(z, M z + q)`.
pub fn lcp(problem: &Lcp, z: &[f64]) -> Residual {
    if z.len() != problem.size() {
        return Residual::NONE;
    }
    let w = |i: usize| dot(problem.matrix().row(i), z) + problem.vector()[i];
    Residual::of((0..z.len()).map(|i| natural(z[i], w(i))), problem.vector())
}

/// `r_i = min(z_i, w_i)` on complementarity rows, `w_i` on equality rows.
pub fn mixed(problem: &MixedLcp, z: &[f64]) -> Residual {
    if z.len() != problem.size() {
        return Residual::NONE;
    }
    let w = |i: usize| dot(problem.matrix().row(i), z) + problem.vector()[i];
    let r = |i: usize| if problem.complementary()[i] { natural(z[i], w(i)) } else { w(i) };
    Residual::of((0..z.len()).map(r), problem.vector())
}

/// Rolling contact: `r = lambda - P_K(lambda - s~)` with `s~ = (s_n + mu sigma(-s_t), s_t)`, `K` the
/// force cone and `sigma` the support function of the friction set (the disc: `|s_t|`; design of
/// De Saxce); above `mu = 1000` `min(lambda_n, s_n)` if that is larger than `r_n`. Sliding contact: `r_n = min(lambda_n, s_n)`, `r_t = lambda_t + mu lambda_n direction`.
pub fn friction(problem: &FrictionProblem, lambda: &[f64]) -> Residual {
    match friction_map(problem, lambda) {
        Some(r) => Residual::of(r.iter().copied(), problem.vector()),
        None => Residual::NONE,
    }
}

/// The natural map of [`friction`], row by row; `None` if the forces are not as many as the rows.
pub fn friction_map(problem: &FrictionProblem, lambda: &[f64]) -> Option<Vec<f64>> {
    if lambda.len() != problem.size() {
        return None;
    }
    let rows = problem.rows_per_contact();
    let s = problem.speed(lambda);
    let mut r = vec![0.0; s.len()];
    for c in 0..problem.contacts() {
        let at = rows * c..rows * (c + 1);
        let (mu, l, s, r) = (problem.mu()[c], &lambda[at.clone()], &s[at.clone()], &mut r[at]);
        match (problem.modes()[c], problem.friction_of(c)) {
            (Mode::Sliding { direction }, _) => {
                r[0] = natural(l[0], s[0]);
                (1..rows).for_each(|k| r[k] = l[k] + mu * l[0] * direction[k - 1]);
            }
            (Mode::Rolling, set) => contact(set, problem.axes_of(c), mu, l, s, r),
        }
    }
    Some(r)
}

/// The natural map of a rolling contact: `lambda` and `s` of its rows, and the axes if its set is an ellipsoid.
pub fn contact(set: Friction, axes: &[f64], mu: f64, lambda: &[f64], s: &[f64], r: &mut [f64]) {
    match set {
        Friction::Ellipsoid => ellipsoid(mu, axes, lambda, s, r),
        round_or_flat => Shape::of(round_or_flat, lambda.len()).natural(mu, lambda, s, r),
    }
}

/// The natural map of a rolling contact under an ellipsoid.
fn ellipsoid(mu: f64, axes: &[f64], lambda: &[f64], s: &[f64], r: &mut [f64]) {
    r.iter_mut().zip(lambda).zip(s).for_each(|((r, l), s)| *r = l - s);
    r[0] -= mu * cone::support_ellipsoid(axes, &s[1..]);
    cone::project_ellipsoid(mu, axes, r);
    r.iter_mut().zip(lambda).for_each(|(r, l)| *r = l - *r);
    r[0] = cone::or_normal_law(mu, lambda[0], s[0], r[0]);
}

/// [`friction`] for a problem in borrowed parts, without allocation once `scratch` has grown.
pub fn cone(problem: ConeProblem<'_>, lambda: &[f64], scratch: &mut ConeScratch) -> Residual {
    let rows = problem.rows;
    if lambda.len() != problem.b.len() {
        return Residual::NONE;
    }
    let ConeScratch { speed, residual, product } = scratch;
    speed.resize(lambda.len(), 0.0);
    problem.a.times(lambda, speed, product);
    residual.clear();
    for (c, &mu) in problem.mu.iter().enumerate() {
        let at = rows * c..rows * (c + 1);
        let (l, s) = (&lambda[at.clone()], &mut speed[at.clone()]);
        s.iter_mut().zip(&problem.b[at.clone()]).for_each(|(s, b)| *s += b);
        residual.extend_from_slice(l);
        problem.shape(c).natural(mu, l, s, &mut residual[at]);
    }
    Residual::of(residual.iter().copied(), problem.b)
}

/// Memory of [`cone()`].
#[derive(Debug, Clone, Default)]
pub struct ConeScratch {
    /// `s = A lambda + b`.
    pub speed: Vec<f64>,
    /// The natural map.
    pub residual: Vec<f64>,
    /// `W' lambda`, if the operator is factored.
    pub(crate) product: Vec<f64>,
}

impl ConeScratch {
    /// Sum of squares of the natural map over `contacts` (never NaN).
    pub(crate) fn square_of(&self, rows: usize, contacts: &[usize]) -> f64 {
        let own = contacts.iter().flat_map(|&c| &self.residual[rows * c..][..rows]);
        let total: f64 = own.map(|r| r * r).sum();
        if total.is_nan() { f64::INFINITY } else { total }
    }
}

/// `min` that keeps NaN.
fn natural(z: f64, w: f64) -> f64 {
    if z.is_nan() || w.is_nan() { f64::NAN } else { z.min(w) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Matrix;
    use crate::problem::Sets;

    #[test]
    fn lcp_residual_is_the_norm_of_the_natural_map() {
        let lcp_ = Lcp::new(Matrix::identity(2), vec![-3.0, 4.0]).unwrap();
        assert_eq!(lcp(&lcp_, &[3.0, 0.0]).absolute, 0.0);
        // z = (0, 0): w = (-3, 4), min = (-3, 0)
        let r = lcp(&lcp_, &[0.0, 0.0]);
        assert_eq!((r.absolute, r.relative), (3.0, 3.0 / 5.0));
        assert_eq!(lcp(&lcp_, &[f64::NAN, 0.0]), Residual::NONE);
        assert_eq!(lcp(&lcp_, &[1.0]), Residual::NONE);
    }

    #[test]
    fn mixed_residual_asks_equalities_to_vanish() {
        let p = MixedLcp::new(Matrix::identity(2), vec![2.0, -1.0], vec![false, true]).unwrap();
        assert_eq!(mixed(&p, &[-2.0, 1.0]).absolute, 0.0);
        assert_eq!(mixed(&p, &[0.0, 1.0]).absolute, 2.0);
    }

    /// A point mass pressed on a plane (force 1) and pushed sideways: sticks below mu, slides above.
    #[test]
    fn friction_residual_knows_stick_slip_and_separation() {
        for friction_ in [Friction::Cone, Friction::Pyramid, Friction::Polygon { sides: 8 }] {
            let at = |push: f64, press: f64, lambda: [f64; 3]| {
                let p = FrictionProblem::new(
                    Matrix::identity(3),
                    vec![-press, push, 0.0],
                    vec![0.5],
                    3,
                    friction_,
                )
                .unwrap();
                friction(&p, &lambda).absolute
            };
            assert!(at(0.3, 1.0, [1.0, -0.3, 0.0]) < 1e-15, "sticks");
            assert!(at(0.8, 1.0, [1.0, -0.5, 0.0]) < 1e-15, "slips along a corner or face middle");
            assert!(at(0.8, -1.0, [0.0, 0.0, 0.0]) < 1e-15, "separates");
            assert!(at(0.8, 1.0, [1.0, -0.3, 0.0]) > 0.05, "slip below the limit is wrong");
            assert!(at(0.3, 1.0, [1.0, 0.3, 0.0]) > 0.05, "friction that pushes is wrong");
        }
    }

    #[test]
    fn cone_in_borrowed_parts_is_judged_alike() {
        let a = Matrix::from_fn(6, 6, |i, j| if i == j { 2.0 } else { 0.1 * (i as f64 - 0.5 * j as f64) });
        let p =
            FrictionProblem::new(a, vec![-1.0, 0.3, 0.9, -0.5, 0.1, 0.0], vec![0.5, 0.7], 3, Friction::Cone)
                .unwrap();
        for lambda in [[0.0; 6], [0.5, -0.2, 0.1, 0.3, 0.0, -0.4], [1.0, 0.0, -0.5, -0.1, 2.0, 0.0]] {
            let parts = p.as_cone().unwrap();
            let (one, two) = (friction(&p, &lambda), cone(parts, &lambda, &mut ConeScratch::default()));
            assert!((one.absolute - two.absolute).abs() < 1e-15 && one.absolute > 0.1, "{one:?} {two:?}");
            for set in [Friction::Pyramid, Friction::Polygon { sides: 6 }] {
                let one = friction(&p.clone().with_friction(set).unwrap(), &lambda);
                let parts = ConeProblem { sets: Sets::All(set), ..parts };
                assert_eq!(one, cone(parts, &lambda, &mut ConeScratch::default()));
            }
        }
        let parts = p.as_cone().unwrap();
        assert_eq!(cone(parts, &[f64::NAN; 6], &mut ConeScratch::default()), Residual::NONE);
    }

    /// Two forces that press a body from both sides can grow without end; they must not hide that the body overlaps.
    #[test]
    fn huge_forces_do_not_drown_the_speeds() {
        for friction_ in [Friction::Cone, Friction::Pyramid, Friction::Polygon { sides: 8 }] {
            let a = Matrix::from_fn(6, 6, |i, j| match (i, j) {
                (0, 0) | (3, 3) => 1.0,
                (0, 3) | (3, 0) => -1.0,
                _ => f64::from(u8::from(i == j)),
            });
            let b = vec![-0.05, 0.0, 0.0, -0.05, 0.0, 0.0];
            let p = FrictionProblem::new(a, b, vec![0.5; 2], 3, friction_).unwrap();
            for force in [1.0, 1e3, 1e15, 1e30] {
                let r = friction(&p, &[force, 0.0, 0.0, force, 0.0, 0.0]);
                assert!(r.relative > 0.99, "{friction_:?} {force:e}: {r:?}");
            }
        }
    }

    /// No force on a body that overlaps and slips is no solution, however much friction there is.
    #[test]
    fn much_friction_does_not_hide_the_normal_law() {
        let plain = [Friction::Cone, Friction::Pyramid, Friction::Polygon { sides: 8 }, Friction::Ellipsoid];
        for friction_ in plain {
            for mu in [1.0, 1e4, 1e8, 1e12, 1e300] {
                let b = vec![-1.0, 0.3, 0.0];
                let p = FrictionProblem::new(Matrix::identity(3), b, vec![mu], 3, friction_).unwrap();
                assert!(friction(&p, &[0.0; 3]).relative > 0.1, "{friction_:?} {mu:e}");
                assert!(friction(&p, &[1.0, -0.3, 0.0]).relative < 1e-15, "{friction_:?} {mu:e}");
            }
        }
    }

    #[test]
    fn sliding_contact_is_judged_by_its_given_direction() {
        let p = FrictionProblem::new(Matrix::identity(2), vec![-1.0, 5.0], vec![0.5], 2, Friction::Pyramid)
            .unwrap()
            .with_modes(vec![Mode::Sliding { direction: [-1.0, 0.0] }])
            .unwrap();
        assert_eq!(friction(&p, &[1.0, 0.5]).absolute, 0.0);
        assert_eq!(friction(&p, &[1.0, -0.5]).absolute, 1.0);
    }
}
